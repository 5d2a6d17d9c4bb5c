//! The effect of one fault on users.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use olmguard_figures::FaultRow;

use crate::load::{Counts, Load, WrongKind};
use crate::say::say;

/// Users who edit before, during and after a fault.
pub(super) struct Fault {
    name: &'static str,
    load: Load,
    begun: Instant,
    /// The end of the fault, or its start if the end is not known.
    over: Instant,
}

/// The edits that may fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Lost {
    Nothing,
    /// Edits sent to a pod that has died, until its Service notices: only the API server could retry them.
    WhileItLeadsThere,
}

impl Fault {
    /// Starts with users who have made some edits.
    pub(super) async fn of(name: &'static str, mut load: Load) -> Result<Self> {
        load.go_on(SOME).await?;
        let now = Instant::now();
        Ok(Self {
            name,
            load,
            begun: now,
            over: now,
        })
    }

    pub(super) fn begins(&mut self) {
        self.begun = Instant::now();
        self.over = self.begun;
    }

    pub(super) async fn goes_on(&mut self, edits: usize) -> Result<()> {
        self.load.go_on(edits).await
    }

    pub(super) fn is_over(&mut self) {
        self.over = Instant::now();
    }

    /// Lets users make some more edits, stops them, and prints the row.
    pub(super) async fn ends(mut self, lost: Lost) -> Result<()> {
        self.load.go_on(SOME).await?;
        let counts = self.load.count().await?;
        let of = |kind| counts.wrong.iter().filter(|it| it.kind == kind).count();
        let row = FaultRow {
            fault: self.name.to_owned(),
            edits: counts.asked,
            pace: counts.pace(),
            failed: of(WrongKind::Failed),
            undecided: of(WrongKind::Undecided),
            wrong: of(WrongKind::Wrong),
            seconds: (self.over - self.begun).as_secs_f64(),
            recovered: u64::try_from(last(&counts, self.over).as_millis())?,
        };
        say(format_args!("fault: {}", serde_json::to_string(&row)?));
        let may_fail = lost == Lost::WhileItLeadsThere;
        let is_well = row.wrong == 0 && (row.failed == 0 || may_fail);
        let some: Vec<_> = counts.wrong.iter().take(5).collect();
        ensure!(is_well, "{}: {some:#?}", self.name);
        ensure!(row.recovered < BOUND, "{}: {some:#?}", self.name);
        Ok(())
    }
}

/// Returns how long after the fault the last edit was made that had another answer than before.
fn last(counts: &Counts, over: Instant) -> Duration {
    let after = counts
        .wrong
        .iter()
        .map(|it| it.asked.saturating_duration_since(over));
    after.max().unwrap_or_default()
}

/// Enough edits to reach every pod many times.
const SOME: usize = 150;

/// The limit in milliseconds. A pause between attempts is at most a minute, and a change of status ends it.
const BOUND: u64 = 10_000;
