//! Comparison of `olmguard audit` on running extensions with what the real operator-controller then does.
//!
//! ```text
//! records + status, no controller --audit--> what moves automatically, what is denied
//! controller starts               --rest---> what is installed, what it retries: compared
//!                                 --audit of new contents--> what would move, what would be denied
//! contents are replaced           --rest---> what is installed, what it retries: compared
//! ```
//!
//! At rest, each extension gets an edit that does not affect resolution: the controller must reconcile it once more,
//! and must not change anything.

mod change;
mod command;
mod installations;
mod running;

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::graph;
use crate::cluster::Cluster;
use crate::olm::Olm;
use crate::say::say;
use command::{AuditCommand, AuditedExtension};
use installations::{Installations, RestingState};
use running::RunningExtension;

/// Each extension moves as the audit predicted, and no other extension moves. Then the same is checked with other
/// catalogs.
pub(crate) async fn audits_foretell_what_olm_does(cluster: &mut Cluster) -> Result<()> {
    let seed = super::seed()?;
    say(format_args!("{}={seed}", super::SEED));
    let mut random = fastrand::Rng::with_seed(seed);
    let mut olm = Olm::without_controller(cluster).await?;
    let graphs = graph::all(&mut random, &olm.registry).await?;
    let all = running::choose(cluster.dir(), &graphs, &mut random)?;
    for catalog in graphs.iter().flat_map(|graph| &graph.catalogs) {
        olm.serve(cluster, catalog).await?;
    }
    let installations = Installations::new(cluster);
    installations.set(&all).await?;
    let command = AuditCommand::new(cluster)?;
    let expected = command.audit().await?;
    olm.start_controller(cluster).await?;
    let found = installations.rest(&all, &expected, "Strict").await?;
    compare("as they are", &all, &expected, &found, LEAST_MOVES)?;
    stays(&command.audit().await?, &found)?;
    command.reports(cluster, all.len()).await?;

    let changed = change::some(&mut random, &graphs, &olm.registry).await?;
    let expected = command.preview(&changed).await?;
    for catalog in &changed {
        olm.serve(cluster, catalog).await?;
    }
    let found = installations.rest(&all, &expected, "None").await?;
    compare("other catalogs", &all, &expected, &found, LEAST_MOVES_AFTER)?;
    stays(&command.audit().await?, &found)
}

/// Checks that every extension has the expected state, and that enough of them moved or were denied.
fn compare(
    what: &str,
    all: &[RunningExtension],
    expected: &BTreeMap<String, AuditedExtension>,
    found: &BTreeMap<String, RestingState>,
    least_moves: usize,
) -> Result<()> {
    let differences: Vec<String> = all
        .iter()
        .filter(|extension| {
            let (expected, found) = (expected.get(&extension.name), found.get(&extension.name));
            !matches!((expected, found), (Some(expected), Some(found)) if expected.holds(found))
        })
        .map(|extension| {
            let name = &extension.name;
            let (expected, found) = (expected.get(name), found.get(name));
            format!("{extension:#?}\naudit: {expected:#?}\ncontroller: {found:#?}")
        })
        .collect();
    let count = |is: fn(&AuditedExtension) -> bool| expected.values().filter(|it| is(it)).count();
    let (moves, denied) = (
        count(AuditedExtension::moves),
        count(AuditedExtension::is_denied),
    );
    let mut tokens = BTreeMap::<&str, usize>::new();
    for expected in expected.values() {
        *tokens.entry(&expected.token).or_default() += 1;
    }
    say(format_args!(
        "{what}: {} extensions, {moves} move automatically, {denied} are denied, {} differences\n{tokens:?}",
        all.len(),
        differences.len()
    ));
    ensure!(differences.is_empty(), "{}", differences.join("\n\n"));
    ensure!(all.len() >= LEAST, "only {} extensions", all.len());
    ensure!(
        moves >= least_moves && denied >= LEAST_DENIED,
        "only {moves} move, {denied} are denied"
    );
    Ok(())
}

/// Checks that an audit of extensions at rest finds none that still moves.
fn stays(
    audit: &BTreeMap<String, AuditedExtension>,
    found: &BTreeMap<String, RestingState>,
) -> Result<()> {
    for (name, expected) in audit {
        let is_at_rest = !expected.moves() && found.get(name).is_some_and(|it| expected.holds(it));
        ensure!(is_at_rest, "{name}: {expected:#?}");
    }
    Ok(())
}

const LEAST: usize = 60;
const LEAST_MOVES: usize = 25;
const LEAST_MOVES_AFTER: usize = 2;
const LEAST_DENIED: usize = 10;
