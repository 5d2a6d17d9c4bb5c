//! Guardrails of a whole catalog: each can be read by itself, and together they may be none that can.

use crate::author::blob::{BUNDLE, BlobText, CHANNEL, DEPRECATIONS};
use crate::author::json;
use crate::author::written::{CatalogText, WrittenError};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{CatalogBuilder, fbc};

impl CatalogText {
    /// Checks the guardrails of every package as they are judged by.
    ///
    /// # Errors
    /// Those of a package that cannot be read together: two blobs, or a blob and a property that differ.
    pub fn check_guardrails(&self) -> Result<(), WrittenError> {
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        let text = self.bearing_guardrails();
        let read = fbc::read("what is written", text.as_bytes(), &mut builder);
        let catalog = read.and_then(|()| Ok(builder.finish()?));
        let catalog = catalog.map_err(|source| WrittenError::File {
            file: "what is written".into(),
            source,
        })?;
        for name in catalog.package_names() {
            let package = catalog.package(name).and_then(Result::ok);
            let stated = package.and_then(|package| package.guardrails().stated());
            if let Some(Err(unread)) = stated {
                return Err(WrittenError::Together {
                    package: name.into(),
                    unread: unread.clone(),
                });
            }
        }
        Ok(())
    }

    /// The blobs that may say something of upgrade steps, as JSON; most of a catalog does not.
    fn bearing_guardrails(&self) -> String {
        let may = |blob: &&BlobText| ![BUNDLE, CHANNEL, DEPRECATIONS].contains(&blob.schema());
        let mut text = String::new();
        for blob in self.blobs().iter().filter(may) {
            json::object(blob.members(), &mut text);
        }
        text
    }
}
