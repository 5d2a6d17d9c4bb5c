//! Files that say how to reach the API server, and as whom.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use crate::pki::Pair;

/// By what the API server knows the caller.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Identity<'a> {
    Certificate(&'a Pair),
    Token(&'a str),
}

impl Identity<'_> {
    fn user(self) -> Value {
        match self {
            Self::Certificate(pair) => {
                json!({ "client-certificate": pair.cert, "client-key": pair.key })
            }
            Self::Token(token) => json!({ "token": token }),
        }
    }
}

/// Where an API server is to be found, and who vouches for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server<'a> {
    pub(crate) url: &'a str,
    pub(crate) ca: &'a Path,
}

/// Writes `NAME.kubeconfig` into `dir`, for someone at home in `namespace`. JSON is YAML.
pub(crate) fn write(
    dir: &Path,
    name: &str,
    server: Server<'_>,
    identity: Identity<'_>,
    namespace: &str,
) -> Result<PathBuf> {
    let content = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "e2e",
        "clusters": [{ "name": "e2e", "cluster": { "server": server.url, "certificate-authority": server.ca } }],
        "users": [{ "name": "e2e", "user": identity.user() }],
        "contexts": [{ "name": "e2e", "context": { "cluster": "e2e", "user": "e2e", "namespace": namespace } }],
    });
    let path = dir.join(format!("{name}.kubeconfig"));
    fs::write(&path, serde_json::to_vec_pretty(&content)?)?;
    Ok(path)
}
