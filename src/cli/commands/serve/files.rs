//! How many files the process may have open: a connection is one.

use tracing::warn;

/// Asks the system for as many files as there may be connections, and a few besides. Many a system
/// starts processes with far fewer than it allows them, for the sake of programs of long ago.
pub(super) fn make_room_for(connections: usize) {
    let wanted = connections.saturating_add(OTHERS) as u64;
    match rlimit::increase_nofile_limit(wanted) {
        Ok(allowed) if allowed >= wanted => {}
        Ok(allowed) => warn!(
            allowed,
            wanted, "Failed to raise the limit of open files as far as --max-connections needs"
        ),
        Err(error) => warn!(%error, wanted, "Failed to raise the limit of open files"),
    }
}

/// Standard streams, sockets that listen, the second port, certificates and catalogs while they are
/// read.
const OTHERS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_as_far_as_needed() {
        let (_, most) = rlimit::Resource::NOFILE.get().unwrap();
        make_room_for(64);
        let (allowed, _) = rlimit::Resource::NOFILE.get().unwrap();
        assert!(
            allowed >= (64 + OTHERS as u64).min(most),
            "{allowed} of {most}"
        );
    }
}
