//! The steps that are due, as a table.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{AuthorityFate, MOST, NextAuthority, RotationStage, SeenSince, Term, back_off, stage};

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Returns an authority that is valid for a year from then, published at this time if at all, and
/// watched since.
fn term(from: u64, published: Option<u64>) -> Term {
    Term {
        not_before: at(from),
        not_after: at(from + 360 * DAY),
        published: published.map(at),
        is_leaving: false,
        is_ours: false,
        seen: seen(DAY, 0, None),
    }
}

fn seen(published: u64, marked: u64, needed: Option<u64>) -> SeenSince {
    SeenSince {
        published: Duration::from_secs(published),
        marked: Duration::from_secs(marked),
        needed: needed.map(Duration::from_secs),
    }
}

fn marked(term: Term, ago: u64) -> Term {
    Term {
        is_leaving: true,
        seen: seen(DAY, ago, None),
        ..term
    }
}

fn is(fates: &[AuthorityFate], signer: Option<usize>, next: NextAuthority) -> RotationStage {
    RotationStage {
        fates: fates.to_vec(),
        signer,
        next,
    }
}

#[expect(clippy::too_many_lines, reason = "a table")]
#[test]
fn each_replica_comes_to_the_same_stage() {
    use AuthorityFate::{Gone, Leaves, Stays};
    use NextAuthority::{Due, NotYet};
    const OVER: u64 = 240 * DAY + 7 * DAY + 15 * MINUTE;
    let one = term(0, Some(0));
    let second = 240 * DAY;
    let unseen = |term, ago| Term {
        seen: seen(ago, 0, None),
        ..term
    };
    let two = term(second, Some(second));
    let (made, made_anew) = (unseen(two, 0), unseen(term(400 * DAY, None), 0));
    let behind = term(second, Some(second - 8 * DAY));
    let future = term(900 * DAY, Some(900 * DAY));
    let leaving = |ago| marked(one, ago);
    let both = [Stays, Stays];
    let rows: [(&str, &[Term], u64, RotationStage); 28] = [
        ("nothing yet", &[], 5, is(&[], None, Due)),
        ("made", &[unseen(one, 0)], 1, is(&[Stays], Some(0), NotYet)),
        (
            "before two thirds",
            &[one],
            second - 1,
            is(&[Stays], Some(0), NotYet),
        ),
        ("two thirds", &[one], second, is(&[Stays], Some(0), Due)),
        (
            "the next is made",
            &[one, made],
            second,
            is(&both, Some(0), NotYet),
        ),
        (
            "a stamp is not enough",
            &[one, made],
            second + DAY,
            is(&both, Some(0), NotYet),
        ),
        (
            "not seen for long",
            &[one, unseen(two, 5 * MINUTE - 1)],
            OVER,
            is(&both, Some(0), NotYet),
        ),
        (
            "it signs",
            &[one, unseen(two, 5 * MINUTE)],
            second,
            is(&both, Some(1), NotYet),
        ),
        (
            "after a start",
            &[unseen(one, 0), made],
            OVER,
            is(&both, Some(0), NotYet),
        ),
        (
            "the last leaf",
            &[one, two],
            OVER - 1,
            is(&both, Some(1), NotYet),
        ),
        (
            "none is left",
            &[one, two],
            OVER,
            is(&[Leaves, Stays], Some(1), NotYet),
        ),
        (
            "none is left, we think",
            &[one, unseen(two, 15 * MINUTE - 1)],
            OVER,
            is(&both, Some(1), NotYet),
        ),
        (
            "it made ours",
            &[
                Term {
                    is_ours: true,
                    ..one
                },
                two,
            ],
            OVER,
            is(&both, Some(1), NotYet),
        ),
        (
            "somebody needs it",
            &[
                Term {
                    seen: seen(DAY, 0, Some(59 * MINUTE)),
                    ..one
                },
                two,
            ],
            OVER,
            is(&both, Some(1), NotYet),
        ),
        (
            "nobody does now",
            &[
                Term {
                    seen: seen(DAY, 0, Some(60 * MINUTE)),
                    ..one
                },
                two,
            ],
            OVER,
            is(&[Leaves, Stays], Some(1), NotYet),
        ),
        (
            "marked",
            &[leaving(10 * MINUTE - 1), two],
            second,
            is(&[Leaves, Stays], Some(1), NotYet),
        ),
        (
            "marked long ago",
            &[leaving(10 * MINUTE), two],
            second,
            is(&[Gone, Stays], Some(1), NotYet),
        ),
        (
            "marked, ours",
            &[
                Term {
                    is_ours: true,
                    ..leaving(10 * MINUTE)
                },
                two,
            ],
            second,
            is(&[Leaves, Stays], Some(1), NotYet),
        ),
        (
            "marked, after a start",
            &[unseen(leaving(0), 0), made],
            second,
            is(&both, Some(0), NotYet),
        ),
        (
            "marked, and the other is new",
            &[leaving(DAY), made],
            second,
            is(&both, Some(0), NotYet),
        ),
        (
            "marked, and we need it",
            &[leaving(DAY), future],
            DAY,
            is(&both, Some(0), NotYet),
        ),
        (
            "about to expire: no wait",
            &[one, made],
            360 * DAY - 5 * MINUTE,
            is(&both, Some(1), NotYet),
        ),
        ("expired", &[one], 400 * DAY, is(&[Stays], None, Due)),
        (
            "expired, the next is made",
            &[one, made_anew],
            400 * DAY,
            is(&both, Some(1), NotYet),
        ),
        ("all expired", &[one, two], 700 * DAY, is(&both, None, Due)),
        (
            "one of a clock that was ahead",
            &[one, future],
            DAY,
            is(&both, Some(0), NotYet),
        ),
        (
            "one of a clock that was behind",
            &[one, unseen(behind, MINUTE)],
            second,
            is(&both, Some(0), NotYet),
        ),
        (
            "one of the future retires nobody",
            &[one, future, two],
            second + DAY,
            is(&[Stays; 3], Some(2), NotYet),
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
    let expected = [
        AuthorityFate::Leaves,
        AuthorityFate::Leaves,
        AuthorityFate::Stays,
    ];
    assert_eq!((&stage.fates[..], stage.signer), (&expected[..], Some(2)));
}

#[test]
fn room_is_made_by_one_that_is_of_no_use() {
    let old = term(0, Some(0));
    let far = 3 * 400 * DAY;
    let mut terms = [term(400 * DAY, Some(400 * DAY)); MOST];
    let fates = |terms: &[Term], now| {
        let stage = stage(terms, at(now));
        let all = stage.fates.iter().enumerate();
        let other = all.filter(|(_, fate)| **fate != AuthorityFate::Stays);
        (other.map(|(at, fate)| (at, *fate)).collect(), stage.next)
    };
    let is = |fates: &[(usize, AuthorityFate)], next| (fates.to_vec(), next);
    assert_eq!(
        fates(&terms, far),
        is(&[(0, AuthorityFate::Leaves)], NextAuthority::NotYet)
    );
    terms[0] = Term {
        is_ours: true,
        ..old
    };
    assert_eq!(
        fates(&terms, far),
        is(&[(1, AuthorityFate::Leaves)], NextAuthority::NotYet),
        "not ours"
    );
    terms[1] = marked(terms[1], MINUTE);
    assert_eq!(
        fates(&terms, far),
        is(&[(1, AuthorityFate::Leaves)], NextAuthority::NotYet),
        "one at a time"
    );
    terms[1] = marked(terms[1], 10 * MINUTE);
    assert_eq!(
        fates(&terms, far),
        is(&[(1, AuthorityFate::Gone)], NextAuthority::Due)
    );
    let all_of_use = [term(400 * DAY, None); MOST];
    let renew = (400 + 240) * DAY;
    assert_eq!(
        fates(&all_of_use, renew),
        is(&[], NextAuthority::NotYet),
        "no room"
    );
}

#[test]
fn pauses_double_with_each_failure_up_to_the_time_between_renewals() {
    for (failures, longest) in [(1, 1), (2, 2), (3, 4), (5, 16), (6, 25), (u32::MAX, 25)] {
        let longest = Duration::from_secs(longest);
        for _ in 0..100 {
            let pause = back_off(failures);
            assert!(
                (longest / 2..=longest).contains(&pause),
                "{failures}: {pause:?}"
            );
        }
    }
}
