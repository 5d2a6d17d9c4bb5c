//! A whole blob of a catalog: the members that identify it, and all others as written.

use std::collections::BTreeMap;

use crate::see::written_release;
use olmguard_catalog::blob::JsonKind;
use olmguard_catalog::fbc::FbcErrorKind;
use olmguard_catalog::fbc::json::{Cursor, CursorResult, Halt, fold_of};
use olmguard_catalog::version::{Version, VersionRelease};

/// A blob as written. Its place does not affect equality.
#[derive(Clone, Debug, Eq)]
pub struct BlobText {
    /// The members.
    pub(super) members: WrittenMembers,
    /// Place in error messages, empty if the blob is in no file.
    pub(super) place: Box<str>,
}

impl PartialEq for BlobText {
    fn eq(&self, other: &Self) -> bool {
        self.members == other.members
    }
}

impl BlobText {
    /// Creates a blob with these members.
    pub fn new(members: WrittenMembers) -> Self {
        Self::at("", members)
    }

    /// Creates a blob from a place in a file.
    pub(super) fn at(place: &str, members: WrittenMembers) -> Self {
        let place = place.into();
        Self { members, place }
    }

    /// Creates a blob of a schema, with these keys and texts.
    pub(super) fn of(schema: &str, texts: &[(&str, &str)]) -> Self {
        let mut members = WrittenMembers::default();
        members.put("schema", schema.into());
        for (key, text) in texts {
            members.put(key, (*text).into());
        }
        Self::new(members)
    }

    /// Returns the schema, such as `olm.bundle`, empty if there is none.
    pub fn schema(&self) -> &str {
        self.text("schema")
    }

    /// Returns the name of the blob.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// Returns the package of the blob, which is the name of an `olm.package`. Empty if there is none.
    pub fn package(&self) -> &str {
        if self.schema() == PACKAGE {
            self.name()
        } else {
            self.text("package")
        }
    }

    /// Returns the version of a bundle, if it can be read.
    pub fn version(&self) -> Option<Version> {
        let property = self.properties("olm.package").next()?;
        Version::parse(property.text("version")).ok()
    }

    /// Returns the version and the release of a bundle, if they can be read.
    pub(super) fn release(&self) -> Option<VersionRelease> {
        let property = self.properties("olm.package").next()?;
        written_release(property.text("version"), property.text("release"))
    }

    /// Returns the text of a key, empty if there is none.
    pub(super) fn text(&self, key: &str) -> &str {
        let value = self.members.get(key);
        value.and_then(WrittenValue::as_str).unwrap_or_default()
    }

    /// Removes the entries about these bundles from deprecations.
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

    /// Returns the values of the properties of a type.
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

// === A blob as written: every key, every list, and the text of every number ===
//
// The index of a catalog drops what does not affect decisions. A catalog that is written again must keep it.
// Of equal keys, the last counts, and keys are sorted, as in operator-registry. Numbers keep their text. In
// operator-registry, they pass through a 64-bit float.
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
    /// Returns the text, if the value is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items, if the value is a list. Otherwise returns an empty slice.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the value of a key in any case, if the value is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.members()?.get(key)
    }

    /// Returns the text of a key, empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Self::as_str).unwrap_or_default()
    }

    /// Returns the type of the value, in words.
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

    /// Returns the members, if the value is an object.
    pub fn members(&self) -> Option<&WrittenMembers> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }
}

impl WrittenMembers {
    /// Returns the value of a key. If the exact key does not exist, the result is the value of its last spelling in
    /// byte order that is not null, as in Go's decoder.
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

    /// Removes a key in every spelling. Returns the value that [`Self::get`] found.
    pub fn take(&mut self, key: &str) -> Option<WrittenValue> {
        let taken = self.get(key).cloned();
        self.0.retain(|own, _| fold_of(own, key).is_none());
        taken
    }

    /// Sets the value of a key, and removes its other spellings.
    pub fn put(&mut self, key: &str, value: WrittenValue) {
        self.take(key);
        self.0.insert(key.into(), value);
    }

    /// Returns the keys with their values, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &WrittenValue)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for WrittenValue {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

/// Reads one JSON value, and ignores what follows it.
///
/// # Errors
/// If the text is not JSON, or exceeds the limits of a blob.
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

/// Reads the next value at this depth.
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

/// Maximum nesting of a blob that is kept whole. Values are processed recursively.
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
