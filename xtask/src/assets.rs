//! The programs of the end-to-end tests: a real API server, a real OLM, and their tools.
//!
//! Each module of `tests/e2e/assets` pins some of them. Go builds them into a directory outside of the checkout, which
//! all checkouts share:
//!
//! ```text
//! <assets>/kubernetes-0123456789abcdef/bin/{etcd,kube-apiserver,kubectl}
//! <assets>/olm-0123456789abcdef/bin/{catalogd,operator-controller}
//!                              /crds/*.yaml
//! <assets>/openreports-0123456789abcdef/crds/*.yaml
//! ```
//!
//! Invariant: a file is complete or does not exist, and the name of its directory identifies everything that it was
//! built from. Existing files are never built again.

mod go;
mod home;
mod pins;
mod store;
mod table;

use std::env;
use std::io;
use std::path::{self, PathBuf};

use self::home::Home;
use self::pins::Pins;
use self::store::Store;
use self::table::Module;
use crate::program::ProgramError;
use crate::report::say;

/// The locations of all assets, ready for use.
pub(crate) struct Assets {
    /// Directories with programs.
    pub(crate) programs: Vec<PathBuf>,
    /// Directories with definitions of resources.
    pub(crate) crds: Vec<PathBuf>,
}

/// The reason why the programs are missing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AssetsError {
    #[error(
        "no folder for programs: set OLMGUARD_E2E_ASSETS, or XDG_CACHE_HOME or HOME to an absolute path"
    )]
    NoFolder,
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{module}/go.mod pins no version of {upstream}")]
    Unpinned {
        module: &'static str,
        upstream: &'static str,
    },
    #[error("OLMGUARD_E2E_KUBERNETES is {asked:?}; expected one of {known}")]
    UnknownKubernetes { asked: String, known: String },
    #[error(
        "{folder} has no programs of {missing}, and there is no Go here to build them: install Go 1.26 or later",
        folder = .folder.display()
    )]
    NoGo { folder: PathBuf, missing: String },
    #[error("the sources of {module} cannot be fetched: {source}")]
    Fetch {
        module: &'static str,
        source: ProgramError,
    },
    #[error("{program} cannot be built: {source}")]
    Build {
        program: &'static str,
        source: ProgramError,
    },
}

impl AssetsError {
    /// Whether this machine lacks the tools to build them, even if the modules are correct.
    pub(crate) fn is_for_want_of_means(&self) -> bool {
        matches!(
            self,
            Self::NoFolder | Self::NoGo { .. } | Self::Fetch { .. }
        )
    }
}

/// Builds what is missing. With `prune`, removes what earlier versions of the modules left behind.
pub(crate) fn run(prune: bool) -> Result<(), AssetsError> {
    let assets = prepare()?;
    for folder in &assets.programs {
        say(folder.display());
    }
    if prune {
        Store::open()?.prune()?;
    }
    Ok(())
}

/// The directories of programs that exist.
pub(crate) fn present() -> Result<Vec<PathBuf>, AssetsError> {
    let store = Store::open()?;
    let modules = table::KUBERNETES.iter().take(1).chain(&table::OTHERS);
    let homes = modules.map(|module| store.home(module));
    let homes = homes.collect::<Result<Vec<Home>, _>>()?;
    let whole = homes.iter().filter(|home| home.is_whole());
    Ok(whole.map(Home::bin).chain(ready_made()).collect())
}

/// Builds opm if it is missing, and returns its path.
pub(crate) fn opm() -> Result<PathBuf, AssetsError> {
    let store = Store::open()?;
    let home = store.home(&table::OPM)?;
    let program = home.bin().join(table::OPM.name);
    make_missing(&store, &[home])?;
    Ok(program)
}

/// The version that the text of a `go.mod` requires of a module, as Go writes it.
pub(crate) fn pinned(go_mod: &str, upstream: &str) -> Option<String> {
    pins::pinned(go_mod, upstream).map(|version| version.to_string())
}

/// Builds what is missing, and returns the locations of all assets.
pub(crate) fn prepare() -> Result<Assets, AssetsError> {
    let store = Store::open()?;
    let ready = ready_made();
    let modules = if ready.is_some() {
        Vec::new()
    } else {
        vec![kubernetes()?]
    };
    let modules = modules.into_iter().chain(&table::OTHERS);
    let homes: Vec<Home> = modules
        .map(|module| store.home(module))
        .collect::<Result<_, _>>()?;
    make_missing(&store, &homes)?;
    Ok(Assets {
        crds: homes.iter().map(Home::crds).collect(),
        programs: homes.iter().map(Home::bin).chain(ready).collect(),
    })
}

fn make_missing(store: &Store, homes: &[Home]) -> Result<(), AssetsError> {
    let missing: Vec<&Home> = homes.iter().filter(|home| !home.is_whole()).collect();
    if !missing.is_empty() && !go::is_there() {
        let names: Vec<_> = missing.iter().map(|home| home.module.name).collect();
        return Err(AssetsError::NoGo {
            folder: store.folder.clone(),
            missing: names.join(", "),
        });
    }
    missing.into_iter().try_for_each(go::make)
}

/// The directory in `KUBEBUILDER_ASSETS`, if it has every program of a cluster and no minor version of Kubernetes is
/// requested.
fn ready_made() -> Option<PathBuf> {
    let folder = env::var_os("KUBEBUILDER_ASSETS").filter(|_| asked_minor().is_none())?;
    let folder = path::absolute(folder).ok()?;
    let mut tools = table::KUBERNETES[0].tools.iter();
    if let Some(missing) = tools.find(|tool| !folder.join(tool.program).is_file()) {
        let program = missing.program;
        say(format_args!(
            "KUBEBUILDER_ASSETS has no {program}: not used"
        ));
        return None;
    }
    Some(folder)
}

/// The module of the requested minor version, otherwise the first module.
fn kubernetes() -> Result<&'static Module, AssetsError> {
    let [first, ..] = &table::KUBERNETES;
    let Some(asked) = asked_minor() else {
        return Ok(first);
    };
    let mut known = Vec::new();
    for module in &table::KUBERNETES {
        let minor = Pins::read(module)?.version()?.minor();
        if minor == asked {
            return Ok(module);
        }
        known.push(minor);
    }
    let known = known.join(", ");
    Err(AssetsError::UnknownKubernetes { asked, known })
}

fn asked_minor() -> Option<String> {
    let minor = env::var("OLMGUARD_E2E_KUBERNETES").ok();
    minor.filter(|minor| !minor.is_empty())
}
