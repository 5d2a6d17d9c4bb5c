//! Polling with a deadline, for conditions that cannot be watched.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// The time limit for anything on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Polls until there is an answer, for at most [`PATIENCE`]. `what` names the condition.
pub(crate) async fn until<T>(what: &str, ask: impl AsyncFnMut() -> Option<T>) -> Result<T> {
    within(PATIENCE, what, ask).await
}

/// Like [`until`], with a reason for each missing answer. The error has the last one.
pub(crate) async fn until_ok<T>(what: &str, mut ask: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    let mut last = None;
    let answer = until(what, async || match ask().await {
        Ok(answer) => Some(answer),
        Err(error) => {
            last = Some(error);
            None
        }
    });
    let answer = answer.await;
    answer.map_err(|error| match last {
        Some(last) => last.context(error.to_string()),
        None => error,
    })
}

/// Polls until there is an answer, for at most `limit`.
pub(crate) async fn within<T>(
    limit: Duration,
    what: &str,
    mut ask: impl AsyncFnMut() -> Option<T>,
) -> Result<T> {
    let asking = async {
        let mut pace = interval(Duration::from_millis(10));
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            pace.tick().await;
            if let Some(answer) = ask().await {
                return answer;
            }
        }
    };
    timeout(limit, asking)
        .await
        .with_context(|| format!("waited {limit:?} for {what}, in vain"))
}
