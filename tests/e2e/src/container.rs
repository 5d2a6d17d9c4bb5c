//! The part of the container's runtime: a program in a root of its own, as a user of its own.

pub(crate) mod layout;
pub(crate) mod names;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::namespace::run;
use crate::say::say;

/// A folder that programs take for `/`; nobody can write to it. It is let go when this is dropped.
pub(crate) struct Container {
    folder: PathBuf,
    user: Option<String>,
}

impl Container {
    /// Seals a folder for programs of `user`, by number, `USER:GROUP`.
    ///
    /// Without rights on this machine the namespace has one user only, and programs run as that one.
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

    /// A command inside, with nothing of this environment.
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

/// Whether this namespace knows others than root.
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

/// What a runtime sets where an image says nothing; `chroot` is found there, too.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn is_continuous_integration() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}
