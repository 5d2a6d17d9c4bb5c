//! The names that are nearest to one that does not exist.

/// The known names most like `wanted`, nearest first, then in the order given; at most `most`.
///
/// A name is like another if a typo makes one of the other: within a third of its length in inserted, deleted, changed
/// or swapped characters, or if one is the beginning of the other.
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
            // A typo changes the length by one character at most.
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

/// How many pairs of bytes are compared in all, a fifth of a second: enough for tens of thousands of names of usual
/// length. Names after them are near only if one is the beginning of the other.
const MOST_COMPARED: usize = 1 << 25;

/// Bounds the work for names of any length; no name that OLM accepts is longer.
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
