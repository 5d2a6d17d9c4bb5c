//! File-based catalogs, read as OLM reads them: reduced to the facts that decide an upgrade, and
//! indexed for resolution.
//!
//! ```text
//! bytes --fbc--> blobs --builder--> Catalog { Package { bundles, channels, edges } }
//!         selector, version <- olm (the rules of a release), guardrail (rules of a package's author)
//! ```
//!
//! No I/O, no clock, no threads: the same bytes give the same catalog. The blobs are not kept.
//! Versions and ranges are parsed once, here. Nothing is parsed, cloned or sorted while a request
//! waits.
//!
//! # Upstream
//!
//! | what | upstream |
//! | --- | --- |
//! | reading a catalog | [operator-registry], `alpha/declcfg`, and operator-controller's cache |
//! | `spec.source.catalog.version` | [Masterminds/semver] v3, the release that each OLM vendors |
//! | bundle versions, `skipRange` | [blang/semver] v4 |
//! | label selectors | [apimachinery], `pkg/labels`, `pkg/apis/meta/v1` |
//!
//! [operator-registry]: https://github.com/operator-framework/operator-registry/tree/v1.73.0
//! [Masterminds/semver]: https://github.com/Masterminds/semver/tree/v3.5.0
//! [blang/semver]: https://github.com/blang/semver/tree/v4.0.0
//! [apimachinery]: https://github.com/kubernetes/apimachinery

/// Defines a closed set of words: an enum, all of its variants in order, and the machine-readable
/// word of each variant.
#[macro_export]
macro_rules! word_set {
    ($(#[$about:meta])* $vis:vis enum $set:ident { $($(#[$doc:meta])* $word:ident => $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        $vis enum $set {
            $($(#[$doc])* $word,)+
        }

        impl $set {
            /// All variants, in order of declaration.
            $vis const ALL: [Self; [$($text),+].len()] = [$(Self::$word),+];

            /// Returns the machine-readable word.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)+
                }
            }
        }
    };
}

pub mod base64;
pub mod blob;
mod builder;
mod bundle;
mod bundle_set;
mod catalog;
pub mod dns1123;
mod edges;
pub mod fbc;
pub mod go_duration;
pub mod graph;
pub mod guardrail;
pub mod image_reference;
mod index;
mod install_facts;
pub mod json;
pub mod members;
pub mod memory;
pub mod olm;
mod owned;
mod package;
mod plausible;
pub mod selector;
pub mod version;
mod written;
pub mod yaml_scalar;

pub use crate::install_facts::CrdNames;
pub use crate::install_facts::InstallFacts;
pub use crate::install_facts::InstallModes;
pub use blob::DependencyKind;
pub use builder::CatalogBuilder;
pub use bundle::{Bundle, BundleVersionError};
pub use bundle_set::{BundleIndex, BundleSet};
pub use catalog::{BlobCounts, Catalog, PackageFault};
pub use edges::{ChannelIndex, NameEdge};
pub use package::{AskedChannels, Channel};
pub use package::{Deprecation, Package, Successors};
pub use plausible::{Doubt, Glance, RemainingCount};
pub use written::{EdgeStart, WrittenEdge};
