//! The cases of a run: extensions, and reviews of edits of extensions.

use crate::cli::commands::check::base::Past;
use crate::cli::commands::check::place::CasePlace;
use olmguard_admission::Review;
use olmguard_engine::extension::schema::Finding;
use olmguard_engine::extension::{Extension, Identity};
use olmguard_engine::judge::Exemption;

/// One edit to judge, and its place.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) place: CasePlace,
    pub(super) identity: Identity,
    pub(super) subject: Subject,
    pub(super) past: Past,
    pub(super) told: InstalledSource,
}

/// Where the installed version comes from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum InstalledSource {
    /// The base, or the object itself.
    #[default]
    Manifests,
    /// A cluster; the object has it.
    Cluster,
    /// A flag or the project file; the object has it.
    Flag,
}

/// The object of a case.
#[derive(Debug)]
pub(super) enum Subject {
    /// A manifest, with what the CRD would refuse of it.
    Manifest(Box<Extension>, Vec<Finding>),
    /// A dump of what an API server asked.
    Review(Box<Review>),
    /// An extension whose `apiVersion` is not known.
    Unknown(Exemption),
}
