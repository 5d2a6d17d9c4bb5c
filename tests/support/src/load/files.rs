//! The limit of open files of a process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit of open files to the hard limit and returns it.
pub fn raise_limit() -> u64 {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("the kernel tells");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("a soft limit may be raised");
    most
}
