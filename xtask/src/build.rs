//! Builds olmguard as delivered: one static program, built once for all tasks that need it.
//!
//! The program is linked with musl. A toolchain without musl, for which rustup cannot install it, is an error, because
//! the tested program must be the delivered one. Directories of this machine and the time are not part of the program,
//! so another checkout produces the same bytes. The commit is part of it if the checkout is clean, or if
//! `OLMGUARD_COMMIT` names it.

mod target;

use std::ffi::OsString;
use std::path::PathBuf;
use std::{env, fs, io, iter};

use serde::Deserialize;

pub(crate) use self::target::Target;
use crate::commit::Commit;
use crate::program::{Program, ProgramError, root};
use crate::report::say;

/// The reason why there is no program to deliver.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{path}: {source}", path = .path.display())]
    Copy { path: PathBuf, source: io::Error },
    #[error("cargo does not say what it has built: {0}")]
    Metadata(#[from] serde_json::Error),
    #[error(
        "there is no C compiler for {target}: install one (Debian has {package}), or set {variable}"
    )]
    NoCompiler {
        target: String,
        package: String,
        variable: String,
    },
    #[error("this toolchain cannot build for {target}: run `rustup target add {target}`")]
    NoMusl { target: String },
}

impl BuildError {
    /// Whether this machine lacks the tools to build, even if olmguard is correct.
    pub(crate) fn is_for_want_of_means(&self) -> bool {
        matches!(self, Self::NoCompiler { .. } | Self::NoMusl { .. })
    }
}

/// `cargo xtask build`: builds olmguard, and prints its path or copies it.
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

/// The delivered program.
pub(crate) struct Build {
    pub(crate) program: PathBuf,
    pub(crate) target: Target,
    pub(crate) package: Package,
    pub(crate) commit: Option<Commit>,
    /// The directory in which cargo builds. The environment and cargo's configuration can set it.
    pub(crate) target_folder: PathBuf,
}

/// The description of olmguard in `Cargo.toml`.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) license: String,
}

impl Build {
    /// Builds what has changed, for this machine.
    pub(crate) fn here() -> Result<Self, BuildError> {
        Self::of(Target::here())
    }

    /// Builds what has changed, for one processor.
    pub(crate) fn of(target: Target) -> Result<Self, BuildError> {
        target.prepare()?;
        let build = Program::cargo("build --profile dist --locked --package olmguard --target");
        let mut build = build.arg(target.triple());
        let commit = Commit::of_clean_checkout();
        if let Some(commit) = &commit {
            build = build.env("OLMGUARD_COMMIT", &commit.revision);
        }
        with_means(target, build)?.run()?;
        let metadata = Program::cargo("metadata --no-deps --format-version 1").output()?;
        let metadata: Metadata = serde_json::from_str(&metadata)?;
        metadata.build(target, commit)
    }
}

/// A call of cargo for one processor, with the flags and the compiler of the delivered program.
pub(crate) fn with_means(target: Target, cargo: Program) -> Result<Program, BuildError> {
    // mimalloc contains its compile time, which C compilers read from this variable.
    let cargo = cargo.env("SOURCE_DATE_EPOCH", "0");
    target.with_compiler(cargo.env("CARGO_ENCODED_RUSTFLAGS", flags()))
}

/// The part of cargo's answer that is used.
#[derive(Deserialize)]
struct Metadata {
    target_directory: PathBuf,
    packages: Vec<serde_json::Value>,
}

impl Metadata {
    fn build(self, target: Target, commit: Option<Commit>) -> Result<Build, BuildError> {
        let mut packages = self.packages.into_iter();
        let package = packages.find(|package| package["name"] == "olmguard");
        Ok(Build {
            program: self
                .target_directory
                .join(target.triple())
                .join("dist/olmguard"),
            target,
            package: serde_json::from_value(package.unwrap_or_default())?,
            commit,
            target_folder: self.target_directory,
        })
    }
}

/// The flags, in the form of `CARGO_ENCODED_RUSTFLAGS`. They replace the flags of the user, which must not affect what
/// is delivered.
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
