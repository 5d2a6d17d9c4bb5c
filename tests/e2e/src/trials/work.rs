//! What most trials begin and end with: a catalog, three replicas that must not be lost, and people at work.
//!
//! Every edit depends on the catalog: one is allowed because the catalog has its upgrade edge, the other
//! is denied because the catalog has none. A replica that answers before it has loaded the catalog, or
//! that has lost the catalog, answers something else, and that counts as wrong.

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

/// The extension that people edit, which has 1.0.0.
pub(super) const EXTENSION: &str = "demo";

/// Its package, and the catalog of the package.
pub(super) const PACKAGE: &str = "lantern-operator";
pub(super) const CATALOG: &str = "hub";

/// The catalog and the replicas that check edits against it.
pub(super) struct Site {
    pub(super) olm: Olm,
    pub(super) guard: Deployment,
    /// The digest of what the catalog serves.
    pub(super) digest: String,
}

impl Site {
    /// Three replicas, `failurePolicy: Fail`, a certificate of their own.
    pub(super) async fn hardened(cluster: &Cluster) -> Result<Self> {
        Self::hardened_with(cluster, &[]).await
    }

    /// The same with an environment in addition to that of the manifests.
    pub(super) async fn hardened_with(cluster: &Cluster, extra: &[(&str, &str)]) -> Result<Self> {
        let (olm, digest) = serve(cluster).await?;
        let guard = Deployment::up_with(cluster, "hardened-self-managed", extra).await?;
        ensure!(guard.pods.len() == 3, "{} pods", guard.pods.len());
        Ok(Self { olm, guard, digest })
    }
}

/// OLM with the catalog, and the digest of what the catalog serves.
pub(super) async fn serve(cluster: &Cluster) -> Result<(Olm, String)> {
    let olm = Olm::without_controller(cluster).await?;
    let digest = olm.serve(cluster, &hub("", &FIRST)).await?;
    Ok((olm, digest))
}

/// The catalog with these versions, each the successor of the one before; `before` comes before them.
pub(super) fn hub(before: &str, versions: &[&str]) -> Catalog {
    Catalog::new(CATALOG, format!("{before}{}", chain(PACKAGE, versions)))
}

/// How a denial names the content that it is by.
pub(super) fn cited(digest: &str) -> String {
    format!("\nCatalog: {CATALOG}@{digest}, content of ")
}

/// The versions that the catalog has first.
pub(super) const FIRST: [&str; 3] = ["1.0.0", "1.1.0", "1.2.0"];

/// People at work, until [`Work::end`].
pub(super) struct Work {
    pub(super) load: Load,
    /// How much the API server had written down before.
    since: usize,
}

/// People begin to work on a new extension.
pub(super) async fn begin(cluster: &Cluster) -> Result<Work> {
    install(cluster).await?;
    begin_again(cluster).await
}

/// The extension, with 1.0.0 installed.
pub(super) async fn install(cluster: &Cluster) -> Result<()> {
    let extensions = Extensions::of(&cluster.client);
    extensions.create(EXTENSION, PACKAGE, "1.0.0").await?;
    let bundle = format!("{PACKAGE}.v1.0.0");
    extensions.installed(EXTENSION, &bundle, "1.0.0").await
}

/// They work on the same extension again.
pub(super) async fn begin_again(cluster: &Cluster) -> Result<Work> {
    begin_with(cluster, edits("")).await
}

/// They work while the catalog gets other content: until that is loaded, olmguard denies nothing that
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
    /// They stop. Every answer was right, and the API server wrote its reason code down.
    pub(super) async fn end(self, cluster: &Cluster, what: &str) -> Result<()> {
        let counts = self.load.stop().await?;
        are_written_down(cluster, self.since, &counts.tokens).await?;
        report(what, &counts);
        Ok(())
    }
}

/// People who asked the webhook directly stop; every answer was right.
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

/// An edit that an API server lets by without an answer has no reason code.
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

/// How many edits of people have which reason code; `-` is none. An answer that depends on when the
/// content was loaded counts as the answer by that content: whether it is right has been seen already.
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

/// The user name of people.
const PEOPLE: &str = "e2e-people";

/// One edit that the catalog allows and one that it denies, with this in the message; also after the
/// catalog got versions between 1.1.0 and 1.2.0.
pub(super) fn edits(naming: &str) -> Vec<Edit> {
    let naming = naming.to_owned();
    with_denied(Right::NotASuccessor { naming })
}

fn with_denied(denied: Right) -> Vec<Edit> {
    [("1.1.0", Right::Resolved), ("1.2.0", denied)]
        .map(|(version, right)| Edit { version, right })
        .into()
}
