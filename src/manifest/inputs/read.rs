//! Reading a file or a pipe, at most so far.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::error::InputError;

/// The most bytes of one file. An object in the cluster has at most 1.5 MiB, so this is a list of
/// many; more would not fit into the memory that a check may take, together with what is made of
/// it.
pub const MAX_BYTES: u64 = 32 << 20;

/// A file, if it is no longer than that.
pub(crate) fn file(path: &Path) -> Result<Vec<u8>, InputError> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    if len > MAX_BYTES {
        return Err(InputError::TooLarge { limit: MAX_BYTES });
    }
    bounded(file, len)
}

/// Reads to the end. `expected` is how much there probably is.
pub(super) fn bounded(source: impl Read, expected: u64) -> Result<Vec<u8>, InputError> {
    let mut bytes =
        Vec::with_capacity(usize::try_from(expected.min(MAX_BYTES) + 1).unwrap_or_default());
    let read = source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(read).is_ok_and(|read| read <= MAX_BYTES) {
        Ok(bytes)
    } else {
        Err(InputError::TooLarge { limit: MAX_BYTES })
    }
}
