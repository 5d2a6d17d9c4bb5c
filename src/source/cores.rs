//! How many cores there are for the reading of catalogs.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread;

/// How many threads can run at the same time. Asked once: the answer takes several files of the system.
pub(super) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}
