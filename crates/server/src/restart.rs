//! The unexpected end of a long-running task, which only a bug in olmguard causes: it is reported, and the caller starts
//! the task again after a pause.
//!
//! State that outlives a task must be valid wherever the task could panic.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::sleep;
use tracing::error;

/// Runs a task that never ends. When it returns or panics, that is reported.
pub async fn until_lost(task: &str, run: impl Future) {
    if unless_lost(task, run).await.is_some() {
        lost(task).await;
    }
}

/// Runs a task to its end. Returns none if it panicked, which is reported.
pub async fn unless_lost<T>(task: &str, run: impl Future<Output = T>) -> Option<T> {
    // The panic hook logs the panic itself.
    let ended = AssertUnwindSafe(run).catch_unwind().await;
    if ended.is_err() {
        lost(task).await;
    }
    ended.ok()
}

async fn lost(task: &str) {
    error!("{task} stopped unexpectedly, restarting it; please report this");
    sleep(AGAIN).await;
}

/// The pause before a task is started again.
const AGAIN: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::time::{Instant, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_returns_or_panics_can_be_started_again_after_a_pause() {
        let runs = Cell::new(0_u32);
        let task = async {
            loop {
                let run = async {
                    runs.set(runs.get() + 1);
                    assert!(runs.get().is_multiple_of(2), "a bug");
                };
                until_lost("Test", run).await;
            }
        };
        let ended: Result<(), _> = timeout(AGAIN * 17 / 2, task).await;
        assert!(ended.is_err());
        assert_eq!(runs.get(), 9);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_task_with_an_end_is_no_loss() {
        let begun = Instant::now();
        assert_eq!(unless_lost("Test", async { 1 }).await, Some(1));
        assert_eq!(begun.elapsed(), Duration::ZERO);
        assert_eq!(
            unless_lost("Test", async { panic!("a bug") }).await,
            None::<()>
        );
        assert_eq!(begun.elapsed(), AGAIN);
    }
}
