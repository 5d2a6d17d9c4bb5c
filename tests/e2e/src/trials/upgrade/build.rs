//! Another build of the guard: the same program, with another version written over its own.
//!
//! There is but one set of sources here. So what a trial shows by it is that two programs can stand
//! beside each other and follow each other, which tell each other apart by version; not what two
//! versions would do differently. Where the compiler has taken the version apart to compare with it,
//! that place keeps the old one.

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

/// What a program says of itself.
pub(super) async fn version(program: &Path) -> Result<String> {
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
