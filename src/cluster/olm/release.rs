//! The release of OLM, from an image or from OpenShift, and warnings if it is not certain.

use olmguard_catalog::olm::{GateError, OlmRelease};

/// A release, what says so, and what there is to say about that.
#[derive(Debug)]
pub(super) struct KnownRelease {
    pub(super) release: OlmRelease,
    pub(super) evidence: Evidence,
    pub(super) warning: Option<OlmAssumption>,
}

/// What is known of the OpenShift that this may be.
#[derive(Debug)]
pub(super) enum OpenShift {
    /// The cluster is another Kubernetes, or the version does not matter.
    NotHere,
    Version(String),
    /// The version of OpenShift cannot be read, for this reason.
    Unknown(String),
}

/// What says which release it is.
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

/// The release by the tag of the image, else by OpenShift's version, else the newest.
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

/// Whether the image alone says which release it is.
pub(super) fn is_told_by(image: &str) -> bool {
    image_tag(image).and_then(version).is_some()
}

/// The newest release up to this version, else the oldest of its family.
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

/// The releases that are counted like this one, oldest first: those of OpenShift from 4 on, which
/// tags of its builds carry, too.
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

/// `v1.2.0-rc1`, `1.2`, `4.20.3`: what comes after the minor number names no release. `20261121.1` is
/// a date or the number of a build.
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

/// No OLM and no OpenShift is near it.
const LAST_MAJOR: u64 = 9;

// === Warnings about an OLM that is not certain ===

/// Something that had to be assumed, or that was set otherwise.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum OlmAssumption {
    /// A release that is not in our table.
    #[error(
        "OLM {found} is not known to this olmguard: checked as {taken}, the nearest known release"
    )]
    UnknownRelease {
        /// The version as found.
        found: String,
        /// What is taken for it.
        taken: OlmRelease,
    },
    /// Nothing says which release it is.
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
        /// What became of it.
        why: String,
    },
    /// A feature gate that is not in our table.
    #[error("ignored in operator-controller's --feature-gates: {0}")]
    Gate(GateError),
    /// Another release was set by hand.
    #[error("OLM {found} runs in the cluster, but --olm-release sets {set}, which olmguard uses")]
    ReleaseSet {
        /// The one that counts.
        set: OlmRelease,
        /// The one that runs.
        found: OlmRelease,
    },
    /// Another release was set by hand, and with it other gates.
    #[error(
        "OLM runs with {found}, which olmguard ignores because --olm-release names another \
         release; to use them, set --olm-feature-gates"
    )]
    GatesLeft {
        /// The gates that it runs with.
        found: String,
    },
    /// Other gates were set by hand.
    #[error("OLM runs with {found}, but --olm-feature-gates sets others, which olmguard uses")]
    GatesSet {
        /// The gates that it runs with.
        found: String,
    },
}

/// The tag of an image, if there is one.
fn image_tag(image: &str) -> Option<&str> {
    image_parts(image).1
}

/// The last part of the path of an image.
pub(super) fn image_name(image: &str) -> &str {
    let path = image_parts(image).0;
    path.rsplit('/').next().unwrap_or(path)
}

/// Path and tag of an image reference: `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`.
fn image_parts(image: &str) -> (&str, Option<&str>) {
    let named = image.split_once('@').map_or(image, |(named, _)| named);
    match named.rsplit_once(':') {
        // A colon before a slash belongs to a port.
        Some((path, tag)) if !tag.contains('/') && !tag.is_empty() => (path, Some(tag)),
        _ => (named, None),
    }
}
