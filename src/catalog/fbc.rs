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

use super::blob::Sink;
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
