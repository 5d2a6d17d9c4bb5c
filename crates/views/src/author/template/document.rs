//! The document of a template, and what may stand beside it.

use super::TemplateError;
use crate::author::blob::{BlobText, GUARDRAILS};
use crate::author::written::CatalogText;

/// A template, and the guardrails in documents of the same text.
pub(super) struct Document {
    pub(super) template: BlobText,
    pub(super) guardrails: Vec<BlobText>,
}

/// Reads it.
///
/// Upstream takes the first document and does not look at others; a second one here is a fault, since
/// whoever wrote it means it. Guardrails are none of opm's, and have no place in some templates.
pub(super) fn read(file: &str, text: &[u8]) -> Result<Document, TemplateError> {
    let mut written = CatalogText::default();
    written.read(file, text)?;
    let is_guardrails = |blob: &BlobText| blob.schema() == GUARDRAILS;
    let (guardrails, mut others): (Vec<_>, Vec<_>) =
        written.into_blobs().into_iter().partition(is_guardrails);
    match (others.pop(), others.len()) {
        (Some(template), 0) => Ok(Document {
            template,
            guardrails,
        }),
        (last, before) => Err(TemplateError::Documents {
            file: file.into(),
            found: before + usize::from(last.is_some()),
        }),
    }
}
