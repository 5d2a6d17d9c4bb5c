//! `olm.template.basic`: blobs as they are, but for bundles, which are named by their image.
//!
//! Upstream: operator-registry, [`alpha/template/basic/basic.go`]. A bundle may have a name there, which
//! has no effect; the same holds here.
//!
//! [`alpha/template/basic/basic.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/template/basic/basic.go

use super::TemplateError;
use crate::author::blob::{BUNDLE, BlobText};
use crate::author::json;
use crate::author::shelf::Shelf;
use crate::author::value::Value;
use crate::author::written::CatalogText;

/// The blobs of a template.
pub(super) fn render(
    file: &str,
    template: &BlobText,
    shelf: &Shelf,
) -> Result<CatalogText, TemplateError> {
    let entries = template.members().get("entries");
    let entries = entries.map(Value::items).unwrap_or_default().iter();
    let blobs = entries
        .enumerate()
        .map(|(index, entry)| blob(&format!("{file}: entries[{index}]"), entry));
    let blobs = blobs.collect::<Result<Vec<_>, _>>()?;
    let references = blobs
        .iter()
        .filter(|blob| blob.schema() == BUNDLE && is_reference(blob));
    shelf.check(references.map(|blob| blob.text("image")))?;
    let mut written = CatalogText::default();
    for (index, blob) in blobs.into_iter().enumerate() {
        match blob.schema() {
            BUNDLE if is_reference(&blob) => {
                written.push(shelf.bundle(blob.text("image"))?.clone());
            }
            BUNDLE => return Err(TemplateError::BundleFields { index }),
            _ => written.push(blob),
        }
    }
    Ok(written)
}

/// One entry as a blob of a catalog, with all that is checked of one.
fn blob(name: &str, entry: &Value) -> Result<BlobText, TemplateError> {
    let Value::Object(members) = entry else {
        return Err(TemplateError::WrongType {
            path: name.into(),
            expected: "an object with schema",
            found: entry.kind(),
        });
    };
    let mut text = String::new();
    json::object(members, &mut text);
    CatalogText::default().read(name, text.as_bytes())?;
    Ok(BlobText::new(members.clone()))
}

fn is_reference(bundle: &BlobText) -> bool {
    let lists = ["properties", "relatedImages"].map(|key| bundle.members().get(key));
    let has_items = |list: &Value| !list.items().is_empty();
    !bundle.text("image").is_empty()
        && bundle.text("package").is_empty()
        && !lists.into_iter().flatten().any(has_items)
}
