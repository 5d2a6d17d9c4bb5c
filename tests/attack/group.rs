//! A cgroup with a memory limit, below that of this process, where that can be made.

use std::fs;
use std::path::{Path, PathBuf};

/// It is removed when it is dropped; nothing is in it by then.
pub(crate) struct Group(PathBuf);

impl Group {
    /// One of version 1 or 2 with this limit; none without the right to make one.
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

    /// What a shell does to enter it.
    pub(crate) fn join(&self) -> String {
        format!("echo $$ > '{}' && ", self.0.join("cgroup.procs").display())
    }

    /// The most bytes that were charged to it.
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
        // A process that has just ended may still be in it; an empty group costs nothing.
        drop(fs::remove_dir(&self.0));
    }
}
