//! The structs that operator-controller decodes blobs into, as far as their types matter.
//!
//! Every field of the Go structs is read here, at least to check its type, because a wrong type
//! fails the package. Upstream: operator-registry, [`alpha/declcfg/declcfg.go`] and
//! [`alpha/property/property.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go

pub(crate) mod csv;
pub(crate) mod property;

use std::borrow::Cow;

use crate::base64;
use crate::blob::{ChannelEntry, DeprecationEntry, Fault, JsonKind};
use crate::fbc::json::{Cursor, CursorResult, JsonRecord, RawString};
use crate::fbc::yaml;
use crate::install_facts::InstallFacts;
use crate::memory::Loan;

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

/// The target of an entry of an `olm.deprecations`.
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

/// An item of a bundle's `relatedImages`. Only its types are checked.
#[derive(Default)]
pub(crate) struct RelatedImage;

impl<'a> JsonRecord<'a> for RelatedImage {
    const FIELDS: &'static [&'static str] = &["name", "image"];

    fn read(&mut self, _: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        cursor.skip_text()
    }
}

/// A package's `icon`. Only its types are checked.
#[derive(Default)]
pub(crate) struct Icon;

impl<'a> JsonRecord<'a> for Icon {
    const FIELDS: &'static [&'static str] = &["base64data", "mediatype"];
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => {
                if let Some(data) = cursor.binary()?
                    && !data.is_valid()
                {
                    let path = cursor.path();
                    cursor.note(Fault::Base64 { path });
                }
                Ok(())
            }
            _ => cursor.skip_text(),
        }
    }
}

/// The value of an `olm.bundle.object` property. Its data must be readable.
#[derive(Default)]
pub(crate) struct BundleObject {
    /// Facts about the installation, if the object is a CSV.
    pub(crate) csv: Option<InstallFacts>,
}

impl<'a> JsonRecord<'a> for BundleObject {
    const FIELDS: &'static [&'static str] = &["data"];

    fn read(&mut self, _: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if let Some(data) = cursor.binary()? {
            self.csv = cursor.manifest(&data)?;
        }
        Ok(())
    }
}

/// A Go `[]byte` in JSON.
enum Binary<'a> {
    /// Base64 in a string.
    Encoded(RawString<'a>),
    /// A list of numbers.
    Octets(Vec<u8>),
}

impl Binary<'_> {
    /// Whether Go can decode the data.
    fn is_valid(&self) -> bool {
        match self {
            Self::Encoded(text) => base64::is_valid(&encoded(text)),
            Self::Octets(_) => true,
        }
    }

    fn decoded(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Encoded(text) => base64::decode(&encoded(text)).map(Cow::Owned),
            Self::Octets(octets) => Some(Cow::Borrowed(octets)),
        }
    }
}

/// The bytes of a base64 string, which hardly ever has escapes.
fn encoded<'a>(text: &RawString<'a>) -> Cow<'a, [u8]> {
    match text.plain() {
        Some(plain) => Cow::Borrowed(plain),
        None => Cow::Owned(text.decode().into_owned().into_bytes()),
    }
}

impl<'a> Cursor<'a> {
    /// Reads a Go `[]byte`. Another type is a fault.
    fn binary(&mut self) -> CursorResult<Option<Binary<'a>>> {
        Ok(match self.kind()? {
            JsonKind::String => Some(Binary::Encoded(self.string()?)),
            JsonKind::List => Some(Binary::Octets(self.list(Self::octet)?)),
            found => {
                self.skip_instead(found, "base64 in a string")?;
                None
            }
        })
    }

    /// Reads a manifest from the text just passed. Returns facts about the installation, if it is a
    /// CSV.
    fn manifest(&mut self, data: &Binary<'_>) -> CursorResult<Option<InstallFacts>> {
        let loan = self.lend(match data {
            Binary::Encoded(text) if text.plain().is_some() => text.len(),
            // The text without escapes, and without line breaks in a list that grows.
            Binary::Encoded(text) => 4 * text.len(),
            Binary::Octets(_) => 0,
        })?;
        let fault = match data.decoded().map(|data| read_object(&data, loan)) {
            Some(Ok(facts)) => return Ok(facts),
            Some(Err(reason)) => Fault::ObjectData {
                path: self.path(),
                reason,
            },
            None => Fault::Base64 { path: self.path() },
        };
        self.note(fault);
        Ok(None)
    }

    /// Reads a number from 0 to 255. Null is 0.
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

/// Returns a number as a byte, if it is a whole number from 0 to 255. `1e2` is valid, because
/// catalogd re-encodes numbers.
fn octet(number: &str) -> Option<u8> {
    let number = number.parse::<f64>().ok()?;
    (number.fract() == 0.0).then(|| format!("{number:.0}").parse().ok())?
}

const OCTET: &str = "a whole number from 0 to 255";

// === The data of an `olm.bundle.object` property ===
//
// operator-controller decodes the data when it loads a package, and then discards it. Data that
// cannot be decoded fails the package. Text that starts with `{` is used as it is, valid or not;
// other text must be YAML. Upstream: `readBundleObjects` of operator-registry,
// [`alpha/declcfg/load.go`], and `ToJSON` of apimachinery, [`pkg/util/yaml/decoder.go`].
//
// [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
// [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

/// Reads data. Returns facts about the installation, if it is a CSV.
///
/// # Errors
/// The error of the YAML reader, if the data is neither a JSON object nor YAML.
fn read_object(data: &[u8], mut loan: Loan) -> Result<Option<InstallFacts>, Box<str>> {
    if begins_with_brace(data) {
        return Ok(csv::of_manifest(data, loan));
    }
    let json = yaml::to_json(data).map_err(|fault| fault.malformed.to_string())?;
    // If there is not enough memory, the account records a refusal, and the catalog fails.
    let has_room = loan.more(json.capacity()).is_ok();
    Ok(has_room.then(|| csv::of_manifest(&json, loan)).flatten())
}

/// Whether the first character other than Unicode white space is `{`.
pub fn begins_with_brace(text: &[u8]) -> bool {
    let first = text.utf8_chunks().next();
    let valid = first.as_ref().map_or("", |chunk| chunk.valid());
    valid.trim_start().starts_with('{')
}
