//! People at work: server-side dry-runs at a steady pace, some that must pass and some that must be denied.
//!
//! Each edit has one right answer, and everything else counts as wrong. Nothing here judges by time: on
//! a busy machine people wait for answers, and the pace falls.

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

/// How often an edit is made.
const PACE: Duration = Duration::from_millis(18);

/// So many edits wait for their answers at most; the next one waits for one of them.
const MOST_AT_ONCE: usize = 32;

/// Fewer calls than this show nothing.
const FEWEST: usize = 100;

/// An edit that is tried again and again.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) version: &'static str,
    pub(crate) right: Right,
}

/// The right answer to an edit.
#[derive(Debug, Clone)]
pub(crate) enum Right {
    /// It passes, whether or not a webhook is asked.
    Passes,
    /// It is allowed, because the catalog has this upgrade edge.
    Resolved,
    /// It is denied, because the catalog has no such edge; the message has this in it.
    NotASuccessor { naming: String },
    /// The same, or undecided while newer content of the catalog is known and not loaded.
    NotASuccessorOrOutdated,
}

impl Right {
    /// The reason code of the right answer; none if it is not asked for.
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
    /// How many of them have this reason code as their right answer.
    pub(crate) tokens: BTreeMap<&'static str, usize>,
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
    pub(crate) kind: WrongKind,
    /// When it was made.
    pub(crate) asked: Instant,
    /// What was asked, and what the answer was.
    pub(crate) what: String,
}

/// In which way a call went wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WrongKind {
    /// There is no verdict.
    Failed,
    /// The edit passes because it is not known whether it is right.
    Undecided,
    /// Another verdict.
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

/// What went wrong, and in which way.
type Trouble = (WrongKind, String);

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

    /// Waits for what is under way; every answer must have been right.
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

/// What was wrong about the API server's answer.
async fn attempt(extensions: Extensions, name: String, edit: Edit) -> Option<Trouble> {
    let answer = extensions.verdict(&name, edit.version).await;
    let is_right = matches!(&answer, Ok(verdict) if edit.right.is(verdict));
    (!is_right).then(|| (WrongKind::of(&answer), format!("{edit:?}: {answer:?}")))
}

/// What was wrong about the webhook's answer.
async fn review(reviewer: Reviewer, edit: Edit) -> Option<Trouble> {
    let answer = reviewer.ask(edit.version).await;
    let is_right = matches!(&answer, Ok(Reviewed { verdict, token })
        if edit.right.is(verdict) && edit.right.token() == Some(token.as_str()));
    let what = format!("{edit:?}: {answer:?}");
    let verdict = answer.map(|reviewed| reviewed.verdict);
    (!is_right).then(|| (WrongKind::of(&verdict), what))
}
