//! Decompression of files, whose format is recognised by their first bytes.
//!
//! In both formats a file can consist of several compressed members or frames, and all of them are read. The window of
//! a zstd frame can have up to 32 MiB. `zstd` itself uses no more up to level 22, unless it is called with `--long`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use zstd::stream::{read, write};
use zstd::zstd_safe::DCtx;

/// A decompressor for one file after another.
///
/// The window of zstd can be larger than the index of a catalog, and an allocator may not return freed memory to the
/// system. So all files read with one decoder share its window, which is freed with the decoder.
#[derive(Default, derive_more::Debug)]
#[debug("Decoder {{ .. }}")]
pub(super) struct Decoder(Option<DCtx<'static>>);

impl Decoder {
    /// Opens a file, which is decompressed if it is compressed.
    pub(super) fn open<'a>(
        &'a mut self,
        input: impl Read + 'a,
        progress: &'a Progress,
    ) -> io::Result<Box<dyn Read + 'a>> {
        let mut input = CountingReader::new(input, progress);
        Ok(match *input.peek()? {
            [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(input)),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                // Resetting the context discards the rest of an earlier file that was not read to its end.
                let mut decoder = read::Decoder::with_context(input, self.context()?);
                decoder.window_log_max(WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
            _ => Box::new(input),
        })
    }

    fn context(&mut self) -> io::Result<&mut DCtx<'static>> {
        match &mut self.0 {
            Some(context) => Ok(context),
            none => Ok(none.insert(DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?)),
        }
    }
}

/// Opens a file without decompression.
pub(super) fn plain<R: Read>(input: R, progress: &Progress) -> CountingReader<'_, R> {
    CountingReader::new(input, progress)
}

/// A reader that reports its progress and can be peeked.
pub(super) struct CountingReader<'p, R: Read> {
    input: BufReader<io::Chain<io::Cursor<Vec<u8>>, R>>,
    progress: &'p Progress,
}

impl<'p, R: Read> CountingReader<'p, R> {
    fn new(input: R, progress: &'p Progress) -> Self {
        let input = BufReader::with_capacity(BUFFER, io::Cursor::new(Vec::new()).chain(input));
        Self { input, progress }
    }

    /// Returns the first four bytes, or fewer if the input is shorter.
    fn peek(&mut self) -> io::Result<&[u8]> {
        let (first, rest) = self.input.get_mut().get_mut();
        rest.take(MAGIC as u64).read_to_end(first.get_mut())?;
        Ok(first.get_ref())
    }
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.progress.advance(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for CountingReader<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.progress.advance(count);
        self.input.consume(count);
    }
}

/// The number of bytes that identify a format.
const MAGIC: usize = 4;

/// The number of bytes read at a time.
const BUFFER: usize = 64 << 10;

/// 2^25 bytes = 32 MiB.
const WINDOW_LOG_MAX: u32 = 25;

/// The progress of reading catalogs, in bytes as they are on disk. It can be read from any thread, and clones share
/// their counts.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<ProgressCounts>);

#[derive(Debug, Default)]
struct ProgressCounts {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// The number of bytes read so far.
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// The number of bytes to read, as far as it is known: pipes have no length.
    pub fn total(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    pub(super) fn advance(&self, bytes: usize) {
        self.0.done.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn expect(&self, bytes: u64) {
        self.0.total.fetch_add(bytes, Ordering::Relaxed);
    }
}

// === Frames: one zstd frame with a checksum, which `zstd -d` opens ===
//
// Invariant: a frame that was read to its end has everything that was written. A frame that is cut, damaged or followed
// by more bytes is an error, at the latest at its end.

/// Starts a frame. The same bytes give the same frame.
pub(crate) fn compress<W: Write>(to: W) -> io::Result<write::Encoder<'static, W>> {
    let mut frame = write::Encoder::new(to, LEVEL)?;
    frame.window_log(WINDOW_LOG)?;
    frame.include_checksum(true)?;
    Ok(frame)
}

/// A reader of the bytes of a frame.
#[derive(derive_more::Debug)]
#[debug("Frame {{ .. }}")]
pub(crate) struct ZstdFrame<R: Read>(read::Decoder<'static, BufReader<R>>);

impl<R: Read> ZstdFrame<R> {
    /// Starts to read a frame, which must be all that `from` contains.
    pub(crate) fn open(from: R) -> io::Result<Self> {
        let mut frame = read::Decoder::with_buffer(BufReader::new(from))?.single_frame();
        frame.window_log_max(WINDOW_LOG)?;
        Ok(Self(frame))
    }
}

impl<R: Read> Read for ZstdFrame<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        let is_end = count == 0 && !buffer.is_empty();
        if is_end && !self.0.get_mut().fill_buf()?.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, TRAILING));
        }
        Ok(count)
    }
}

/// A reader that copies what it reads to a writer.
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

/// Higher levels make frames only slightly smaller, and are slower.
const LEVEL: i32 = 3;

/// 2^20 bytes. A reader and a writer need little more memory. With four times as much, whole catalogs would be 5 to 15
/// % smaller.
pub(super) const WINDOW_LOG: u32 = 20;

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
        ZstdFrame::open(bytes)?.read_to_end(&mut all)?;
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
