//! Many simultaneous edits, so that every replica is called: a replica behind the others would be noticed.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::join_all;

use crate::deployment::Deployment;
use crate::until::until;
use crate::verdict::Verdict;

/// Nearly the number of connections that an API server keeps (25), so that all of them are used.
const EDITS: usize = 24;

/// Repeats the same edit until all edits of a burst have the right answer and every replica has answered some of them.
/// No edit that is made later than `bound` after this call may have another answer. Returns when the last edit with
/// another answer was made.
///
/// The time of the edit counts, not that of its answer, because an answer takes long on a busy machine.
pub(super) async fn followed(
    guard: &Deployment,
    bound: Duration,
    edit: impl AsyncFn() -> Result<Verdict>,
    is_right: impl Fn(&Verdict) -> bool,
) -> Result<Duration> {
    let begun = Instant::now();
    let mut last = String::new();
    let mut late = Duration::ZERO;
    // The counts of each replica when the right answers started.
    let mut since = None;
    let right = until("every verdict to follow", async || {
        let before = answered(guard).await.ok()?;
        let made = begun.elapsed();
        let verdicts = burst(&edit).await;
        last = format!("{verdicts:?}");
        if !verdicts.is_ok_and(|verdicts| verdicts.iter().all(&is_right)) {
            (since, late) = (None, made);
            return None;
        }
        let after = answered(guard).await.ok()?;
        let mut counts = since.get_or_insert(before).iter().zip(&after);
        counts.all(|(before, after)| before < after).then_some(())
    });
    right.await.with_context(|| last)?;
    ensure!(
        late <= bound,
        "an edit made {late:?} after is answered as before"
    );
    Ok(late)
}

async fn burst(edit: impl AsyncFn() -> Result<Verdict>) -> Result<Vec<Verdict>> {
    let edits = join_all((0..EDITS).map(|_| edit()));
    edits.await.into_iter().collect()
}

/// Returns how many edits each replica has answered.
async fn answered(guard: &Deployment) -> Result<Vec<f64>> {
    let pods = guard.pods.iter();
    let counts = pods.map(|pod| pod.metric_sum("olmguard_requests_total", ""));
    join_all(counts).await.into_iter().collect()
}
