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
