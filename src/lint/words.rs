//! Every sentence about a finding, and the text that `opm validate` has for it.
//!
//! A message is one line: subject, what is found, what was expected, the way out. What is taken from a
//! catalog is quoted as Go quotes, so that nothing in it reaches a terminal as it is.

mod conversion;
mod load;
mod model;
mod users;

pub(super) use conversion::*;
pub(super) use load::*;
pub(super) use model::*;
pub(super) use users::*;

use crate::version::go::quote as q;

/// What is said about a finding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Words {
    pub(super) message: String,
    /// The text of opm, or its beginning.
    pub(super) upstream: Option<String>,
}

impl Words {
    /// What opm says nothing about, or in the words of a parser.
    fn own(message: String) -> Self {
        Self {
            message,
            upstream: None,
        }
    }

    fn with(message: String, upstream: String) -> Self {
        Self {
            message,
            upstream: Some(upstream),
        }
    }
}

/// Names, quoted: as many as fit, the rest counted.
fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<_> = all.into_iter().collect();
    let shown: Vec<_> = all.iter().take(NAMED).map(|name| q(name)).collect();
    let shown = shown.join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}

/// How many names a message has at most.
const NAMED: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_counted() {
        assert_eq!(names(["a", "b\u{1b}"]), "\"a\", \"b\\x1b\"");
        assert_eq!(
            names(["a", "b", "c", "d", "e"]),
            "\"a\", \"b\", \"c\" and 2 more"
        );
    }
}
