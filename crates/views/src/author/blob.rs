//! A blob of a catalog, whole, with the members that it is filed by and all else as it is written.

use std::collections::BTreeMap;

use olmguard_catalog::blob::JsonKind;
use olmguard_catalog::fbc::FbcErrorKind;
use olmguard_catalog::fbc::json::{Cursor, CursorResult, Halt, fold_of};
use olmguard_catalog::version::Version;

/// A blob as written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BlobText {
    members: WrittenMembers,
    place: BlobOrigin,
}

/// Where a blob is, as faults name it; empty if it is in no file. Two blobs are equal wherever they are.
#[derive(Clone, Debug, Default, Eq)]
struct BlobOrigin(Box<str>);

impl PartialEq for BlobOrigin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl BlobText {
    /// A blob of these members.
    pub fn new(members: WrittenMembers) -> Self {
        Self::at("", members)
    }

    /// The same from a place in a file.
    pub(super) fn at(place: &str, members: WrittenMembers) -> Self {
        let place = BlobOrigin(place.into());
        Self { members, place }
    }

    /// Where it is.
    pub(super) fn place(&self) -> &str {
        &self.place.0
    }

    /// A blob of a schema, with texts under their keys.
    pub(super) fn of(schema: &str, texts: &[(&str, &str)]) -> Self {
        let mut members = WrittenMembers::default();
        members.put("schema", schema.into());
        for (key, text) in texts {
            members.put(key, (*text).into());
        }
        Self::new(members)
    }

    /// What it is, such as `olm.bundle`; empty where it does not say.
    pub fn schema(&self) -> &str {
        self.text("schema")
    }

    /// Its own name.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// The package it belongs to: its own name if it is an `olm.package`; empty for none.
    pub fn package(&self) -> &str {
        if self.schema() == PACKAGE {
            self.name()
        } else {
            self.text("package")
        }
    }

    /// The version of a bundle, if it has one that can be read.
    pub fn version(&self) -> Option<Version> {
        let property = self.properties("olm.package").next()?;
        Version::parse(property.text("version")).ok()
    }

    /// Its members.
    pub fn members(&self) -> &WrittenMembers {
        &self.members
    }

    /// Its members, to be changed.
    pub(super) fn members_mut(&mut self) -> &mut WrittenMembers {
        &mut self.members
    }

    /// The text of a key; empty where there is none.
    pub(super) fn text(&self, key: &str) -> &str {
        let value = self.members.get(key);
        value.and_then(WrittenValue::as_str).unwrap_or_default()
    }

    /// Takes the entries about these bundles out of deprecations.
    pub(super) fn drop_references(&mut self, bundles: &[Box<str>]) {
        let Some(WrittenValue::List(mut entries)) = self.members.get("entries").cloned() else {
            return;
        };
        entries.retain(|entry| {
            let name = |reference: &WrittenValue| {
                let name = reference.text("name");
                reference.text("schema") == BUNDLE && bundles.iter().any(|own| **own == *name)
            };
            !entry.get("reference").is_some_and(name)
        });
        self.members.put("entries", WrittenValue::List(entries));
    }

    /// The values of its properties of a type.
    pub(super) fn properties(&self, of_type: &str) -> impl Iterator<Item = &WrittenValue> {
        let all = self.members.get("properties").map(WrittenValue::items);
        let properties = all.unwrap_or_default().iter();
        let of_type = properties.filter(move |property| property.text("type") == of_type);
        of_type.filter_map(|property| property.get("value"))
    }
}

pub(super) const PACKAGE: &str = "olm.package";
pub(super) const CHANNEL: &str = "olm.channel";
pub(super) const BUNDLE: &str = "olm.bundle";
pub(super) const GUARDRAILS: &str = olmguard_catalog::guardrail::SCHEMA;
pub(super) const DEPRECATIONS: &str = "olm.deprecations";

// === A blob as it is written: every key, every list, and the text of every number ===
//
// Reading for decisions throws away what does not decide; a catalog that is written again must not.
// Equal keys are one, the last counts, and keys are kept sorted, as operator-registry keeps them;
// unlike there a number does not pass through a 64-bit float, its text stays.
//
// Upstream: `Meta.UnmarshalJSON` of operator-registry, [`alpha/declcfg/declcfg.go`].
//
// [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go

/// A JSON value.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum WrittenValue {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written.
    Number(Box<str>),
    /// A string.
    String(Box<str>),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Object(WrittenMembers),
}

/// The members of an object, by key.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WrittenMembers(pub(super) BTreeMap<Box<str>, WrittenValue>);

impl WrittenValue {
    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if it is a list; none if it is not.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The value of a key, if it is an object that has it; spelled with other case if need be.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.members()?.get(key)
    }

    /// The text of a key; empty where there is none.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Self::as_str).unwrap_or_default()
    }

    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    /// The members, if it is an object.
    pub fn members(&self) -> Option<&WrittenMembers> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }
}

impl WrittenMembers {
    /// The value of a key; where the key is not there as such, of its last spelling in byte order
    /// that is not null, as Go's decoder takes it.
    pub fn get(&self, key: &str) -> Option<&WrittenValue> {
        let other = || {
            let folded = self.0.iter().rev();
            let mut folded = folded.filter(|(own, value)| {
                fold_of(own, key).is_some() && **value != WrittenValue::Null
            });
            folded.next().map(|(_, value)| value)
        };
        self.0.get(key).or_else(other)
    }

    /// Takes a key out, in every spelling; what [`Self::get`] said of it.
    pub fn take(&mut self, key: &str) -> Option<WrittenValue> {
        let taken = self.get(key).cloned();
        self.0.retain(|own, _| fold_of(own, key).is_none());
        taken
    }

    /// Puts a value under a key in place of all its spellings.
    pub fn put(&mut self, key: &str, value: WrittenValue) {
        self.take(key);
        self.0.insert(key.into(), value);
    }

    /// The keys with their values, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &WrittenValue)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for WrittenValue {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

/// Reads one JSON value. What follows it is not looked at.
///
/// # Errors
/// What makes it no JSON, or more than is kept of one blob.
pub(crate) fn parse(json: &[u8]) -> Result<WrittenValue, FbcErrorKind> {
    read(&mut Cursor::new(json)).map_err(|halt| match halt {
        Halt::Incomplete => FbcErrorKind::Truncated,
        Halt::Malformed { malformed, .. } => malformed,
    })
}

/// Reads the next value.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> CursorResult<WrittenValue> {
    value(cursor, 0)
}

/// Reads the next value, so many levels deep.
fn value(cursor: &mut Cursor<'_>, depth: usize) -> CursorResult<WrittenValue> {
    match cursor.kind()? {
        JsonKind::Null => cursor.skip().map(|()| WrittenValue::Null),
        JsonKind::Boolean => cursor.boolean().map(WrittenValue::Bool),
        JsonKind::Number => {
            let start = cursor.at();
            cursor.skip()?;
            let text = String::from_utf8_lossy(cursor.since(start));
            Ok(WrittenValue::Number(text.into()))
        }
        JsonKind::String => Ok(WrittenValue::String(cursor.string()?.decode().into())),
        JsonKind::List => {
            let depth = deeper(cursor, depth)?;
            let items = cursor.list(|cursor| value(cursor, depth));
            items.map(WrittenValue::List)
        }
        JsonKind::Object => {
            let depth = deeper(cursor, depth)?;
            object(cursor, depth)
        }
    }
}

fn object(cursor: &mut Cursor<'_>, depth: usize) -> CursorResult<WrittenValue> {
    let mut members = WrittenMembers::default();
    cursor.each_member(|cursor, key| {
        cursor.keep()?;
        let value = value(cursor, depth)?;
        members.0.insert(key.decode().into(), value);
        Ok(())
    })?;
    Ok(WrittenValue::Object(members))
}

fn deeper(cursor: &Cursor<'_>, depth: usize) -> CursorResult<usize> {
    if depth == DEPTH_LIMIT {
        let limit = DEPTH_LIMIT;
        return cursor.malformed_at(cursor.at(), FbcErrorKind::TooDeep { limit });
    }
    Ok(depth + 1)
}

/// How deep a blob may nest that is kept whole: values are walked by recursion.
const DEPTH_LIMIT: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> WrittenValue {
        parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn numbers_keep_their_text() {
        let numbers = value(r#"{"a": [1.10, 1e+2, 12345678901234567890, -0]}"#);
        let texts: Vec<_> = numbers.get("a").unwrap().items().to_vec();
        let expected = ["1.10", "1e+2", "12345678901234567890", "-0"];
        assert_eq!(
            texts,
            expected.map(|text| WrittenValue::Number(text.into()))
        );
    }

    #[test]
    fn keys_are_found_whatever_their_case() {
        let members = value(r#"{"Name": "a", "nAME": null, "skipRange": "x", "SKIPRANGE": "y"}"#);
        assert_eq!(members.text("name"), "a");
        assert_eq!(members.text("skipRange"), "x");
        assert_eq!(members.text("image"), "");
    }

    #[test]
    fn a_key_is_put_in_place_of_all_its_spellings() {
        let WrittenValue::Object(mut members) = value(r#"{"Name": "a", "NAME": "b", "x": 1}"#)
        else {
            panic!("an object");
        };
        members.put("name", "c".into());
        let keys: Vec<_> = members.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["name", "x"]);
    }

    #[test]
    fn depth_has_its_limit() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(DEPTH_LIMIT).as_bytes()).is_ok());
        let fault = parse(nested(DEPTH_LIMIT + 1).as_bytes());
        assert_eq!(fault, Err(FbcErrorKind::TooDeep { limit: DEPTH_LIMIT }));
        assert_eq!(parse(b"{\"a\": [1"), Err(FbcErrorKind::Truncated));
    }
}
