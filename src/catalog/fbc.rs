//! File-based catalogs as written: bytes in, blobs out.
//!
//! Two programs read a catalog before OLM resolves from it: catalogd turns a folder of YAML and
//! JSON into JSON lines, and operator-controller files each line and decodes the files of one
//! package at a time. This module does the work of both in one pass, so a fault lies where
//! theirs does: in the whole catalog ([`FbcError`]) or in one package
//! ([`BlobFault`](super::blob::BlobFault)).
//!
//! ```text
//! YAML --transcode--> JSON --one pass--> key, content or fault --> Sink
//! ```
//!
//! Nothing here reads a file: the edges feed it pieces of bytes.
//!
//! Upstream: operator-registry, `alpha/declcfg/{load,declcfg}.go`; apimachinery,
//! `pkg/util/yaml/decoder.go`; sigs.k8s.io/yaml.

pub(crate) mod base64;
pub(crate) mod error;
pub(crate) mod filed;
pub(crate) mod json;
pub(crate) mod meta;
pub(crate) mod object;
pub(crate) mod reader;
pub(crate) mod shape;
pub(crate) mod yaml;

pub use error::{FbcError, Malformed};

use super::blob::{BlobFault, Content, Key, Position, Sink};
use reader::{Next, Reader};

/// Reads one file of a catalog that is held in memory, and hands its blobs to `sink` in order.
/// `name` is what faults call the file.
///
/// # Errors
/// The first fault for which upstream would refuse the whole catalog. The blobs handed over until
/// then mean nothing.
pub fn read(name: &str, mut text: &[u8], sink: &mut dyn Sink) -> Result<(), FbcError> {
    let mut reader = Reader::new();
    loop {
        let consumed = match reader.next(text, true)? {
            Next::Blob {
                blob,
                position,
                consumed,
            } => {
                reader::hand_over(blob, position, name, sink);
                consumed
            }
            Next::Document { document, consumed } => {
                reader::hand_over_document(&document, &document.to_json()?, name, sink)?;
                consumed
            }
            Next::Skipped { consumed } => consumed,
            Next::Incomplete | Next::End => return Ok(()),
        };
        text = text.get(consumed..).unwrap_or_default();
    }
}

/// Hands over the blobs of one file whole, each as JSON of its own, in order.
///
/// What [`read`] reduces is kept here: keys of no known schema, custom blobs, the text of numbers
/// (of JSON; in YAML they are read as numbers first). A blob that is null is passed over.
///
/// # Errors
/// As for [`read`]; and the first blob that does not decode as its schema.
pub(crate) fn each_whole(
    name: &str,
    mut text: &[u8],
    take: &mut dyn FnMut(&[u8], Position) -> Result<(), WholeError>,
) -> Result<(), WholeError> {
    let mut reader = Reader::new();
    let mut decodes = Decodes::default();
    loop {
        let consumed = match reader.next(text, true)? {
            Next::Blob {
                blob,
                position,
                consumed,
            } => {
                reader::hand_over(blob, position, name, &mut decodes);
                decodes.so_far()?;
                take(text.get(..consumed).unwrap_or_default(), position)?;
                consumed
            }
            Next::Document { document, consumed } => {
                let json = document.to_json()?;
                reader::hand_over_document(&document, &json, name, &mut decodes)?;
                decodes.so_far()?;
                take(&json, document.position())?;
                consumed
            }
            Next::Skipped { consumed } => consumed,
            Next::Incomplete | Next::End => return Ok(()),
        };
        text = text.get(consumed..).unwrap_or_default();
    }
}

/// Why a file cannot be taken whole.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WholeError {
    /// It is no catalog.
    #[error(transparent)]
    Fbc(#[from] FbcError),
    /// A blob in it is not of its schema.
    #[error(transparent)]
    Blob(#[from] BlobFault),
}

/// Notes the first blob that does not decode.
#[derive(Default)]
struct Decodes(Option<BlobFault>);

impl Sink for Decodes {
    fn blob(&mut self, _: Key<'_>, content: Result<Content<'_>, BlobFault>) {
        if let Err(fault) = content {
            self.0.get_or_insert(fault);
        }
    }
}

impl Decodes {
    fn so_far(&mut self) -> Result<(), BlobFault> {
        self.0.take().map_or(Ok(()), Err)
    }
}
