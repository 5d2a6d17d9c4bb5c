//! Text under `!!binary`: base64 with padding, as Go's `base64.StdEncoding` reads it (line breaks
//! are skipped). Bytes that are not UTF-8 become U+FFFD, as Go's encoding/json writes them.

use super::ScalarError;

pub(super) fn decode(text: &str) -> Result<String, ScalarError> {
    let letters: Vec<u8> = text
        .bytes()
        .filter(|b| !matches!(b, b'\r' | b'\n'))
        .collect();
    let (groups, rest) = letters.as_chunks::<4>();
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    let mut closed = !rest.is_empty();
    for group in groups {
        let decoded = if closed { None } else { decode_group(*group) };
        let (decoded, len) = decoded.ok_or(ScalarError::NotBase64)?;
        closed = len < decoded.len();
        bytes.extend(decoded.into_iter().take(len));
    }
    if rest.is_empty() {
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    } else {
        Err(ScalarError::NotBase64)
    }
}

/// Three bytes, and how many of them count.
fn decode_group([a, b, c, d]: [u8; 4]) -> Option<([u8; 3], usize)> {
    let (len, c, d) = match (c, d) {
        (b'=', b'=') => (1, 0, 0),
        (c, b'=') => (2, sextet(c)?, 0),
        (c, d) => (3, sextet(c)?, sextet(d)?),
    };
    let bits = sextet(a)? << 18 | sextet(b)? << 12 | c << 6 | d;
    let [_, bytes @ ..] = bits.to_be_bytes();
    Some((bytes, len))
}

fn sextet(letter: u8) -> Option<u32> {
    Some(u32::from(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}
