//! Events of extensions in the cluster: the flag about them, and the task that writes them.

use std::sync::Arc;

use tokio::sync::mpsc::Receiver;

use crate::cli::args::heading;
use crate::cluster::{Cluster, events};
use crate::telemetry::{EditEvent, EditEvents, Metrics};
use crate::tls::SystemClock;

/// The flag.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct EventArgs {
    /// Write an Event on each ClusterExtension whose change is denied or gets a warning
    #[arg(long, help_heading = heading::DECISIONS)]
    events: bool,
}

/// Events that are about to be written.
#[derive(Debug)]
pub(super) struct Events {
    cluster: Cluster,
    metrics: Metrics,
    queue: Receiver<EditEvent>,
}

impl EventArgs {
    /// The flag, if it is given: it means nothing without a cluster.
    pub(super) fn given(self) -> Option<&'static str> {
        self.events.then_some("--events")
    }

    /// The queue that answers put events into, and what writes them to this cluster.
    pub(super) fn of(
        self,
        cluster: Option<&Cluster>,
        metrics: &Metrics,
    ) -> (EditEvents, Option<Events>) {
        let Some(cluster) = cluster.filter(|_| self.events) else {
            return (EditEvents::default(), None);
        };
        let (events, queue) = EditEvents::queue(Arc::clone(&metrics.events));
        let events_of = Events {
            cluster: cluster.clone(),
            metrics: metrics.clone(),
            queue,
        };
        (events, Some(events_of))
    }
}

impl Events {
    /// Writes them in a task of its own, for as long as the runtime lasts.
    pub(super) fn write(self) {
        let metrics = Arc::clone(&self.metrics.events);
        let clock = Arc::new(SystemClock);
        let writing = events::write(self.cluster.client, clock, metrics, self.queue);
        tokio::spawn(writing);
    }
}
