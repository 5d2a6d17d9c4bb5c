//! Where one YAML document ends and the next begins.
//!
//! Upstream looks for lines that begin with `---`, whatever they stand in, and allows only a
//! comment after it. A separator is left out of the documents, but for one that would make an
//! empty document: it becomes the first line of the next (apimachinery,
//! [`pkg/util/yaml/decoder.go`], `YAMLReader`).
//!
//! [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

use crate::fbc::error::FbcErrorKind;

/// What a text begins with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Piece {
    /// A document of `length` bytes; the next begins after `consumed`.
    Document { length: usize, consumed: usize },
    /// The beginning of a document; more text is needed to find its end.
    Incomplete,
    /// Nothing: the text is empty and has ended.
    End,
    /// A line, `at` bytes from here, that begins with `---` and goes on.
    Malformed { at: usize, malformed: FbcErrorKind },
}

/// Finds the first document of `text`; `ended` tells that no more text follows.
pub(crate) fn split(text: &[u8], ended: bool) -> Piece {
    if text.starts_with(MARK)
        && let Err(piece) = separator(text, 0, ended)
    {
        return piece;
    }
    if let Some(newline) = memchr::memmem::find(text, b"\n---") {
        let at = newline + 1;
        return match separator(text, at, ended) {
            Ok(consumed) => Piece::Document {
                length: at,
                consumed,
            },
            Err(piece) => piece,
        };
    }
    match (ended, text.len()) {
        (false, _) => Piece::Incomplete,
        (true, 0) => Piece::End,
        (true, length) => Piece::Document {
            length,
            consumed: length,
        },
    }
}

/// Where the separator that begins at `at` ends.
fn separator(text: &[u8], at: usize, ended: bool) -> Result<usize, Piece> {
    let line = text.get(at..).unwrap_or_default();
    let end = match memchr::memchr(b'\n', line) {
        Some(end) => end + 1,
        None if ended => line.len(),
        None => return Err(Piece::Incomplete),
    };
    let after = line.get(MARK.len()..end).unwrap_or_default();
    let after = String::from_utf8_lossy(after);
    let found = after.trim();
    if found.is_empty() || found.starts_with('#') {
        return Ok(at + end);
    }
    let found = found.chars().take(SHOWN).collect::<String>().into();
    let malformed = FbcErrorKind::Separator { found };
    Err(Piece::Malformed { at, malformed })
}

const MARK: &[u8] = b"---";

/// How many characters of a line an error shows.
const SHOWN: usize = 64;
