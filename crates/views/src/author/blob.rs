//! One blob of a catalog, whole, with what it is filed by; and the bundles at hand, by image.

use std::collections::BTreeMap;

use olmguard_catalog::version::{Version, go};

use crate::author::value::{WrittenMembers, WrittenValue};
use crate::author::written::CatalogText;

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

/// The bundles of some catalogs, by image: what opm would pull from a registry.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    by_image: BTreeMap<Box<str>, BlobText>,
}

/// Why a bundle cannot be had.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ShelfError {
    /// No bundle on the shelf has one of these images.
    #[error(
        "no bundle of image {} among those of --bundles: expected an olm.bundle with {}, such \
         as \"opm render {}\" prints it",
        quoted(images),
        if images.len() == 1 { "this image" } else { "each of these images" },
        go::escape(images.first().map_or("", |image| image))
    )]
    NotFound {
        /// The images, as the template names them, each once; at least one.
        images: Vec<Box<str>>,
    },
    /// Two bundles that differ have one image.
    #[error(
        "two bundles of image {} among those of --bundles, {} at {} and {} at {}: expected one",
        go::quote(image),
        go::quote(&first.0),
        go::escape(&first.1),
        go::quote(&second.0),
        go::escape(&second.1)
    )]
    Differ {
        /// Their image.
        image: Box<str>,
        /// The name of the one, and its place.
        first: (Box<str>, Box<str>),
        /// The name of the other, perhaps the same, and its place.
        second: (Box<str>, Box<str>),
    },
}

fn quoted(images: &[Box<str>]) -> String {
    let images: Vec<_> = images.iter().map(|image| go::quote(image)).collect();
    images.join(", ")
}

impl Shelf {
    /// The bundles of a catalog. The same bundle may be there more than once.
    ///
    /// # Errors
    /// [`ShelfError::Differ`].
    pub fn of(catalog: &CatalogText) -> Result<Self, ShelfError> {
        let mut shelf = Self::default();
        let bundles = catalog
            .blobs()
            .iter()
            .filter(|blob| blob.schema() == BUNDLE);
        for bundle in bundles {
            let image = bundle.text("image");
            match shelf.by_image.get(image) {
                Some(first) if first != bundle => {
                    return Err(ShelfError::Differ {
                        image: image.into(),
                        first: (first.name().into(), first.place().into()),
                        second: (bundle.name().into(), bundle.place().into()),
                    });
                }
                _ => shelf.by_image.insert(image.into(), bundle.clone()),
            };
        }
        Ok(shelf)
    }

    /// Checks that there is a bundle of each of these images.
    ///
    /// # Errors
    /// [`ShelfError::NotFound`], with every image that has none.
    pub fn check<'i>(&self, images: impl Iterator<Item = &'i str>) -> Result<(), ShelfError> {
        let mut missing: Vec<Box<str>> = Vec::new();
        for image in images.filter(|image| self.bundle(image).is_err()) {
            if !missing.iter().any(|known| **known == *image) {
                missing.push(image.into());
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(ShelfError::NotFound { images: missing })
    }

    /// The bundle of an image.
    ///
    /// # Errors
    /// [`ShelfError::NotFound`].
    pub fn bundle(&self, image: &str) -> Result<&BlobText, ShelfError> {
        let found = self.by_image.get(image).filter(|_| !image.is_empty());
        found.ok_or_else(|| ShelfError::NotFound {
            images: vec![image.into()],
        })
    }
}
