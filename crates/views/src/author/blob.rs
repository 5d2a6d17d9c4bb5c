//! A blob of a catalog, whole, with the members that it is filed by.

use olmguard_catalog::version::Version;

use crate::author::value::{WrittenMembers, WrittenValue};

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
