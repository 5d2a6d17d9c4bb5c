//! A cgroup with a memory limit below the one of this process, if it can be created.

use std::fs;
use std::path::{Path, PathBuf};

/// The cgroup, which is empty and removed when this is dropped.
pub(crate) struct Group(PathBuf);

impl Group {
    /// Creates a cgroup of version 1 or 2 with this limit. Returns `None` without the right to do
    /// so.
    pub(crate) fn limited(bytes: usize) -> Option<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let below = |mount: &str, path: &str| {
            let name = format!("olmguard-attack-{}", std::process::id());
            Path::new(mount)
                .join(path.trim_start_matches('/'))
                .join(name)
        };
        let places = groups.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            match (parts.next()?, parts.next()?, parts.next()?) {
                (_, "memory", path) => Some((
                    below("/sys/fs/cgroup/memory", path),
                    "memory.limit_in_bytes",
                )),
                (_, "", path) => Some((below("/sys/fs/cgroup", path), "memory.max")),
                _ => None,
            }
        });
        places.into_iter().find_map(|(folder, limit)| {
            fs::create_dir(&folder).ok()?;
            let group = Self(folder);
            fs::write(group.0.join(limit), bytes.to_string()).ok()?;
            Some(group)
        })
    }

    /// Returns the shell command that enters the cgroup.
    pub(crate) fn join(&self) -> String {
        format!("echo $$ > '{}' && ", self.0.join("cgroup.procs").display())
    }

    /// Returns the maximum number of bytes that were charged to it.
    pub(crate) fn peak(&self) -> Option<usize> {
        let files = ["memory.max_usage_in_bytes", "memory.peak"];
        let peak = files
            .iter()
            .find_map(|file| fs::read_to_string(self.0.join(file)).ok());
        peak?.trim().parse().ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that has just ended may still be in it. An empty cgroup costs nothing.
        drop(fs::remove_dir(&self.0));
    }
}
