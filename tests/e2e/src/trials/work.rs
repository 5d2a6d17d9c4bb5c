//! The start and the end of most trials: a catalog, three replicas that must stay available, and users at work.
//!
//! Every edit depends on the catalog: one is allowed because the catalog has its upgrade edge, the other is denied
//! because the catalog has none. A replica that answers before it has loaded the catalog, or after it has lost the
//! catalog, gives another answer, which counts as wrong.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::graph::chain;
use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::extension::Extensions;
use crate::load::{Counts, Edit, Load, Right};
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::say::say;
use crate::until::until;

/// The extension that users edit, which has 1.0.0 installed.
pub(super) const EXTENSION: &str = "demo";

/// The package of the extension, and the catalog of the package.
pub(super) const PACKAGE: &str = "lantern-operator";
pub(super) const CATALOG: &str = "hub";

/// The catalog and the replicas that check edits against it.
pub(super) struct Site {
    pub(super) olm: Olm,
    pub(super) guard: Deployment,
    /// The digest of the served content.
    pub(super) digest: String,
}

impl Site {
    /// Sets up three replicas with `failurePolicy: Fail` and a self-managed certificate.
    pub(super) async fn hardened(cluster: &Cluster) -> Result<Self> {
        Self::hardened_with(cluster, &[]).await
    }

    /// Like [`Site::hardened`], with variables in addition to those of the manifests.
    pub(super) async fn hardened_with(cluster: &Cluster, extra: &[(&str, &str)]) -> Result<Self> {
        let (olm, digest) = serve(cluster).await?;
        let guard = Deployment::up_with(cluster, "hardened-self-managed", extra).await?;
        ensure!(guard.pods.len() == 3, "{} pods", guard.pods.len());
        Ok(Self { olm, guard, digest })
    }
}

/// Starts OLM with the catalog. Returns it with the digest of the served content.
pub(super) async fn serve(cluster: &Cluster) -> Result<(Olm, String)> {
    let olm = Olm::without_controller(cluster).await?;
    let digest = olm.serve(cluster, &hub("", &FIRST)).await?;
    Ok((olm, digest))
}

/// Returns the catalog with these versions, each the successor of the one before, preceded by the text `before`.
pub(super) fn hub(before: &str, versions: &[&str]) -> Catalog {
    Catalog::new(CATALOG, format!("{before}{}", chain(PACKAGE, versions)))
}

/// Returns how a denial cites its content.
pub(super) fn cited(digest: &str) -> String {
    format!("\nCatalog: {CATALOG}@{digest}, content of ")
}

/// The first versions of the catalog.
pub(super) const FIRST: [&str; 3] = ["1.0.0", "1.1.0", "1.2.0"];

/// Users at work, until [`Work::end`].
pub(super) struct Work {
    pub(super) load: Load,
    /// The number of requests in the audit log before.
    since: usize,
}

/// Starts the edits of users on a new extension.
pub(super) async fn begin(cluster: &Cluster) -> Result<Work> {
    install(cluster).await?;
    begin_again(cluster).await
}

/// Creates the extension, with 1.0.0 installed.
pub(super) async fn install(cluster: &Cluster) -> Result<()> {
    let extensions = Extensions::of(&cluster.client);
    extensions.create(EXTENSION, PACKAGE, "1.0.0").await?;
    let bundle = format!("{PACKAGE}.v1.0.0");
    extensions.installed(EXTENSION, &bundle, "1.0.0").await
}

/// Starts the edits of users on the same extension again.
pub(super) async fn begin_again(cluster: &Cluster) -> Result<Work> {
    begin_with(cluster, edits("")).await
}

/// Starts the edits of users while the catalog gets other content. Until that is loaded, olmguard denies nothing that
/// the newer content may allow.
pub(super) async fn begin_while_it_changes(cluster: &Cluster) -> Result<Work> {
    let denied = Right::NotASuccessorOrOutdated;
    begin_with(cluster, with_denied(denied)).await
}

async fn begin_with(cluster: &Cluster, edits: Vec<Edit>) -> Result<Work> {
    let since = cluster.audited()?.len();
    let people = Extensions::of(&cluster.administrator(PEOPLE).await?);
    Ok(Work {
        load: Load::start(people, EXTENSION, edits),
        since,
    })
}

impl Work {
    /// Stops the edits. Every answer was right, and the API server has logged its reason code.
    pub(super) async fn end(self, cluster: &Cluster, what: &str) -> Result<()> {
        let counts = self.load.stop().await?;
        are_written_down(cluster, self.since, &counts.tokens).await?;
        report(what, &counts);
        Ok(())
    }
}

/// Stops direct reviews. Every answer must have been right.
pub(super) async fn end(what: &str, load: Load) -> Result<()> {
    report(what, &load.stop().await?);
    Ok(())
}

fn report(what: &str, counts: &Counts) {
    say(format_args!(
        "{what}: {} calls, {:.0} a second, each answered right: {:?}",
        counts.asked,
        counts.pace(),
        counts.tokens
    ));
}

/// Checks the reason codes in the audit log. An edit that an API server allows without an answer has none.
async fn are_written_down(
    cluster: &Cluster,
    since: usize,
    expected: &BTreeMap<&'static str, usize>,
) -> Result<()> {
    let mut found = BTreeMap::new();
    let whole = until("the audit log to have every edit", async || {
        found = written_down(cluster, since).ok()?;
        let same = found.iter().map(|(token, count)| (token.as_str(), *count));
        same.eq(expected.iter().map(|(token, count)| (*token, *count)))
            .then_some(())
    });
    whole
        .await
        .with_context(|| format!("{expected:?} in the audit log, which has {found:?}"))
}

/// Returns the number of users' edits by reason code, with `-` for none. An answer that depends on when the content was
/// loaded counts as the answer by that content, because it was checked before.
fn written_down(cluster: &Cluster, since: usize) -> Result<BTreeMap<String, usize>> {
    let mut tokens = BTreeMap::new();
    let requests = cluster.audited()?.into_iter().skip(since);
    for edit in requests.filter(|it| it.verb == "patch" && it.user.username == PEOPLE) {
        let token = match edit.token() {
            None => "-",
            Some("CatalogOutdated") => "NotASuccessor",
            Some(token) => token,
        };
        *tokens.entry(token.to_owned()).or_default() += 1;
    }
    Ok(tokens)
}

/// The user name of the edits.
const PEOPLE: &str = "e2e-people";

/// Returns one edit that the catalog allows, and one that it denies with this text in the message. This also holds
/// after the catalog has got versions between 1.1.0 and 1.2.0.
pub(super) fn edits(naming: &str) -> Vec<Edit> {
    let naming = naming.to_owned();
    with_denied(Right::NotASuccessor { naming })
}

fn with_denied(denied: Right) -> Vec<Edit> {
    [("1.1.0", Right::Resolved), ("1.2.0", denied)]
        .map(|(version, right)| Edit { version, right })
        .into()
}
