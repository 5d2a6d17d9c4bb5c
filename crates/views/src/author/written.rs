//! A catalog as its author wrote it, written again in the order of opm; and its bundles, by image.
//!
//! Order: packages by name, in each the `olm.package`, channels by name, bundles by name, blobs of
//! other schemas by schema, deprecations; last the blobs that belong to no package. Among equals the
//! order of the input stays. Upstream: operator-registry, [`alpha/declcfg/write.go`],
//! `writeToEncoder`; which leaves out channels and bundles without a package, and these stay here.
//!
//! [`alpha/declcfg/write.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/write.go

use std::collections::BTreeMap;

use crate::author::blob::{BUNDLE, BlobText, CHANNEL, DEPRECATIONS, PACKAGE, WrittenValue};
use crate::author::channel::AuthoredChannel;
use crate::author::{blob, forms};
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::blob::{BlobContent, BlobFault, Position};
use olmguard_catalog::fbc::json::{Cursor, CursorResult};
use olmguard_catalog::fbc::{self, BlobPlace, FbcError, Intake, Places, TextOrigin, meta};
use olmguard_catalog::guardrail::{self, UnreadGuardrails};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::go;

/// The blobs of a catalog.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CatalogText {
    blobs: Vec<BlobText>,
}

/// Format of a catalog.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// A document for each blob.
    Yaml,
    /// An object for each blob, indented by four.
    Json,
}

/// Reason why a file cannot be used as a catalog.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WrittenError {
    /// The file is not a catalog.
    #[error("{}: {}", source.position.in_file(file), source.malformed)]
    File {
        /// The file, as it was named.
        file: Box<str>,
        /// Fault and its place.
        source: FbcError,
    },
    /// A blob in it, which names its file, is not of its schema.
    #[error("{0}")]
    Blob(Box<BlobFault>),
    /// Guardrails in it cannot be read, so that olmguard would refuse every upgrade.
    #[error(
        "{}: guardrails of package {}: {unread}",
        position.in_file(file),
        go::quote(package)
    )]
    Guardrails {
        /// The file, as it was named.
        file: Box<str>,
        /// Place of the blob that contains the guardrails.
        position: Position,
        /// The package that they are about.
        package: Box<str>,
        /// The fault.
        unread: UnreadGuardrails,
    },
    /// Guardrails of a package, each of which can be read, cannot be read together.
    #[error("guardrails of package {}: {unread}", go::quote(package))]
    Together {
        /// The package that they are about.
        package: Box<str>,
        /// The fault.
        unread: UnreadGuardrails,
    },
}

impl CatalogText {
    /// Adds the blobs of one file, which is called `name` in faults.
    ///
    /// # Errors
    /// The first fault for which OLM would refuse the catalog or a package of it, or olmguard every upgrade.
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

    /// Every blob, in the order read.
    pub fn blobs(&self) -> &[BlobText] {
        &self.blobs
    }

    /// The blobs themselves.
    pub(super) fn into_blobs(self) -> Vec<BlobText> {
        self.blobs
    }

    /// Adds a blob.
    pub fn push(&mut self, blob: BlobText) {
        self.blobs.push(blob);
    }

    /// The bundles of a package.
    pub fn bundles(&self, package: &str) -> impl Iterator<Item = &BlobText> {
        self.of(BUNDLE, package)
    }

    /// The channels of a package.
    pub fn channels(&self, package: &str) -> impl Iterator<Item = &BlobText> {
        self.of(CHANNEL, package)
    }

    /// The blobs of a schema and package.
    pub(super) fn of(&self, schema: &str, package: &str) -> impl Iterator<Item = &BlobText> {
        let is_it = move |blob: &&BlobText| blob.schema() == schema && blob.package() == package;
        self.blobs.iter().filter(is_it)
    }

    /// A channel of a package, to be edited.
    pub fn channel(&self, package: &str, name: &str) -> Option<AuthoredChannel> {
        let mut channels = self.channels(package);
        channels
            .find(|blob| blob.name() == name)
            .map(AuthoredChannel::of)
    }

    /// The default channel of a package; empty where nothing names one.
    pub fn default_channel(&self, package: &str) -> &str {
        let mut packages = self.of(PACKAGE, package);
        packages
            .next()
            .map_or("", |blob| blob.text("defaultChannel"))
    }

    /// Puts a channel in place of the one of its package and name, or adds it.
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

    /// Takes out the bundles of these names that no channel of the package lists any more, with what
    /// its deprecations say of them: both would make the catalog invalid. Which ones they were.
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

    /// The whole catalog as text, in opm's order.
    pub fn to_text(&self, format: Format) -> String {
        let mut blobs: Vec<_> = self.blobs.iter().collect();
        blobs.sort_by_key(|blob| place(blob));
        let mut text = String::new();
        for blob in blobs {
            match format {
                Format::Yaml => forms::yaml(blob.members(), &mut text),
                Format::Json => forms::json(blob.members(), &mut text),
            }
        }
        text
    }
}

/// A blob's place: those of no package last, then packages by name, kinds in order, and what kinds
/// are sorted by.
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

// === The blobs of a file, whole: what the index of a catalog reduces is kept here ===
//
// Each is read twice, once for what decides, so that it is checked as the index checks it, and once
// for all of it. A blob that is null is passed over.

/// Receives the blobs of a catalog, whole.
#[derive(Debug, Default)]
pub(super) struct WholeCatalog {
    /// The blobs so far.
    pub(super) blobs: Vec<BlobText>,
    /// Fault of the first blob that does not decode.
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

/// Fault of a blob that does not decode, or of guardrails in it.
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
    /// Checks the guardrails of every package as they are judged by.
    ///
    /// # Errors
    /// Those of a package that cannot be read together: two blobs, or a blob and a property that differ.
    pub fn check_guardrails(&self) -> Result<(), WrittenError> {
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        let text = self.bearing_guardrails();
        let read = fbc::read("what is written", text.as_bytes(), &mut builder);
        let catalog = read.and_then(|()| Ok(builder.finish()?));
        let catalog = catalog.map_err(|source| WrittenError::File {
            file: "what is written".into(),
            source,
        })?;
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

    /// The blobs that may say something of upgrade steps, as JSON; most of a catalog does not.
    fn bearing_guardrails(&self) -> String {
        let may = |blob: &&BlobText| ![BUNDLE, CHANNEL, DEPRECATIONS].contains(&blob.schema());
        let mut text = String::new();
        for blob in self.blobs().iter().filter(may) {
            forms::json(blob.members(), &mut text);
        }
        text
    }
}

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

#[cfg(test)]
mod tests;
