//! People at work: server-side dry-runs at a steady pace, some that must pass and some that must be denied.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::extension::Extensions;
use crate::review::Reviewer;
use crate::until::PATIENCE;
use crate::verdict::Verdict;

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
    tally: watch::Receiver<Tally>,
}

/// What became of them.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) asked: usize,
    pub(crate) wrong: Vec<Wrong>,
    pub(crate) took: Duration,
}

/// What is known before the end.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    asked: usize,
    failed: usize,
}

/// A call that went wrong.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// When it was made.
    pub(crate) asked: Instant,
    /// What was asked, and what the answer was.
    pub(crate) what: String,
}

impl Load {
    /// Tries `edits` in turn on the extension `name`.
    pub(crate) fn start(extensions: Extensions, name: &str, edits: Vec<Edit>) -> Self {
        let name = name.to_owned();
        Self::by(edits, move |edit| {
            attempt(extensions.clone(), name.clone(), edit)
        })
    }

    /// The same without an API server, which may be away meanwhile.
    pub(crate) fn straight(reviewer: Reviewer, edits: Vec<Edit>) -> Self {
        Self::by(edits, move |edit| review(reviewer.clone(), edit))
    }

    /// `ask` tells what was wrong about the answer.
    fn by<R>(edits: Vec<Edit>, ask: impl Fn(Edit) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Option<String>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let (tell, tally) = watch::channel(Tally::default());
        Self {
            stop,
            running: tokio::spawn(run(ask, edits, stopped, tell)),
            tally,
        }
    }

    /// Goes on until so many more calls were made.
    pub(crate) async fn go_on(&mut self, calls: usize) -> Result<()> {
        let aim = self.tally.borrow().asked + calls;
        self.tally.wait_for(|tally| tally.asked >= aim).await?;
        Ok(())
    }

    /// Goes on until a call has gone wrong.
    pub(crate) async fn fail(&mut self) -> Result<()> {
        let failed = self.tally.wait_for(|tally| tally.failed > 0);
        timeout(PATIENCE, failed)
            .await
            .context("no call failed")??;
        Ok(())
    }

    /// Waits for what is under way, and tells what went wrong.
    pub(crate) async fn count(self) -> Result<Counts> {
        // Its task looks at this until it ends.
        let _ended = self.stop.send(());
        Ok(self.running.await?)
    }

    /// Waits for what is under way; every answer must have been right, and the pace kept.
    pub(crate) async fn stop(self) -> Result<Counts> {
        let counts = self.count().await?;
        let (asked, wrong) = (counts.asked, counts.wrong.len());
        ensure!(
            wrong == 0,
            "{wrong} of {asked} calls went wrong: {:#?}",
            counts
                .wrong
                .iter()
                .map(|wrong| &wrong.what)
                .take(5)
                .collect::<Vec<_>>()
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

async fn run<R>(
    ask: impl Fn(Edit) -> R,
    edits: Vec<Edit>,
    mut stopped: oneshot::Receiver<()>,
    tell: watch::Sender<Tally>,
) -> Counts
where
    R: Future<Output = Option<String>> + Send + 'static,
{
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
        let answer = ask(edit.clone());
        calls.spawn(async move { timed(answer).await });
        counts.asked += 1;
        while let Some(ended) = calls.try_join_next() {
            counts
                .wrong
                .extend(ended.unwrap_or_else(|error| Some(panicked(&error))));
        }
        tell.send_replace(Tally {
            asked: counts.asked,
            failed: counts.wrong.len(),
        });
    }
    counts.took = start.elapsed();
    while let Some(ended) = calls.join_next().await {
        counts
            .wrong
            .extend(ended.unwrap_or_else(|error| Some(panicked(&error))));
    }
    counts
}

async fn timed(answer: impl Future<Output = Option<String>>) -> Option<Wrong> {
    let asked = Instant::now();
    let what = answer.await?;
    Some(Wrong { asked, what })
}

fn panicked(error: &JoinError) -> Wrong {
    Wrong {
        asked: Instant::now(),
        what: error.to_string(),
    }
}

/// What was wrong about the API server's answer.
async fn attempt(extensions: Extensions, name: String, edit: Edit) -> Option<String> {
    let answer = extensions.try_version(&name, &edit.version).await;
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

/// What was wrong about the guard's answer.
async fn review(reviewer: Reviewer, edit: Edit) -> Option<String> {
    let answer = reviewer.ask(&edit.version).await;
    match (&edit.denied, answer) {
        (None, Ok(Verdict::Passed(_))) => None,
        (Some(text), Ok(verdict)) if verdict.denies(&[text]) => None,
        (_, answer) => Some(format!("{edit:?}: {answer:?}")),
    }
}
