//! What of a review is kept: the fields that something reads, and nothing else.
//!
//! The rest, which is most of it (`managedFields`, the annotation of `kubectl apply`), is
//! passed over without being kept. Of `userInfo` the name and the groups are kept. A field that an extension is read from is named here as well; a test
//! watches which ones that are.
//!
//! Invariant: nothing here names a list or a map of any width without a limit.

mod object;

use olmguard_engine::extension::Filter;
use olmguard_policy::limits;

pub(crate) use object::kept_extension;

/// How much of a JSON value is kept.
#[derive(Debug)]
pub(super) enum Keep {
    /// A text, a number or the like; of a list or a map only that it is one.
    Leaf,
    /// A map with these fields.
    Fields(&'static [(&'static str, Self)], Others),
    /// A list, each item so.
    Items(&'static Self, Room),
    /// A map whose keys may be any, each value a leaf.
    Values(Room),
    /// One of the objects under review.
    Object(KeptObject, &'static Self),
    /// A map on the way to the filter: written twice, only what is in the last one counts.
    Filter(&'static Self),
}

/// What becomes of the fields that a map is not known to have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Others {
    /// Nothing reads them.
    PassedOver,
    /// Their names are kept, the first [`OTHERS`] of them: they may be misspelt.
    Named,
}

/// How many entries of a list or a map are kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Room {
    /// All that the object's filter has room for, which is [`FILTER`]; it is told where more are there.
    Filter,
    /// The first [`CONDITIONS`]; what comes after them counts for nothing.
    Conditions,
    /// The first [`SUBJECT`]: labels of an extension, or groups of a user. Of more, it is seen that they are too many.
    Subject,
}

/// An object under review.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum KeptObject {
    /// As it is to be.
    New,
    /// As it is.
    Old,
}

/// The entries of all lists and maps of one filter that are kept: one more than are judged, so that
/// a filter that is too large is seen to be so.
pub(super) const FILTER: usize = Filter::MOST_ENTRIES + 1;

/// The conditions of a status that are kept: OLM has five.
pub(super) const CONDITIONS: usize = 256;

/// The labels, or groups, that are kept: one more than policies read, so that too many are seen to be so.
pub(super) const SUBJECT: usize = limits::SUBJECT_ENTRIES + 1;

/// The fields with unknown names that are kept of one map; five of them can be warned of.
pub(super) const OTHERS: usize = 64;

/// An `AdmissionReview`.
pub(super) static REVIEW: Keep = Keep::Fields(
    &[
        ("apiVersion", Keep::Leaf),
        ("kind", Keep::Leaf),
        ("request", REQUEST),
    ],
    Others::PassedOver,
);

const REQUEST: Keep = Keep::Fields(
    &[
        ("uid", Keep::Leaf),
        ("kind", GROUP_VERSION_KIND),
        ("name", Keep::Leaf),
        ("operation", Keep::Leaf),
        ("subResource", Keep::Leaf),
        ("dryRun", Keep::Leaf),
        ("userInfo", USER),
        ("object", Keep::Object(KeptObject::New, &REQUESTED)),
        ("oldObject", Keep::Object(KeptObject::Old, &EXTENSION)),
    ],
    Others::PassedOver,
);

const GROUP_VERSION_KIND: Keep = Keep::Fields(
    &[
        ("group", Keep::Leaf),
        ("version", Keep::Leaf),
        ("kind", Keep::Leaf),
    ],
    Others::PassedOver,
);

const USER: Keep = Keep::Fields(
    &[
        ("username", Keep::Leaf),
        ("groups", Keep::Items(&Keep::Leaf, Room::Subject)),
    ],
    Others::PassedOver,
);

/// An extension as it is to be. Nothing reads its status: what is installed is read from the old object.
const REQUESTED: Keep = Keep::Fields(
    &[
        ("apiVersion", Keep::Leaf),
        ("kind", Keep::Leaf),
        ("metadata", METADATA),
        ("spec", Keep::Filter(&SPEC)),
    ],
    Others::PassedOver,
);

const EXTENSION: Keep = Keep::Fields(
    &[
        ("apiVersion", Keep::Leaf),
        ("kind", Keep::Leaf),
        ("metadata", METADATA),
        ("spec", Keep::Filter(&SPEC)),
        ("status", STATUS),
    ],
    Others::PassedOver,
);

const METADATA: Keep = Keep::Fields(
    &[
        ("name", Keep::Leaf),
        ("uid", Keep::Leaf),
        ("generateName", Keep::Leaf),
        ("deletionTimestamp", Keep::Leaf),
        ("labels", Keep::Values(Room::Subject)),
    ],
    Others::PassedOver,
);

/// In the older shapes the fields of the catalog are those of the spec itself.
const SPEC: Keep = Keep::Fields(
    &[
        ("packageName", Keep::Leaf),
        ("version", Keep::Leaf),
        ("channel", Keep::Leaf),
        ("upgradeConstraintPolicy", Keep::Leaf),
        ("namespace", Keep::Leaf),
        ("installNamespace", Keep::Leaf),
        ("install", INSTALL),
        ("source", Keep::Filter(&SOURCE)),
    ],
    Others::Named,
);

const SOURCE: Keep = Keep::Fields(
    &[
        ("sourceType", Keep::Leaf),
        ("catalog", Keep::Filter(&CATALOG)),
    ],
    Others::PassedOver,
);

const CATALOG: Keep = Keep::Fields(
    &[
        ("packageName", Keep::Leaf),
        ("version", Keep::Leaf),
        ("channel", Keep::Leaf),
        ("channels", Keep::Items(&Keep::Leaf, Room::Filter)),
        ("selector", SELECTOR),
        ("upgradeConstraintPolicy", Keep::Leaf),
    ],
    Others::Named,
);

const SELECTOR: Keep = Keep::Fields(
    &[
        ("matchLabels", Keep::Values(Room::Filter)),
        ("matchExpressions", Keep::Items(&REQUIREMENT, Room::Filter)),
    ],
    Others::PassedOver,
);

const REQUIREMENT: Keep = Keep::Fields(
    &[
        ("key", Keep::Leaf),
        ("operator", Keep::Leaf),
        ("values", Keep::Items(&Keep::Leaf, Room::Filter)),
    ],
    Others::PassedOver,
);

const INSTALL: Keep = Keep::Fields(&[("namespace", Keep::Leaf)], Others::Named);

const STATUS: Keep = Keep::Fields(
    &[
        (
            "install",
            Keep::Fields(&[("bundle", BUNDLE)], Others::PassedOver),
        ),
        ("installedBundle", BUNDLE),
        ("installedBundleResource", Keep::Leaf),
        ("conditions", Keep::Items(&CONDITION, Room::Conditions)),
    ],
    Others::PassedOver,
);

const BUNDLE: Keep = Keep::Fields(
    &[
        ("name", Keep::Leaf),
        ("version", Keep::Leaf),
        ("release", Keep::Leaf),
    ],
    Others::PassedOver,
);

const CONDITION: Keep = Keep::Fields(
    &[
        ("type", Keep::Leaf),
        ("status", Keep::Leaf),
        ("reason", Keep::Leaf),
    ],
    Others::PassedOver,
);

#[cfg(test)]
mod tests;
