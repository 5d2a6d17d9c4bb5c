//! The memory that the process can use, and the share of it for catalogs.
//!
//! ```text
//! --memory-limit, otherwise the limit of the cgroup, otherwise the memory of the machine
//!   |-- 5/16 all catalogs: loaded ones, ones being loaded, and the ones that they replace;
//!   |        less if the rest is not enough for what follows
//!   |        (1/4 for one of them)
//!   '-- the process, and the most that clients can make a server use (`Limits`)
//! ```
//!
//! The shares are defined only here; `docs/reliability.md` adds them up.

use std::path::Path;
use std::str::FromStr;
use std::sync::OnceLock;
use std::{fmt, fs};

use olmguard_catalog::memory::Pool;
use olmguard_server::Limits;

/// The memory that the process can use, in bytes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct MemoryLimit(u64);

/// A limit under which a server cannot run.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "the memory limit is {limit}: expected at least {least}, of which {catalogs} are for catalogs and the \
     rest for connections and reviews; raise it (--memory-limit, or the container's), or lower \
     --max-connections",
    catalogs = LEAST
)]
pub(crate) struct TooLittle {
    limit: MemoryLimit,
    least: MemoryLimit,
}

impl MemoryLimit {
    /// The limit of this process: the smallest limit of its cgroup and the cgroups above it, and at most the memory of
    /// the machine.
    pub(crate) fn of_this_process() -> Self {
        Self(cgroup_limit(Path::new("/")))
    }

    /// The memory for the catalogs of a server with these limits and this many threads.
    ///
    /// # Errors
    /// If too little memory is left for catalogs.
    pub(crate) fn catalogs_beside(
        self,
        limits: &Limits,
        threads: usize,
    ) -> Result<Pool, TooLittle> {
        let others = PROCESS.saturating_add(limits.most_memory(threads) as u64);
        let rest = self.0.saturating_sub(others);
        if rest < LEAST.0 {
            let least = others.saturating_add(LEAST.0).div_ceil(1 << 20);
            let least = Self(least.saturating_mul(1 << 20));
            return Err(TooLittle { limit: self, least });
        }
        Ok(self.pool(rest))
    }

    /// The memory for catalogs, of which at most `rest` is left for them.
    fn pool(self, rest: u64) -> Pool {
        let all = (self.0 / 16 * 5).min(rest);
        let bytes = |share: u64| usize::try_from(share).unwrap_or(usize::MAX);
        Pool::new(bytes((self.0 / 4).min(all)), bytes(all))
    }
}

/// The memory for the catalogs of a command. All that it loads shares one pool.
pub(crate) fn of_commands() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        let limit = MemoryLimit::of_this_process();
        limit.pool(limit.0)
    })
}

impl FromStr for MemoryLimit {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse_quantity(text).map(Self)
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes.is_multiple_of(1 << 20) => write!(f, "{}Mi", bytes >> 20),
            bytes => write!(f, "{bytes}"),
        }
    }
}

/// The minimum for catalogs. With less, a server has no room for the catalogs that OLM installs by default, about 4
/// MiB each.
const LEAST: MemoryLimit = MemoryLimit(64 << 20);

/// The process without catalogs and connections: its threads, compressors, and the memory that the allocator retains.
/// Under attack, this was up to 16 MiB on top of 32 MiB.
const PROCESS: u64 = 48 << 20;

/// A text that is not a quantity of memory.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{text:?} is not a quantity of memory: expected one such as 384Mi, 1G or 400000000")]
pub(crate) struct QuantityError {
    text: String,
}

/// Parses a Kubernetes quantity such as `384Mi`, `1.5G` or `500e6` into bytes; at least one.
///
/// Upstream: apimachinery, [`pkg/api/resource/quantity.go`]. Fractions of a byte are rounded up, as upstream does.
///
/// [`pkg/api/resource/quantity.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/api/resource/quantity.go
fn parse_quantity(text: &str) -> Result<u64, QuantityError> {
    let fault = || QuantityError {
        text: text.to_owned(),
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
    let scale = scale_of(suffix).ok_or_else(fault)?;
    let number = Some(number).filter(|number| number.bytes().any(|byte| byte.is_ascii_digit()));
    let number: f64 = number.and_then(|n| n.parse().ok()).ok_or_else(fault)?;
    let bytes = (number * scale).ceil();
    if (1.0..=LARGEST).contains(&bytes) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number between 1 and 2^62"
        )]
        return Ok(bytes as u64);
    }
    Err(fault())
}

fn scale_of(suffix: &str) -> Option<f64> {
    let binary = |power: i32| Some(1024_f64.powi(power));
    let decimal = |power: i32| Some(10_f64.powi(power));
    match suffix {
        "" => Some(1.0),
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        exponent => {
            let power = exponent.strip_prefix(['e', 'E'])?;
            decimal(
                power
                    .parse()
                    .ok()
                    .filter(|power| (-9..=18).contains(power))?,
            )
        }
    }
}

/// 2^62.
const LARGEST: f64 = 4_611_686_018_427_387_904.0;

// === The memory limit of the cgroup of this process ===
//
// ```text
// /proc/self/cgroup   0::/a/b          /sys/fs/cgroup/a/b/memory.max, then its parents
//                     5:memory:/a/b    /sys/fs/cgroup/memory/a/b/memory.limit_in_bytes, then its parents
// ```
//
// In a container, the path is often the path on the host and does not exist. The root of the mount is then the
// container's own cgroup, so the root is read as well. The smallest limit counts.

/// The limit of this process, in bytes. `root` is the directory that contains `proc` and `sys`.
fn cgroup_limit(root: &Path) -> u64 {
    let of_machine = machine(root);
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().filter_map(|line| of_group(root, line));
    limits
        .min()
        .map_or(of_machine, |limit| limit.min(of_machine))
}

/// The smallest limit from the cgroup in a line of `/proc/self/cgroup` up to the root.
fn of_group(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (mount, file) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        of if of.split(',').any(|of| of == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let mount = root.join(mount);
    let groups = Path::new(path.trim_start_matches('/')).ancestors();
    let limits = groups.filter_map(|group| read(&mount.join(group).join(file)));
    limits.min()
}

/// Reads a limit. Returns `None` if the file does not exist or contains no number, such as `max`.
fn read(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// `MemTotal`, or `u64::MAX` if it is unknown.
fn machine(root: &Path) -> u64 {
    let facts = fs::read_to_string(root.join("proc/meminfo")).unwrap_or_default();
    let total = facts
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = total.and_then(|total| total.trim().strip_suffix("kB")?.trim().parse().ok());
    kibibytes.map_or(u64::MAX, |kibibytes: u64| kibibytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    fn limit(text: &str) -> MemoryLimit {
        text.parse().unwrap()
    }

    /// The limits of a machine with this many cores.
    fn limits(cores: usize) -> Limits {
        Limits {
            workers: NonZeroUsize::new(cores).unwrap(),
            ..Limits::default()
        }
    }

    #[test]
    fn the_sum_under_the_shipped_limit_is_less_than_it() {
        let shipped = limit("384Mi");
        for (cores, expected) in [(1, 120), (2, 120), (8, 96)] {
            let limits = limits(cores);
            let pool = shipped.catalogs_beside(&limits, cores).unwrap();
            let (each, all) = pool.limits();
            assert_eq!((each >> 20, all >> 20), (96, expected), "{cores} cores");
            let sum = (all + limits.most_memory(cores)) as u64 + PROCESS;
            assert!(sum <= shipped.0, "{cores} cores: {sum}");
        }
    }

    #[test]
    fn a_limit_that_is_too_small_is_refused_with_the_least() {
        let limits = limits(2);
        let refused = limit("128Mi").catalogs_beside(&limits, 2).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the memory limit is 128Mi: expected at least 308Mi, of which 64Mi are for catalogs and the \
         rest for connections and reviews; raise it (--memory-limit, or the container's), or lower \
         --max-connections"
        );
        let pool = limit("308Mi").catalogs_beside(&limits, 2).unwrap();
        assert_eq!(pool.limits(), (64 << 20, 64 << 20));
    }

    #[test]
    fn limits_that_no_memory_is_enough_for_are_refused() {
        let default = limits(2);
        for limits in [
            Limits {
                connections: NonZeroUsize::MAX,
                ..default.clone()
            },
            Limits {
                workers: NonZeroUsize::MAX,
                ..default
            },
        ] {
            let refused = limit("4Ei").catalogs_beside(&limits, 2).unwrap_err();
            assert_eq!(refused.least, MemoryLimit(u64::MAX));
        }
    }

    #[test]
    fn quantities_are_those_of_kubernetes() {
        for (text, bytes) in [
            ("384Mi", 384 << 20),
            ("1Gi", 1 << 30),
            ("1.5G", 1_500_000_000),
            ("400000000", 400_000_000),
            ("500e6", 500_000_000),
            ("5E2", 500),
            ("128k", 128_000),
            ("1500m", 2),
            ("2500000u", 3),
            ("384000000000n", 384),
            (".5Ki", 512),
            ("4Ei", 1 << 62),
        ] {
            assert_eq!(parse_quantity(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_not_one_is_refused() {
        for text in [
            "", "Mi", "0", "-1", "1 Mi", "1MiB", "1mb", "1..2", ".", "5Ei", "1e99", "1e",
        ] {
            let refused = parse_quantity(text).unwrap_err().to_string();
            assert_eq!(
                refused,
                format!(
                    "{text:?} is not a quantity of memory: expected one such as 384Mi, 1G or 400000000"
                )
            );
        }
    }

    /// The limit if only these files exist.
    fn limit_of(files: &[(&str, &str)]) -> u64 {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        cgroup_limit(root.path())
    }

    const GROUP: &str = "proc/self/cgroup";
    const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal:    1000 kB\nMemFree: 1 kB\n");
    const V1: &str = "sys/fs/cgroup/memory";

    #[test]
    fn the_limit_is_that_of_the_group_or_one_above_it() {
        let v2 = (GROUP, "0::/pods/olmguard\n");
        let own = ("sys/fs/cgroup/pods/olmguard/memory.max", "300000\n");
        let above = ("sys/fs/cgroup/pods/memory.max", "200000\n");
        assert_eq!(limit_of(&[MEMORY, v2, own]), 300_000);
        assert_eq!(limit_of(&[MEMORY, v2, own, above]), 200_000);
        let unlimited = ("sys/fs/cgroup/pods/olmguard/memory.max", "max\n");
        assert_eq!(limit_of(&[MEMORY, v2, unlimited, above]), 200_000);
    }

    #[test]
    fn in_a_container_the_root_of_the_mount_is_the_group() {
        let root = ("sys/fs/cgroup/memory.max", "400000");
        assert_eq!(limit_of(&[MEMORY, (GROUP, "0::/\n"), root]), 400_000);
        let host = (GROUP, "0::/kubepods/not/there\n");
        assert_eq!(limit_of(&[MEMORY, host, root]), 400_000);
    }

    #[test]
    fn version_one_has_a_mount_for_memory() {
        let group = (GROUP, "9:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n");
        let file = format!("{V1}/a/b/memory.limit_in_bytes");
        assert_eq!(limit_of(&[MEMORY, group, (&file, "123456\n")]), 123_456);
        let none = (file.as_str(), "9223372036854771712\n");
        assert_eq!(limit_of(&[MEMORY, group, none]), 1_024_000);
    }

    #[test]
    fn without_a_group_the_limit_is_the_memory_of_the_machine() {
        assert_eq!(limit_of(&[MEMORY]), 1_024_000);
        let unlimited = ("sys/fs/cgroup/memory.max", "max\n");
        assert_eq!(limit_of(&[MEMORY, (GROUP, "0::/\n"), unlimited]), 1_024_000);
        assert_eq!(limit_of(&[]), u64::MAX);
    }
}
