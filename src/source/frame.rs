//! Bytes that are kept on disk: one zstd frame with a checksum, which `zstd -d` opens.
//!
//! Invariant: whoever reads a frame to its end has what was written. A frame that is cut, damaged or
//! followed by more bytes is an error, at its end at the latest.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use zstd::stream::{read, write};

/// Begins a frame. The same bytes give the same frame.
pub(crate) fn compress<W: Write>(to: W) -> io::Result<write::Encoder<'static, W>> {
    let mut frame = write::Encoder::new(to, LEVEL)?;
    frame.window_log(WINDOW_LOG)?;
    frame.include_checksum(true)?;
    Ok(frame)
}

/// The bytes of a frame.
pub(crate) struct Frame<R: Read>(read::Decoder<'static, BufReader<R>>);

impl<R: Read> Frame<R> {
    /// Begins to read a frame, which is all that `from` holds.
    pub(crate) fn open(from: R) -> io::Result<Self> {
        let mut frame = read::Decoder::with_buffer(BufReader::new(from))?.single_frame();
        frame.window_log_max(WINDOW_LOG)?;
        Ok(Self(frame))
    }
}

impl<R: Read> Read for Frame<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        let is_end = count == 0 && !buffer.is_empty();
        if is_end && !self.0.get_mut().fill_buf()?.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, TRAILING));
        }
        Ok(count)
    }
}

impl<R: Read> fmt::Debug for Frame<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame").finish_non_exhaustive()
    }
}

/// Reads from one side, and writes what was read to the other.
pub(crate) struct Tee<R, W> {
    pub(crate) from: R,
    pub(crate) to: W,
}

impl<R: Read, W: Write> Read for Tee<R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.to.write_all(buffer.get(..count).unwrap_or_default())?;
        Ok(count)
    }
}

const TRAILING: &str = "more bytes after its end";

/// Beyond it frames grow little smaller, and slower to make.
const LEVEL: i32 = 3;

/// 2^20 bytes: a reader and a writer hold little more. Whole catalogs get 5 to 15 % smaller with four
/// times as much.
const WINDOW_LOG: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(bytes: &[u8]) -> Vec<u8> {
        let mut frame = compress(Vec::new()).unwrap();
        frame.write_all(bytes).unwrap();
        frame.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Frame::open(bytes)?.read_to_end(&mut all)?;
        Ok(all)
    }

    #[test]
    fn what_is_written_is_read() {
        for bytes in [&b""[..], b"a", &vec![7; 1 << 20]] {
            assert_eq!(read(&frame(bytes)).unwrap(), bytes);
        }
    }

    #[test]
    fn a_cut_frame_is_an_error_at_every_length() {
        let whole = frame(b"some catalog");
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn a_changed_byte_is_an_error_or_changes_nothing() {
        let whole = frame(b"some catalog");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            if let Ok(all) = read(&bytes) {
                assert_eq!(all, b"some catalog", "{at}");
            }
        }
    }

    #[test]
    fn nothing_follows_a_frame() {
        let twice = frame(b"a").repeat(2);
        assert_eq!(read(&twice).unwrap_err().to_string(), TRAILING);
        let longer = [&frame(b"a")[..], b"x"].concat();
        assert_eq!(read(&longer).unwrap_err().to_string(), TRAILING);
    }

    #[test]
    fn a_window_is_bounded() {
        let mut large = write::Encoder::new(Vec::new(), LEVEL).unwrap();
        large.window_log(WINDOW_LOG + 1).unwrap();
        large.write_all(&vec![7; 4 << 20]).unwrap();
        let error = read(&large.finish().unwrap()).unwrap_err().to_string();
        assert!(error.contains("requires too much memory"), "{error}");
    }

    #[test]
    fn what_is_read_is_written() {
        let mut to = Vec::new();
        let mut read = String::new();
        let from = &b"some catalog"[..];
        Tee { from, to: &mut to }.read_to_string(&mut read).unwrap();
        assert_eq!(to, read.as_bytes());
    }
}
