//! The resolution of operator-controller, step by step, with the evidence kept.
//!
//! ```text
//! Filter --compile--> Query --survey--> Offers --weigh(Origin)--> Matches --choose--> Choice
//! ```
//!
//! Each step can fail; [`crate::judge`] knows which row of the decision table that is. The steps are public to it so
//! that a suggestion costs only the steps that it changes.
//!
//! Upstream: operator-controller, [`internal/operator-controller/resolve/catalog.go`].
//!
//! [`internal/operator-controller/resolve/catalog.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/catalog.go

pub mod classic;
mod effort;
mod guards;
mod install;
mod olmv1;
mod origin;
mod path;
mod policies;
mod query;
pub mod semver;
mod suggested;

pub use effort::{Effort, MOST_COMPARISONS, MOST_EXPANSIONS, Stop};
pub use guards::{Alone, CatalogEdge, GuardedBy, Guards, ViolatedRule, Violation};
pub use install::{
    CrdRefusal, InstallBound, InstallContext, InstallFault, InstallFaults, NameTooLong, Occasion,
    is_unsupported,
};
pub(crate) use install::{ImageFacts, KnownRefusals};
pub use olmv1::AcceptedSuccessors;
pub use olmv1::Unpinned;
pub use olmv1::{Choice, ChoiceError, Match, Refusal, Resolution, choose, weigh};
pub use origin::{InstalledError, Origin};
pub use path::{
    Bounds, Edits, NotGiven, PathFound, PathSearch, ReachableBundles, reach, shortest_path,
};
pub use policies::{
    EditContext, MatchingPolicies, PolicyFinding, PolicyStep, Requester, StepStart,
    UpgradePolicies, UserInfo,
};
pub use query::OfferEdge;
pub use query::{InPlay, NotLoaded, NotLoadedCause, Offer, Query, QueryError, loaded};
pub use suggested::Maturity;
