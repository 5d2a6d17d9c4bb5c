//! Digests that may become the names of files.

use crate::source::cache::CacheError;

/// A digest such as `sha256:1a2b...`: lower-case letters and digits, a colon, lower-case hexadecimal.
///
/// Invariant: it has no other character, so no name made from it leads anywhere but into its folder.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Digest {
    algorithm: Box<str>,
    hex: Box<str>,
}

impl Digest {
    /// Reads a digest as an image reference ends with it.
    pub(super) fn parse(text: &str) -> Result<Self, CacheError> {
        Self::split(text, ':').ok_or_else(|| CacheError::Digest {
            found: text.to_owned(),
        })
    }

    /// Reads it from what [`Digest::stem`] returned.
    pub(super) fn of_stem(stem: &str) -> Option<Self> {
        Self::split(stem, '-')
    }

    /// The beginning of the names of its files.
    pub(super) fn stem(&self) -> String {
        format!("{}-{}", self.algorithm, self.hex)
    }

    fn split(text: &str, at: char) -> Option<Self> {
        let (algorithm, hex) = text.split_once(at)?;
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        let is_one = (1..=ALGORITHM_LIMIT).contains(&algorithm.len())
            && algorithm.chars().all(is_word)
            && (HEX_LEAST..=HEX_LIMIT).contains(&hex.len())
            && hex.chars().all(is_hex);
        is_one.then(|| Self {
            algorithm: algorithm.into(),
            hex: hex.into(),
        })
    }
}

/// `sha256`, `sha512` and whatever comes.
const ALGORITHM_LIMIT: usize = 16;

/// 128 bits, below which contents could be made to share a digest by accident.
const HEX_LEAST: usize = 32;

/// 512 bits.
const HEX_LIMIT: usize = 128;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_digest_names_no_file() {
        let hex = "1a".repeat(32);
        let long = format!("sha256:{}", "1a".repeat(65));
        for text in [
            "",
            ":",
            "sha256",
            "sha256:",
            "sha256:1a2b",
            &hex,
            &format!(":{hex}"),
            &format!("sha256-{hex}"),
            &format!("SHA256:{hex}"),
            &format!("sha256:{}", hex.to_uppercase()),
            &format!("sha256:../{hex}"),
            &format!("../sha256:{hex}"),
            &format!("sha+b64:{hex}"),
            &format!("sha256:{hex}\n"),
            &format!("sha256:{hex}:{hex}"),
            &long,
        ] {
            let refused = Digest::parse(text).map_err(|error| error.to_string());
            let expected = format!(
                "digest {text:?}: expected one such as sha256: and 64 hexadecimal digits; it is not \
                 cached"
            );
            assert_eq!(refused, Err(expected));
        }
    }

    proptest! {
        #[test]
        fn a_digest_comes_back_from_its_name(text in "[a-z0-9]{1,16}:[0-9a-f]{32,128}") {
            let digest = Digest::parse(&text).unwrap();
            prop_assert_eq!(Digest::of_stem(&digest.stem()), Some(digest.clone()));
            prop_assert_eq!(digest.stem(), text.replace(':', "-"));
        }

        #[test]
        fn whatever_it_is_its_name_stays_in_its_folder(text: String) {
            if let Ok(digest) = Digest::parse(&text) {
                prop_assert!(!digest.stem().contains(['/', '.', '\0']));
            }
        }
    }
}
