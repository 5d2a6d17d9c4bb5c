//! Network, process and mount namespaces for this program.
//!
//! The network has only loopback. So nothing can leave the machine, ports cannot clash with those
//! of others, and programs that listen on every address (such as catalogd's webhooks) cannot be
//! reached from outside. The process namespace ends with its first process, so no program is left
//! behind.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

/// The addresses of "pods": an `EndpointSlice` does not accept loopback addresses.
pub(crate) const POD_ADDRESSES: [&str; 4] = ["10.99.0.1", "10.99.0.2", "10.99.0.3", "10.99.0.4"];

/// The variable that is set for the program inside.
const INSIDE: &str = "E2E_IN_NAMESPACE";

/// Whether this process is already inside.
pub(crate) fn is_own() -> bool {
    env::var_os(INSIDE).is_some()
}

/// Replaces this process by the same program inside. Returns only if that fails.
pub(crate) fn enter() -> ExitCode {
    let error = match env::current_exe() {
        Ok(program) => unshare()
            .arg("--")
            .arg(program)
            .args(env::args_os().skip(1))
            .env(INSIDE, "1")
            .exec(),
        Err(error) => error,
    };
    eprintln!("cannot run in namespaces of its own: {error}; util-linux's unshare is needed");
    ExitCode::FAILURE
}

/// Returns the command of the same program in nested namespaces, for one trial.
pub(crate) fn command() -> Result<Command> {
    let mut command = unshare();
    command.arg("--").arg(env::current_exe()?);
    Ok(command)
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args([
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]);
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command
}

/// Brings up loopback and the addresses of "pods". Called once, from inside.
pub(crate) fn bring_up() -> Result<()> {
    ip(&["link", "set", "lo", "up"])?;
    for address in POD_ADDRESSES {
        ip(&["address", "replace", &format!("{address}/32"), "dev", "lo"])?;
    }
    Ok(())
}

/// Mounts an empty file system in memory over a directory. It is not visible outside.
pub(crate) fn mount_temporary(folder: &Path) -> Result<()> {
    run(Command::new("mount")
        .args(["-t", "tmpfs", "tmpfs"])
        .arg(folder))
}

/// Like [`mount_temporary`], with options such as its size.
pub(crate) fn mount_temporary_with(folder: &Path, options: &str) -> Result<()> {
    run(Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(folder))
}

/// Unmounts a file system, even if a program has files open in it.
pub(crate) fn unmount(folder: &Path) -> Result<()> {
    run(Command::new("umount").arg("--lazy").arg(folder))
}

/// Drops this percentage of packets at random, except those to one port. Called once, from inside.
pub(crate) fn lose_packets(percent: u8, spared: u16) -> Result<()> {
    let rules = format!(
        "add table inet lossy; \
         add chain inet lossy arrive {{ type filter hook input priority 0; }}; \
         add rule inet lossy arrive tcp dport {spared} accept; \
         add rule inet lossy arrive tcp sport {spared} accept; \
         add rule inet lossy arrive numgen random mod 100 < {percent} counter drop"
    );
    nft(&rules)?;
    Ok(())
}

/// Stops dropping packets, and returns how many were dropped.
pub(crate) fn lose_no_packets() -> Result<u64> {
    let rules = nft("list table inet lossy")?;
    nft("delete table inet lossy")?;
    let mut words = rules.split_whitespace();
    words.find(|word| *word == "packets");
    let lost = words.next().context("a counter counts packets")?;
    Ok(lost.parse()?)
}

/// Runs `nft` and returns its output.
fn nft(command: &str) -> Result<String> {
    let output = Command::new("nft").arg(command).output();
    let output = output.context("nftables' nft is needed")?;
    let refused = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "nft {command}: {refused}");
    Ok(String::from_utf8(output.stdout)?)
}

fn ip(arguments: &[&str]) -> Result<()> {
    run(Command::new("ip").args(arguments)).context("iproute2's ip is needed")
}

/// Runs a command that must succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}
