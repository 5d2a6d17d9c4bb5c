//! The resource usage of processes, as counted by the kernel.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::{SysconfVar, sysconf};

/// A memory figure of a process (`self` or its id), such as `VmRSS`, in KiB.
pub(crate) fn kib(process: impl Display, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("Linux shows it");
    let mut lines = status.lines().filter_map(|line| line.split_once(':'));
    let value = lines.find(|(name, _)| *name == field);
    let value = value.and_then(|(_, value)| value.split_whitespace().next()?.parse().ok());
    value.expect("a number of KiB")
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

/// The CPU time that a process has used so far.
pub(crate) fn cpu(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("Linux shows it");
    // The second field is the name of the program, in parentheses. The CPU times are the 14th and the 15th field.
    let (_, fields) = stat.rsplit_once(") ").expect("a name");
    let ticks = fields.split(' ').skip(11).take(2);
    let ticks: u64 = ticks
        .map(|ticks| ticks.parse::<u64>().expect("ticks"))
        .sum();
    let each = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    let each = each.and_then(|each| u64::try_from(each).ok());
    Duration::from_micros(ticks * 1_000_000 / each.expect("Linux shows it"))
}

/// The time of a process.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

impl Taken {
    pub(crate) const MAX: Self = Self {
        wall: Duration::MAX,
        cpu: Duration::MAX,
    };

    pub(crate) fn least(self, other: Self) -> Self {
        Self {
            wall: self.wall.min(other.wall),
            cpu: self.cpu.min(other.cpu),
        }
    }
}

/// The command olmguard, without the variables of benches, about which it would warn.
pub(crate) fn olmguard() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    without_ours(&mut command);
    command
}

fn without_ours(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("OLMGUARD_BENCH_") {
            command.env_remove(&name);
        }
    }
}

/// Runs a program to its end. Its exit code must be one of these.
pub(crate) fn taken(command: &mut Command, ends: &[i32]) -> Taken {
    let (before, began) = (children(), Instant::now());
    let status = command.status().expect("the program runs");
    let wall = began.elapsed();
    let is_right = status.code().is_some_and(|code| ends.contains(&code));
    assert!(is_right, "{command:?} ended with {status}");
    let cpu = children().saturating_sub(before);
    Taken { wall, cpu }
}

/// The same command, run by an observer that writes its peak memory to a file, in KiB. For a child, the kernel starts
/// counting with the memory of the parent, and the observer has almost none.
pub(crate) fn observed(command: &Command, peak: &Path) -> Command {
    let this = std::env::current_exe().expect("this program");
    let mut observer = Command::new(this);
    without_ours(&mut observer);
    observer
        .env(PEAK, peak)
        .arg(command.get_program())
        .args(command.get_args());
    observer
}

/// The peak that an observer wrote, in MiB.
pub(crate) fn peak(file: &Path) -> f64 {
    let peak = fs::read_to_string(file).expect("the observer writes it");
    mib(peak.parse().expect("a number"))
}

pub(crate) fn is_observer() -> bool {
    std::env::var_os(PEAK).is_some()
}

/// Runs the command in the arguments, and exits with its code.
pub(crate) fn run_observer() -> ExitCode {
    let file = std::env::var_os(PEAK).expect("a file");
    let mut words = std::env::args_os().skip(1);
    let program = words.next().expect("a program");
    let arguments: Vec<OsString> = words.collect();
    let status = Command::new(program)
        .args(arguments)
        .env_remove(PEAK)
        .status()
        .expect("it runs");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel counts");
    fs::write(file, usage.max_rss().to_string()).expect("a file");
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The environment variable that makes a process an observer.
const PEAK: &str = "OBSERVED_PEAK";

/// The CPU time of all child processes that have ended.
fn children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel counts");
    let microseconds = (usage.user_time() + usage.system_time()).num_microseconds();
    Duration::from_micros(u64::try_from(microseconds).unwrap_or_default())
}
