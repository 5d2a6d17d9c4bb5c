//! The target of a build, Linux with musl on one processor, and the tools that this machine needs for it.

use std::env;
use std::env::consts::ARCH;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::BuildError;
use crate::find::find;
use crate::program::Program;

/// A processor, by its name in Rust.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Target(&'static str);

impl Target {
    /// The processors for which a release has programs.
    pub(crate) const DELIVERED: [Self; 2] = [Self("x86_64"), Self("aarch64")];

    /// The processor of this machine.
    pub(crate) const fn here() -> Self {
        Self(ARCH)
    }

    /// The target triple in Rust.
    pub(crate) fn triple(self) -> String {
        format!("{}-unknown-linux-musl", self.0)
    }

    /// The name of the processor in Go, images and file names.
    pub(crate) fn architecture(self) -> Option<&'static str> {
        let mut names = ARCHITECTURES.iter();
        names
            .find(|(rust, _)| *rust == self.0)
            .map(|(_, name)| *name)
    }

    /// Whether the toolchain can build for the target. Installs a missing target with rustup.
    pub(crate) fn prepare(self) -> Result<(), BuildError> {
        let triple = self.triple();
        if is_installed(&triple) || fetch(&triple) {
            return Ok(());
        }
        Err(BuildError::NoMusl { target: triple })
    }

    /// Sets the C compiler and the linker, unless the user has set them. The few parts in C need no header of musl.
    pub(super) fn with_compiler(self, build: Program) -> Result<Program, BuildError> {
        let triple = self.triple().replace('-', "_");
        let compiler = self.compiler(&triple)?;
        let build = with(build, &format!("CC_{triple}"), &compiler);
        if self == Self::here() {
            return Ok(build);
        }
        let linker = format!("CARGO_TARGET_{}_LINKER", triple.to_uppercase());
        Ok(with(build, &linker, &compiler))
    }

    /// The C compiler. For the processor of this machine, its own compiler is sufficient.
    fn compiler(self, triple: &str) -> Result<OsString, BuildError> {
        if let Some(named) = env::var_os(format!("CC_{triple}")) {
            return Ok(named);
        }
        if self == Self::here() {
            return Ok(OsString::from("cc"));
        }
        let names = ["musl", "gnu"].map(|library| format!("{}-linux-{library}-gcc", self.0));
        let found = names.iter().find_map(|name| find(name, &[]));
        found.map(OsString::from).ok_or(BuildError::NoCompiler {
            target: self.triple(),
            package: format!("gcc-{}-linux-gnu", self.0.replace('_', "-")),
            variable: format!("CC_{triple}"),
        })
    }
}

fn with(build: Program, variable: &str, value: &OsStr) -> Program {
    if env::var_os(variable).is_some() {
        return build;
    }
    build.env(variable, value)
}

/// Whether the standard library of the target is installed.
fn is_installed(triple: &str) -> bool {
    let folder = Program::new("rustc").args(["--print", "target-libdir", "--target", triple]);
    folder
        .output()
        .is_ok_and(|folder| Path::new(folder.trim_end()).is_dir())
}

fn fetch(triple: &str) -> bool {
    let add = Program::new("rustup").args(["target", "add", triple]);
    add.run().is_ok() && is_installed(triple)
}

/// The names of processors in Rust, and in other tools.
const ARCHITECTURES: [(&str, &str); 2] = [("aarch64", "arm64"), ("x86_64", "amd64")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_target_is_an_error_with_the_way_out() {
        let target = Target::DELIVERED[0].triple();
        assert_eq!(
            BuildError::NoMusl { target }.to_string(),
            "this toolchain cannot build for x86_64-unknown-linux-musl: \
             run `rustup target add x86_64-unknown-linux-musl`"
        );
        assert!(!is_installed("x86_64-unknown-linux-none"));
    }

    #[test]
    fn a_missing_compiler_is_an_error_with_the_way_out() {
        let error = Target("no-such").compiler("no_such_unknown_linux_musl");
        assert_eq!(
            error.unwrap_err().to_string(),
            "there is no C compiler for no-such-unknown-linux-musl: install one (Debian has \
             gcc-no-such-linux-gnu), or set CC_no_such_unknown_linux_musl"
        );
    }

    #[test]
    fn everything_that_is_delivered_has_a_name_in_images() {
        let names = Target::DELIVERED.map(Target::architecture);
        assert_eq!(names, [Some("amd64"), Some("arm64")]);
        assert_eq!(Target("riscv64").architecture(), None);
    }
}
