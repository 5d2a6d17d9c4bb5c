//! The facts of one edit that a policy reads.

use std::collections::BTreeMap;

use olmguard_catalog::version::{Constraint, Version};

use crate::moment::Moment;
use olmguard_catalog::word_set;

/// The extension that an edit is about, as far as `match` reads it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The package, e.g. `argocd-operator`.
    pub package: &'a str,
    /// `spec.namespace` of the `ClusterExtension`.
    pub namespace: &'a str,
    /// The labels of the `ClusterExtension`.
    pub labels: &'a BTreeMap<String, String>,
}

/// A bundle that is installed or resolved to.
#[derive(Clone, Copy, Debug)]
pub struct PolicyBundle<'a> {
    /// The name of the bundle, e.g. `argocd-operator.v0.6.0`.
    pub name: &'a str,
    /// Its version.
    pub version: &'a Version,
}

/// The installed bundle before a change.
#[derive(Clone, Copy, Debug)]
pub enum PolicyOrigin<'a> {
    /// Nothing: the change is a first installation.
    Nothing,
    /// A bundle, but its version is not known or cannot be read.
    Unknown,
    /// This bundle.
    Bundle(PolicyBundle<'a>),
}

/// The maker of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Maker {
    /// A user, by an edit of the extension.
    User,
    /// OLM, automatically after an edit: the rules about the edit itself do not apply.
    Olm,
}

/// The person or program that edits.
#[derive(Clone, Copy, Debug)]
pub struct User<'a> {
    /// The user name.
    pub name: &'a str,
    /// The groups of the user, in the order of the request.
    pub groups: &'a [String],
}

word_set! {
    /// The operation on the `ClusterExtension`.
    pub enum Operation {
        /// The extension is created.
        Create => "CREATE",
        /// The extension is updated.
        Update => "UPDATE",
    }
}

/// The checker of the user's permission for the verb `bypass`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BypassPermission {
    /// The API server: by the `ValidatingAdmissionPolicy` that olmguard ships.
    AskedByApiServer,
    /// Unknown, as in a check offline.
    Unknown,
}

/// One step that an edit of a `ClusterExtension` makes, or that OLM makes automatically after it.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The extension.
    pub subject: Subject<'a>,
    /// Who makes it.
    pub maker: Maker,
    /// What is installed before it.
    pub from: PolicyOrigin<'a>,
    /// The bundle that it resolves to.
    pub to: PolicyBundle<'a>,
    /// Whether it resolves to another bundle than the installed one; a first install is a move.
    pub is_move: bool,
    /// The catalog that it resolves from.
    pub catalog: &'a str,
    /// The channels that the extension requests.
    pub channels: &'a [String],
    /// `spec.source.catalog.version`; `None` if it is not set.
    pub range: Option<&'a Constraint>,
    /// Whether the upgrade constraint policy is `SelfCertified` (`Ignore` in early releases of OLM).
    pub bypass: bool,
    /// Who checks the permission for that.
    pub permission: BypassPermission,
    /// Whether the bundle, channel or package is deprecated.
    pub deprecated: bool,
    /// Whether the extension is created or updated.
    pub operation: Operation,
    /// Who edits; absent if it is no one in particular, as in an audit: then no condition that reads the user is
    /// evaluated.
    pub user: Option<User<'a>>,
    /// The time of the edit.
    pub now: Moment,
}
