//! What the catalogs of OLM v1 have of what OLM v0 has installed.

use crate::migrate::draft::ExtensionDraft;
use crate::migrate::objects::{ClassicObjects, ObjectKey};
use olmguard_catalog::WrittenEdge;
use olmguard_engine::resolve::{Choice, Offer};
use olmguard_engine::snapshot::{CatalogState, Snapshot};

/// What OLM v0 has installed, as far as the catalogs know it.
pub(super) enum FoundBundle<'s> {
    Nothing,
    NoStatus,
    Bundle(Choice<'s>),
    NotInCatalog {
        bundle: String,
        successors: Vec<String>,
    },
}

impl<'a> FoundBundle<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, draft: &ExtensionDraft<'_>) -> Self {
        let Some(status) = &draft.subscription.status else {
            return Self::NoStatus;
        };
        let Some(name) = &status.installed_csv else {
            return Self::Nothing;
        };
        let filter = draft.filter().unwrap_or_default();
        let offers = Offer::of_package(snapshot, &filter);
        match named(&offers, name) {
            Some(choice) => Self::Bundle(choice),
            // The judgement says why there is no offer.
            None if offers.is_empty() => Self::Nothing,
            None => Self::NotInCatalog {
                bundle: name.clone(),
                successors: successors(&offers, name),
            },
        }
    }

    /// The bundle, if a catalog has it.
    pub(super) fn choice(&self) -> Option<Choice<'a>> {
        match self {
            Self::Bundle(choice) => Some(*choice),
            _ => None,
        }
    }
}

pub(super) fn named<'s>(offers: &[Offer<'s>], name: &str) -> Option<Choice<'s>> {
    let mut found = offers.iter();
    found.find_map(|offer| Some(offer.choice(offer.find(name)?)))
}

/// The bundles that replace or skip a bundle which no catalog has, each once, in byte order.
fn successors(offers: &[Offer<'_>], name: &str) -> Vec<String> {
    let edges = offers.iter().flat_map(Offer::edges);
    let edges =
        edges.filter(|edge| matches!(edge.written, WrittenEdge::Name { from, .. } if from == name));
    let mut names: Vec<_> = edges
        .map(|edge| edge.to.bundle().name.to_string())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The catalog that is the `CatalogSource`: the one with its image, otherwise the one with its name, also as
/// distributions name their catalogs.
pub(super) fn catalog<'a>(
    snapshot: &'a Snapshot,
    objects: &ClassicObjects,
    source: &ObjectKey,
) -> Option<&'a str> {
    let image = objects.source_image(source).map(repository);
    let has_image = |state: &&CatalogState| {
        let own = state.image_ref.as_deref().map(repository);
        own.is_some() && own == image
    };
    let mut of_image = snapshot.catalogs().iter().filter(has_image);
    if let (Some(only), None) = (of_image.next(), of_image.next()) {
        return Some(&only.name);
    }
    let named = |name: &str| snapshot.catalog(name);
    let openshift = format!("openshift-{}", source.name);
    let short = source.name.strip_suffix("-catalog");
    let found = named(&source.name).or_else(|| named(&openshift));
    let found = found.or_else(|| named(short?));
    found.map(|state| &*state.name)
}

/// An image reference without its tag and digest.
fn repository(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or_default();
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => image,
    }
}
