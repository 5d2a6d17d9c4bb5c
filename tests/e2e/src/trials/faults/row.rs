//! What people see of one fault.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use olmguard_figures::FaultRow;

use crate::load::{Counts, Load, WrongKind};
use crate::say::say;

/// People edit before, during and after a fault.
pub(super) struct Fault {
    name: &'static str,
    load: Load,
    begun: Instant,
    /// When it was over, or began if that is not known.
    over: Instant,
}

/// The edits that may fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Lost {
    Nothing,
    /// Those that are sent to a pod that has died, until its Service notices: nobody but the API server could ask again.
    WhileItLeadsThere,
}

impl Fault {
    /// With people at work, who have made some edits.
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

    /// People make some more edits, and stop. Says the row.
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

/// How long after the fault the last edit was made that was not answered as before.
fn last(counts: &Counts, over: Instant) -> Duration {
    let after = counts
        .wrong
        .iter()
        .map(|it| it.asked.saturating_duration_since(over));
    after.max().unwrap_or_default()
}

/// Edits enough to lead to every pod many times.
const SOME: usize = 150;

/// Milliseconds. A pause between tries is at most a minute, and a change of status ends it.
const BOUND: u64 = 10_000;
