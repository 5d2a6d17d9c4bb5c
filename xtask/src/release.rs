//! `cargo xtask release`: everything that users download, in one directory.
//!
//! ```text
//! olmguard-VERSION-linux-ARCHITECTURE.tar.gz   program, licence, README, completions, manual pages
//! olmguard-VERSION-image.tar                   the image for all of these processors, a layout of OCI
//! olmguard-VERSION.tgz                         the chart
//! olmguard-VERSION.cdx.json                    the components of olmguard: CycloneDX
//! olmguard.yaml                                the manifest for krew
//! SHA256SUMS                                   the digests of all others
//! ```
//!
//! Invariant: the same commit and the same programs produce the same bytes. Parts that this machine cannot build are
//! printed with the reason. In CI, they are an error.

mod archives;
mod chart;
mod error;
mod krew;
mod options;
mod pages;
mod parts;
mod sbom;

use std::path::Path;
use std::{env, path};

pub(crate) use self::error::ReleaseError;
use self::options::Options;
use self::parts::Parts;
use crate::build::{Build, Target};
use crate::commit::Commit;
use crate::digest::sha256;
use crate::output::{Files, replace};
use crate::program::root;
use crate::report::say;
use crate::steps::is_continuous_integration;

/// Makes a release of the checkout.
pub(crate) fn run(options: &[&str]) -> Result<(), ReleaseError> {
    let options = Options::parse(options)?;
    let mut left_out = Vec::new();
    if options.url.is_none() {
        left_out.push("olmguard.yaml, the manifest for krew: name the place with --url".to_owned());
        refuse_left_out(&left_out)?;
    }
    let epoch = env::var("SOURCE_DATE_EPOCH").ok();
    let seconds = date(epoch, Commit::of_clean_checkout())?;
    let builds = build(&mut left_out)?;
    let folder = options.folder(&builds);
    let parts = Parts::gather(builds, seconds, options.url)?;
    let files = files(&parts)?;
    let folder = path::absolute(&folder).unwrap_or(folder);
    replace(&folder, SUMS, &files)?;
    print(&folder, &files, &left_out);
    Ok(())
}

/// Builds for each processor that this machine can build for.
fn build(left_out: &mut Vec<String>) -> Result<Vec<Build>, ReleaseError> {
    let mut builds = Vec::new();
    for target in Target::DELIVERED {
        match Build::of(target) {
            Ok(build) => builds.push(build),
            Err(error) if target != Target::here() && error.is_for_want_of_means() => {
                let name = target.architecture().unwrap_or_default();
                left_out.push(format!("linux-{name}: {error}"));
                refuse_left_out(left_out)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(builds)
}

fn refuse_left_out(left_out: &[String]) -> Result<(), ReleaseError> {
    if left_out.is_empty() || !is_continuous_integration() {
        return Ok(());
    }
    Err(ReleaseError::LeftOut(left_out.join("; ")))
}

/// All files by name.
fn files(parts: &Parts) -> Result<Files, ReleaseError> {
    let name = parts.name();
    let mut files = archives::all(parts)?;
    let manifest = parts.url.as_ref();
    let manifest = manifest.map(|url| krew::manifest(parts, url, &files));
    let chart = chart::pack(&root().join("deploy/chart"), parts.package(), parts.seconds)?;
    files.insert(format!("{name}.tgz"), chart);
    files.insert(format!("{name}-image.tar"), archives::image(parts)?);
    files.insert(format!("{name}.cdx.json"), parts.sbom.clone());
    files.extend(manifest.map(|manifest| ("olmguard.yaml".to_owned(), manifest)));
    files.insert(SUMS.to_owned(), sums(&files));
    Ok(files)
}

/// The digests in the form that `sha256sum --check` reads.
fn sums(files: &Files) -> Vec<u8> {
    let lines = files.iter();
    let lines = lines.map(|(name, content)| format!("{}  {name}\n", sha256(content)));
    lines.collect::<String>().into_bytes()
}

fn print(folder: &Path, files: &Files, left_out: &[String]) {
    say(format_args!("\n{}", folder.display()));
    for (name, content) in files {
        say(format_args!("{:>12} bytes  {name}", content.len()));
    }
    for line in left_out {
        say(format_args!("left out: {line}"));
    }
}

/// The date of the files in the archives, in seconds since 1970.
fn date(epoch: Option<String>, commit: Option<Commit>) -> Result<u64, ReleaseError> {
    let Some(epoch) = epoch else {
        let commit = commit.ok_or(ReleaseError::NoDate)?;
        return Ok(commit.seconds);
    };
    epoch.parse().map_err(|_| ReleaseError::Date(epoch))
}

/// The file that distinguishes a release from any other directory.
const SUMS: &str = "SHA256SUMS";

#[cfg(test)]
#[cfg(unix)]
mod tests;
