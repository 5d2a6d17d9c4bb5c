//! The time of day in pods, which libfaketime changes for a program that is linked with a C library.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::pod::Setting;

/// A clock that is changed while programs read it. It is right at first.
pub(super) struct PodClock {
    /// The file that libfaketime reads, with the offset of the clock.
    file: PathBuf,
    library: PathBuf,
}

impl PodClock {
    pub(super) fn new(dir: &Path, name: &str) -> Result<Self> {
        let clock = Self {
            file: dir.join(name),
            library: library()?,
        };
        clock.is("+0")?;
        Ok(clock)
    }

    /// Sets the offset of the clock, such as `+45m`.
    pub(super) fn is(&self, offset: &str) -> Result<()> {
        // Replaced by a rename, because programs can read it at any time.
        let next = self.file.with_extension("next");
        fs::write(&next, offset)?;
        fs::rename(next, &self.file).context("a clock is moved")
    }

    /// Makes pods that start from now on use this clock.
    pub(super) fn is_read_by(&self, setting: &mut Setting) -> Result<()> {
        let variables = [
            ("LD_PRELOAD", path(&self.library)?),
            ("FAKETIME_TIMESTAMP_FILE", path(&self.file)?),
            ("FAKETIME_NO_CACHE", "1"),
            // Timeouts are not affected: only the time of day is wrong.
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        setting.extra.extend(variables);
        Ok(())
    }
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().context("a path is text")
}

/// Returns the library, which Debian installs in a directory for the architecture.
fn library() -> Result<PathBuf> {
    let folders = fs::read_dir("/usr/lib")?.flatten();
    let mut files = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    files
        .find(|file| file.exists())
        .context("libfaketime is needed: Debian's package faketime has it")
}
