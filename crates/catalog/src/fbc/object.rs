//! Whether the data of an `olm.bundle.object` property can be read.
//!
//! operator-controller decodes it when it loads a package and throws it away; data that cannot be
//! decoded fails the package. Text that begins with `{` is taken as it is, valid or not; other
//! text must be YAML. Upstream: `readBundleObjects` of operator-registry,
//! [`alpha/declcfg/load.go`], and `ToJSON` of apimachinery, [`pkg/util/yaml/decoder.go`].
//!
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

use super::base64;
use super::json::RawString;
use super::yaml;

/// Why the data cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum DataFault {
    /// It is not base64.
    Base64,
    /// What it decodes to is neither a JSON object nor YAML.
    Yaml(Box<str>),
}

/// Checks data as it stands in JSON, encoded.
pub(crate) fn check_encoded(data: RawString<'_>) -> Result<(), DataFault> {
    let decoded;
    let text = if let Some(text) = data.plain() {
        text
    } else {
        decoded = data.decode();
        decoded.as_bytes()
    };
    let head = base64::decode_head(text).unwrap_or_default();
    if first_visible(&head) == Some(b'{') && base64::is_valid(text) {
        return Ok(());
    }
    check(&base64::decode(text).ok_or(DataFault::Base64)?)
}

/// Checks data as such.
pub(crate) fn check(data: &[u8]) -> Result<(), DataFault> {
    if begins_with_brace(data) {
        return Ok(());
    }
    yaml::to_json(data)
        .map(drop)
        .map_err(|fault| DataFault::Yaml(fault.malformed.to_string().into()))
}

/// Whether the first character that is no Unicode white space is `{`.
pub fn begins_with_brace(text: &[u8]) -> bool {
    let first = text.utf8_chunks().next();
    let valid = first.as_ref().map_or("", |chunk| chunk.valid());
    valid.trim_start().starts_with('{')
}

/// The first byte that is no ASCII blank.
fn first_visible(text: &[u8]) -> Option<u8> {
    text.iter()
        .copied()
        .find(|byte| !byte.is_ascii_whitespace())
}
