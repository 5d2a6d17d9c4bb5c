//! Keeps what the user wrote from making a message too long to read.

use std::borrow::Cow;

/// `text`, or its beginning and `...` if it is longer than any name that Kubernetes takes.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    let beginning = text
        .char_indices()
        .nth(MOST_CHARACTERS)
        .and_then(|(end, _)| text.get(..end));
    beginning.map_or(Cow::Borrowed(text), |beginning| {
        Cow::Owned(format!("{beginning}..."))
    })
}

/// A label key of full length: 253 characters of prefix, a slash, 63 of name.
const MOST_CHARACTERS: usize = 317;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_longer_texts_are_cut() {
        let full = "é".repeat(317);
        assert_eq!(excerpt(&full), full);
        assert_eq!(excerpt(&format!("{full}é")), format!("{full}..."));
        assert_eq!(excerpt(""), "");
    }
}
