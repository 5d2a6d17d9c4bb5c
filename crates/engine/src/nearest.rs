//! Finds the existing names that are most similar to a name that does not exist.

/// Returns at most `most` of the known names that are similar to `wanted`. The most similar is first; ties keep the
/// given order.
///
/// Two names are similar if a typo can turn one into the other, or if one is a prefix of the other. A typo is up to a
/// third of the length in inserted, deleted, changed or swapped characters.
pub fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let wanted = prefix(wanted);
    let length = wanted.chars().count();
    let slips = (length / 3).max(1);
    let mut left = MOST_COMPARED;
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let known = prefix(name);
            // Each of the allowed slips changes the length by at most one character.
            let can_be_near = known.chars().count().abs_diff(length) <= slips;
            let paid = left.checked_sub(known.len() * wanted.len());
            let distance = match paid.filter(|_| can_be_near) {
                Some(rest) => {
                    left = rest;
                    strsim::osa_distance(wanted, known)
                }
                None => usize::MAX,
            };
            let is_start =
                name.starts_with(wanted) || (!name.is_empty() && wanted.starts_with(name));
            (distance <= slips || is_start).then_some((distance, name))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

/// The most pairs of bytes that are compared in total, about a fifth of a second. This is enough for tens of thousands
/// of names of usual length. Later names are similar only if one is a prefix of the other.
const MOST_COMPARED: usize = 1 << 25;

/// Bounds the work for long names. OLM accepts no longer name.
fn prefix(name: &str) -> &str {
    name.char_indices()
        .nth(253)
        .map_or(name, |(end, _)| name.get(..end).unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_hand_are_near() {
        let known = [
            "argocd-operator",
            "argo-workflows",
            "project-quay",
            "quay-bridge-operator",
        ];
        assert_eq!(nearest("argocd-operater", known, 3), ["argocd-operator"]);
        assert_eq!(nearest("argocd", known, 3), ["argocd-operator"]);
        assert_eq!(nearest("projectquay", known, 3), ["project-quay"]);
        assert!(nearest("redis", known, 3).is_empty());
        assert!(nearest("", known, 0).is_empty());
    }

    #[test]
    fn the_nearest_comes_first() {
        assert_eq!(
            nearest("stabel", ["table", "stable", "stable-1"], 2),
            ["stable", "table"]
        );
    }

    #[test]
    fn very_many_names_cost_no_more_than_some() {
        let wanted = "a".repeat(250);
        let far = format!("{}{}", "b".repeat(249), "c");
        let compared = MOST_COMPARED / 250 / 250;
        let names = |before| std::iter::repeat_n(far.as_str(), before).chain([wanted.as_str()]);
        assert_eq!(nearest(&wanted, names(compared - 1), 1), [wanted.as_str()]);
        let slip = format!("{}b", "a".repeat(249));
        let last = |before| std::iter::repeat_n(far.as_str(), before).chain([slip.as_str()]);
        assert_eq!(nearest(&wanted, last(compared - 1), 1), [slip.as_str()]);
        assert!(nearest(&wanted, last(compared), 1).is_empty());
    }

    #[test]
    fn long_names_cost_no_more_than_names_can_be_long() {
        let long = "a".repeat(1 << 20);
        assert_eq!(nearest(&long, [long.as_str()], 1).len(), 1);
    }
}
