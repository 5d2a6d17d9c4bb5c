//! Commands and their output, as a terminal shows them.

use std::fmt::Write;
use std::fs;

use anyhow::Result;

use super::situation::{Situation, prepare};
use crate::cluster::Cluster;
use crate::kubectl::Kubectl;
use crate::steady::steady;

/// Runs the commands of a situation one after another.
pub(super) async fn of(
    cluster: &Cluster,
    kubectl: &Kubectl,
    situation: &Situation,
) -> Result<String> {
    write_files(cluster, situation)?;
    if situation.prepares {
        prepare(cluster).await?;
    }
    let mut transcript = String::new();
    for command in situation.commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let printed = kubectl
            .run_with(&words, "", &[("KUBE_EDITOR", &editor(situation))])
            .await?;
        writeln!(transcript, "$ kubectl {command}")?;
        write!(
            transcript,
            "{}{}",
            steady(&printed.stdout),
            steady(&printed.stderr)
        )?;
        writeln!(transcript, "# exit code {}\n", printed.code.unwrap_or(-1))?;
    }
    Ok(transcript)
}

/// Writes the files that the commands name.
fn write_files(cluster: &Cluster, situation: &Situation) -> Result<()> {
    let edit = &situation.edit;
    fs::write(
        cluster.dir().join("demo.yaml"),
        edit.manifest("demo").to_string(),
    )?;
    fs::write(
        cluster.dir().join("fresh.yaml"),
        edit.manifest("fresh").to_string(),
    )?;
    fs::write(cluster.dir().join("patch.yaml"), edit.patch().to_string())?;
    Ok(())
}

/// Returns an editor that makes the edit in the opened file.
fn editor(situation: &Situation) -> String {
    let edit = &situation.edit;
    format!(
        "sed -i -e 's/^\\( *version:\\) .*/\\1 {}/' -e 's/^\\( *upgradeConstraintPolicy:\\) .*/\\1 {}/'",
        edit.version, edit.policy
    )
}
