//! The OLM of a cluster, again whenever it is another: it is upgraded under a running guard.
//!
//! ```text
//! look --> found --> watch of the Deployment --> it has changed --> look
//!   ^        |          '-- OpenShift's version is missing: no longer than one pause
//!   |        '-- not found, or the watch fails
//!   '---- pause (kube's own, growing, with jitter)
//! ```

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use kube::runtime::watcher::{self, DefaultBackoff, Event, watcher};
use kube::{Api, Client};
use tokio::sync::mpsc::Sender;
use tokio::time::{sleep, timeout};

use super::{DEPLOYMENT, FindError, RunningOlm, look};
use crate::cluster::fault::WatchFault;
use crate::cluster::line::{self, PACE, SECONDS, WatchSignal};

/// What there is to say about the OLM of a cluster.
#[derive(Clone, Debug)]
pub enum OlmEvent {
    /// This one runs; told if the last answer was another.
    Found(RunningOlm),
    /// None was found, for this reason; told if the last answer was another.
    NotFound(FindError),
    /// The API server was heard: it showed the Deployment or said that there is none, or its watch
    /// goes on.
    Alive,
    /// The API server was not heard, or said no: told each time.
    Lost(WatchFault),
}

/// Tells which OLM runs, for as long as somebody listens.
pub async fn watch(client: Client, namespace: Option<String>, events: Sender<OlmEvent>) {
    let listener = events.clone();
    let (client, heard) = line::open(client);
    let watch = DeploymentWatch {
        client,
        heard,
        namespace,
        events,
        told: None,
    };
    tokio::select! {
        () = listener.closed() => {}
        Err(NobodyListens) = watch.go_on() => {}
    }
}

/// Which state of the Deployment was read: what it is to be, whatever becomes of its pods.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct SeenGeneration {
    namespace: String,
    uid: Option<String>,
    generation: Option<i64>,
}

impl SeenGeneration {
    pub(super) fn of(namespace: &str, deployment: &Deployment) -> Self {
        Self {
            namespace: namespace.to_owned(),
            uid: deployment.metadata.uid.clone(),
            generation: deployment.metadata.generation,
        }
    }
}

/// Whoever was told has gone away.
struct NobodyListens;

/// What one look comes to.
enum LookOutcome {
    /// All is known until the Deployment changes.
    Certain(SeenGeneration),
    /// Another look may tell more, although the Deployment stays as it is.
    Uncertain(SeenGeneration),
    Nothing,
}

/// How the watch of a Deployment ends.
enum WatchEnd {
    Changed,
    Fault,
}

struct DeploymentWatch {
    client: Client,
    heard: WatchSignal,
    namespace: Option<String>,
    events: Sender<OlmEvent>,
    told: Option<Result<RunningOlm, FindError>>,
}

impl DeploymentWatch {
    async fn go_on(mut self) -> Result<Infallible, NobodyListens> {
        let mut pauses = DefaultBackoff::default();
        let mut pause = || pauses.next().unwrap_or(LONGEST_PAUSE);
        loop {
            let ended = match self.look().await? {
                LookOutcome::Nothing => WatchEnd::Fault,
                LookOutcome::Certain(seen) => self.follow(&seen).await?,
                LookOutcome::Uncertain(seen) => match timeout(pause(), self.follow(&seen)).await {
                    Ok(ended) => ended?,
                    Err(_) => continue,
                },
            };
            sleep(match ended {
                WatchEnd::Changed => PACE,
                WatchEnd::Fault => pause(),
            })
            .await;
        }
    }

    async fn look(&mut self) -> Result<LookOutcome, NobodyListens> {
        let looked = match look(&self.client, self.namespace.as_deref()).await {
            Ok((found, seen)) => {
                let is_certain = found.is_certain();
                self.answer(Ok(found)).await?;
                if is_certain {
                    LookOutcome::Certain(seen)
                } else {
                    LookOutcome::Uncertain(seen)
                }
            }
            Err(error) => {
                self.answer(Err(error.clone())).await?;
                if let FindError::Failed { fault, .. } = error {
                    self.tell(OlmEvent::Lost(fault)).await?;
                    return Ok(LookOutcome::Nothing);
                }
                LookOutcome::Nothing
            }
        };
        self.tell(OlmEvent::Alive).await?;
        Ok(looked)
    }

    /// Waits until the Deployment is another than was seen, or none.
    async fn follow(&mut self, seen: &SeenGeneration) -> Result<WatchEnd, NobodyListens> {
        let api: Api<Deployment> = Api::namespaced(self.client.clone(), &seen.namespace);
        let only = watcher::Config::default()
            .timeout(SECONDS)
            .fields(&format!("metadata.name={DEPLOYMENT}"));
        let mut events = pin!(watcher(api, only));
        let mut is_there = false;
        loop {
            let event = tokio::select! {
                biased;
                Some(event) = events.next() => event,
                () = self.heard.sign() => {
                    self.tell(OlmEvent::Alive).await?;
                    continue;
                }
            };
            match event {
                Ok(Event::Init) => is_there = false,
                Ok(Event::InitApply(now) | Event::Apply(now)) => {
                    is_there = true;
                    if SeenGeneration::of(&seen.namespace, &now) != *seen {
                        return Ok(WatchEnd::Changed);
                    }
                }
                Ok(Event::InitDone) if is_there => {}
                Ok(Event::InitDone | Event::Delete(_)) => return Ok(WatchEnd::Changed),
                Err(error) => {
                    self.tell(OlmEvent::Lost(error.into())).await?;
                    return Ok(WatchEnd::Fault);
                }
            }
        }
    }

    async fn answer(&mut self, now: Result<RunningOlm, FindError>) -> Result<(), NobodyListens> {
        if self.told.as_ref() == Some(&now) {
            return Ok(());
        }
        self.told = Some(now.clone());
        self.tell(match now {
            Ok(found) => OlmEvent::Found(found),
            Err(error) => OlmEvent::NotFound(error),
        })
        .await
    }

    async fn tell(&self, event: OlmEvent) -> Result<(), NobodyListens> {
        self.events.send(event).await.map_err(|_| NobodyListens)
    }
}

const LONGEST_PAUSE: Duration = Duration::from_secs(30);
