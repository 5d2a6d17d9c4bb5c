//! The part of the container runtime: a program with its own root directory and user.

pub(crate) mod layout;
pub(crate) mod names;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::namespace::run;
use crate::say::say;

/// A read-only directory that programs use as `/`. It is unmounted when this is dropped.
pub(crate) struct Container {
    folder: PathBuf,
    user: Option<String>,
}

impl Container {
    /// Seals a directory for programs of `user`, given by number as `USER:GROUP`.
    ///
    /// Without root rights on this machine, the namespace has only one user, and programs run as that user.
    pub(crate) fn seal(folder: PathBuf, user: &str) -> Result<Self> {
        let user = has_users()?.then(|| user.to_owned());
        if user.is_none() {
            ensure!(
                !is_continuous_integration(),
                "the image runs as its own user only where this runs as root"
            );
            say("left out: the image as its own user, which takes root here");
        }
        mount(&["--bind"], &[&folder, &folder])?;
        let container = Self { folder, user };
        mount(
            &["-o", "remount,bind,ro,nosuid,nodev"],
            &[&container.folder],
        )?;
        Ok(container)
    }

    /// Returns a command inside, with an empty environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("chroot");
        command.env_clear().env("PATH", PATH);
        if let Some(user) = &self.user {
            command.arg(format!("--userspec={user}")).arg("--groups=");
        }
        command.arg(&self.folder).arg(program);
        command
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if let Err(error) = run(Command::new("umount").arg(&self.folder)) {
            eprintln!("{error:#}");
        }
    }
}

/// Whether this namespace has users other than root.
fn has_users() -> Result<bool> {
    let map = fs::read_to_string("/proc/self/uid_map")?;
    let counts = map
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2));
    Ok(counts
        .filter_map(|count| count.parse::<u64>().ok())
        .sum::<u64>()
        > 1)
}

fn mount(options: &[&str], paths: &[&PathBuf]) -> Result<()> {
    run(Command::new("mount").args(options).args(paths))
}

/// The default `PATH` of a container runtime. `chroot` is found there, too.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn is_continuous_integration() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}
