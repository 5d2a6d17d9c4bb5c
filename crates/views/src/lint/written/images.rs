//! The images of bundles that are no valid references: found where a blob is read, and located where it is kept.

use super::InvalidImage;
use super::locate::Locator;
use olmguard_catalog::fbc::raw::{self, Raw, RawContent, Value};
use olmguard_catalog::image_reference::ImageFault;

/// A blob, and what is wrong with the images of a bundle: finding that is worth another core.
#[derive(Debug)]
pub struct ReadBlob<'a> {
    pub(super) blob: Raw<'a>,
    pub(super) images: Vec<ImageAt>,
}

/// An invalid image: which of the related ones, none for the bundle's own.
pub(super) type ImageAt = (Option<usize>, ImageFault);

impl<'a> ReadBlob<'a> {
    pub(super) fn of(blob: Raw<'a>) -> Self {
        let images = invalid_images(&blob);
        Self { blob, images }
    }
}

/// The invalid images of a blob, if it is a bundle.
fn invalid_images(blob: &Raw<'_>) -> Vec<ImageAt> {
    let Value::Object(object) = &blob.value else {
        return Vec::new();
    };
    let RawContent::Bundle(bundle) = &object.content else {
        return Vec::new();
    };
    let own = std::iter::once((None, &bundle.image));
    let related = bundle.related_images.iter().enumerate();
    let all = own.chain(related.map(|(index, image)| (Some(index), image)));
    let invalid = all.filter_map(|(related, image)| Some((related, ImageFault::of(&image.text)?)));
    invalid.collect()
}

/// Those images with their places.
pub(super) fn located(
    images: Vec<ImageAt>,
    bundle: &raw::RawBundle<'_>,
    locator: &mut Locator<'_>,
) -> Vec<InvalidImage> {
    let invalid = images.into_iter().filter_map(|(related, fault)| {
        let image = match related {
            Some(index) => bundle.related_images.get(index)?,
            None => &bundle.image,
        };
        let image = locator.kept(image);
        Some(InvalidImage {
            related,
            image,
            fault,
        })
    });
    invalid.collect()
}
