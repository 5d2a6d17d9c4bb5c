//! What is due, as a table.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Next, Stage, Term, stage};

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Valid for a year from then, and published then or not.
fn term(from: u64, published: Option<u64>) -> Term {
    Term {
        not_before: at(from),
        not_after: at(from + 360 * DAY),
        published: published.map(at),
    }
}

fn is(retired: usize, signer: Option<usize>, next: Next) -> Stage {
    Stage {
        retired,
        signer,
        next,
    }
}

#[test]
fn each_replica_comes_to_the_same_stage() {
    use Next::{Due, NotYet};
    let one = term(0, Some(0));
    let second = 240 * DAY;
    let made = term(second, None);
    let two = term(second, Some(second));
    let future = term(900 * DAY, Some(900 * DAY));
    let rows: [(&str, &[Term], u64, Stage); 17] = [
        ("nothing yet", &[], 5, is(0, None, Due)),
        (
            "made, not published",
            &[term(0, None)],
            1,
            is(0, Some(0), NotYet),
        ),
        (
            "the only one signs at once",
            &[one],
            1,
            is(0, Some(0), NotYet),
        ),
        (
            "before two thirds",
            &[one],
            second - 1,
            is(0, Some(0), NotYet),
        ),
        ("two thirds", &[one], second, is(0, Some(0), Due)),
        ("made", &[one, made], second, is(0, Some(0), NotYet)),
        (
            "never published, for days",
            &[one, made],
            second + DAY,
            is(0, Some(0), NotYet),
        ),
        (
            "published",
            &[one, two],
            second + 5 * MINUTE - 1,
            is(0, Some(0), NotYet),
        ),
        (
            "signs",
            &[one, two],
            second + 5 * MINUTE,
            is(0, Some(1), NotYet),
        ),
        (
            "the last leaf",
            &[one, two],
            second + 7 * DAY + 15 * MINUTE - 1,
            is(0, Some(1), NotYet),
        ),
        (
            "none is left",
            &[one, two],
            second + 7 * DAY + 15 * MINUTE,
            is(1, Some(1), NotYet),
        ),
        (
            "about to expire: no wait",
            &[one, made],
            360 * DAY - 5 * MINUTE,
            is(0, Some(1), NotYet),
        ),
        ("expired", &[one], 400 * DAY, is(0, None, Due)),
        (
            "expired, the next is made",
            &[one, term(400 * DAY, None)],
            400 * DAY,
            is(0, Some(1), NotYet),
        ),
        ("all expired", &[one, two], 700 * DAY, is(0, None, Due)),
        (
            "one of a clock that was wrong",
            &[one, future],
            DAY,
            is(0, Some(0), NotYet),
        ),
        (
            "it retires nobody",
            &[one, future, two],
            second + DAY,
            is(0, Some(2), NotYet),
        ),
    ];
    for (what, terms, now, expected) in rows {
        assert_eq!(stage(terms, at(now)), expected, "{what}");
    }
}

#[test]
fn an_authority_replaces_all_before_it() {
    let terms = [0, 240, 480].map(|day| term(day * DAY, Some(day * DAY)));
    let stage = stage(&terms, at(488 * DAY));
    assert_eq!((stage.retired, stage.signer), (2, Some(2)));
}
