//! The extensions that are audited.

use std::sync::atomic::{AtomicUsize, Ordering};

use kube::Client;
use serde_json::Value;

use crate::cluster::extensions::{self, ExtensionsError};
use olmguard_engine::extension::Extension;

/// Why they are not known, or not all of them.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum InstalledError {
    #[error(transparent)]
    List(#[from] ExtensionsError),
    #[error("the API server answers with another kind of object")]
    OtherKind,
    #[error("there are more than {MOST_EXTENSIONS} ClusterExtensions")]
    TooMany,
}

/// All of them, each with its status.
pub(super) async fn installed(client: Client) -> Result<Vec<Extension>, InstalledError> {
    let count = AtomicUsize::new(0);
    // What is too much is not kept while the list comes to its end.
    let take = |object: Value| {
        let before = count.fetch_add(1, Ordering::Relaxed);
        let read = (before < MOST_EXTENSIONS)
            .then(|| Extension::recognised(&object).ok_or(InstalledError::OtherKind));
        read.unwrap_or(Err(InstalledError::TooMany))
    };
    let listed = extensions::list(client, take).await;
    if let Some(fault) = listed.fault {
        return Err(fault.into());
    }
    listed.all.into_iter().collect()
}

/// How many extensions are audited.
pub(super) const MOST_EXTENSIONS: usize = 5000;
