//! Under which API version the cluster serves a kind.

use kube::Client;
use kube::core::{ApiResource, GroupVersionKind};
use kube::discovery::pinned_kind;
use kube::error::DiscoveryError;

/// A kind under the names that it had, the best one first: group, version, kind.
pub(super) type Names = [(&'static str, &'static str, &'static str)];

/// The first of these that the cluster serves.
pub(super) async fn served(
    client: &Client,
    names: &Names,
) -> Result<Option<ApiResource>, kube::Error> {
    for (group, version, kind) in names {
        match pinned_kind(client, &GroupVersionKind::gvk(group, version, kind)).await {
            Ok((resource, _)) => return Ok(Some(resource)),
            Err(kube::Error::Discovery(DiscoveryError::MissingKind(_))) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// What was looked for, in words.
pub(super) fn looked_for(names: &Names) -> String {
    let name = |(group, version, kind): &(&str, &str, &str)| format!("{kind} of {group}/{version}");
    names.iter().map(name).collect::<Vec<_>>().join(", ")
}
