//! Comparison of olmguard's verdicts with what the real operator-controller does.
//!
//! Each pair is an extension: something is installed, by the controller from an image or by a record that it reads, and
//! then an edit is requested. olmguard gives its verdict through the API server in a dry run. Then the edit is written
//! without olmguard, and the controller shows the result. An edit that olmguard denies must fail with exactly the text
//! that olmguard quotes. An edit that it allows must install exactly the version that it names. The writes of the
//! controller never reach olmguard.
//!
//! ```text
//! recorded, made -> graphs -> drafts -> pairs (chosen by what `olmguard check` says of drafts)
//!                                         |
//!                  guard, by dry-run <----+----> controller, by the edit itself
//!                            '-------> table <-------'
//! ```

mod audits;
mod drafts;
mod graph;
mod guarded;
mod made;
mod offline;
mod pairs;
mod recorded;
mod sketch;
mod stage;
mod stocks;
mod table;
mod traits;
mod unjudged;
mod verdict;

use std::env;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::cluster::Cluster;
use crate::cluster::audit::{Audited, Object};
use crate::olm::Olm;
use crate::say::say;
use guarded::Guard;
use stage::Stage;
use table::Table;

pub(crate) use audits::audits_foretell_what_olm_does;
pub(crate) use unjudged::passes_what_is_never_judged;

/// The maximum number of pairs at the same time, because the controller retries everything that does not work.
const BATCH: usize = 24;

/// The release of the controller.
const RELEASE: &str = "1.11";

/// The variable with a seed, which gives the same pairs again.
const SEED: &str = "OLMGUARD_E2E_SEED";

/// olmguard and operator-controller agree on every pair.
pub(crate) async fn agrees_with_the_controller(cluster: &mut Cluster) -> Result<()> {
    let seed = seed()?;
    agree(cluster, seed)
        .await
        .with_context(|| format!("{SEED}={seed}"))
}

async fn agree(cluster: &Cluster, seed: u64) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(seed);
    let olm = Olm::start(cluster).await?;
    let graphs = graph::all(&mut random, &olm.registry).await?;
    let pairs = pairs::choose(cluster.dir(), &graphs, &mut random)?;
    for catalog in graphs.iter().flat_map(|graph| &graph.catalogs) {
        olm.serve(cluster, catalog).await?;
    }
    let guard = Guard::start(cluster, &["--olm-release", RELEASE]).await?;
    guard
        .configure(cluster, guarded::shipped(cluster).await?)
        .await?;

    let stage = Stage::new(cluster).await?;
    let begun = Instant::now();
    let mut table = Table::default();
    for batch in pairs.chunks(BATCH) {
        guard.is_not_asked(stage.set(batch)).await?;
        let verdicts = verdict::of_all(cluster, batch).await?;
        let outcomes = guard.is_not_asked(stage.play(batch)).await?;
        guard.is_not_asked(stage.strike(batch)).await?;
        table.add(batch, &verdicts, &outcomes);
    }
    let written = written(cluster)?;
    ensure!(
        written >= pairs.len(),
        "the controller wrote {written} times only"
    );
    say(format!(
        "{SEED}={seed}, {:.0?}\n{table}\
         the controller wrote {} times, and the guard was asked about none",
        begun.elapsed(),
        written
    ));
    table.holds()
}

/// Returns how often the controller has written extensions themselves, that is, their finalizers.
fn written(cluster: &Cluster) -> Result<usize> {
    let is_one = |it: &Audited| {
        let object = it.object_ref.as_ref();
        let writes = matches!(it.verb.as_str(), "update" | "patch");
        let is_controller = it.user_agent.starts_with("operator-controller/");
        writes && is_controller && object.is_some_and(is_extension)
    };
    Ok(cluster.audited()?.iter().filter(|it| is_one(it)).count())
}

fn is_extension(object: &Object) -> bool {
    object.resource.as_deref() == Some("clusterextensions") && object.subresource.is_none()
}

fn seed() -> Result<u64> {
    match env::var(SEED) {
        Ok(text) => text.parse().with_context(|| format!("{SEED}={text}")),
        Err(_) => Ok(fastrand::u64(..)),
    }
}
