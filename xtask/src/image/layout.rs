//! The directory of an image: content named by its digest, and an index as the entry point.

use serde_json::json;

use crate::digest::sha256;
use crate::output::Files;

/// The files of an image.
#[derive(Default)]
pub(super) struct Layout(Files);

/// The digest and the size of some content.
pub(super) struct Blob {
    pub(super) digest: String,
    pub(super) size: usize,
}

impl Layout {
    pub(super) fn add(&mut self, content: Vec<u8>) -> Blob {
        let (name, size) = (sha256(&content), content.len());
        let digest = format!("sha256:{name}");
        self.0.insert(format!("blobs/sha256/{name}"), content);
        Blob { digest, size }
    }

    /// The size of all content, in bytes.
    pub(super) fn size(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Adds the index, and returns all files.
    pub(super) fn finish(mut self, index: Vec<u8>) -> Files {
        let mark = json!({"imageLayoutVersion": "1.0.0"});
        self.0.insert("index.json".to_owned(), index);
        self.0
            .insert(MARK.to_owned(), mark.to_string().into_bytes());
        self.0
    }
}

/// The file that distinguishes a layout from any other directory.
pub(super) const MARK: &str = "oci-layout";
