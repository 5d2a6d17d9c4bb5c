//! The memory limit of the cgroup that the process is in.
//!
//! ```text
//! /proc/self/cgroup   0::/a/b          /sys/fs/cgroup/a/b/memory.max, then those above it
//!                     5:memory:/a/b    /sys/fs/cgroup/memory/a/b/memory.limit_in_bytes, the same
//! ```
//!
//! In a container, the path often is that of the host and is not there; the root of the mount is then the
//! container's own cgroup, and is read as well. The smallest limit of all counts.

use std::fs;
use std::path::Path;

/// The limit of this process, in bytes; `root` is where its files are.
pub(super) fn limit(root: &Path) -> u64 {
    let of_machine = machine(root);
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().filter_map(|line| of_group(root, line));
    limits
        .min()
        .map_or(of_machine, |limit| limit.min(of_machine))
}

/// The smallest limit from the group of a line of `/proc/self/cgroup` up to the root.
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

/// A limit, if the file is there and has one: `max` is none.
fn read(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// `MemTotal`; where it is not known, there is no limit.
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
    use super::*;

    /// The limit where these files are all there is.
    fn limit_of(files: &[(&str, &str)]) -> u64 {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        limit(root.path())
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
