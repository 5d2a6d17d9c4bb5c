//! Commands and what each printed, as a terminal shows them.

use std::fmt::Write;
use std::fs;
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;

use super::situation::{Situation, prepare};
use crate::cluster::Cluster;
use crate::kubectl::Kubectl;

/// Runs the commands of a situation in turn.
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

/// The files that the commands name.
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

/// Someone who types the edit into the file that is opened.
fn editor(situation: &Situation) -> String {
    let edit = &situation.edit;
    format!(
        "sed -i -e 's/^\\( *version:\\) .*/\\1 {}/' -e 's/^\\( *upgradeConstraintPolicy:\\) .*/\\1 {}/'",
        edit.version, edit.policy
    )
}

/// A text without what differs from run to run.
fn steady(text: &str) -> String {
    VARIABLE
        .iter()
        .fold(text.to_owned(), |text, (pattern, word)| {
            pattern.replace_all(&text, *word).into_owned()
        })
}

static VARIABLE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"[0-9a-f]{64}", "DIGEST"),
        (
            r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z| [+-][0-9]{4})",
            "TIME",
        ),
        (r"/\S+/kubectl-edit-[0-9]+", "/tmp/kubectl-edit-N"),
        (r"/\S+/(LIVE|MERGED)-[0-9]+/", "/tmp/$1-N/"),
        (r"127\.96\.0\.[0-9]+", "CLUSTER-IP"),
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
        (r#"(resourceVersion: )"?[0-9]+"?"#, "${1}N"),
    ]
    .into_iter()
    .filter_map(|(pattern, word)| Some((Regex::new(pattern).ok()?, word)))
    .collect()
});
