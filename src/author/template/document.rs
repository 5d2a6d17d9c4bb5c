//! The one document of a template.

use super::TemplateError;
use crate::author::blob::Blob;
use crate::author::written::Written;

/// Reads it.
///
/// Upstream takes the first document and does not look at others; a second one here is a fault, since
/// whoever wrote it means it.
pub(super) fn read(file: &str, text: &[u8]) -> Result<Blob, TemplateError> {
    let mut written = Written::default();
    written.read(file, text)?;
    match written.blobs() {
        [template] => Ok(template.clone()),
        documents => Err(TemplateError::Documents {
            file: file.into(),
            found: documents.len(),
        }),
    }
}
