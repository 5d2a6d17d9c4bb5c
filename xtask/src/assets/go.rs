//! Builds with Go what a module pins. The proxy, the checksum database and the caches of Go are the
//! user's.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::AssetsError;
use super::home::{Home, put};
use super::pins::sources;
use super::table::Tool;
use crate::program::{Program, ProgramError};
use crate::report::say;

/// Whether Go is on the `PATH`.
pub(super) fn is_there() -> bool {
    Program::new("go").arg("version").works()
}

/// Builds what the module lacks. The programs are built one at a time, because a build of
/// Kubernetes uses all memory.
pub(super) fn make(home: &Home) -> Result<(), AssetsError> {
    let module = home.module.name;
    let fetch = go(home).args(["mod", "download"]);
    let run = timed(format_args!("{module}: fetched"), || fetch.run());
    run.map_err(|source| AssetsError::Fetch { module, source })?;
    for tool in home.missing_tools() {
        build(home, tool)?;
    }
    copy_crds(home)
}

fn build(home: &Home, tool: &Tool) -> Result<(), AssetsError> {
    let program = tool.program;
    put(&home.bin().join(program), |part| {
        let build = go(home).arg("build").args(&home.flags);
        let build = build.arg("-o").arg(part).arg(tool.package);
        timed(format_args!("{program}: built"), || build.run())
            .map_err(|source| AssetsError::Build { program, source })
    })
}

fn copy_crds(home: &Home) -> Result<(), AssetsError> {
    if home.missing_crds().next().is_none() {
        return Ok(());
    }
    let upstream = upstream_folder(home)?;
    for (path, file) in home.missing_crds() {
        put(&file, |part| copy(&upstream.join(path), part))?;
    }
    Ok(())
}

/// Copies the content of a file. Files in Go's cache are read-only, and normal copies of them would
/// be as well.
fn copy(from: &Path, to: &Path) -> Result<(), AssetsError> {
    let copied = fs::read(from).and_then(|content| fs::write(to, content));
    copied.map_err(|source| AssetsError::File {
        path: from.to_owned(),
        source,
    })
}

/// The directory in which Go keeps the files of the upstream module.
fn upstream_folder(home: &Home) -> Result<PathBuf, AssetsError> {
    let (module, upstream) = (home.module.name, home.module.upstream);
    let list = go(home).args(["list", "-m", "-f", "{{.Dir}}", upstream]);
    let folder = list
        .output()
        .map_err(|source| AssetsError::Fetch { module, source })?;
    Ok(PathBuf::from(folder.trim_end()))
}

fn go(home: &Home) -> Program {
    let go = Program::new("go").folder(sources(home.module));
    // A workspace around the checkout must not take part. Without cgo, the programs need no
    // libraries.
    go.env("GOWORK", "off").env("CGO_ENABLED", "0")
}

fn timed(
    what: impl std::fmt::Display,
    run: impl FnOnce() -> Result<(), ProgramError>,
) -> Result<(), ProgramError> {
    let start = Instant::now();
    run()?;
    say(format_args!("{what} in {} s", start.elapsed().as_secs()));
    Ok(())
}
