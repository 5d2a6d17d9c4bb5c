//! The objects of one kind, as they are now: a list that is read page by page.

use kube::Api;
use kube::api::ListParams;
use serde_json::Value;

use crate::cluster::fault::{FaultClass, WatchFault};
use crate::cluster::object::WatchedObject;

/// Hands every object of at most so many pages to `take`, in the order of the API server.
///
/// # Errors
/// If a page cannot be read, or there are more of them; the objects of earlier pages were handed over.
pub(super) async fn pages(
    api: &Api<WatchedObject>,
    most: usize,
    mut take: impl FnMut(Value),
) -> Result<(), WatchFault> {
    let mut params = ListParams::default().limit(PAGE);
    for _ in 0..most {
        let page = api.list(&params).await;
        let page = page.map_err(|error| WatchFault::from(&error))?;
        for object in page.items {
            take(object.content);
        }
        params.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
        if params.continue_token.is_none() {
            return Ok(());
        }
    }
    Err(WatchFault {
        class: FaultClass::Undecodable,
        words: format!("the list has more than {most} pages"),
    })
}

/// How many objects are asked for at once.
const PAGE: u32 = 100;

/// An API server that never ends a list is not listened to forever.
pub(super) const MOST_PAGES: usize = 1000;
