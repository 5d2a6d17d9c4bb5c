//! Ten thousand random reviews, given to the program: no series is added or removed.

use std::collections::BTreeSet;

use super::any_review::AnyReview;
use super::exposition::families;
use super::served::Served;

#[test]
fn ten_thousand_random_objects_leave_the_series_as_they_were() {
    let served = Served::start("random_reviews", &["--log-level=error", "--mode=observe"]);
    let before = served.metrics();
    let mut connection = served.connect();
    let mut any = AnyReview::new();
    let mut answered = 0;
    for _ in 0..ASKED {
        let body = any.next().to_string();
        let length = body.len();
        let head = "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json";
        let request = format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}");
        answered += u32::from(connection.status(request.as_bytes()) == 200);
    }
    let after = served.metrics();
    assert_eq!(names(&after), names(&before));

    let requests = counted(&after, "olmguard_requests_total");
    let refused = counted(&after, "olmguard_decode_errors_total");
    let (judged, refusals): (u32, u32) = (requests.iter().sum(), refused.iter().sum());
    assert_eq!((judged, refusals), (answered, ASKED - answered));
    assert!(requests.len() > 40 && !refused.is_empty(), "{requests:?}");
    let log = served.ended();
    assert_eq!(log.lines().count(), 1, "the line about the start: {log}");
}

/// Returns the series without their values.
fn names(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.rsplit_once(' ').expect("a value").0)
        .collect()
}

/// Returns the values of a counter that are not 0.
fn counted(text: &str, counter: &str) -> Vec<u32> {
    let samples = families(text).remove(counter).unwrap().samples;
    let values = samples
        .iter()
        .map(|sample| sample.value.to_string().parse().unwrap());
    values.filter(|value| *value > 0).collect()
}

const ASKED: u32 = 10_000;
