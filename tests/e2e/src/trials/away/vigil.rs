//! Checks that each pod stays ready all the time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::ask;
use crate::deployment::Deployment;
use crate::pod::OPS;
use crate::say::say;

/// The time between two checks of a pod.
const PERIOD: Duration = Duration::from_millis(50);

/// Half of the time that the readiness probe of the manifests needs to remove a pod.
const LONGEST: Duration = Duration::from_secs(2);

/// Repeated checks of pods, until [`Vigil::end`].
pub(super) struct Vigil {
    stop: oneshot::Sender<()>,
    running: JoinHandle<Seen>,
}

impl Vigil {
    /// Starts to check the current pods.
    pub(super) fn begin(guard: &Deployment) -> Self {
        let pods = guard.pods.iter();
        let pods = pods.map(|pod| SocketAddr::new(pod.address, OPS)).collect();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(watch(pods, stopped));
        Self { stop, running }
    }

    /// Fails if a pod was not ready for long.
    pub(super) async fn end(self, what: &str) -> Result<()> {
        // Its task checks this until it ends.
        let _ended = self.stop.send(());
        let Seen { asked, longest, .. } = self.running.await?;
        let longest_ms = longest.as_millis();
        say(format_args!(
            "{what}: asked {asked} times, no pod was not ready for more than {longest_ms} ms"
        ));
        ensure!(longest < LONGEST, "a pod was not ready for {longest:?}");
        Ok(())
    }
}

/// The answers so far.
#[derive(Default)]
struct Seen {
    asked: usize,
    longest: Duration,
    /// The pods that are not ready, and since when.
    unready: BTreeMap<SocketAddr, Instant>,
}

impl Seen {
    fn answered(&mut self, pod: SocketAddr, asked: Instant, is_ready: bool) {
        self.asked += 1;
        if is_ready {
            self.unready.remove(&pod);
        } else {
            let since = *self.unready.entry(pod).or_insert(asked);
            self.longest = self.longest.max(since.elapsed());
        }
    }
}

async fn watch(pods: Vec<SocketAddr>, mut stopped: oneshot::Receiver<()>) -> Seen {
    let mut pace = interval(PERIOD);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seen = Seen::default();
    loop {
        tokio::select! {
            _ = &mut stopped => return seen,
            _ = pace.tick() => {}
        }
        for pod in &pods {
            let asked = Instant::now();
            let answer = ask::get(*pod, "/readyz").await;
            let is_ready = answer.is_ok_and(|(status, _)| status == 200);
            seen.answered(*pod, asked, is_ready);
        }
    }
}
