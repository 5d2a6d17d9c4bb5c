//! Builds olmguard as it is delivered: one static program, once, for whoever needs it.
//!
//! It is linked with musl. A toolchain that has none, and that rustup cannot give it to, is an error:
//! what is tested must be what is delivered. Directories of this machine do not enter the program, so
//! another checkout makes the same bytes; the commit does if the checkout is clean, or if
//! `OLMGUARD_COMMIT` names it.

use std::env::consts::ARCH;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io, iter};

use serde::Deserialize;

use crate::commit::Commit;
use crate::program::{Program, ProgramError, root};
use crate::report::say;

/// Why there is no program to deliver.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{path}: {source}", path = .path.display())]
    Copy { path: PathBuf, source: io::Error },
    #[error("cargo does not say what it has built: {0}")]
    Metadata(#[from] serde_json::Error),
    #[error("this toolchain cannot build for {target}: run `rustup target add {target}`")]
    NoMusl { target: String },
}

/// `cargo xtask build`: builds olmguard and says where it is, or copies it.
pub(crate) fn run(output: Option<&str>) -> Result<(), BuildError> {
    let build = Build::here()?;
    let Some(path) = output.map(PathBuf::from) else {
        say(build.program.display());
        return Ok(());
    };
    match fs::copy(&build.program, &path) {
        Ok(_) => Ok(()),
        Err(source) => Err(BuildError::Copy { path, source }),
    }
}

/// What is delivered.
pub(crate) struct Build {
    pub(crate) program: PathBuf,
    pub(crate) package: Package,
    pub(crate) commit: Option<Commit>,
    /// Where cargo builds, which the environment and its configuration may decide.
    pub(crate) target_folder: PathBuf,
}

/// What `Cargo.toml` says of olmguard.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) license: String,
}

impl Build {
    /// Builds what has changed.
    pub(crate) fn here() -> Result<Self, BuildError> {
        let target = target()?;
        let build = Program::cargo("build --release --locked --package olmguard --target");
        let mut build = build.arg(&target).env("CARGO_ENCODED_RUSTFLAGS", flags());
        let commit = Commit::of_clean_checkout();
        if let Some(commit) = &commit {
            build = build.env("OLMGUARD_COMMIT", &commit.revision);
        }
        with_compiler(build, &target).run()?;
        let metadata = Program::cargo("metadata --no-deps --format-version 1").output()?;
        let metadata: Metadata = serde_json::from_str(&metadata)?;
        metadata.build(&target, commit)
    }
}

/// The part of cargo's answer that is used.
#[derive(Deserialize)]
struct Metadata {
    target_directory: PathBuf,
    packages: Vec<serde_json::Value>,
}

impl Metadata {
    fn build(self, target: &str, commit: Option<Commit>) -> Result<Build, BuildError> {
        let mut packages = self.packages.into_iter();
        let package = packages.find(|package| package["name"] == "olmguard");
        Ok(Build {
            program: self.target_directory.join(target).join("release/olmguard"),
            package: serde_json::from_value(package.unwrap_or_default())?,
            commit,
            target_folder: self.target_directory,
        })
    }
}

/// This machine's processor with musl, which rustup is asked for if the toolchain has none.
pub(crate) fn target() -> Result<String, BuildError> {
    let target = format!("{ARCH}-unknown-linux-musl");
    if is_installed(&target) || fetch(&target) {
        return Ok(target);
    }
    Err(BuildError::NoMusl { target })
}

/// Whether its standard library is there.
fn is_installed(target: &str) -> bool {
    let folder = Program::new("rustc").args(["--print", "target-libdir", "--target", target]);
    folder
        .output()
        .is_ok_and(|folder| Path::new(folder.trim_end()).is_dir())
}

fn fetch(target: &str) -> bool {
    let add = Program::new("rustup").args(["target", "add", target]);
    add.run().is_ok() && is_installed(target)
}

/// In the form of `CARGO_ENCODED_RUSTFLAGS`. They stand in for any flags of the user, which must not
/// decide what is delivered.
fn flags() -> OsString {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let folders = cargo_home.iter().map(|home| (home.as_path(), "/cargo"));
    let folders = folders.chain(iter::once((root(), "/olmguard")));
    let mut flags = OsString::from("-Ctarget-feature=+crt-static");
    for (folder, name) in folders {
        flags.push("\u{1f}--remap-path-prefix=");
        flags.push(folder);
        flags.push("=");
        flags.push(name);
    }
    flags
}

/// The few parts in C need no header of musl's own: the machine's compiler does for it, unless
/// another is named.
fn with_compiler(build: Program, target: &str) -> Program {
    let variable = format!("CC_{}", target.replace('-', "_"));
    if env::var_os(&variable).is_some() {
        build
    } else {
        build.env(&variable, "cc")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_target_is_an_error_with_the_way_out() {
        let error = BuildError::NoMusl {
            target: "x86_64-unknown-linux-musl".to_owned(),
        };
        assert_eq!(
            error.to_string(),
            "this toolchain cannot build for x86_64-unknown-linux-musl: \
             run `rustup target add x86_64-unknown-linux-musl`"
        );
        assert!(!is_installed("x86_64-unknown-linux-none"));
    }
}
