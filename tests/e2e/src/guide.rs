//! The pages of `docs`, whose commands are run as written.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::assets;
use crate::cluster::Cluster;
use crate::kubectl::Printed;

/// A page of `docs`.
pub(crate) struct Page {
    name: &'static str,
    text: String,
}

/// A command of a page, and the output that the page shows below it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) command: String,
    pub(crate) shown: String,
}

impl Page {
    /// Reads `docs/NAME.md`.
    pub(crate) fn read(name: &'static str) -> Result<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/{name}.md"));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(Self { name, text })
    }

    /// Returns the first shell block below a heading.
    pub(crate) fn commands(&self, heading: &str) -> Result<&str> {
        let start = format!("\n## {heading}\n");
        let section = self.text.split_once(&start).map(|(_, below)| below);
        let section = section.and_then(|below| below.split("\n## ").next());
        let block = section.and_then(|section| section.split_once("```sh\n"));
        let block = block.and_then(|(_, rest)| rest.split_once("```"));
        let (block, _) = block.with_context(|| format!("{}.md, {heading}", self.name))?;
        Ok(block)
    }

    /// Runs that block in a shell.
    pub(crate) async fn run(&self, cluster: &Cluster, heading: &str) -> Result<String> {
        let commands = self.commands(heading)?;
        let printed = shell(cluster, commands).await?;
        ensure!(printed.code == Some(0), "{commands}: {printed:?}");
        Ok(printed.stdout)
    }

    /// Returns every command in a block marked `console`, in order.
    pub(crate) fn sessions(&self) -> Vec<Session> {
        let blocks = self.text.split("```console\n").skip(1);
        let blocks = blocks.filter_map(|rest| rest.split("```").next());
        blocks.flat_map(sessions).collect()
    }
}

/// Runs commands in a shell, as an administrator with the built kubectl.
pub(crate) async fn shell(cluster: &Cluster, commands: &str) -> Result<Printed> {
    let kubectl = assets::program("kubectl")?;
    let folder = kubectl.parent().context("kubectl is in a folder")?;
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let shell = cluster.kubectl()?.by("/bin/sh".into());
    shell
        .run_with(&["-ec", commands], "", &[("PATH", &path)])
        .await
}

/// Returns the commands of one block.
fn sessions(block: &str) -> Vec<Session> {
    let block = format!("\n{}", block.trim_end());
    block.split("\n$ ").skip(1).map(session).collect()
}

/// Splits a command from the output below it. A command continues after each line that ends with a
/// backslash.
fn session(text: &str) -> Session {
    let continued = text.lines().take_while(|line| line.ends_with('\\'));
    let mut ends = text.match_indices('\n').map(|(at, _)| at);
    let end = ends.nth(continued.count()).unwrap_or(text.len());
    let (command, shown) = text.split_at(end);
    Session {
        command: command.to_owned(),
        shown: shown.trim_start().to_owned(),
    }
}
