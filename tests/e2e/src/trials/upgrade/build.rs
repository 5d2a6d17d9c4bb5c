//! Two builds that replace each other, and how they differ.
//!
//! There is only one set of sources here, so both have the same version. The other build is a separate program, with
//! another commit, another compiler profile and another C library.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

/// Checks that two builds have the same version and differ in everything else.
pub(super) async fn differ(one: &Path, other: &Path) -> Result<()> {
    let (versions, builds) = (
        [version(one).await?, version(other).await?],
        [describe(one).await?, describe(other).await?],
    );
    ensure!(versions[0] == versions[1], "{versions:?}");
    ensure!(builds[0] != builds[1], "one build twice: {}", builds[0]);
    Ok(())
}

/// Returns the version, commit and target of a program, in one line.
pub(super) async fn describe(program: &Path) -> Result<String> {
    let output = Command::new(program).arg("version").output().await?;
    let text = String::from_utf8(output.stdout)?;
    let lines = text.lines().take_while(|line| !line.starts_with("OLM"));
    let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    Ok(lines.collect::<Vec<_>>().join(", "))
}

async fn version(program: &Path) -> Result<String> {
    let output = Command::new(program).arg("--version").output().await?;
    let text = String::from_utf8(output.stdout)?;
    let version = text.split_whitespace().nth(1).context(text.clone())?;
    Ok(version.to_owned())
}
