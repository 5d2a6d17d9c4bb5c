//! The body of a request as text: what RFC 8259 asks of JSON before its grammar.

use crate::admission::ReviewError;

/// The text of a body.
pub(super) fn text(body: &[u8]) -> Result<&str, ReviewError> {
    if body.is_empty() {
        return Err(ReviewError::Empty);
    }
    if body.starts_with(BYTE_ORDER_MARK) {
        return Err(ReviewError::ByteOrderMark);
    }
    let text = std::str::from_utf8(body).map_err(|error| ReviewError::NotUtf8 {
        at: error.valid_up_to(),
    })?;
    match memchr::memchr(0, body) {
        Some(at) => Err(ReviewError::Nul { at }),
        None => Ok(text),
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
