//! The record that operator-controller keeps of an installation: a Helm release in a Secret of its
//! own type.
//!
//! With such a record, a bundle counts as installed, although none of its objects exists. Upstream:
//! helm-operator-plugins, `pkg/storage/chunked.go`.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};

use super::SYSTEM;
use super::progress::Bundle;
use crate::cluster::Cluster;

/// Records that `bundle` is installed, for an extension that does not exist yet.
pub(crate) async fn record(
    cluster: &Cluster,
    extension: &str,
    package: &str,
    bundle: &Bundle,
) -> Result<()> {
    let key = format!("sh.helm.release.v1.{extension}.v1");
    let data = [
        ("extraChunks", b"[]".to_vec()),
        ("chunk", gzip(&release(extension, package, bundle))?),
    ];
    let secret = Secret {
        metadata: ObjectMeta {
            labels: Some(labels(extension, &key)),
            name: Some(key),
            ..ObjectMeta::default()
        },
        type_: Some("operatorframework.io/index.v1".to_owned()),
        data: Some(
            data.map(|(name, bytes)| (name.to_owned(), ByteString(bytes)))
                .into(),
        ),
        ..Secret::default()
    };
    let secrets: Api<Secret> = Api::namespaced(cluster.client.clone(), SYSTEM);
    secrets.create(&PostParams::default(), &secret).await?;
    Ok(())
}

fn labels(extension: &str, key: &str) -> BTreeMap<String, String> {
    [
        ("name", extension),
        ("owner", "operator-controller"),
        ("status", "deployed"),
        ("version", "1"),
        ("key", key),
        ("type", "index"),
        ("createdAt", "1767225600"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

fn release(extension: &str, package: &str, bundle: &Bundle) -> Value {
    json!({
        "name": extension,
        "namespace": extension,
        "version": 1,
        "manifest": "",
        "info": {
            "first_deployed": TIME, "last_deployed": TIME, "deleted": "", "description": "", "status": "deployed",
        },
        "labels": {
            "olm.operatorframework.io/package-name": package,
            "olm.operatorframework.io/bundle-name": bundle.name,
            "olm.operatorframework.io/bundle-version": bundle.version,
            "olm.operatorframework.io/bundle-reference": "registry.example/recorded:1",
        },
    })
}

fn gzip(content: &Value) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content.to_string().as_bytes())?;
    Ok(encoder.finish()?)
}

const TIME: &str = "2026-01-01T00:00:00Z";
