//! Which known word an unknown one is probably meant to be.

use crate::limits;

/// The known word with the fewest edits, if these are at most a third of it; the first of several.
pub(crate) fn nearest(found: &str, known: &'static [&'static str]) -> Option<&'static str> {
    if found.len() > limits::ECHOED_BYTES {
        return None;
    }
    let measured = known.iter().map(|word| (edits(found, word), *word));
    let near = measured.filter(|(edits, word)| *edits <= word.len().div_ceil(3));
    near.min_by_key(|(edits, _)| *edits).map(|(_, word)| word)
}

/// How many characters must be inserted, deleted or replaced, whatever their case.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.to_lowercase().chars().enumerate() {
        let mut next = vec![i + 1];
        for ((above, b), pair) in row.iter().skip(1).zip(&b).zip(row.windows(2)) {
            let replaced = pair.first().map_or(0, |left| left + usize::from(a != *b));
            let inserted = next.last().map_or(0, |left| left + 1);
            next.push(replaced.min(inserted).min(above + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_near() {
        let known: &[&str] = &["Patch", "Minor", "Major"];
        for (found, expected) in [
            ("minor", Some("Minor")),
            ("Mnior", Some("Minor")),
            ("Mjor", Some("Major")),
            ("MAJOR", Some("Major")),
            ("Match", Some("Patch")),
            ("Mior", Some("Minor")),
            ("", None),
            ("Everything", None),
            ("é", None),
        ] {
            assert_eq!(nearest(found, known), expected, "{found}");
        }
        assert_eq!(nearest(&"Minor".repeat(20), known), None);
    }
}
