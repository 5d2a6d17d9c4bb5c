//! A sealed file: what kind it is and of which version, how long, and a checksum, before what it holds.
//!
//! ```text
//! kind, 16 bytes | version, 4 | length, 8 | SHA-256, 32 | what it holds, `length` bytes
//! ```
//!
//! Numbers are little-endian. What it holds is used only once all of the above is true of it. The
//! first line is written last: until then it names no kind, so a file that was not finished is none.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take, Write};

use ring::digest::{Context, SHA256, SHA256_OUTPUT_LEN};

/// A kind of file, in one version.
#[derive(Clone, Copy, Debug)]
pub(super) struct SealedKind {
    pub(super) name: &'static [u8; NAME],
    pub(super) version: u32,
}

/// Why a file is not what it was when it was sealed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The operating system said no.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It does not begin as such a file does.
    #[error("it does not begin with {expected:?}: not such a file, or one that was not finished")]
    Kind {
        /// What it should begin with.
        expected: &'static str,
    },
    /// It has another version.
    #[error("its version is {found}: expected {expected}, the one that this olmguard writes")]
    Version {
        /// The version that it names.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// Something is missing from its end, or follows it.
    #[error("it holds {found} bytes: expected {expected}")]
    Length {
        /// How many bytes there are.
        found: u64,
        /// How many it says it has.
        expected: u64,
    },
    /// What it holds has changed.
    #[error("damaged: its checksum is not that of what it holds")]
    Checksum,
}

/// Writes a sealed file.
pub(super) struct Sealer<W> {
    to: W,
    kind: SealedKind,
    checksum: Context,
    length: u64,
}

/// What a sealed file holds.
pub(super) type SealedContent = Take<BufReader<File>>;

impl<W: Write + Seek> Sealer<W> {
    /// Begins a file, at its start.
    pub(super) fn begin(mut to: W, kind: SealedKind) -> io::Result<Self> {
        to.write_all(&[0; HEAD])?;
        Ok(Self {
            to,
            kind,
            checksum: Context::new(&SHA256),
            length: 0,
        })
    }

    /// Seals it.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.to.seek(SeekFrom::Start(0))?;
        self.to.write_all(self.kind.name)?;
        self.to.write_all(&self.kind.version.to_le_bytes())?;
        self.to.write_all(&self.length.to_le_bytes())?;
        self.to.write_all(self.checksum.finish().as_ref())?;
        self.to.flush()?;
        Ok(self.to)
    }
}

impl<W: Write> Write for Sealer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.checksum.update(bytes.get(..count).unwrap_or_default());
        self.length += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Opens a sealed file, all of which is checked.
pub(super) fn open(file: File, kind: SealedKind) -> Result<SealedContent, SealError> {
    let (mut file, seal) = sealed(file, kind)?;
    if checksum(&mut file)? != seal.checksum {
        return Err(SealError::Checksum);
    }
    file.seek(SeekFrom::Start(HEAD as u64))?;
    Ok(file.take(seal.length))
}

/// Opens a sealed file, of which all is checked but what it holds: that it is of this kind, and was
/// finished.
pub(super) fn look(file: File, kind: SealedKind) -> Result<SealedContent, SealError> {
    let (file, seal) = sealed(file, kind)?;
    Ok(file.take(seal.length))
}

/// The seal of a file that is as long as it says, and the file where what it holds begins.
fn sealed(file: File, kind: SealedKind) -> Result<(BufReader<File>, Seal), SealError> {
    let there = file.metadata()?.len();
    let mut file = BufReader::new(file);
    let seal = Seal::read(&mut file, kind)?;
    let found = there.saturating_sub(HEAD as u64);
    if found != seal.length {
        return Err(SealError::Length {
            found,
            expected: seal.length,
        });
    }
    Ok((file, seal))
}

/// What stands before what a file holds, but for its kind.
struct Seal {
    length: u64,
    checksum: [u8; SHA256_OUTPUT_LEN],
}

impl Seal {
    fn read(from: &mut impl Read, kind: SealedKind) -> Result<Self, SealError> {
        if read_array(from).ok().as_ref() != Some(kind.name) {
            let expected = str::from_utf8(kind.name).unwrap_or_default();
            return Err(SealError::Kind { expected });
        }
        let found = u32::from_le_bytes(read_array(from)?);
        if found != kind.version {
            let expected = kind.version;
            return Err(SealError::Version { found, expected });
        }
        Ok(Self {
            length: u64::from_le_bytes(read_array(from)?),
            checksum: read_array(from)?,
        })
    }
}

fn read_array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn checksum(of: &mut impl Read) -> io::Result<[u8; SHA256_OUTPUT_LEN]> {
    let mut context = Context::new(&SHA256);
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = of.read(&mut chunk)?;
        if count == 0 {
            break;
        }
        context.update(chunk.get(..count).unwrap_or_default());
    }
    let mut checksum = [0; SHA256_OUTPUT_LEN];
    checksum.copy_from_slice(context.finish().as_ref());
    Ok(checksum)
}

const NAME: usize = 16;
const HEAD: usize = NAME + size_of::<u32>() + size_of::<u64>() + SHA256_OUTPUT_LEN;

/// How much is read at a time for the checksum.
const CHUNK: usize = 64 << 10;
