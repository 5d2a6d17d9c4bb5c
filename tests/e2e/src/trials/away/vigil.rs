//! Whether each pod stays ready, all the time.

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

/// How often each is asked.
const PERIOD: Duration = Duration::from_millis(50);

/// Half of what a readiness probe of the manifests needs to take a pod out.
const LONGEST: Duration = Duration::from_secs(2);

/// Pods that are asked again and again, until [`Vigil::end`].
pub(super) struct Vigil {
    stop: oneshot::Sender<()>,
    running: JoinHandle<Seen>,
}

impl Vigil {
    /// Begins with those there are.
    pub(super) fn begin(guard: &Deployment) -> Self {
        let pods = guard.pods.iter();
        let pods = pods.map(|pod| SocketAddr::new(pod.address, OPS)).collect();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(watch(pods, stopped));
        Self { stop, running }
    }

    /// None may have been not ready for long.
    pub(super) async fn end(self, what: &str) -> Result<()> {
        // Its task looks at this until it ends.
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

/// What was answered so far.
#[derive(Default)]
struct Seen {
    asked: usize,
    longest: Duration,
    /// Who is not ready, and since when.
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
