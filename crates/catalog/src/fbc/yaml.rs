//! YAML as catalogd reads it: split at lines of `---`, and each document turned into JSON.
//!
//! The result is the JSON that sigs.k8s.io/yaml would make, save for the order of keys and for
//! repeated ones, which [`json`](super::json) treats as Go's maps do. Only the first document of
//! a piece counts (`...` ends it), as for go.yaml.in/yaml/v2, whose limits hold too: characters
//! that may stand in YAML, depth, aliases in moderation.

mod fault;
mod frame;
mod marks;
mod scalar;
mod split;
#[cfg(test)]
mod tests;
mod transcode;
mod write;

pub(crate) use fault::YamlFault;
pub use marks::Marks;
pub(crate) use split::{Piece, split};

use super::error::FbcErrorKind;
use transcode::Transcoder;

/// Turns one document into JSON.
pub fn to_json(document: &[u8]) -> Result<Vec<u8>, YamlFault> {
    let mut json = Vec::new();
    append_json(document, false, &mut json)?;
    Ok(json)
}

/// As [`to_json`], appended to `json`; returns the places of its parts if they are wanted. They count from the
/// beginning of the document's JSON.
pub(crate) fn append_json(
    document: &[u8],
    marked: bool,
    json: &mut Vec<u8>,
) -> Result<Marks, YamlFault> {
    let text = readable(document)?;
    Transcoder::new(text, Marks::new(marked), json).run()
}

/// The document as text, without byte order mark, if every character may stand in YAML.
fn readable(document: &[u8]) -> Result<&str, YamlFault> {
    let text = str::from_utf8(document).map_err(|fault| {
        let valid = document.get(..fault.valid_up_to()).unwrap_or_default();
        fault_after(valid, "invalid UTF-8")
    })?;
    if let Some(at) = first_unprintable(text) {
        let before = text.as_bytes().get(..at).unwrap_or_default();
        return Err(fault_after(before, "control characters are not allowed"));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// A fault right after some valid text.
fn fault_after(before: &[u8], reason: &str) -> YamlFault {
    let text = String::from_utf8_lossy(before);
    let line = text.rsplit('\n').next().unwrap_or_default();
    YamlFault {
        line: 1 + memchr::memchr_iter(b'\n', before).count() as u64,
        column: 1 + line.chars().count() as u64,
        malformed: FbcErrorKind::Yaml {
            reason: reason.into(),
        },
    }
}

/// Where the first character stands that YAML does not allow.
fn first_unprintable(text: &str) -> Option<usize> {
    let (blocks, tail) = text.as_bytes().as_chunks::<64>();
    if blocks.iter().all(|block| is_plain(block)) && is_plain(tail) {
        return None;
    }
    text.char_indices()
        .find(|&(_, c)| !is_printable(c))
        .map(|(at, _)| at)
}

/// Whether all bytes are printable ASCII or line feeds; without a branch per byte.
fn is_plain(block: &[u8]) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'\n' | b' '..=b'~');
    block.iter().fold(true, |all, &byte| all & is_plain(byte))
}

fn is_printable(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => !other.is_control(),
    }
}
