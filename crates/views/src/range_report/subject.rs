//! What a range is tried on: versions as typed, or the bundles of a package.

use std::collections::BTreeSet;

use super::Readable;
use olmguard_catalog::version::Version;
use olmguard_catalog::{Bundle, Package};

/// Something with a version.
#[derive(Clone, Debug)]
pub struct Subject {
    /// How the report calls it.
    name: String,
    /// Its version, or why OLM cannot read it.
    version: Result<Version, String>,
}

/// A subject whose version cannot be read.
#[derive(Clone, Debug)]
pub(super) struct Unreadable {
    pub(super) name: String,
    pub(super) why: String,
}

impl Subject {
    /// A version by itself, read as OLM reads that of a bundle.
    pub fn version(text: &str) -> Self {
        Self {
            name: text.to_owned(),
            version: Version::parse(text).map_err(|error| error.to_string()),
        }
    }

    /// The bundles of a package, best first. Their releases play no part in a range.
    pub fn bundles(package: &Package) -> impl Iterator<Item = Self> {
        package.bundles().map(|(_, bundle)| Self::bundle(bundle))
    }

    fn bundle(bundle: &Bundle) -> Self {
        let version = bundle.version.as_ref();
        Self {
            name: bundle.name.as_ref().to_owned(),
            version: version
                .map(|version| version.version.clone())
                .map_err(ToString::to_string),
        }
    }
}

/// The subjects that can be judged and those that cannot; of those with one name the first.
pub(super) fn divide(subjects: impl IntoIterator<Item = Subject>) -> (Readable, Vec<Unreadable>) {
    let mut seen = BTreeSet::new();
    let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
    for Subject { name, version } in subjects {
        if !seen.insert(name.clone()) {
            continue;
        }
        match version {
            Ok(version) => readable.push((name, version)),
            Err(why) => unreadable.push(Unreadable { name, why }),
        }
    }
    (readable, unreadable)
}
