//! What an object says of a catalog, and where its content is.

use serde_json::Value;

use olmguard_engine::snapshot::{Availability, CatalogState, Content, ServingState};

/// A catalog as its object describes it.
#[derive(Clone, Debug)]
pub struct ObservedCatalog {
    /// The facts; the content is Missing, or Unreadable where the object cannot be read.
    pub state: CatalogState,
    /// Where the content is served: `status.urls.base`, below which it is `/api/v1/all`; in catalogd
    /// v0.33 and before `status.contentURL`, which is the content itself.
    pub base: Option<String>,
}

/// An object without a name: what is known of it is why it cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamelessObject(pub String);

impl ObservedCatalog {
    /// Reads an object of such a kind, as far as it can be read.
    pub fn read(object: &Value) -> Result<Self, NamelessObject> {
        let state = match CatalogState::read(object) {
            Ok(state) => state,
            Err(bad) => match bad.state {
                Some(state) => *state,
                None => return Err(NamelessObject(bad.error.to_string())),
            },
        };
        Ok(Self {
            state,
            base: base(object),
        })
    }

    /// Where its content is to be had; nowhere for a catalog that does not serve, takes no part in
    /// resolution, or cannot be read.
    pub fn source(&self) -> Option<&str> {
        let state = &self.state;
        let can_be_read = self.is_readable()
            && state.serving == ServingState::Presumed
            && state.availability == Availability::Available;
        self.base.as_deref().filter(|_| can_be_read)
    }

    /// Whether the object could be read.
    pub fn is_readable(&self) -> bool {
        !matches!(self.state.content, Content::Unreadable(_))
    }
}

fn base(object: &Value) -> Option<String> {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
    let found = text("/status/urls/base").or_else(|| text("/status/contentURL"));
    found.filter(|base| !base.is_empty()).map(str::to_owned)
}
