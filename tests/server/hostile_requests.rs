//! Malformed and hostile requests over real TLS, each with its exact answer.
//!
//! For every request, an API server gets a review or an HTTP error of one line, and the next client is still answered.
//! Data that is not HTTP is answered by the HTTP library with a bare status.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there"
)]

mod arbitrary;
mod bodies;
mod heads;
mod outcome;
mod request;
mod transport;

use self::outcome::{ask, outcome_of};
use self::request::{Row, valid};
use olmguard_support::load::served::Served;

#[test]
fn each_has_its_answer_and_the_next_one_is_answered() {
    let server = Served::start(&[]);
    let rows = [bodies::rows(), heads::rows(), transport::rows()].concat();
    assert!(rows.len() >= 40, "{}", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let found = outcome_of(&server.target, row);
        if found != row.expected {
            let Row { name, expected, .. } = row;
            wrong.push(format!(
                "{name}:\n  expected {expected:?}\n  found    {found:?}"
            ));
        }
        let next = ask(&server.target, &valid());
        assert_eq!(next, "200 u-1 allowed Resolved", "after {}", row.name);
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}
