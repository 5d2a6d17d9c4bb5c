//! The images that are worth reading before an edit asks for them.

use crate::audit::place::version;
use crate::extension::Extension;
use crate::resolve::{Choice, Offer, Origin, choose, weigh};
use crate::snapshot::Snapshot;

/// The images of the bundles that an extension can be upgraded to, each once: first the image of the bundle that its spec
/// resolves to, then the images of the successors of the installed bundle in its channels, the newest first.
///
/// An extension without an installed bundle, or with a spec that cannot be read, has none.
pub fn images_ahead(snapshot: &Snapshot, extension: &Extension, most: usize) -> Vec<String> {
    let Some(ahead) = bundles(snapshot, extension) else {
        return Vec::new();
    };
    let mut images: Vec<String> = Vec::new();
    for choice in ahead {
        let image = &*choice.bundle().image;
        if images.len() < most && !image.is_empty() && !images.iter().any(|known| known == image) {
            images.push(image.to_owned());
        }
    }
    images
}

fn bundles<'s>(snapshot: &'s Snapshot, extension: &Extension) -> Option<Vec<Choice<'s>>> {
    let filter = extension.filter.as_ref().ok()?;
    let installed = extension.installed.bundle()?;
    let origin = Origin::read(installed, snapshot.rules()).ok()?;
    let resolved = choose(&weigh(&Offer::of(snapshot, filter)?, Some(&origin))).ok();
    let offers = Offer::of(snapshot, &filter.without_version())?;
    let successors = offers.iter().flat_map(|offer| successors(offer, &origin));
    let mut successors: Vec<_> = successors
        .filter_map(|choice| Some((version(choice)?, choice)))
        .collect();
    successors.sort_by(|(one, _), (other, _)| other.cmp_precedence(one));
    let resolved = resolved.map(|resolved| resolved.choice);
    let successors = successors.into_iter().map(|(_, choice)| choice);
    Some(resolved.into_iter().chain(successors).collect())
}

fn successors<'s>(offer: &Offer<'s>, origin: &Origin<'_>) -> Vec<Choice<'s>> {
    let accepted = offer.accepted(origin).bundles;
    accepted.iter().map(|index| offer.choice(index)).collect()
}
