//! The `olm.package` of a semver template.

use crate::author::blob::{BlobText, PACKAGE};
use crate::author::template::csv;
use crate::author::value::{Members, Value};

/// The package, with icon and description of the default channel's head where its CSV has them.
pub(super) fn blob(name: &str, default_channel: &str, head: Option<&BlobText>) -> BlobText {
    let mut blob = BlobText::of(
        PACKAGE,
        &[("name", name), ("defaultChannel", default_channel)],
    );
    let Some(csv) = head.and_then(csv::of) else {
        return blob;
    };
    let description = csv.text("description");
    if !description.is_empty() {
        blob.members_mut().put("description", description.into());
    }
    if let Some(icon) = csv.get("icon").and_then(|icons| icons.items().first()) {
        let mut members = Members::default();
        for key in ["base64data", "mediatype"] {
            members.put(key, icon.text(key).into());
        }
        blob.members_mut().put("icon", Value::Object(members));
    }
    blob
}
