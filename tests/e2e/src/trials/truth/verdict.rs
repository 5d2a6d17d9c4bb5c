//! The verdicts on the edits, as the API server passes them on: the message of a denial, and the annotations in the
//! audit log.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use kube::api::{PatchParams, PostParams};

use super::pairs::Pair;
use super::stage::replacement;
use crate::cluster::Cluster;
use crate::extension::Extensions;
use crate::olm::controller::extension;

/// The verdict on one edit.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) token: String,
    pub(super) says: Says,
}

/// The predicted result.
#[derive(Debug, Clone, Eq, PartialEq)]
pub(super) enum Says {
    /// The bundle that will be installed, as `NAME VERSION`.
    Installs(String),
    /// The error of OLM, or `None` if it would quote a Go decoder.
    Refuses(Option<String>),
}

/// Returns one verdict for each pair, in order, from a server-side dry run of its edit.
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

/// Returns the message of the denial, or `None` if the edit is allowed.
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

/// Returns OLM's own text in a denial.
fn quote(message: &str) -> Option<String> {
    let mut lines = message.lines();
    lines.find_map(|line| line.strip_prefix("OLM: ").map(str::to_owned))
}

/// Returns the annotations of the reviewed requests, by the names of the extensions.
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
