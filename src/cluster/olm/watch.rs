//! The OLM of a cluster, again whenever it is another: it is upgraded under a running guard.

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use kube::runtime::watcher::{self, DefaultBackoff, Event, watcher};
use kube::{Api, Client};
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use super::{DEPLOYMENT, FindError, Found, look};
use crate::cluster::line::{self, PACE};

/// Tells which OLM runs, or why that is not known, each time that the answer is another, for as long
/// as somebody listens.
pub async fn watch(
    client: Client,
    namespace: Option<String>,
    answers: Sender<Result<Found, FindError>>,
) {
    let (client, _) = line::open(client);
    let mut pauses = DefaultBackoff::default();
    let mut told = None;
    loop {
        let (now, seen) = match look(&client, namespace.as_deref()).await {
            Ok((found, seen)) => (Ok(found), Some(seen)),
            Err(error) => (Err(error), None),
        };
        if told.as_ref() != Some(&now) {
            told = Some(now.clone());
            if answers.send(now).await.is_err() {
                return;
            }
        }
        let another_look = async {
            let pause = match seen {
                Some(seen) if changed(&client, &seen).await.is_ok() => PACE,
                _ => pauses.next().unwrap_or(LONGEST_PAUSE),
            };
            sleep(pause).await;
        };
        tokio::select! {
            () = answers.closed() => return,
            () = another_look => {}
        }
    }
}

/// Which state of the Deployment was read: what it is to be, whatever becomes of its pods.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Seen {
    namespace: String,
    uid: Option<String>,
    generation: Option<i64>,
}

impl Seen {
    pub(super) fn of(namespace: &str, deployment: &Deployment) -> Self {
        Self {
            namespace: namespace.to_owned(),
            uid: deployment.metadata.uid.clone(),
            generation: deployment.metadata.generation,
        }
    }
}

/// Waits until the Deployment is another than was seen, or none.
async fn changed(client: &Client, seen: &Seen) -> Result<(), watcher::Error> {
    let api: Api<Deployment> = Api::namespaced(client.clone(), &seen.namespace);
    let only = watcher::Config::default().fields(&format!("metadata.name={DEPLOYMENT}"));
    let mut events = pin!(watcher(api, only));
    let mut is_there = false;
    while let Some(event) = events.next().await {
        match event? {
            Event::Init => is_there = false,
            Event::InitApply(now) | Event::Apply(now) => {
                is_there = true;
                if Seen::of(&seen.namespace, &now) != *seen {
                    return Ok(());
                }
            }
            Event::InitDone if is_there => {}
            Event::InitDone | Event::Delete(_) => return Ok(()),
        }
    }
    Ok(())
}

const LONGEST_PAUSE: Duration = Duration::from_secs(30);
