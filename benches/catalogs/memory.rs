//! What this process takes, by the kernel's own count.

use std::fs;

/// In KiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) now: u64,
    /// The most there ever was.
    pub(crate) peak: u64,
}

pub(crate) fn memory() -> Memory {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        kib.expect("a number of KiB")
    };
    Memory {
        now: field("VmRSS:"),
        peak: field("VmHWM:"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
