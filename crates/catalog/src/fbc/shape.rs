//! The structs that operator-controller decodes blobs into, as far as their types matter.
//!
//! Every field of the Go structs is read here, if only to see that it has its type: a wrong one
//! fails the package. Upstream: operator-registry, [`alpha/declcfg/declcfg.go`] and
//! [`alpha/property/property.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go

pub(crate) mod property;

use crate::blob::{ChannelEntry, DeprecationEntry, Fault, JsonKind};
use crate::fbc::json::{Cursor, CursorResult, JsonRecord, RawString};
use crate::fbc::{base64, yaml};

pub(crate) use crate::fbc::shape::property::BundleProperties;

impl<'a> JsonRecord<'a> for ChannelEntry<'a> {
    const FIELDS: &'static [&'static str] = &["name", "replaces", "skips", "skipRange"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => self.name = cursor.text()?,
            1 => self.replaces = cursor.text()?,
            2 => self.skips = cursor.list(Cursor::text)?,
            _ => self.skip_range = cursor.text()?,
        }
        Ok(())
    }
}

impl<'a> JsonRecord<'a> for DeprecationEntry<'a> {
    const FIELDS: &'static [&'static str] = &["reference", "message"];
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index == 0 {
            let Reference(target) = cursor.record()?;
            self.schema = target.schema;
            self.name = target.name;
        } else {
            self.message = cursor.text()?;
        }
        Ok(())
    }
}

/// What an entry of an `olm.deprecations` refers to.
#[derive(Default)]
struct Reference<'a>(DeprecationEntry<'a>);

impl<'a> JsonRecord<'a> for Reference<'a> {
    const FIELDS: &'static [&'static str] = &["schema", "name"];
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        let text = cursor.text()?;
        match index {
            0 => self.0.schema = text,
            _ => self.0.name = text,
        }
        Ok(())
    }
}

/// An item of a bundle's `relatedImages`, of which only the types matter.
#[derive(Default)]
pub(crate) struct RelatedImage;

impl<'a> JsonRecord<'a> for RelatedImage {
    const FIELDS: &'static [&'static str] = &["name", "image"];

    fn read(&mut self, _: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        cursor.skip_text()
    }
}

/// A package's `icon`, of which only the types matter.
#[derive(Default)]
pub(crate) struct Icon;

impl<'a> JsonRecord<'a> for Icon {
    const FIELDS: &'static [&'static str] = &["base64data", "mediatype"];
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => cursor.binary(Binary::Any),
            _ => cursor.skip_text(),
        }
    }
}

/// The value of an `olm.bundle.object` property: its data must be readable.
#[derive(Default)]
pub(crate) struct BundleObject;

impl<'a> JsonRecord<'a> for BundleObject {
    const FIELDS: &'static [&'static str] = &["data"];

    fn read(&mut self, _: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        cursor.binary(Binary::Object)
    }
}

/// What binary data must be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Binary {
    /// Anything.
    Any,
    /// A JSON object or YAML.
    Object,
}

impl Binary {
    fn check_bytes(self, bytes: &[u8]) -> Result<(), DataFault> {
        match self {
            Self::Any => Ok(()),
            Self::Object => check_object(bytes),
        }
    }
}

impl Cursor<'_> {
    /// Reads a Go `[]byte`: base64, or a list of numbers.
    pub(crate) fn binary(&mut self, binary: Binary) -> CursorResult<()> {
        let checked = match self.kind()? {
            JsonKind::String => {
                let data = self.string()?;
                match binary {
                    Binary::Any => check_base64(data),
                    Binary::Object => check_encoded_object(data),
                }
            }
            JsonKind::List => binary.check_bytes(&self.list(Self::octet)?),
            found => return self.skip_instead(found, "base64 in a string"),
        };
        if let Err(fault) = checked {
            let path = self.path();
            self.note(match fault {
                DataFault::Base64 => Fault::Base64 { path },
                DataFault::Yaml(reason) => Fault::ObjectData { path, reason },
            });
        }
        Ok(())
    }

    /// Reads a number from 0 to 255; null is 0.
    fn octet(&mut self) -> CursorResult<u8> {
        let found = self.kind()?;
        if found != JsonKind::Number {
            self.skip_instead(found, OCTET)?;
            return Ok(0);
        }
        let octet = octet(self.number()?);
        if octet.is_none() {
            let (path, expected) = (self.path(), OCTET.into());
            self.note(Fault::WrongType {
                path,
                expected,
                found,
            });
        }
        Ok(octet.unwrap_or_default())
    }
}

fn check_base64(data: RawString<'_>) -> Result<(), DataFault> {
    let is_valid = match data.plain() {
        Some(text) => base64::is_valid(text),
        None => base64::is_valid(data.decode().as_bytes()),
    };
    is_valid.then_some(()).ok_or(DataFault::Base64)
}

/// The whole number from 0 to 255 that a number is. `1e2` is one: catalogd writes numbers anew.
fn octet(number: &str) -> Option<u8> {
    let number = number.parse::<f64>().ok()?;
    (number.fract() == 0.0).then(|| format!("{number:.0}").parse().ok())?
}

const OCTET: &str = "a whole number from 0 to 255";

// === Whether the data of an `olm.bundle.object` property can be read ===
//
// operator-controller decodes it when it loads a package and throws it away; data that cannot be
// decoded fails the package. Text that begins with `{` is taken as it is, valid or not; other
// text must be YAML. Upstream: `readBundleObjects` of operator-registry,
// [`alpha/declcfg/load.go`], and `ToJSON` of apimachinery, [`pkg/util/yaml/decoder.go`].
//
// [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
// [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

/// Why the data cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum DataFault {
    /// It is not base64.
    Base64,
    /// What it decodes to is neither a JSON object nor YAML.
    Yaml(Box<str>),
}

/// Checks data as it stands in JSON, encoded.
pub(crate) fn check_encoded_object(data: RawString<'_>) -> Result<(), DataFault> {
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
    check_object(&base64::decode(text).ok_or(DataFault::Base64)?)
}

/// Checks data as such.
pub(crate) fn check_object(data: &[u8]) -> Result<(), DataFault> {
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
