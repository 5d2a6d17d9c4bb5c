//! The pages of `docs`, whose commands are run as they are written.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::assets;
use crate::cluster::Cluster;

/// A page.
pub(crate) struct Page {
    name: &'static str,
    text: String,
}

impl Page {
    /// Reads `docs/NAME.md`.
    pub(crate) fn read(name: &'static str) -> Result<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/{name}.md"));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(Self { name, text })
    }

    /// The first block of shell below a heading.
    pub(crate) fn commands(&self, heading: &str) -> Result<&str> {
        let start = format!("\n## {heading}\n");
        let section = self.text.split_once(&start).map(|(_, below)| below);
        let section = section.and_then(|below| below.split("\n## ").next());
        let block = section.and_then(|section| section.split_once("```sh\n"));
        let block = block.and_then(|(_, rest)| rest.split_once("```"));
        let (block, _) = block.with_context(|| format!("{}.md, {heading}", self.name))?;
        Ok(block)
    }

    /// Runs that block by a shell, as an administrator whose kubectl is the one built.
    pub(crate) async fn run(&self, cluster: &Cluster, heading: &str) -> Result<String> {
        let commands = self.commands(heading)?;
        let kubectl = assets::program("kubectl")?;
        let folder = kubectl.parent().context("kubectl is in a folder")?;
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let shell = cluster.kubectl()?.by("/bin/sh".into());
        let printed = shell
            .run_with(&["-ec", commands], "", &[("PATH", &path)])
            .await?;
        ensure!(printed.code == Some(0), "{commands}: {printed:?}");
        Ok(printed.stdout)
    }
}
