//! What is not certain about the OLM that was found.

use olmguard_catalog::olm::{GateError, OlmRelease};

/// Something that had to be assumed, or that was set otherwise.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Warning {
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
        /// Those that it runs with.
        found: String,
    },
    /// Other gates were set by hand.
    #[error("OLM runs with {found}, but --olm-feature-gates sets others, which olmguard uses")]
    GatesSet {
        /// Those that it runs with.
        found: String,
    },
}
