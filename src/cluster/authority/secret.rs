//! The Secret as it is read and written: one key of it is ours, everything else is left alone.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ObjectMeta;
use zeroize::{Zeroize, Zeroizing};

use crate::tls::self_managed::Version;

/// What is stored under our key, taken out; a Secret without it holds nothing of ours.
pub(super) fn content(secret: &mut Secret) -> Zeroizing<Vec<u8>> {
    let data = secret.data.as_mut();
    let ours = data.and_then(|data| data.remove(KEY));
    Zeroizing::new(ours.map(|ByteString(content)| content).unwrap_or_default())
}

/// The Secret where there is none.
pub(super) fn new(name: &str, content: &[u8]) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        type_: Some("Opaque".to_owned()),
        ..holding(content)
    }
}

/// The part of a Secret that changes where it still has this version, for a merge patch.
pub(super) fn change(Version(version): &Version, content: &[u8]) -> Secret {
    Secret {
        metadata: ObjectMeta {
            resource_version: Some(version.clone()),
            ..ObjectMeta::default()
        },
        ..holding(content)
    }
}

/// Wipes what a Secret holds, other keys than ours as well.
pub(super) fn wipe(secret: Secret) {
    for ByteString(mut content) in secret.data.into_iter().flat_map(BTreeMap::into_values) {
        content.zeroize();
    }
    for mut text in secret
        .string_data
        .into_iter()
        .flat_map(BTreeMap::into_values)
    {
        text.zeroize();
    }
}

fn holding(content: &[u8]) -> Secret {
    Secret {
        data: Some(BTreeMap::from([(
            KEY.to_owned(),
            ByteString(content.to_vec()),
        )])),
        ..Secret::default()
    }
}

/// The key of the Secret's data that is ours.
pub(super) const KEY: &str = "authorities.json";
