//! Network, process and mount namespaces of this program's own.
//!
//! The network has loopback and nothing else, so that nothing can leave the machine, ports clash
//! with nobody's, and programs that listen on every address (catalogd's webhooks do) are heard by
//! nobody. The process namespace ends with its first process: no program is ever left behind.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

/// Addresses of "pods": an `EndpointSlice` takes none of loopback's range.
pub(crate) const POD_ADDRESSES: [&str; 4] = ["10.99.0.1", "10.99.0.2", "10.99.0.3", "10.99.0.4"];

/// Set for the program that runs inside.
const INSIDE: &str = "E2E_IN_NAMESPACE";

/// Whether this process is already inside, and its network is up.
pub(crate) fn is_own() -> bool {
    env::var_os(INSIDE).is_some()
}

/// Becomes the same program inside; returns only if that fails.
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

/// The same program in namespaces of its own below these, for one trial.
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

/// Brings up loopback and the addresses of "pods"; once, from inside.
pub(crate) fn bring_up() -> Result<()> {
    ip(&["link", "set", "lo", "up"])?;
    for address in POD_ADDRESSES {
        ip(&["address", "replace", &format!("{address}/32"), "dev", "lo"])?;
    }
    Ok(())
}

/// Puts an empty folder in memory over a folder; nobody outside sees it.
pub(crate) fn mount_temporary(folder: &Path) -> Result<()> {
    run(Command::new("mount")
        .args(["-t", "tmpfs", "tmpfs"])
        .arg(folder))
}

/// The same with options, such as its size.
pub(crate) fn mount_temporary_with(folder: &Path, options: &str) -> Result<()> {
    run(Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(folder))
}

/// Takes away what was put over a folder, also while a program has files of it open.
pub(crate) fn unmount(folder: &Path) -> Result<()> {
    run(Command::new("umount").arg("--lazy").arg(folder))
}

/// Loses so many of a hundred packets at random, but for those of this port; once, from inside.
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

/// Loses none any more. How many were lost.
pub(crate) fn lose_no_packets() -> Result<u64> {
    let rules = nft("list table inet lossy")?;
    nft("delete table inet lossy")?;
    let mut words = rules.split_whitespace();
    words.find(|word| *word == "packets");
    let lost = words.next().context("a counter counts packets")?;
    Ok(lost.parse()?)
}

/// What it prints.
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
