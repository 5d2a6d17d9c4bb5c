//! A catalog as its author wrote it, written again in the order of opm. Also its bundles, by image.
//!
//! Order: packages by name. Within each: the `olm.package`, channels by name, bundles by name, blobs of
//! other schemas by schema, deprecations. Blobs without a package are last. Equal blobs keep the
//! order of the input. Upstream: operator-registry, [`alpha/declcfg/write.go`],
//! `writeToEncoder`. Unlike upstream, channels and bundles without a package are kept.
//!
//! [`alpha/declcfg/write.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/write.go

use std::collections::BTreeMap;

use crate::author::blob::{BUNDLE, BlobText, CHANNEL, DEPRECATIONS, PACKAGE, WrittenValue};
use crate::author::channel::AuthoredChannel;
use crate::author::{blob, forms};
use olmguard_catalog::blob::{BlobContent, BlobFault, Position};
use olmguard_catalog::fbc::json::{Cursor, CursorResult};
use olmguard_catalog::fbc::{self, BlobPlace, FbcError, Intake, Places, TextOrigin, meta};
use olmguard_catalog::guardrail::{self, UnreadGuardrails};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::go;
use olmguard_catalog::{Catalog, CatalogBuilder};

/// The blobs of a catalog.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CatalogText {
    /// Every blob, in the order read.
    pub blobs: Vec<BlobText>,
}

/// Format of a catalog.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// One document per blob.
    Yaml,
    /// One object per blob, indented by four.
    Json,
}

/// The reason why a file cannot be used as a catalog.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WrittenError {
    /// The file is not a catalog.
    #[error("{}: {}", source.position.in_file(file), source.malformed)]
    File {
        /// Name of the file, as given.
        file: Box<str>,
        /// The fault and its place.
        source: FbcError,
    },
    /// A blob in the file does not fit its schema. The error names the file.
    #[error("{0}")]
    Blob(Box<BlobFault>),
    /// Guardrails in the file cannot be read, so olmguard would deny every upgrade.
    #[error(
        "{}: guardrails of package {}: {unread}",
        position.in_file(file),
        go::quote(package)
    )]
    Guardrails {
        /// Name of the file, as given.
        file: Box<str>,
        /// Place of the blob that contains the guardrails.
        position: Position,
        /// Package of the guardrails.
        package: Box<str>,
        /// The fault.
        unread: UnreadGuardrails,
    },
    /// Guardrails of a package can be read one by one, but not together.
    #[error("guardrails of package {}: {unread}", go::quote(package))]
    Together {
        /// Package of the guardrails.
        package: Box<str>,
        /// The fault.
        unread: UnreadGuardrails,
    },
}

impl CatalogText {
    /// Adds the blobs of one file. Errors call it `name`.
    ///
    /// # Errors
    /// The first fault because of which OLM would refuse the catalog or a package, or olmguard deny every upgrade.
    pub fn read(&mut self, name: &str, text: &[u8]) -> Result<(), WrittenError> {
        let mut whole = WholeCatalog::default();
        let read = fbc::read_into(name, text, &mut whole);
        read.map_err(|source| WrittenError::File {
            file: name.into(),
            source,
        })?;
        if let Some(fault) = whole.fault {
            return Err(fault);
        }
        self.blobs.extend(whole.blobs);
        Ok(())
    }

    /// Returns the bundles of a package.
    pub fn bundles(&self, package: &str) -> impl Iterator<Item = &BlobText> {
        self.of(BUNDLE, package)
    }

    /// Returns the channels of a package.
    pub fn channels(&self, package: &str) -> impl Iterator<Item = &BlobText> {
        self.of(CHANNEL, package)
    }

    /// Returns the blobs of a schema and a package.
    pub(super) fn of(&self, schema: &str, package: &str) -> impl Iterator<Item = &BlobText> {
        let is_it = move |blob: &&BlobText| blob.schema() == schema && blob.package() == package;
        self.blobs.iter().filter(is_it)
    }

    /// Returns a channel of a package for editing.
    pub fn channel(&self, package: &str, name: &str) -> Option<AuthoredChannel> {
        let mut channels = self.channels(package);
        channels
            .find(|blob| blob.name() == name)
            .map(AuthoredChannel::of)
    }

    /// Returns the default channel of a package, empty if there is none.
    pub fn default_channel(&self, package: &str) -> &str {
        let mut packages = self.of(PACKAGE, package);
        packages
            .next()
            .map_or("", |blob| blob.text("defaultChannel"))
    }

    /// Replaces the channel of the same package and name, or adds the channel.
    pub fn put_channel(&mut self, package: &str, channel: AuthoredChannel) {
        let name: Box<str> = channel.name().into();
        let is_it = |blob: &&mut BlobText| {
            blob.schema() == CHANNEL && blob.package() == package && blob.name() == &*name
        };
        let blob = channel.into_blob();
        match self.blobs.iter_mut().find(is_it) {
            Some(old) => *old = blob,
            None => self.blobs.push(blob),
        }
    }

    /// Removes the bundles among these names that no channel of the package contains any more, and their deprecations.
    /// Both would make the catalog invalid. Returns the names of the removed bundles.
    pub fn drop_unlisted(&mut self, package: &str, names: &[Box<str>]) -> Vec<Box<str>> {
        let channels: Vec<_> = self.channels(package).map(AuthoredChannel::of).collect();
        let is_listed = |name: &str| channels.iter().any(|channel| channel.entry(name).is_some());
        let dropped: Vec<_> = names
            .iter()
            .filter(|name| !is_listed(name))
            .cloned()
            .collect();
        self.blobs.retain_mut(|blob| {
            if blob.package() == package && blob.schema() == DEPRECATIONS {
                blob.drop_references(&dropped);
            }
            let is_dropped = dropped.iter().any(|name| **name == *blob.name());
            !(is_dropped && blob.package() == package && blob.schema() == BUNDLE)
        });
        dropped
    }

    /// Renders the whole catalog, in opm's order.
    pub fn to_text(&self, format: Format) -> String {
        let mut blobs: Vec<_> = self.blobs.iter().collect();
        blobs.sort_by_key(|blob| place(blob));
        let mut text = String::new();
        for blob in blobs {
            match format {
                Format::Yaml => forms::yaml(&blob.members, &mut text),
                Format::Json => forms::json(&blob.members, &mut text),
            }
        }
        text
    }
}

/// Returns the sort key of a blob: package, kind, and name or schema. Blobs without a package come last.
fn place(blob: &BlobText) -> (bool, &str, u8, &str) {
    let package = blob.package();
    let (kind, by) = match blob.schema() {
        PACKAGE => (0, ""),
        CHANNEL => (1, blob.name()),
        BUNDLE => (2, blob.name()),
        DEPRECATIONS => (4, ""),
        other => (3, other),
    };
    (package.is_empty(), package, kind, by)
}

// === Whole blobs of a file: everything is kept, unlike in the index of a catalog ===
//
// Each blob is read twice. The first pass checks it as the index does, the second keeps all of it. Null blobs are
// ignored.

/// Receives the whole blobs of a catalog.
#[derive(Debug, Default)]
pub(super) struct WholeCatalog {
    /// Blobs that were read so far.
    pub(super) blobs: Vec<BlobText>,
    /// The first fault in a blob.
    pub(super) fault: Option<WrittenError>,
}

impl Intake for WholeCatalog {
    type Blob<'a> = (meta::BlobInCatalog<'a>, WrittenValue);

    const PLACES: Places = Places::Unwanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Self::Blob<'a>> {
        cursor.kind()?;
        let start = cursor.at();
        let decisive = meta::read(cursor)?;
        let value = cursor.revisit(start, blob::read)?;
        Ok((decisive, value))
    }

    fn take(&mut self, (decisive, value): Self::Blob<'_>, place: &BlobPlace<'_>) {
        if let meta::BlobInCatalog::Blob(blob) = decisive
            && self.fault.is_none()
        {
            self.fault = fault(blob, place);
        }
        if let WrittenValue::Object(members) = value {
            let at = place.position.in_file(place.file);
            self.blobs.push(BlobText::at(&at, members));
        }
    }

    fn fault(&mut self, _: &str, fault: FbcError, _: TextOrigin, _: &[u8]) -> Result<(), FbcError> {
        Err(fault)
    }
}

/// Returns the fault of a blob that does not decode, or of guardrails in it.
fn fault(blob: meta::FiledBlob<'_>, place: &BlobPlace<'_>) -> Option<WrittenError> {
    let stated = match blob.content {
        Err(fault) => {
            let fault = place.blame(&blob.filed, fault);
            return Some(WrittenError::Blob(Box::new(fault)));
        }
        Ok(BlobContent::Guardrails(text)) => vec![text],
        Ok(BlobContent::Package(package)) => package.guardrails,
        Ok(_) => return None,
    };
    let unread = stated
        .iter()
        .find_map(|text| guardrail::read_text(text).err())?;
    Some(WrittenError::Guardrails {
        file: place.file.into(),
        position: place.position,
        package: blob.filed.key().folder().into(),
        unread,
    })
}

impl CatalogText {
    /// Checks the guardrails of every package, as olmguard reads them.
    ///
    /// # Errors
    /// If the guardrails of a package cannot be read together: two blobs, or a blob and a property that differ.
    pub fn check_guardrails(&self) -> Result<(), WrittenError> {
        let text = self.bearing_guardrails();
        let catalog = index("what is written", &text, &Rules::default())?;
        for name in catalog.package_names() {
            let package = catalog.package(name).and_then(Result::ok);
            let stated = package.and_then(|package| package.guardrails().stated());
            if let Some(Err(unread)) = stated {
                return Err(WrittenError::Together {
                    package: name.into(),
                    unread: unread.clone(),
                });
            }
        }
        Ok(())
    }

    /// Returns the blobs that can contain guardrails, as JSON. Most of a catalog cannot.
    fn bearing_guardrails(&self) -> String {
        let may = |blob: &&BlobText| ![BUNDLE, CHANNEL, DEPRECATIONS].contains(&blob.schema());
        let mut text = String::new();
        for blob in self.blobs.iter().filter(may) {
            forms::json(&blob.members, &mut text);
        }
        text
    }
}

/// Reads a text as OLM would. Errors call it `file`.
pub(super) fn index(file: &str, text: &str, rules: &Rules) -> Result<Catalog, WrittenError> {
    let mut builder = CatalogBuilder::new(rules);
    let read = fbc::read(file, text.as_bytes(), &mut builder);
    let catalog = read.and_then(|()| Ok(builder.finish()?));
    catalog.map_err(|source| WrittenError::File {
        file: file.into(),
        source,
    })
}

/// Bundles of several catalogs by image. opm would pull them from a registry instead.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    by_image: BTreeMap<Box<str>, BlobText>,
}

/// The reason why a bundle is not available.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ShelfError {
    /// No bundle has one of these images.
    #[error(
        "no bundle of image {} among those of --bundles: expected an olm.bundle with {}, such \
         as \"opm render {}\" prints it",
        quoted(images),
        if images.len() == 1 { "this image" } else { "each of these images" },
        go::escape(images.first().map_or("", |image| image))
    )]
    NotFound {
        /// Images as the template names them, without duplicates. At least one.
        images: Vec<Box<str>>,
    },
    /// Two different bundles have the same image.
    #[error(
        "two bundles of image {} among those of --bundles, {} at {} and {} at {}: expected one",
        go::quote(image),
        go::quote(&first.0),
        go::escape(&first.1),
        go::quote(&second.0),
        go::escape(&second.1)
    )]
    Differ {
        /// The image.
        image: Box<str>,
        /// Name and place of the first bundle.
        first: (Box<str>, Box<str>),
        /// Name and place of the second bundle. The name can be the same.
        second: (Box<str>, Box<str>),
    },
}

fn quoted(images: &[Box<str>]) -> String {
    let images: Vec<_> = images.iter().map(|image| go::quote(image)).collect();
    images.join(", ")
}

impl Shelf {
    /// Indexes the bundles of a catalog that have an image. Identical bundles can occur several times.
    ///
    /// # Errors
    /// [`ShelfError::Differ`].
    pub fn of(catalog: &CatalogText) -> Result<Self, ShelfError> {
        let mut shelf = Self::default();
        let bundles = catalog
            .blobs
            .iter()
            .filter(|blob| blob.schema() == BUNDLE && !blob.text("image").is_empty());
        for bundle in bundles {
            let image = bundle.text("image");
            match shelf.by_image.get(image) {
                Some(first) if first != bundle => {
                    return Err(ShelfError::Differ {
                        image: image.into(),
                        first: (first.name().into(), first.place.clone()),
                        second: (bundle.name().into(), bundle.place.clone()),
                    });
                }
                _ => shelf.by_image.insert(image.into(), bundle.clone()),
            };
        }
        Ok(shelf)
    }

    /// Checks that there is a bundle for each of these images.
    ///
    /// # Errors
    /// [`ShelfError::NotFound`], with every image that has no bundle.
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

    /// Returns the bundle of an image.
    ///
    /// # Errors
    /// [`ShelfError::NotFound`].
    pub fn bundle(&self, image: &str) -> Result<&BlobText, ShelfError> {
        let found = self.by_image.get(image);
        found.ok_or_else(|| ShelfError::NotFound {
            images: vec![image.into()],
        })
    }
}

#[cfg(test)]
mod tests;
