//! Programs from crates.io that checks run, each at one exact version, in a directory of its own. Other versions on
//! the `PATH` are not used, and no program of the user is replaced.

use std::path::PathBuf;

use super::{StepError, is_continuous_integration};
use crate::find;
use crate::program::{Program, root};

/// One program at one version.
pub(crate) struct Pinned {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// Additional arguments of `cargo install`.
    pub(super) arguments: &'static [&'static str],
}

pub(super) const MDBOOK: Pinned = Pinned {
    name: "mdbook",
    version: "0.5.4",
    // The book is only built here, not searched, watched or served.
    arguments: &["--no-default-features"],
};

pub(super) const CARGO_DENY: Pinned = Pinned {
    name: "cargo-deny",
    version: "0.20.2",
    arguments: &[],
};

pub(crate) const CARGO_MUTANTS: Pinned = Pinned {
    name: "cargo-mutants",
    version: "27.1.0",
    arguments: &[],
};

impl Pinned {
    /// The path of the program, which is installed if it is missing. If a machine cannot fetch it, the check is
    /// skipped; in CI, it fails.
    pub(crate) fn program(&self) -> Result<PathBuf, StepError> {
        if let Some(file) = self.installed() {
            return Ok(file);
        }
        match (self.install().run(), self.installed()) {
            (Ok(()), Some(file)) => Ok(file),
            (Ok(()), None) => Err(StepError::LostProgram { program: self.name }),
            (Err(error), _) if is_continuous_integration() => Err(error.into()),
            (Err(error), _) => Err(StepError::LeftOut {
                why: format!("{} cannot be installed: {error}", self.name),
            }),
        }
    }

    /// The installation. The program runs only for seconds, so it is built in the fastest way.
    fn install(&self) -> Program {
        let install = Program::cargo("install --locked --debug --version");
        let install = install.arg(format!("={}", self.version)).arg("--root");
        let install = install.arg(self.folder()).arg(self.name);
        install
            .args(self.arguments)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
    }

    fn installed(&self) -> Option<PathBuf> {
        find::find_in(self.name, &[self.folder().join("bin")])
    }

    fn folder(&self) -> PathBuf {
        let name = format!("{}-{}", self.name, self.version);
        root().join("target/tools").join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_that_version_is_installed_into_its_own_directory() {
        let line = MDBOOK.install().to_string();
        let folder = MDBOOK.folder();
        assert!(folder.ends_with("target/tools/mdbook-0.5.4"), "{folder:?}");
        assert_eq!(
            line,
            format!(
                "$ cargo install --locked --debug --version =0.5.4 --root {} mdbook --no-default-features",
                folder.display()
            )
        );
    }
}
