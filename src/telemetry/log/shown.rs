//! A text from outside, as the log shows it: bounded and printable.

use std::fmt;

use tracing::field::{DisplayValue, display};

use olmguard_catalog::version::go;

/// A text as the log shows it.
pub(super) struct LogText<'a>(&'a str);

/// A text as the value of a field.
pub(super) fn shown(text: &str) -> DisplayValue<LogText<'_>> {
    display(LogText(text))
}

impl fmt::Display for LogText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.floor_char_boundary(LONGEST);
        f.write_str(&go::escape(self.0.get(..end).unwrap_or_default()))?;
        f.write_str(if end < self.0.len() { "..." } else { "" })
    }
}

/// The most bytes of a value in the log: no name that an API server takes is longer.
const LONGEST: usize = 253;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_is_bounded_and_printable() {
        assert_eq!(LogText("a\u{1b}\n").to_string(), "a\\x1b\\n");
        let long = "ä".repeat(500);
        let shown = LogText(&long).to_string();
        assert!(
            shown.len() <= LONGEST + 3 && shown.ends_with("ä..."),
            "{shown}"
        );
    }
}
