//! Base64 as Go's `StdEncoding` reads it: padded; line breaks are ignored, and spare bits are not
//! checked.
//!
//! Whole catalogs consist of little else, so the usual form is checked with vector instructions.
//! Only text that fails this check is read byte by byte.

/// Whether Go can decode `text`.
pub(crate) fn is_valid(text: &[u8]) -> bool {
    base64_simd::STANDARD.check(text).is_ok() || decode(text).is_some()
}

/// Decodes `text`.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    if let Ok(bytes) = base64_simd::STANDARD.decode_to_vec(text) {
        return Some(bytes);
    }
    let kept = text
        .iter()
        .copied()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'));
    decode_groups(&kept.collect::<Vec<_>>())
}

fn decode_groups(text: &[u8]) -> Option<Vec<u8>> {
    let (groups, rest) = text.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let Some((last, whole)) = groups.split_last() else {
        return Some(Vec::new());
    };
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    for &group in whole {
        bytes.extend(decode_group(group)?);
    }
    let padding = last.iter().rev().take_while(|&&byte| byte == b'=').count();
    let filled = last.map(|byte| if byte == b'=' { b'A' } else { byte });
    let starts_with_padding = last.iter().take(4 - padding).any(|&byte| byte == b'=');
    if padding > 2 || starts_with_padding {
        return None;
    }
    bytes.extend(decode_group(filled)?.iter().take(3 - padding));
    Some(bytes)
}

fn decode_group(group: [u8; 4]) -> Option<[u8; 3]> {
    let mut bits = 0_u32;
    for byte in group {
        bits = bits << 6 | u32::from(sextet(byte)?);
    }
    let [_, first, second, third] = bits.to_be_bytes();
    Some([first, second, third])
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, want: Option<&[u8]>) {
        assert_eq!(decode(text.as_bytes()).as_deref(), want, "{text:?}");
        assert_eq!(is_valid(text.as_bytes()), want.is_some(), "{text:?}");
    }

    #[test]
    fn reads_what_go_reads() {
        reads("", Some(b""));
        reads("e30=", Some(b"{}"));
        reads("e3 0=", None);
        reads("e30", None);
        reads("e30==", None);
        reads("e===", None);
        reads("ew==", Some(b"{"));
        reads("ex==", Some(b"{"));
        reads("e=0=", None);
        reads("ew==e30=", None);
        reads("e3\n0=\r\n", Some(b"{}"));
        reads("ew=\n=\n", Some(b"{"));
        reads("e-_=", None);
        reads("++//", Some(b"\xfb\xef\xff"));
        reads("====", None);
    }
}
