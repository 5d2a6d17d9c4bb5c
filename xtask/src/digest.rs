//! The one digest that registries, package managers and `sha256sum` agree on.

use sha2::{Digest, Sha256};

/// In hexadecimal digits.
pub(crate) fn sha256(content: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(content))
}
