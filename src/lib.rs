//! olmguard: says at once whether OLM v1 will carry out an edit of a `ClusterExtension`.
//!
//! The webhook and each command gather facts and ask one pure function,
//! [`answer`](olmguard_engine::explain::answer()); they differ only in where the facts come from.
//! `docs/architecture.md` follows a request, a catalog and a report through the files.
//!
//! ```text
//! catalogs (files, folders, a cluster's)       ClusterExtension, any API shape
//!      | source, cluster: keep what decides         | manifest, admission
//!      v                                            v
//! catalog::Catalog --> snapshot::Snapshot      extension::Extension (Filter, Installed)
//!                            |                      |
//!                            '-------> judge <------'     the decision table; resolve says what
//!                                        |                operator-controller would do
//!                                   Judgement (data, with its evidence)
//!                                        |
//!                                     explain             the only module that words them
//!                                        |
//!                                  explain::Answer --> AdmissionReview, text, JSON
//! ```
//!
//! # Crates
//!
//! [`olmguard_catalog`] says what a catalog says, as OLM reads it; `olmguard_policy` what administrators allow;
//! [`olmguard_engine`] decides and words; [`olmguard_report`] knows the forms of reports, and [`olmguard_views`] makes
//! them; [`olmguard_admission`] reads reviews and writes replies. These are pure: no I/O, no clock, no environment, no
//! threads, no async, no order of a hash map; the same facts give the same bytes, on every replica and offline.
//! [`olmguard_server`] serves reviews over HTTPS. This crate is the program: files, network, Kubernetes, the command
//! line. `docs/architecture.md` is the map of all modules, and a test (`tests/pages/layering.rs`) keeps their arrows.
//!
//! The program builds a whole [`Snapshot`](olmguard_engine::snapshot::Snapshot) first; a decision is then one
//! synchronous call. What loading can do is done there: ranges and versions are parsed once, and nothing is
//! parsed or sorted while an edit waits.
//!
//! # Words
//!
//! | word | meaning |
//! | --- | --- |
//! | package, channel, entry, bundle | those of a [file-based catalog][fbc] |
//! | edge | an entry's `replaces`, `skips` or `skipRange`: a step that the catalog's author allows |
//! | successor | a bundle that an edge leads to from the installed one, or the installed one itself |
//! | filter | what an extension asks for: package, version range, channels, selector, policy |
//! | catalog in play | one that the selector matches and that is not Unavailable |
//! | candidate | a bundle of the package in an asked channel and in the range |
//! | bypass | `SelfCertified` (`Ignore` in older shapes): edges do not bind |
//! | verdict, token | what becomes of an edit; the row of the decision table that said so |
//!
//! An edit is denied on evidence only. Where the facts do not tell, the verdict is *undecided*, and
//! the one who asked says what becomes of it.
//!
//! # Upstream
//!
//! What is mirrored here, and where it stands; each module names its file.
//!
//! | what | upstream |
//! | --- | --- |
//! | resolution | [operator-controller], `internal/operator-controller/resolve`, `catalogmetadata` |
//! | the API and its CRD | [operator-controller], `api/v1` and its predecessors from tag v0.0.1 on |
//! | reading a catalog | [operator-registry], `alpha/declcfg`, and operator-controller's cache |
//! | `spec.source.catalog.version` | [Masterminds/semver] v3, the release that each OLM vendors |
//! | bundle versions, `skipRange` | [blang/semver] v4 |
//! | label selectors | [apimachinery], `pkg/labels`, `pkg/apis/meta/v1` |
//!
//! # Example
//!
//! ```
//! use olmguard_engine::explain::answer;
//! use olmguard_engine::extension::{Extension, Shape};
//! use olmguard_engine::judge::{Basis, Edit, Requester, Token};
//! use olmguard_catalog::olm::Rules;
//! use olmguard_engine::snapshot::Snapshot;
//! use olmguard::source::load_bytes;
//!
//! let catalog = r#"
//!     {"schema": "olm.package", "name": "lantern"}
//!     {"schema": "olm.channel", "package": "lantern", "name": "stable", "entries": [
//!         {"name": "lantern.v1"}, {"name": "lantern.v2", "replaces": "lantern.v1"}]}
//!     {"schema": "olm.bundle", "package": "lantern", "name": "lantern.v2", "properties": [
//!         {"type": "olm.package", "value": {"packageName": "lantern", "version": "2.0.0"}}]}"#;
//! let rules = Rules::default();
//! let hub = load_bytes("hub", catalog.as_bytes(), &rules);
//! let snapshot = Snapshot::new(rules, [hub]);
//!
//! let object = serde_json::json!({
//!     "metadata": {"name": "lantern"},
//!     "spec": {"source": {"sourceType": "Catalog", "catalog": {
//!         "packageName": "lantern", "version": ">=3"}}},
//! });
//! let new = Extension::read(Shape::V1, &object);
//! let basis = Basis::without_policies(&snapshot);
//! let edit = Edit {
//!     new: &new,
//!     old: None,
//!     installed: &new.installed,
//!     schema: &[],
//!     requester: Requester::unknown(),
//! };
//! let answer = answer(basis, &edit);
//! assert_eq!(answer.token, Token::VersionNotFound);
//! ```
//!
//! [fbc]: https://olm.operatorframework.io/docs/reference/file-based-catalogs/
//! [operator-controller]: https://github.com/operator-framework/operator-controller/tree/v1.11.0
//! [operator-registry]: https://github.com/operator-framework/operator-registry/tree/v1.73.0
//! [Masterminds/semver]: https://github.com/Masterminds/semver/tree/v3.5.0
//! [blang/semver]: https://github.com/blang/semver/tree/v4.0.0
//! [apimachinery]: https://github.com/kubernetes/apimachinery

mod bundle_files;
pub mod cli;
pub mod cluster;
mod facts;
mod foreign_text;
mod links;
pub mod manifest;
mod policy_files;
mod policy_objects;
pub mod revision;
pub mod source;
