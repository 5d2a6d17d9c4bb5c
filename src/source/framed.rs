//! Pieces of bytes, one after another, each behind its length.
//!
//! The length is checked against a limit before anything is read, and memory grows only with bytes
//! that are really there: what a damaged length claims costs nothing. A piece of length 0 marks the
//! end, so that what ends early is told from what is complete.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::Deserialize;

use olmguard_catalog::memory::{Loan, TooLarge};

/// Why a piece cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    /// It cannot be read, or ends early.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Its length is more than a piece may have.
    #[error("a piece of {found} bytes: expected at most {limit}")]
    TooLarge { found: usize, limit: usize },
    /// It is not of the form that was written.
    #[error("a piece of {length} bytes is not of the form expected")]
    Form { length: usize },
    /// It needs more memory than there is for it.
    #[error(transparent)]
    Memory(#[from] TooLarge),
}

impl From<FrameError> for io::Error {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Io(error) => error,
            other => Self::new(io::ErrorKind::InvalidData, other),
        }
    }
}

/// Writes a value; fails if it takes more than `limit` bytes. `buffer` is room to work in.
pub(super) fn write(
    value: &impl Serialize,
    limit: usize,
    buffer: &mut Vec<u8>,
    to: &mut impl Write,
) -> Result<(), FrameError> {
    buffer.clear();
    *buffer = postcard::to_extend(value, std::mem::take(buffer)).map_err(io::Error::other)?;
    let found = buffer.len();
    let length = u32::try_from(found).ok().filter(|_| found <= limit);
    let length = length.ok_or(FrameError::TooLarge { found, limit })?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(buffer)?;
    Ok(())
}

/// Writes the end.
pub(super) fn write_end(to: &mut impl Write) -> io::Result<()> {
    to.write_all(&END.to_le_bytes())
}

/// Reads a piece into `buffer`, and what it holds from there; none at the end.
pub(super) fn read<'b, T: Deserialize<'b>>(
    from: &mut impl Read,
    limit: usize,
    buffer: &'b mut Vec<u8>,
) -> Result<Option<T>, FrameError> {
    read_within(from, limit, buffer, &mut Loan::default())
}

/// The same; `held` has what the largest piece so far takes.
pub(super) fn read_within<'b, T: Deserialize<'b>>(
    from: &mut impl Read,
    limit: usize,
    buffer: &'b mut Vec<u8>,
    held: &mut Loan,
) -> Result<Option<T>, FrameError> {
    let mut length = [0; size_of::<u32>()];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length == END {
        return Ok(None);
    }
    let found = usize::try_from(length).unwrap_or(usize::MAX);
    if found > limit {
        return Err(FrameError::TooLarge { found, limit });
    }
    held.more(found.saturating_mul(PER_BYTE).saturating_sub(held.bytes()))?;
    buffer.clear();
    from.take(length.into()).read_to_end(buffer)?;
    if buffer.len() < found {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    match postcard::take_from_bytes(buffer) {
        Ok((value, [])) => Ok(Some(value)),
        _ => Err(FrameError::Form { length: found }),
    }
}

/// How many bytes the length of a piece takes.
pub(super) const PREFIX: u64 = size_of::<u32>() as u64;

const END: u32 = 0;

/// What a piece takes for each byte that it has: an entry of a channel is four bytes at least, and 96 in
/// a list; such a list and the buffer may be growing.
const PER_BYTE: usize = 72;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(values: &[&str]) -> Vec<u8> {
        let (mut bytes, mut buffer) = (Vec::new(), Vec::new());
        for value in values {
            write(value, 100, &mut buffer, &mut bytes).unwrap();
        }
        write_end(&mut bytes).unwrap();
        bytes
    }

    fn all(mut bytes: &[u8]) -> Result<Vec<String>, FrameError> {
        let (mut values, mut buffer) = (Vec::new(), Vec::new());
        while let Some(value) = read::<String>(&mut bytes, 100, &mut buffer)? {
            values.push(value);
        }
        Ok(values)
    }

    #[test]
    fn what_is_written_is_read() {
        let values = ["", "a", "漢字"];
        assert_eq!(all(&written(&values)).unwrap(), values);
    }

    #[test]
    fn what_ends_early_is_an_error() {
        let bytes = written(&["a", "b"]);
        for length in 0..bytes.len() {
            let cut = all(&bytes[..length]);
            assert!(matches!(cut, Err(FrameError::Io(_))), "{length}: {cut:?}");
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_on_both_ways() {
        let long = "a".repeat(100);
        let refused = write(&long, 100, &mut Vec::new(), &mut Vec::new());
        assert!(matches!(
            refused,
            Err(FrameError::TooLarge {
                found: 101,
                limit: 100
            })
        ));
        let refused = all(&u32::MAX.to_le_bytes());
        assert!(
            matches!(refused, Err(FrameError::TooLarge { .. })),
            "{refused:?}"
        );
    }

    #[test]
    fn more_bytes_than_a_value_has_are_refused() {
        let mut bytes = written(&["a"]);
        bytes[0] += 1;
        bytes.insert(6, 0);
        assert!(matches!(all(&bytes), Err(FrameError::Form { length: 3 })));
    }
}
