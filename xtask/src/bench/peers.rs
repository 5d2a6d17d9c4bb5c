//! Go programs for comparison, in the versions that modules of this repository pin: opm, a loader with
//! operator-registry, and OLM's resolver.
//!
//! The resolver is internal to operator-controller's module, and Go lets no other module import it. Its program is
//! therefore compiled in a copy of the module's source, which Go has fetched and checked against `go.sum`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{Named, folder};
use crate::assets::{self, AssetsError};
use crate::program::{Program, ProgramError, root};

/// The programs that benches are compared with.
#[derive(Debug, Default)]
pub(super) struct Peers {
    /// The programs, with the environment variables that benches read.
    pub(super) programs: Vec<Named>,
    pub(super) versions: BTreeMap<String, String>,
}

/// The reason why there are no peers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeersError {
    #[error("--peer needs Go 1.26 or later on the PATH to build what olmguard is compared with")]
    NoGo,
    #[error(transparent)]
    Opm(#[from] AssetsError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{module} pins no version of {upstream}")]
    Unpinned {
        module: PathBuf,
        upstream: &'static str,
    },
}

impl Peers {
    /// Builds what is missing or has changed.
    pub(super) fn build() -> Result<Self, PeersError> {
        let go = Program::new("go").args(["env", "GOVERSION"]).output();
        let go = go.map_err(|_| PeersError::NoGo)?;
        let opm = assets::opm()?;
        let (loader, resolver) = (module("loader"), module("resolver"));
        let programs = vec![
            ("OLMGUARD_OPM", opm.into_os_string()),
            ("OLMGUARD_BENCH_LOADER", build(&loader, "./", "loader")?),
            (
                "OLMGUARD_BENCH_RESOLVER",
                build(&resolver_source(&resolver)?, RESOLVER_PACKAGE, "resolver")?,
            ),
        ];
        let versions = [
            ("Go", go.trim().trim_start_matches("go").to_owned()),
            ("operator-registry and opm", pinned(&loader, REGISTRY)?),
            ("operator-controller", pinned(&resolver, CONTROLLER)?),
        ];
        let versions = versions
            .map(|(name, version)| (name.to_owned(), version))
            .into();
        Ok(Self { programs, versions })
    }
}

fn module(name: &str) -> PathBuf {
    root().join("benches/peers").join(name)
}

/// Builds a program. Go's own cache makes this fast if nothing has changed.
fn build(module: &Path, package: &str, name: &str) -> Result<OsString, PeersError> {
    let program = folder().join(name);
    let build = go(module).args(["build", "-buildvcs=false", "-trimpath", "-o"]);
    build.arg(&program).arg(package).run()?;
    Ok(program.into())
}

/// A copy of operator-controller's source with the program in it.
fn resolver_source(module: &Path) -> Result<PathBuf, PeersError> {
    go(module).args(["mod", "download", CONTROLLER]).run()?;
    let list = go(module).args(["list", "-m", "-f", "{{.Dir}}", CONTROLLER]);
    let upstream = PathBuf::from(list.output()?.trim_end());
    let source = folder().join("resolver-source");
    let copied = fresh(&source).and_then(|()| {
        for part in ["go.mod", "go.sum", "api", "internal"] {
            copy(&upstream.join(part), &source.join(part))?;
        }
        let program = source.join(RESOLVER_PACKAGE);
        fs::create_dir_all(&program)?;
        copy(&module.join("main.go"), &program.join("main.go"))
    });
    let failed = |error| PeersError::File {
        path: source.clone(),
        source: error,
    };
    copied.map_err(failed)?;
    Ok(source)
}

fn fresh(folder: &Path) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)
}

/// Copies content only. Files in Go's cache are read-only, and copies with their permissions would be as well.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::write(to, fs::read(from)?);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// The version that the `go.mod` of a directory requires.
fn pinned(module: &Path, upstream: &'static str) -> Result<String, PeersError> {
    let path = module.join("go.mod");
    let text = fs::read_to_string(&path).map_err(|source| PeersError::File { path, source })?;
    let version = assets::pinned(&text, upstream);
    version.ok_or_else(|| PeersError::Unpinned {
        module: module.to_owned(),
        upstream,
    })
}

fn go(folder: &Path) -> Program {
    let go = Program::new("go").folder(folder);
    go.env("GOWORK", "off").env("CGO_ENABLED", "0")
}

const REGISTRY: &str = "github.com/operator-framework/operator-registry";
const CONTROLLER: &str = "github.com/operator-framework/operator-controller";
const RESOLVER_PACKAGE: &str = "./cmd/olmguard-resolver";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_is_pinned_and_the_loader_to_what_opm_is() {
        let registry = pinned(&module("loader"), REGISTRY).unwrap();
        let opm = root().join("tests/e2e/assets/opm");
        assert_eq!(registry, pinned(&opm, REGISTRY).unwrap());
        assert!(
            pinned(&module("resolver"), CONTROLLER)
                .unwrap()
                .starts_with("v1.")
        );
        assert!(pinned(&module("resolver"), REGISTRY).is_err());
    }

    #[test]
    fn a_copy_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::create_dir_all(from.join("deep")).unwrap();
        let file = from.join("deep/a.go");
        fs::write(&file, "package a").unwrap();
        let mut rights = fs::metadata(&file).unwrap().permissions();
        rights.set_readonly(true);
        fs::set_permissions(&file, rights).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(
            fs::read_to_string(to.join("deep/a.go")).unwrap(),
            "package a"
        );
        assert!(
            !fs::metadata(to.join("deep/a.go"))
                .unwrap()
                .permissions()
                .readonly()
        );
    }
}
