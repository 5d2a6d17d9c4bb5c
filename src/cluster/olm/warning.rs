//! What is not certain about the OLM that was found.

use olmguard_catalog::olm::{GateError, OlmRelease};

/// Something that had to be assumed, or that was set otherwise.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Warning {
    /// A release that is not in our table.
    #[error("OLM {found} is not known here: judged as {taken}, the nearest release that is")]
    UnknownRelease {
        /// The version as found.
        found: String,
        /// What is taken for it.
        taken: OlmRelease,
    },
    /// Nothing says which release it is.
    #[error(
        "the image of operator-controller has no release in its tag, and this is no OpenShift: \
         judged as {}, the newest release; set it by hand if it is another: {image}",
        OlmRelease::default()
    )]
    NoRelease {
        /// The image.
        image: String,
    },
    /// The image has no release, and OpenShift's version cannot be read.
    #[error(
        "the image of operator-controller has no release in its tag, and the version of OpenShift, \
         which would tell it, cannot be read: judged as {}, the newest release; set it by hand if it \
         is another: {why}",
        OlmRelease::default()
    )]
    NoOpenShiftVersion {
        /// What became of it.
        why: String,
    },
    /// A feature gate that is not in our table.
    #[error("ignored of operator-controller's --feature-gates: {0}")]
    Gate(GateError),
    /// Another release was set by hand.
    #[error("OLM {found} runs in the cluster, but {set} is set by hand and counts")]
    ReleaseSet {
        /// The one that counts.
        set: OlmRelease,
        /// The one that runs.
        found: OlmRelease,
    },
    /// Another release was set by hand, and with it other gates.
    #[error(
        "OLM runs with {found}, which count no more as another release is set by hand: set them by \
         hand, too, if they are to count"
    )]
    GatesLeft {
        /// Those that it runs with.
        found: String,
    },
    /// Other gates were set by hand.
    #[error("OLM runs with {found}, but others are set by hand and count")]
    GatesSet {
        /// Those that it runs with.
        found: String,
    },
}
