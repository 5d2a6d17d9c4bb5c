//! SHA-256 digests of contents, as pinned URLs and images name them.

use std::str::FromStr;

use ring::digest::{Context, SHA256};

/// The SHA-256 of some bytes; its text is `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, derive_more::Debug, derive_more::Display, Eq, Ord, PartialEq, PartialOrd)]
#[debug("{self}")]
#[display("sha256:{}", self.hex())]
pub struct Sha256([u8; 32]);

/// A digest that is not a SHA-256.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("digest {found:?}: expected sha256: and 64 lower-case hexadecimal digits")]
pub struct DigestError {
    /// The text, cut to 100 characters.
    pub found: Box<str>,
}

impl Sha256 {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut context = Sha256Context::default();
        context.update(bytes);
        context.finish()
    }

    /// The digest with these 64 hexadecimal digits, in either case.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if hex.len() != bytes.len() * 2 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The digest without its algorithm: 64 digits.
    pub fn hex(self) -> String {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digit = |value| char::from_digit(u32::from(value), 16).unwrap_or_default();
        digits.map(digit).collect()
    }
}

/// The digest of bytes that arrive in pieces.
pub(crate) struct Sha256Context(Context);

impl Default for Sha256Context {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Sha256Context {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Sha256 {
        let digest = self.0.finish();
        Sha256(digest.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}

/// Parses a digest as the image spec writes it: upper case is refused.
impl FromStr for Sha256 {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix("sha256:");
        let hex = hex.filter(|hex| !hex.bytes().any(|byte| byte.is_ascii_uppercase()));
        hex.and_then(Self::from_hex).ok_or_else(|| DigestError {
            found: text.chars().take(SHOWN).collect::<String>().into(),
        })
    }
}

const SHOWN: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_printed_as_it_is_read() {
        let text = Sha256::of(b"").to_string();
        assert_eq!(
            text,
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(text.parse(), Ok(Sha256::of(b"")));
        let upper = Sha256::of(b"").hex().to_uppercase();
        assert_eq!(Sha256::from_hex(&upper), Some(Sha256::of(b"")));
    }

    #[test]
    fn other_texts_are_refused() {
        let upper = Sha256::of(b"").to_string().to_uppercase();
        let upper = upper.replace("SHA256", "sha256");
        for text in [
            "",
            "sha256:",
            "sha256:00",
            "sha512:00",
            &upper,
            &"é".repeat(32),
        ] {
            assert!(text.parse::<Sha256>().is_err(), "{text}");
        }
    }
}
