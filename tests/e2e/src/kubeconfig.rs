//! Kubeconfig files: the address of an API server, and an identity.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use crate::pki::Pair;

/// The credentials of a user.
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

/// The address of an API server, and its CA certificate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server<'a> {
    pub(crate) url: &'a str,
    pub(crate) ca: &'a Path,
}

/// Writes `NAME.kubeconfig` into `dir`, for a user with the default namespace `namespace`. JSON is
/// also valid YAML.
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
