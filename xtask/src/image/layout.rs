//! The folder of an image: content under the name of its digest, and an index that begins it.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde_json::json;
use sha2::{Digest, Sha256};

use super::ImageError;

/// All that goes into the folder.
pub(super) struct Layout {
    pub(super) index: Vec<u8>,
    pub(super) blobs: Blobs,
}

/// Contents by their names.
#[derive(Default)]
pub(super) struct Blobs(BTreeMap<String, Vec<u8>>);

/// What is known of a content without having it.
pub(super) struct Blob {
    pub(super) digest: String,
    pub(super) size: usize,
}

impl Blobs {
    pub(super) fn add(&mut self, content: Vec<u8>) -> Blob {
        let (name, size) = (sha256(&content), content.len());
        let digest = format!("sha256:{name}");
        self.0.insert(name, content);
        Blob { digest, size }
    }

    pub(super) fn size(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}

impl Layout {
    /// Takes the place of a layout that is there; anything else there stays.
    pub(super) fn write(&self, folder: &Path) -> Result<(), ImageError> {
        let is_there = folder.exists();
        if is_there && !folder.join(MARK).is_file() {
            return Err(ImageError::NotALayout(folder.to_owned()));
        }
        let part = folder.with_added_extension("part");
        let written = self.fill(&part).and_then(|()| {
            if is_there {
                fs::remove_dir_all(folder)?;
            }
            fs::rename(&part, folder)
        });
        written.map_err(|source| ImageError::File {
            path: folder.to_owned(),
            source,
        })
    }

    fn fill(&self, folder: &Path) -> io::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let blobs = folder.join("blobs/sha256");
        fs::create_dir_all(&blobs)?;
        for (name, content) in &self.blobs.0 {
            fs::write(blobs.join(name), content)?;
        }
        let mark = json!({"imageLayoutVersion": "1.0.0"});
        fs::write(folder.join("index.json"), &self.index)?;
        fs::write(folder.join(MARK), mark.to_string())
    }
}

/// In digits.
pub(super) fn sha256(content: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(content))
}

/// The file that tells a layout from any other folder.
const MARK: &str = "oci-layout";
