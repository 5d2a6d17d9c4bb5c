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

pub mod base64;
mod csv;
pub(crate) mod error;
pub(crate) mod filed;
pub mod intake;
pub mod json;
mod keys;
mod members;
pub mod meta;
pub mod object;
pub mod raw;
pub mod reader;
pub(crate) mod shape;
pub mod yaml;

pub use error::{FbcError, FileKind, Malformed, NotAFile};

use super::blob::Sink;
use intake::{BlobPlace, Decisive, Intake};
use reader::{Next, Reader};

/// Reads one file of a catalog that is held in memory, and hands its blobs to `sink` in order.
/// `name` is what faults call the file.
///
/// # Errors
/// The first fault for which upstream would refuse the whole catalog. The blobs handed over until
/// then mean nothing.
pub fn read(name: &str, text: &[u8], sink: &mut dyn Sink) -> Result<(), FbcError> {
    read_into(name, text, &mut Decisive(sink))
}

/// As [`read`], for any intake.
pub fn read_into<I: Intake>(name: &str, mut text: &[u8], intake: &mut I) -> Result<(), FbcError> {
    let account = intake.memory();
    let mut reader = Reader::new(I::PLACES, account.clone());
    loop {
        let origin = reader.origin();
        let next = match reader.next(text, true, I::read) {
            Ok(next) => next,
            Err(fault) => {
                let goes_on = reader.recover(&fault);
                intake.fault(name, fault, origin, text)?;
                if goes_on {
                    continue;
                }
                return Ok(());
            }
        };
        let consumed = match next {
            Next::Blob {
                blob,
                position,
                consumed,
                loan: _loan,
            } => {
                let place = BlobPlace {
                    file: name,
                    position,
                    origin,
                    text: text.get(..consumed).unwrap_or_default(),
                    marks: None,
                };
                intake.take(blob, &place);
                account.check().map_err(|too_large| FbcError {
                    position,
                    malformed: too_large.into(),
                })?;
                consumed
            }
            Next::Document { document, consumed } => {
                document
                    .to_json(I::PLACES)
                    .and_then(|json| reader::hand_over_document(&document, &json, name, intake))
                    .or_else(|fault| intake.fault(name, fault, origin, document.text))?;
                consumed
            }
            Next::Skipped { consumed } => consumed,
            Next::Incomplete | Next::End => return Ok(()),
        };
        text = text.get(consumed..).unwrap_or_default();
    }
}
