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
    /// No bundle on the shelf has this image.
    #[error(
        "no bundle of image {} among those of --bundles: expected an olm.bundle with this image, such \
         as \"opm render {}\" prints it",
        go::quote(image),
        go::escape(image)
    )]
    NotFound {
        /// The image, as the template names it.
        image: Box<str>,
    },
    /// Two bundles that differ have one image.
    #[error(
        "two bundles of image {} among those of --bundles, {} and {}: expected one",
        go::quote(image),
        go::quote(first),
        go::quote(second)
    )]
    Differ {
        /// Their image.
        image: Box<str>,
        /// The name of the one.
        first: Box<str>,
        /// The name of the other, perhaps the same.
        second: Box<str>,
    },
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
                        first: first.name().into(),
                        second: bundle.name().into(),
                    });
                }
                _ => shelf.by_image.insert(image.into(), bundle.clone()),
            };
        }
        Ok(shelf)
    }

    /// The bundle of an image.
    ///
    /// # Errors
    /// [`ShelfError::NotFound`].
    pub fn bundle(&self, image: &str) -> Result<&BlobText, ShelfError> {
        let found = self.by_image.get(image).filter(|_| !image.is_empty());
        found.ok_or_else(|| ShelfError::NotFound {
            image: image.into(),
        })
    }
}
