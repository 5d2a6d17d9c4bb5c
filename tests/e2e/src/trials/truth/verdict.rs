//! What the guard says of the edits, as the API server hands it on: the message of a denial, and the
//! audit log's annotations.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use kube::api::{PatchParams, PostParams};

use super::pairs::Pair;
use super::stage::replacement;
use crate::cluster::Cluster;
use crate::extension::Extensions;
use crate::olm::controller::extension;

/// The guard's answer to one edit.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) token: String,
    pub(super) says: Says,
}

/// What follows from it.
#[derive(Debug, Clone, Eq, PartialEq)]
pub(super) enum Says {
    /// This will be installed: `NAME VERSION`.
    Installs(String),
    /// OLM would say this; none where it would quote a decoder of Go's.
    Refuses(Option<String>),
}

/// One verdict for each pair, in their order, each by a server-side dry-run of its edit.
pub(super) async fn of_all(cluster: &Cluster, pairs: &[Pair]) -> Result<Vec<Verdict>> {
    let extensions = Extensions::of(&cluster.client);
    let denials: Vec<Option<String>> = stream::iter(pairs)
        .map(|pair| dry_run(&extensions, pair))
        .buffered(AT_ONCE)
        .try_collect()
        .await?;
    let annotations = annotations(cluster)?;
    pairs
        .iter()
        .zip(denials)
        .map(|(pair, denial)| {
            let annotations = annotations.get(&pair.name);
            verdict(
                annotations.with_context(|| format!("nothing is audited of {}", pair.name))?,
                denial,
            )
            .with_context(|| format!("{pair:#?}"))
        })
        .collect()
}

/// The message of the denial, if it is one.
async fn dry_run(extensions: &Extensions, pair: &Pair) -> Result<Option<String>> {
    let answer = if pair.installed().is_some() {
        let parameters = PatchParams {
            dry_run: true,
            ..PatchParams::default()
        };
        extensions
            .api
            .patch(&pair.name, &parameters, &replacement(&pair.asked))
            .await
    } else {
        let object = serde_json::from_value(extension(&pair.name, &pair.asked))?;
        let parameters = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        extensions.api.create(&parameters, &object).await
    };
    match answer {
        Ok(_) => Ok(None),
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(Some(status.message)),
        Err(error) => Err(error).with_context(|| format!("{pair:#?}")),
    }
}

fn verdict(annotations: &BTreeMap<String, String>, denial: Option<String>) -> Result<Verdict> {
    let annotation = |key: &str| annotations.get(&format!("{WEBHOOK}/{key}")).cloned();
    let says = match denial {
        None => Says::Installs(annotation("resolved").context("what is allowed resolves")?),
        Some(message) => Says::Refuses(quote(&message)),
    };
    let token = annotation("token").context("every answer has a token")?;
    Ok(Verdict { token, says })
}

/// OLM's own text in a denial.
fn quote(message: &str) -> Option<String> {
    let mut lines = message.lines();
    lines.find_map(|line| line.strip_prefix("OLM: ").map(str::to_owned))
}

/// By the extension's name, those of the request that the guard was asked about.
fn annotations(cluster: &Cluster) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
    let told = cluster
        .audited()?
        .into_iter()
        .filter(|it| it.annotations.contains_key(&format!("{WEBHOOK}/token")));
    Ok(told
        .filter_map(|it| Some((it.object_ref?.name?, it.annotations)))
        .collect())
}

const WEBHOOK: &str = "validate.olmguard.dev";
const AT_ONCE: usize = 8;
