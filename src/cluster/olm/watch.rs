//! A watch of the OLM in a cluster, which can be upgraded while olmguard runs.
//!
//! ```text
//! look --> found --> watch of the Deployment --> changed --> look
//!   ^        |          '-- OpenShift's version is missing: at most for one pause
//!   |        '-- not found, or the watch fails
//!   '---- pause (kube's own, growing, with jitter)
//! ```

use std::convert::Infallible;
use std::pin::pin;

use k8s_openapi::api::apps::v1::Deployment;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use tokio::sync::mpsc::Sender;
use tokio::time::{sleep, timeout};

use super::{DEPLOYMENT, FindError, RunningOlm, SeenGeneration, look};
use crate::cluster::WatchFault;
use crate::cluster::line::{self, PACE, SECONDS, WatchSignal};
use crate::cluster::watch::Pauses;
use olmguard_server::telemetry::OncePerChange;

/// An event about the OLM of a cluster.
#[derive(Clone, Debug)]
pub enum OlmEvent {
    /// This OLM runs. Sent if the last result was different.
    Found(RunningOlm),
    /// No OLM was found, for this reason. Sent if the last result was different.
    NotFound(FindError),
    /// The API server answered: it returned the Deployment or reported that none exists, or the
    /// watch continues.
    Alive,
    /// The API server did not answer, or returned an error. Sent each time.
    Lost(WatchFault),
}

/// Sends the running OLM, until the receiver is closed.
pub async fn watch(client: Client, namespace: Option<String>, events: Sender<OlmEvent>) {
    let receiver = events.clone();
    let (client, heard) = line::open(client);
    let watch = DeploymentWatch {
        client,
        heard,
        namespace,
        events,
        answer: OncePerChange::default(),
    };
    tokio::select! {
        () = receiver.closed() => {}
        never = watch.go_on() => match never {}
    }
}

/// The end of the watch of a Deployment.
enum WatchEnd {
    Changed,
    Fault,
}

struct DeploymentWatch {
    client: Client,
    heard: WatchSignal,
    namespace: Option<String>,
    events: Sender<OlmEvent>,
    answer: OncePerChange<Result<RunningOlm, FindError>>,
}

impl DeploymentWatch {
    async fn go_on(mut self) -> Infallible {
        let mut pauses = Pauses::default();
        loop {
            let ended = match self.look().await {
                None => WatchEnd::Fault,
                Some((seen, true)) => self.follow(&seen).await,
                // Another look may find more, even if the Deployment does not change.
                Some((seen, false)) => match timeout(pauses.next(), self.follow(&seen)).await {
                    Ok(ended) => ended,
                    Err(_) => continue,
                },
            };
            sleep(match ended {
                WatchEnd::Changed => PACE,
                WatchEnd::Fault => pauses.next(),
            })
            .await;
        }
    }

    /// Returns the Deployment that was seen, and whether everything is known until it changes.
    async fn look(&mut self) -> Option<(SeenGeneration, bool)> {
        match look(&self.client, self.namespace.as_deref()).await {
            Ok((found, seen)) => {
                let is_certain = found.is_certain();
                self.answer(Ok(found)).await;
                self.report(OlmEvent::Alive).await;
                Some((seen, is_certain))
            }
            Err(error) => {
                self.answer(Err(error.clone())).await;
                self.report(match error {
                    FindError::Failed { fault, .. } => OlmEvent::Lost(fault),
                    FindError::Nowhere { .. } | FindError::NoContainer { .. } => OlmEvent::Alive,
                })
                .await;
                None
            }
        }
    }

    /// Waits until the Deployment differs from the one that was seen, or no longer exists.
    async fn follow(&mut self, seen: &SeenGeneration) -> WatchEnd {
        let api: Api<Deployment> = Api::namespaced(self.client.clone(), &seen.namespace);
        let only = watcher::Config::default()
            .timeout(SECONDS)
            .fields(&format!("metadata.name={DEPLOYMENT}"));
        let mut events = pin!(watcher(api, only));
        let is_seen = |now: &Deployment| SeenGeneration::of(&seen.namespace, now) == *seen;
        let mut is_there = false;
        self.heard.forget();
        loop {
            match self.heard.next(&mut events).await {
                Ok(Some(Event::Init)) => is_there = false,
                Ok(Some(Event::InitApply(now))) if is_seen(&now) => is_there = true,
                Ok(Some(Event::InitDone)) if is_there => {}
                Ok(Some(Event::Apply(now))) if is_seen(&now) => self.report(OlmEvent::Alive).await,
                Ok(Some(_)) => return WatchEnd::Changed,
                Ok(None) => self.report(OlmEvent::Alive).await,
                Err(fault) => {
                    self.report(OlmEvent::Lost(fault)).await;
                    return WatchEnd::Fault;
                }
            }
        }
    }

    async fn answer(&mut self, now: Result<RunningOlm, FindError>) {
        if !self.answer.is_new(&now) {
            return;
        }
        self.report(match now {
            Ok(found) => OlmEvent::Found(found),
            Err(error) => OlmEvent::NotFound(error),
        })
        .await;
    }

    /// Sends an event. A closed receiver ends the watch elsewhere.
    async fn report(&self, event: OlmEvent) {
        self.events.send(event).await.ok();
    }
}
