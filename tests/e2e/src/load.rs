//! People at work: server-side dry-runs at a steady pace, some that must pass and some that must be denied.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval};

use crate::extension::Extensions;

/// A little more than the 50 a second that are asked for, as the pace is measured at the end.
const PACE: Duration = Duration::from_millis(18);

/// An edit that is tried again and again, and what the API server has to answer.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) version: String,
    /// What the denial says; none if it passes.
    pub(crate) denied: Option<String>,
}

/// Edits under way, until [`Load::stop`].
pub(crate) struct Load {
    stop: oneshot::Sender<()>,
    running: JoinHandle<Counts>,
    asked: watch::Receiver<usize>,
}

/// What became of them.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) asked: usize,
    pub(crate) wrong: Vec<String>,
    pub(crate) took: Duration,
}

impl Load {
    /// Tries `edits` in turn on the extension `name`.
    pub(crate) fn start(extensions: Extensions, name: &str, edits: Vec<Edit>) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (tell, asked) = watch::channel(0);
        let running = tokio::spawn(run(extensions, name.to_owned(), edits, stopped, tell));
        Self {
            stop,
            running,
            asked,
        }
    }

    /// Goes on until so many more calls were made.
    pub(crate) async fn go_on(&mut self, calls: usize) -> Result<()> {
        let aim = *self.asked.borrow() + calls;
        self.asked.wait_for(|asked| *asked >= aim).await?;
        Ok(())
    }

    /// Waits for what is under way; every answer must have been right, and the pace kept.
    pub(crate) async fn stop(self) -> Result<Counts> {
        // Its task looks at this until it ends.
        let _ended = self.stop.send(());
        let counts = self.running.await?;
        let (asked, wrong) = (counts.asked, counts.wrong.len());
        ensure!(
            wrong == 0,
            "{wrong} of {asked} calls went wrong: {:#?}",
            counts.wrong.iter().take(5).collect::<Vec<_>>()
        );
        ensure!(
            counts.pace() >= 50.0,
            "only {:.0} calls a second",
            counts.pace()
        );
        Ok(counts)
    }
}

impl Counts {
    /// Calls a second.
    #[expect(clippy::cast_precision_loss, reason = "counts of calls are small")]
    pub(crate) fn pace(&self) -> f64 {
        self.asked as f64 / self.took.as_secs_f64()
    }
}

async fn run(
    extensions: Extensions,
    name: String,
    edits: Vec<Edit>,
    mut stopped: oneshot::Receiver<()>,
    tell: watch::Sender<usize>,
) -> Counts {
    let start = Instant::now();
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut calls = JoinSet::new();
    let mut counts = Counts::default();
    for edit in edits.iter().cycle() {
        tokio::select! {
            _ = &mut stopped => break,
            _ = pace.tick() => {}
        }
        let (extensions, name, edit) = (extensions.clone(), name.clone(), edit.clone());
        calls.spawn(async move { attempt(&extensions, &name, &edit).await });
        counts.asked += 1;
        tell.send_replace(counts.asked);
        while let Some(ended) = calls.try_join_next() {
            counts.wrong.extend(ended.ok().flatten());
        }
    }
    counts.took = start.elapsed();
    while let Some(ended) = calls.join_next().await {
        counts
            .wrong
            .extend(ended.unwrap_or_else(|error| Some(error.to_string())));
    }
    counts
}

/// What was wrong about the answer.
async fn attempt(extensions: &Extensions, name: &str, edit: &Edit) -> Option<String> {
    let answer = extensions.try_version(name, &edit.version).await;
    match (&edit.denied, answer) {
        (None, Ok(())) => None,
        (Some(text), Err(kube::Error::Api(status)))
            if status.code == 403 && status.message.contains(text.as_str()) =>
        {
            None
        }
        (_, answer) => Some(format!("{edit:?}: {answer:?}")),
    }
}
