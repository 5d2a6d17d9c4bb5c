//! Bundles at hand, by image: what opm would pull from a registry.

use std::collections::BTreeMap;

use crate::author::blob::{BUNDLE, BlobText};
use crate::author::written::CatalogText;
use olmguard_catalog::version::go;

/// The bundles of some catalogs, by image.
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
