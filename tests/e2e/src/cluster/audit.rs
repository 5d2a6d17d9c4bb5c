//! The audit log of the API server: requests for OLM's objects, and requests of olmguard.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Cluster;

/// An answered request.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Audited {
    pub(crate) verb: String,
    #[serde(rename = "requestURI")]
    pub(crate) uri: String,
    pub(crate) user: User,
    /// The user agent of the program that sent it.
    #[serde(default)]
    pub(crate) user_agent: String,
    #[serde(default)]
    pub(crate) annotations: BTreeMap<String, String>,
    pub(crate) object_ref: Option<Object>,
}

/// The user who sent a request.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct User {
    pub(crate) username: String,
}

/// The object of a request.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Object {
    pub(crate) resource: Option<String>,
    pub(crate) subresource: Option<String>,
    pub(crate) name: Option<String>,
}

impl Audited {
    /// The reason code of the webhook's answer, or `None` if the webhook was not called.
    pub(crate) fn token(&self) -> Option<&str> {
        let mut annotations = self.annotations.iter();
        let (_, token) = annotations.find(|(key, _)| key.ends_with("/token"))?;
        Some(token)
    }
}

impl Cluster {
    /// Returns the whole log so far, in order.
    pub(crate) fn audited(&self) -> Result<Vec<Audited>> {
        let log = fs::read_to_string(self.api.audit_log()).context("the audit log")?;
        // The last line may be incomplete.
        let whole = log.rsplit_once('\n').map_or("", |(lines, _)| lines);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()))
            .collect()
    }
}
