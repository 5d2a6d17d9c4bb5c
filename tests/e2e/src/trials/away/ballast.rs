//! Content that makes a catalog large, even when it is compressed.

use std::iter::successors;

use base16ct::lower::encode_string;
use serde_json::json;
use sha2::{Digest, Sha256};

/// Returns blobs of a schema that OLM does not know, with this total size. They are the same each
/// time.
pub(in crate::trials) fn of(bytes: usize) -> String {
    let first = Sha256::digest(b"ballast");
    let mut digests = successors(Some(first), |last| Some(Sha256::digest(last)));
    let blobs = (0..bytes / BLOB).map(|_| {
        let data: String = digests
            .by_ref()
            .take(BLOB / 64)
            .map(|digest| encode_string(&digest))
            .collect();
        let blob = json!({ "schema": "e2e.ballast", "package": "ballast", "data": data });
        blob.to_string() + "\n"
    });
    blobs.collect()
}

/// The size of each blob in bytes. A digest gives 64 of them.
const BLOB: usize = 1 << 16;
