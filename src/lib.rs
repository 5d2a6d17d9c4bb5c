//! olmguard checks `ClusterExtension` edits before OLM v1 acts on them.
//!
//! The webhook and every command gather facts and call one pure function,
//! [`answer`](olmguard_engine::explain::answer()). They differ only in the source of the facts. `docs/architecture.md`
//! traces a request, a catalog and a report through the files.
//!
//! ```text
//! catalogs (files, directories, a cluster)     ClusterExtension, any API shape
//!      | source, cluster: keep what decides         | manifest, admission
//!      v                                            v
//! catalog::Catalog --> snapshot::Snapshot      extension::Extension (Filter, Installed)
//!                            |                      |
//!                            '-------> judge <------'     the decision table; resolve predicts what
//!                                        |                operator-controller would do
//!                                   Judgement (data, with its evidence)
//!                                        |
//!                                     explain             the only module that turns it into text
//!                                        |
//!                                  explain::Answer --> AdmissionReview, text, JSON
//! ```
//!
//! # Crates
//!
//! [`olmguard_catalog`] reads a catalog exactly as OLM does. `olmguard_policy` evaluates the rules of administrators.
//! `olmguard_preflight` checks what operator-controller checks after resolution.
//! [`olmguard_engine`] decides and explains. [`olmguard_report`] defines the report formats, and [`olmguard_views`]
//! builds the reports. [`olmguard_admission`] reads reviews and writes replies. These crates are pure: no I/O, no
//! clock, no environment, no threads, no async, and no dependency on the order of a hash map. The same facts give the
//! same bytes, on every replica and offline.
//!
//! [`olmguard_server`] serves reviews over HTTPS. This crate is the program: files, network, Kubernetes and the command
//! line. `docs/architecture.md` maps all modules, and a test (`tests/pages/layering.rs`) enforces their dependencies.
//!
//! The program first builds a complete [`Snapshot`](olmguard_engine::snapshot::Snapshot). A decision is then one
//! synchronous call. All work that can be done at load time is done there: ranges and versions are parsed once, and
//! nothing is parsed or sorted while an edit waits.
//!
//! # Terms
//!
//! | term | meaning |
//! | --- | --- |
//! | package, channel, entry, bundle | as defined by [file-based catalogs][fbc] |
//! | edge | an entry's `replaces`, `skips` or `skipRange`: an upgrade that the catalog author allows |
//! | successor | a bundle to which the installed one has an edge, or the installed bundle itself |
//! | filter | the request of an extension: package, version range, channels, selector, policy |
//! | catalog in play | a catalog that the selector matches and that is not Unavailable |
//! | candidate | a bundle of the package that is in a requested channel and in the range |
//! | bypass | `SelfCertified` (`Ignore` in older shapes): edges are not enforced |
//! | verdict, token | the outcome of an edit; the reason code of the decisive row of the decision table |
//!
//! An edit is denied only on evidence. If the facts are not sufficient, the verdict is *undecided*, and the caller
//! decides what to do with the edit.
//!
//! # Upstream
//!
//! The upstream code that this program mirrors. Each module names the file that it mirrors.
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
