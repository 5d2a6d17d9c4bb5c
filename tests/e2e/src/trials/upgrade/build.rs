//! Programs that take each other's place: what tells them apart, and another version.
//!
//! There is one set of sources here. Another build is a program of its own: another commit, another
//! profile of the compiler, another C library. Another version is the same program with another version
//! written over its own: it shows that two programs that tell each other apart by version can follow each
//! other, not what two versions would do differently.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

/// Writes it into a folder.
pub(super) async fn newer(program: &Path, folder: &Path) -> Result<PathBuf> {
    let old = version(program).await?;
    let new = next(&old)?;
    let path = folder.join(format!("olmguard-{new}"));
    let mut bytes = fs::read(program)?;
    overwrite(&mut bytes, old.as_bytes(), new.as_bytes());
    fs::write(&path, bytes)?;
    fs::set_permissions(&path, fs::metadata(program)?.permissions())?;
    let says = version(&path).await?;
    ensure!(says == new, "it says {says}, and not {new}");
    Ok(path)
}

/// Two builds of one version: the version is the same, and the rest is not.
pub(super) async fn differ(one: &Path, other: &Path) -> Result<()> {
    let (versions, builds) = (
        [version(one).await?, version(other).await?],
        [describe(one).await?, describe(other).await?],
    );
    ensure!(versions[0] == versions[1], "{versions:?}");
    ensure!(builds[0] != builds[1], "one build twice: {}", builds[0]);
    Ok(())
}

/// A program's version, commit and target, in one line.
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

/// One of the same length.
fn next(version: &str) -> Result<String> {
    let last = version
        .bytes()
        .next_back()
        .context("a version has an end")?;
    ensure!(last.is_ascii_digit(), "{version} does not end with a digit");
    let last = if last == b'9' {
        '8'
    } else {
        char::from(last + 1)
    };
    let start = version.get(..version.len() - 1).context("it is ASCII")?;
    Ok(format!("{start}{last}"))
}

fn overwrite(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    let mut at = 0;
    while let Some(place) = bytes.get_mut(at..at + old.len()) {
        if place == old {
            place.copy_from_slice(new);
        }
        at += 1;
    }
}
