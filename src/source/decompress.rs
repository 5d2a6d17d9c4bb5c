//! Compressed files, told by their first bytes.
//!
//! Both formats allow a file to consist of several compressed pieces; all of them are read. A
//! zstd frame may ask for a window of up to 32 MiB, what `zstd` itself uses up to level 22 but
//! for `--long`.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use zstd::zstd_safe::DCtx;

use super::Progress;

/// Decompresses one file after another.
///
/// A window of zstd can be larger than the index of a catalog, and an allocator may keep what is freed.
/// So all files that are read with one decoder share its window, which is freed with the decoder.
#[derive(Default)]
pub(super) struct Decoder(Option<DCtx<'static>>);

/// The content of a file: as it is, or decompressed.
pub(super) enum Content<'d, 'p, R: Read> {
    Plain(CountingReader<'p, R>),
    Gzip(Box<MultiGzDecoder<CountingReader<'p, R>>>),
    Zstd(zstd::stream::read::Decoder<'d, CountingReader<'p, R>>),
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl Decoder {
    /// A file, decompressed if it is compressed.
    pub(super) fn open<'p, R: Read>(
        &mut self,
        input: R,
        progress: &'p Progress,
    ) -> io::Result<Content<'_, 'p, R>> {
        let mut input = CountingReader::new(input, progress);
        Ok(match *input.peek()? {
            [0x1f, 0x8b, ..] => Content::Gzip(Box::new(MultiGzDecoder::new(input))),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                // This forgets what is left of a file that was not read to its end.
                let mut decoder = zstd::stream::read::Decoder::with_context(input, self.context()?);
                decoder.window_log_max(WINDOW_LOG_MAX)?;
                Content::Zstd(decoder)
            }
            _ => Content::Plain(input),
        })
    }

    fn context(&mut self) -> io::Result<&mut DCtx<'static>> {
        match &mut self.0 {
            Some(context) => Ok(context),
            none => Ok(none.insert(DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?)),
        }
    }
}

impl<R: Read> Read for Content<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(input) => input.read(buffer),
            Self::Gzip(input) => input.read(buffer),
            Self::Zstd(input) => input.read(buffer),
        }
    }
}

/// A file as it is.
pub(super) fn plain<R: Read>(input: R, progress: &Progress) -> Content<'static, '_, R> {
    Content::Plain(CountingReader::new(input, progress))
}

/// A reader that tells how far it is, and can be looked into.
pub(super) struct CountingReader<'p, R: Read> {
    input: BufReader<io::Chain<io::Cursor<Vec<u8>>, R>>,
    progress: &'p Progress,
}

impl<'p, R: Read> CountingReader<'p, R> {
    fn new(input: R, progress: &'p Progress) -> Self {
        let input = BufReader::with_capacity(BUFFER, io::Cursor::new(Vec::new()).chain(input));
        Self { input, progress }
    }

    /// The first bytes, four unless there are fewer.
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

/// How many bytes tell a format.
const MAGIC: usize = 4;

/// How much compressed data is read at a time.
const BUFFER: usize = 64 << 10;

/// 2^25 bytes = 32 MiB.
const WINDOW_LOG_MAX: u32 = 25;
