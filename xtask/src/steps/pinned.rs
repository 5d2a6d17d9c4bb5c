//! Programs of crates.io that checks run, each at one exact version, in a directory of its own: another
//! version on the `PATH` is not used, and nothing of the user's is replaced.

use std::path::PathBuf;

use super::{StepError, is_continuous_integration};
use crate::find;
use crate::program::{Program, root};

/// One program at one version.
pub(crate) struct Pinned {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// What cargo is told in addition.
    pub(super) arguments: &'static [&'static str],
}

pub(super) const MDBOOK: Pinned = Pinned {
    name: "mdbook",
    version: "0.5.4",
    // The book is built here, and neither searched, watched nor served.
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
    /// Where it is, installed if it was missing. A machine that cannot fetch it leaves the check out;
    /// continuous integration fails.
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

    /// It runs for seconds, so it is built in the way that takes the least time.
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
