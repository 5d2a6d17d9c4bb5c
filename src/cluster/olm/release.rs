//! The release of OLM, from an image or from OpenShift, with a warning if it is not certain.

use olmguard_catalog::olm::{GateError, OlmRelease};

/// A release, its evidence, and a warning if it is not certain.
#[derive(Debug)]
pub(super) struct KnownRelease {
    pub(super) release: OlmRelease,
    pub(super) evidence: Evidence,
    pub(super) warning: Option<OlmAssumption>,
}

/// The known facts about OpenShift.
#[derive(Debug)]
pub(super) enum OpenShift {
    /// The cluster is not OpenShift, or the version does not matter.
    NotHere,
    Version(String),
    /// The version of OpenShift cannot be read, for this reason.
    Unknown(String),
}

/// The evidence for a release.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
pub(super) enum Evidence {
    #[display("image tag {_0}")]
    Tag(String),
    #[display("OpenShift {_0}")]
    OpenShift(String),
    #[display("assumed")]
    Nothing,
}

/// Major and minor number.
type Version = (u64, u64);

/// Returns the release by the tag of the image, otherwise by OpenShift's version, otherwise the newest one.
pub(super) fn of(image: &str, openshift: &OpenShift) -> KnownRelease {
    let tag = image_tag(image).and_then(|tag| Some((tag, version(tag)?)));
    if let Some((tag, version)) = tag {
        return nearest(version, tag, Evidence::Tag(tag.to_owned()));
    }
    let image = image.to_owned();
    assumed(match openshift {
        OpenShift::Version(text) => match version(text) {
            Some(version) => return nearest(version, text, Evidence::OpenShift(text.to_owned())),
            None => OlmAssumption::NoOpenShiftVersion {
                why: format!("{text:?} is not a version"),
            },
        },
        OpenShift::Unknown(why) => OlmAssumption::NoOpenShiftVersion { why: why.clone() },
        OpenShift::NotHere => OlmAssumption::NoRelease { image },
    })
}

fn assumed(warning: OlmAssumption) -> KnownRelease {
    KnownRelease {
        release: OlmRelease::default(),
        evidence: Evidence::Nothing,
        warning: Some(warning),
    }
}

/// Whether the image alone determines the release.
pub(super) fn is_told_by(image: &str) -> bool {
    image_tag(image).and_then(version).is_some()
}

/// Returns the newest release up to this version, otherwise the oldest of its family.
fn nearest(version: Version, text: &str, evidence: Evidence) -> KnownRelease {
    let family = family(version);
    let (oldest, newer) = (family.first(), |(of, _): &&(Version, OlmRelease)| {
        *of <= version
    });
    let (known, release) = match family.iter().rev().find(newer).or(oldest) {
        Some((known, release)) => (Some(*known), *release),
        None => (None, OlmRelease::default()),
    };
    let warning = (known != Some(version)).then(|| OlmAssumption::UnknownRelease {
        found: text.to_owned(),
        taken: release,
    });
    KnownRelease {
        release,
        evidence,
        warning,
    }
}

/// Returns the releases with the same numbering, oldest first. Versions from 4 on are OpenShift's, which also appear in
/// the tags of its builds.
fn family(version: Version) -> Vec<(Version, OlmRelease)> {
    let is_openshift = version.0 >= FIRST_OPENSHIFT;
    let member = |name: &str| {
        let own = name.strip_prefix("openshift-");
        let number = if is_openshift { own? } else { name };
        Some((self::version(number)?, name.parse().ok()?))
    };
    let names = OlmRelease::names().into_iter();
    let mut family: Vec<_> = names.filter_map(member).collect();
    family.sort_by_key(|(version, _)| *version);
    family
}

/// Parses `v1.2.0-rc1`, `1.2` or `4.20.3`. The part after the minor number does not identify a release. `20261121.1` is
/// a date or a build number.
fn version(text: &str) -> Option<Version> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (major, rest) = text.split_once('.')?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (minor, rest) = rest.split_at_checked(end)?;
    let ends = rest.is_empty() || rest.starts_with(['.', '-', '+', '_']);
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    let version: Version = (number(major)?, number(minor)?);
    (ends && version.0 <= LAST_MAJOR).then_some(version)
}

const FIRST_OPENSHIFT: u64 = 4;

/// Neither OLM nor OpenShift is close to this version.
const LAST_MAJOR: u64 = 9;

// === Warnings about an OLM that is not certain ===

/// An assumption, or a flag that overrides a fact.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum OlmAssumption {
    /// The release is not in our table.
    #[error(
        "OLM {found} is not known to this olmguard: checked as {taken}, the nearest known release"
    )]
    UnknownRelease {
        /// The found version.
        found: String,
        /// The release that is used instead.
        taken: OlmRelease,
    },
    /// Nothing shows the release.
    #[error(
        "the image of operator-controller has no release in its tag, and this is not OpenShift: \
         checked as {}, the newest release; set --olm-release if it is another: {image}",
        OlmRelease::default()
    )]
    NoRelease {
        /// The image.
        image: String,
    },
    /// The image has no release, and OpenShift's version cannot be read.
    #[error(
        "the image of operator-controller has no release in its tag, and the version of OpenShift \
         cannot be read: checked as {}, the newest release; set --olm-release if it is another: \
         {why}",
        OlmRelease::default()
    )]
    NoOpenShiftVersion {
        /// The reason.
        why: String,
    },
    /// A feature gate is not in our table.
    #[error("ignored in operator-controller's --feature-gates: {0}")]
    Gate(GateError),
    /// A flag sets another release.
    #[error("OLM {found} runs in the cluster, but --olm-release sets {set}, which olmguard uses")]
    ReleaseSet {
        /// The release that is used.
        set: OlmRelease,
        /// The release that runs.
        found: OlmRelease,
    },
    /// A flag sets another release, and thereby other gates.
    #[error(
        "OLM runs with {found}, which olmguard ignores because --olm-release names another \
         release; to use them, set --olm-feature-gates"
    )]
    GatesLeft {
        /// The gates of the running OLM.
        found: String,
    },
    /// A flag sets other gates.
    #[error("OLM runs with {found}, but --olm-feature-gates sets others, which olmguard uses")]
    GatesSet {
        /// The gates of the running OLM.
        found: String,
    },
}

/// Returns the tag of an image, if it has one.
fn image_tag(image: &str) -> Option<&str> {
    image_parts(image).1
}

/// Returns the last part of the path of an image.
pub(super) fn image_name(image: &str) -> &str {
    let path = image_parts(image).0;
    path.rsplit('/').next().unwrap_or(path)
}

/// Splits an image reference into path and tag: `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`.
fn image_parts(image: &str) -> (&str, Option<&str>) {
    let named = image.split_once('@').map_or(image, |(named, _)| named);
    match named.rsplit_once(':') {
        // A colon before a slash belongs to a port.
        Some((path, tag)) if !tag.contains('/') && !tag.is_empty() => (path, Some(tag)),
        _ => (named, None),
    }
}
