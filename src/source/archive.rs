//! The catalogs of a cluster in one file, to judge with where there is no cluster.
//!
//! ```text
//! sealed { facts of the cluster | facts of a catalog | its record | facts of the next ... | end }
//! ```
//!
//! A catalog's record follows its facts where its content was held. The same facts and records give the
//! same bytes. Reading holds one blob besides the index that is made of it.
//!
//! Invariants: a file that is cut, damaged or of another version is refused before anything of it is
//! used; one that is not of this form behind its seal is refused as a whole as well.

mod facts;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::source::framed;
use crate::source::record::{self, RecordError, replay_next};
use crate::source::sealed::{self, SealError, SealedContent, SealedKind, Sealer};
pub use facts::{ArchiveFacts, OlmFacts, UnknownOlm};
use facts::{CatalogFacts, ContentFacts};
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content};

/// An archive that is being read, catalog by catalog.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    facts: ArchiveFacts,
    rest: BufReader<SealedContent>,
}

/// Why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}; save it again with olmguard snapshot save", .path.display())]
pub struct ArchiveError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It is not what it was when it was written, or of a foreign version.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// What it says of the cluster or of a catalog cannot be read.
    #[error("not the facts of a cluster and its catalogs: {0}")]
    Facts(io::Error),
    /// The record of a catalog cannot be replayed.
    #[error("catalog {name:?}: {source}")]
    Record {
        /// The catalog.
        name: String,
        /// Why not.
        source: RecordError,
    },
    /// Something follows its end.
    #[error("more bytes after the last catalog")]
    Trailing,
}

/// Writes an archive of these catalogs, each with its record where its content is held.
///
/// Without a record, what a state says of its content is kept: that it is missing, or why it cannot be
/// read.
pub fn write<'s, W: Write + Seek, R: Read>(
    to: W,
    facts: &ArchiveFacts,
    catalogs: impl IntoIterator<Item = (&'s CatalogState, Option<R>)>,
) -> io::Result<W> {
    let mut sealer = Sealer::begin(to, KIND)?;
    let mut buffer = Vec::new();
    framed::write(facts, FACTS_LIMIT, &mut buffer, &mut sealer)?;
    for (state, record) in catalogs {
        let facts = CatalogFacts::of(state, record.is_some());
        framed::write(&facts, FACTS_LIMIT, &mut buffer, &mut sealer)?;
        if let Some(mut record) = record {
            io::copy(&mut record, &mut sealer)?;
        }
    }
    framed::write_end(&mut sealer)?;
    sealer.finish()
}

impl Archive {
    /// Opens an archive, and reads what it says of the cluster.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let failed = |reason| ArchiveError {
            path: path.to_owned(),
            reason,
        };
        begin(path)
            .map(|(facts, rest)| Self {
                path: path.to_owned(),
                facts,
                rest,
            })
            .map_err(failed)
    }

    /// What it says of the cluster.
    pub fn facts(&self) -> &ArchiveFacts {
        &self.facts
    }

    /// Reads every catalog by these rules, in the order in which they were written. Their memory is that
    /// of the pool; one that is too large for it has no content, and the others are read.
    pub fn load(mut self, rules: &Rules, memory: &Pool) -> Result<Vec<CatalogState>, ArchiveError> {
        let mut states = Vec::new();
        loop {
            match self.next(rules, memory) {
                Ok(Some(state)) => states.push(state),
                Ok(None) => return Ok(states),
                Err(reason) => {
                    let path = self.path;
                    return Err(ArchiveError { path, reason });
                }
            }
        }
    }

    fn next(&mut self, rules: &Rules, memory: &Pool) -> Result<Option<CatalogState>, Reason> {
        let Some(facts) = read_facts::<CatalogFacts>(&mut self.rest)? else {
            let rest = self.rest.fill_buf().map_err(Reason::Facts)?;
            let is_all = rest.is_empty();
            return if is_all {
                Ok(None)
            } else {
                Err(Reason::Trailing)
            };
        };
        let content = match &facts.content {
            ContentFacts::Missing => Content::Missing,
            ContentFacts::Unfetched(why) => Content::Unfetched(why.clone()),
            ContentFacts::Unreadable(why) => Content::Unreadable(why.clone()),
            ContentFacts::Recorded => {
                let name = facts.name.clone();
                let content = replayed(&mut self.rest, rules, memory);
                let content = content.or_else(|error| too_large(&self.path, &name, error));
                content.map_err(|source| Reason::Record { name, source })?
            }
        };
        Ok(Some(facts.into_state(content)))
    }
}

fn begin(path: &Path) -> Result<(ArchiveFacts, BufReader<SealedContent>), Reason> {
    let file = File::open(path).map_err(SealError::Io)?;
    let mut held = BufReader::new(sealed::open(file, KIND)?);
    let facts = read_facts(&mut held)?;
    let facts = facts.ok_or_else(|| Reason::Facts(io::ErrorKind::UnexpectedEof.into()))?;
    Ok((facts, held))
}

fn read_facts<T: DeserializeOwned>(from: &mut impl Read) -> Result<Option<T>, Reason> {
    framed::read(from, FACTS_LIMIT, &mut Vec::new()).map_err(|error| Reason::Facts(error.into()))
}

fn replayed(from: &mut impl BufRead, rules: &Rules, memory: &Pool) -> Result<Content, RecordError> {
    let mut builder = CatalogBuilder::within(rules, memory.account());
    replay_next(from, &mut builder)?;
    Ok(Content::Loaded(Arc::new(builder.finish()?)))
}

/// The record of a catalog that is too large was read to its end: others follow it.
fn too_large(file: &Path, name: &str, error: RecordError) -> Result<Content, RecordError> {
    match error {
        RecordError::Memory(too_large) => Ok(Content::Unreadable(format!(
            "{}: catalog {name:?}: {too_large}",
            file.display()
        ))),
        other => Err(other),
    }
}

/// The version is that of the records; whoever changes the facts changes it as well.
const KIND: SealedKind = SealedKind {
    name: b"olmguard archive",
    version: record::VERSION,
};

/// An API server keeps no object of more than 1.5 MiB.
const FACTS_LIMIT: usize = 2 << 20;
