//! Files of a base as they were parsed: an input with the same text is not parsed again.
//!
//! Most files of a change are what they were, and parsing is most of the work for both sides.

use std::collections::HashMap;
use std::rc::Rc;

use crate::manifest::{ManifestObject, Positions};

/// An object, as far as an input with its text needs it. Most objects are of other kinds: to hold all of them takes
/// about as long as to parse them again.
#[derive(Debug)]
pub(in crate::cli::commands::check) enum ParsedObject {
    /// It is counted, and not read.
    OtherKind,
    /// The object, and the places in its document.
    Whole(Rc<ManifestObject>, Rc<Positions>),
}

/// What some texts hold, each until an input takes it.
#[derive(Debug, Default)]
pub(super) struct ParsedFiles {
    by_text: HashMap<Vec<u8>, Vec<ParsedObject>>,
    /// How many bytes the texts had, including those that were taken.
    kept: usize,
}

impl ParsedFiles {
    /// Whether there is room for a text of so many bytes.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.kept.saturating_add(bytes) <= MOST_TEXT
    }

    /// Keeps the objects of a text. They are all that is in it, so each could be read.
    pub(super) fn keep(&mut self, text: Vec<u8>, objects: Vec<ParsedObject>) {
        self.kept += text.len();
        self.by_text.insert(text, objects);
    }

    /// The objects of a text, for the first one who asks.
    pub(super) fn take(&mut self, text: &[u8]) -> Option<Vec<ParsedObject>> {
        self.by_text.remove(text)
    }
}

/// The most bytes of texts whose objects are kept: thousands of manifests. What is parsed takes some ten
/// times as much.
const MOST_TEXT: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_once() {
        let mut files = ParsedFiles::default();
        files.keep(b"a".to_vec(), Vec::new());
        assert!(files.take(b"b").is_none());
        assert!(files.take(b"a").is_some());
        assert!(files.take(b"a").is_none());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut files = ParsedFiles::default();
        assert!(files.has_room(MOST_TEXT) && !files.has_room(MOST_TEXT + 1));
        files.keep(vec![b'a'; MOST_TEXT], Vec::new());
        assert!(!files.has_room(1));
    }
}
