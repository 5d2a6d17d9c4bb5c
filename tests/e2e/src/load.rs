//! Users at work: server-side dry runs at a steady pace, some to be allowed and some to be denied.
//!
//! Each edit has one right answer, and every other answer counts as wrong. Nothing is measured by time: on a busy
//! machine, users wait for answers, and the pace drops.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::extension::Extensions;
use crate::review::{Reviewed, Reviewer};
use crate::until::PATIENCE;
use crate::verdict::Verdict;

/// The time between two edits.
const PACE: Duration = Duration::from_millis(18);

/// The maximum number of edits that wait for answers at the same time. The next edit waits for one of them.
const MOST_AT_ONCE: usize = 32;

/// The minimum number of calls that is meaningful.
const FEWEST: usize = 100;

/// An edit that is repeated.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) version: &'static str,
    pub(crate) right: Right,
}

/// The right answer to an edit.
#[derive(Debug, Clone)]
pub(crate) enum Right {
    /// The edit is allowed, whether or not a webhook is called.
    Passes,
    /// The edit is allowed, because the catalog has this upgrade edge.
    Resolved,
    /// The edit is denied, because the catalog has no such edge. The message contains this text.
    NotASuccessor { naming: String },
    /// The edit is denied likewise, or undecided while newer content of the catalog is known but not loaded.
    NotASuccessorOrOutdated,
}

impl Right {
    /// The reason code of the right answer, or `None` if it does not matter.
    pub(crate) fn token(&self) -> Option<&'static str> {
        match self {
            Self::Passes => None,
            Self::Resolved => Some("Resolved"),
            Self::NotASuccessor { .. } | Self::NotASuccessorOrOutdated => Some("NotASuccessor"),
        }
    }

    fn is(&self, verdict: &Verdict) -> bool {
        match self {
            Self::Passes => matches!(verdict, Verdict::Passed(_)),
            Self::Resolved => verdict.allows(),
            Self::NotASuccessor { naming } => verdict.denies(&["[NotASuccessor]", naming]),
            Self::NotASuccessorOrOutdated => {
                verdict.denies(&["[NotASuccessor]"]) || verdict.warns(&["[CatalogOutdated]"])
            }
        }
    }
}

/// A load of edits, until [`Load::stop`].
pub(crate) struct Load {
    stop: oneshot::Sender<()>,
    running: JoinHandle<Counts>,
    tally: watch::Receiver<Tally>,
}

/// The results of a load.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) asked: usize,
    /// The number of edits by the reason code of their right answer.
    pub(crate) tokens: BTreeMap<&'static str, usize>,
    pub(crate) wrong: Vec<Wrong>,
    pub(crate) took: Duration,
}

/// The counts that are known before the end.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    asked: usize,
    failed: usize,
}

/// A call with a wrong answer.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) kind: WrongKind,
    /// The time of the call.
    pub(crate) asked: Instant,
    /// The edit and its answer.
    pub(crate) what: String,
}

/// The way in which a call went wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WrongKind {
    /// The call has no verdict.
    Failed,
    /// The edit is allowed because it is undecided.
    Undecided,
    /// The verdict is another one.
    Wrong,
}

impl WrongKind {
    fn of(answer: &Result<Verdict>) -> Self {
        match answer {
            Err(_) => Self::Failed,
            Ok(verdict) if verdict.warns(&["undecided"]) => Self::Undecided,
            Ok(_) => Self::Wrong,
        }
    }
}

/// The way in which a call went wrong, and its description.
type Trouble = (WrongKind, String);

impl Load {
    /// Tries `edits` in turn on the extension `name`.
    pub(crate) fn start(extensions: Extensions, name: &str, edits: Vec<Edit>) -> Self {
        let name = name.to_owned();
        Self::by(edits, move |edit| {
            attempt(extensions.clone(), name.clone(), edit)
        })
    }

    /// Starts a load on the webhook directly, because the API server may be away.
    pub(crate) fn straight(reviewer: Reviewer, edits: Vec<Edit>) -> Self {
        Self::by(edits, move |edit| review(reviewer.clone(), edit))
    }

    /// Starts a load. `ask` returns the fault of an answer.
    fn by<R>(edits: Vec<Edit>, ask: impl Fn(Edit) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Option<Trouble>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let (tell, tally) = watch::channel(Tally::default());
        Self {
            stop,
            running: tokio::spawn(run(ask, edits, stopped, tell)),
            tally,
        }
    }

    /// Continues until this many more calls have been made.
    pub(crate) async fn go_on(&mut self, calls: usize) -> Result<()> {
        let aim = self.tally.borrow().asked + calls;
        self.tally.wait_for(|tally| tally.asked >= aim).await?;
        Ok(())
    }

    /// Continues until a call has gone wrong.
    pub(crate) async fn fail(&mut self) -> Result<()> {
        let failed = self.tally.wait_for(|tally| tally.failed > 0);
        timeout(PATIENCE, failed)
            .await
            .context("no call failed")??;
        Ok(())
    }

    /// Waits for the open calls, and returns the results.
    pub(crate) async fn count(self) -> Result<Counts> {
        // Its task checks this until it ends.
        let _ended = self.stop.send(());
        Ok(self.running.await?)
    }

    /// Waits for the open calls. Every answer must have been right.
    pub(crate) async fn stop(self) -> Result<Counts> {
        let counts = self.count().await?;
        let (asked, wrong) = (counts.asked, counts.wrong.len());
        let some = counts.wrong.iter().map(|wrong| &wrong.what).take(5);
        ensure!(
            wrong == 0,
            "{wrong} of {asked} calls went wrong: {:#?}",
            some.collect::<Vec<_>>()
        );
        ensure!(asked >= FEWEST, "only {asked} calls were made");
        Ok(counts)
    }
}

impl Counts {
    fn asked(&mut self, edit: &Edit) {
        self.asked += 1;
        if let Some(token) = edit.right.token() {
            *self.tokens.entry(token).or_default() += 1;
        }
    }

    fn answered(&mut self, ended: Result<Option<Wrong>, JoinError>) {
        let wrong = ended.unwrap_or_else(|error| Some(panicked(&error)));
        self.wrong.extend(wrong);
    }

    /// Returns the number of calls per second.
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
    R: Future<Output = Option<Trouble>> + Send + 'static,
{
    let start = Instant::now();
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut calls = JoinSet::new();
    let mut counts = Counts::default();
    for edit in edits.iter().cycle() {
        tokio::select! {
            _ = &mut stopped => break,
            _ = pace.tick() => {}
        }
        let answer = ask(edit.clone());
        calls.spawn(async move { timed(answer).await });
        counts.asked(edit);
        while let Some(ended) = calls.try_join_next() {
            counts.answered(ended);
        }
        if calls.len() >= MOST_AT_ONCE
            && let Some(ended) = calls.join_next().await
        {
            counts.answered(ended);
        }
        tell.send_replace(Tally {
            asked: counts.asked,
            failed: counts.wrong.len(),
        });
    }
    counts.took = start.elapsed();
    while let Some(ended) = calls.join_next().await {
        counts.answered(ended);
    }
    counts
}

async fn timed(answer: impl Future<Output = Option<Trouble>>) -> Option<Wrong> {
    let asked = Instant::now();
    let (kind, what) = answer.await?;
    Some(Wrong { kind, asked, what })
}

fn panicked(error: &JoinError) -> Wrong {
    Wrong {
        kind: WrongKind::Failed,
        asked: Instant::now(),
        what: error.to_string(),
    }
}

/// Returns the fault of the API server's answer.
async fn attempt(extensions: Extensions, name: String, edit: Edit) -> Option<Trouble> {
    let answer = extensions.verdict(&name, edit.version).await;
    let is_right = matches!(&answer, Ok(verdict) if edit.right.is(verdict));
    (!is_right).then(|| (WrongKind::of(&answer), format!("{edit:?}: {answer:?}")))
}

/// Returns the fault of the webhook's answer.
async fn review(reviewer: Reviewer, edit: Edit) -> Option<Trouble> {
    let answer = reviewer.ask(edit.version).await;
    let is_right = matches!(&answer, Ok(Reviewed { verdict, token })
        if edit.right.is(verdict) && edit.right.token() == Some(token.as_str()));
    let what = format!("{edit:?}: {answer:?}");
    let verdict = answer.map(|reviewed| reviewed.verdict);
    (!is_right).then(|| (WrongKind::of(&verdict), what))
}
