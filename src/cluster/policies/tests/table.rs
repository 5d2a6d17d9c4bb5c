//! When the objects of a kind that is gone are dropped, by the time of each answer.

use super::super::read::ReadGuardrails;
use super::super::table::{DOUBT, Table};
use super::*;
use crate::cluster::fault::{FaultClass, WatchFault};
use crate::cluster::watch::WatchEvent;

const MINUTE: Duration = Duration::from_mins(1);
/// A second less than it takes.
const JUST_BEFORE: Duration = Duration::from_secs(60 + 5 * 60 - 1);

fn lost() -> WatchEvent<Value> {
    WatchEvent::Lost(WatchFault {
        class: FaultClass::Unreachable,
        words: "no connection".to_owned(),
    })
}

/// Whether the object is in use after these events, each at its time, and whether all objects are known.
async fn after(events: &[(Duration, WatchEvent<Value>)]) -> (bool, bool) {
    let begun = Instant::now();
    let mut table = Table::<ReadGuardrails>::default();
    let listed = WatchEvent::Listed(vec![guardrails("g", &json!("p"))]);
    table.take(listed, begun).await;
    for (after, event) in events {
        table.take(event.clone(), begun + *after).await;
    }
    (table.iter().count() == 1, table.is_known())
}

#[tokio::test]
async fn objects_are_dropped_after_minutes_in_which_no_answer_was_another() {
    let gone = || WatchEvent::Absent;
    let rows = [
        (vec![], (true, true)),
        (vec![(MINUTE, gone())], (true, false)),
        // One answer is not enough, however late the next one is.
        (vec![(MINUTE, gone()), (JUST_BEFORE, gone())], (true, false)),
        (
            vec![(MINUTE, gone()), (MINUTE + DOUBT, gone())],
            (false, true),
        ),
        (
            vec![(MINUTE, gone()), (2 * MINUTE, WatchEvent::Found)],
            (true, false),
        ),
        // It was served meanwhile.
        (
            vec![
                (MINUTE, gone()),
                (2 * MINUTE, WatchEvent::Found),
                (3 * MINUTE, gone()),
                (MINUTE + DOUBT, gone()),
            ],
            (true, false),
        ),
        (
            vec![
                (MINUTE, gone()),
                (
                    2 * MINUTE,
                    WatchEvent::Listed(vec![guardrails("g", &json!("p"))]),
                ),
                (MINUTE + DOUBT, gone()),
            ],
            (true, false),
        ),
        // Nobody knows what was served while there was no answer.
        (
            vec![
                (MINUTE, gone()),
                (3 * MINUTE, lost()),
                (MINUTE + DOUBT, gone()),
            ],
            (true, false),
        ),
        (
            vec![
                (MINUTE, gone()),
                (3 * MINUTE, lost()),
                (3 * MINUTE + DOUBT, gone()),
            ],
            (false, true),
        ),
    ];
    for (events, expected) in rows {
        assert_eq!(after(&events).await, expected, "{events:?}");
    }
}

#[tokio::test]
async fn a_kind_without_objects_is_known_to_be_absent_at_once() {
    let now = Instant::now();
    let mut table = Table::<ReadGuardrails>::default();
    assert!(!table.is_known());
    table.take(WatchEvent::Absent, now).await;
    assert!(table.is_known());
    table.take(WatchEvent::Found, now).await;
    assert!(!table.is_known(), "it is defined and not listed");
    table.take(lost(), now).await;
    assert!(!table.is_known());
    table.take(WatchEvent::Listed(Vec::new()), now).await;
    table.take(WatchEvent::Absent, now).await;
    assert!(table.is_known());
}
