//! Many edits at once, so that every replica is asked: one that is behind the others would show.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::join_all;

use crate::deployment::Deployment;
use crate::until::until;
use crate::verdict::Verdict;

/// Nearly as many as the connections that an API server keeps (25), so that all of them have their turn.
const EDITS: usize = 24;

/// Makes the same edit until all of many are answered so, and every replica has answered some of
/// them. From the moment of this call, no edit that is made after `bound` may be answered otherwise; when
/// the last such edit was made.
///
/// It goes by when edits are made, not by when they are answered: on a busy machine an answer takes long.
pub(super) async fn followed(
    guard: &Deployment,
    bound: Duration,
    edit: impl AsyncFn() -> Result<Verdict>,
    is_right: impl Fn(&Verdict) -> bool,
) -> Result<Duration> {
    let begun = Instant::now();
    let mut last = String::new();
    let mut late = Duration::ZERO;
    // What each replica had answered when the right answers began.
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

/// How many edits each replica has answered.
async fn answered(guard: &Deployment) -> Result<Vec<f64>> {
    let pods = guard.pods.iter();
    let counts = pods.map(|pod| pod.metric_sum("olmguard_requests_total", ""));
    join_all(counts).await.into_iter().collect()
}
