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
//! Upstream: operator-registry, [`alpha/declcfg/load.go`] and [`alpha/declcfg/declcfg.go`]; apimachinery,
//! [`pkg/util/yaml/decoder.go`]; sigs.k8s.io/yaml.
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

pub mod advance;
pub(crate) mod error;
pub mod intake;
pub mod json;
mod members;
pub mod meta;
pub mod raw;
pub mod reader;
pub(crate) mod shape;
pub mod yaml;

pub use error::{FbcError, FbcErrorKind, FileKind, NotAFile};
pub use shape::begins_with_brace;

use super::blob::{Position, Sink};
use super::memory::Account;
use advance::{Advance, Consumer, advance};
use intake::{BlobPlace, Decisive, Intake, TextOrigin};
use reader::{Reader, YamlDocument, hand_over_document};

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
    let mut whole = FileConsumer {
        name,
        intake,
        account,
    };
    while let Advance::Past(consumed) = advance(&mut reader, text, true, &mut whole)? {
        text = text.get(consumed..).unwrap_or_default();
    }
    Ok(())
}

/// Hands what a file in memory holds to an intake, one after another.
struct FileConsumer<'f, I> {
    name: &'f str,
    intake: &'f mut I,
    account: Account,
}

impl<I: Intake> Consumer<I> for FileConsumer<'_, I> {
    type Error = FbcError;

    fn blob(
        &mut self,
        blob: I::Blob<'_>,
        position: Position,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), FbcError> {
        let place = BlobPlace {
            file: self.name,
            position,
            origin,
            text,
            marks: None,
        };
        self.intake.take(blob, &place);
        self.account.check().map_err(|too_large| FbcError {
            position,
            malformed: too_large.into(),
        })
    }

    fn document(&mut self, document: &YamlDocument<&[u8]>) -> Result<(), FbcError> {
        let mut json = Vec::new();
        let marks = document.append_json(I::PLACES, &mut json);
        let taken = marks
            .and_then(|marks| hand_over_document(document, &json, &marks, self.name, self.intake));
        taken.or_else(|fault| self.fault(fault, document.origin(), document.text))
    }

    fn fault(&mut self, fault: FbcError, origin: TextOrigin, text: &[u8]) -> Result<(), FbcError> {
        self.intake.fault(self.name, fault, origin, text)
    }
}
