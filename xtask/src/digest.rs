//! The digest that registries, package managers and `sha256sum` have in common.

use sha2::{Digest, Sha256};

/// The digest in hexadecimal digits.
pub(crate) fn sha256(content: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(content))
}
