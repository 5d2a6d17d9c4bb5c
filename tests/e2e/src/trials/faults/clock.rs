//! The time of day in pods: libfaketime tells another one to a program that is linked with a C library.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::pod::Setting;

/// A clock that is moved while programs read it; it is right at first.
pub(super) struct PodClock {
    /// What libfaketime reads: by how much the clock is wrong.
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

    /// By how much it is wrong from now on, such as `+45m`.
    pub(super) fn is(&self, offset: &str) -> Result<()> {
        // Renamed, because programs read it at any time.
        let next = self.file.with_extension("next");
        fs::write(&next, offset)?;
        fs::rename(next, &self.file).context("a clock is moved")
    }

    /// Pods that start from now on read it.
    pub(super) fn is_read_by(&self, setting: &mut Setting) -> Result<()> {
        let variables = [
            ("LD_PRELOAD", path(&self.library)?),
            ("FAKETIME_TIMESTAMP_FILE", path(&self.file)?),
            ("FAKETIME_NO_CACHE", "1"),
            // Timeouts go on as they are: what is wrong is the time of day.
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

/// Where Debian has it: in a folder for the architecture.
fn library() -> Result<PathBuf> {
    let folders = fs::read_dir("/usr/lib")?.flatten();
    let mut files = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    files
        .find(|file| file.exists())
        .context("libfaketime is needed: Debian's package faketime has it")
}
