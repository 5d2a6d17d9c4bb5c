//! A panic as one line of the log.

use std::panic;

use olmguard_server::telemetry::log::{LogLevel, log_panics, reviewing};
use serde_json::{Value, json};

use super::captured::objects;

#[test]
fn a_panic_is_one_line_with_the_review_and_never_with_what_was_judged() {
    let before = panic::take_hook();
    log_panics();
    let logged = objects(LogLevel::Error, |_| {
        let outer = reviewing("outer\n");
        let inner = reviewing("inner");
        let secret = "s3cr3t";
        // A hook that panics would end the test run, so both panics are caught.
        drop(panic::catch_unwind(|| panic!("the text of {secret}")));
        drop(inner);
        drop(panic::catch_unwind(|| panic!("a literal text")));
        drop(outer);
        drop(panic::catch_unwind(|| panic!("a literal text")));
    });
    panic::set_hook(before);
    let told: Vec<_> = logged
        .iter()
        .map(|line| [&line["message"], &line["uid"], &line["panic"]])
        .collect();
    let expected = [
        json!([
            "Panicked",
            "inner",
            "not shown: the message may quote what was judged"
        ]),
        json!(["Panicked", "outer\\n", "a literal text"]),
        json!(["Panicked", null, "a literal text"]),
    ];
    assert_eq!(json!(told), Value::from(expected.to_vec()));
    for line in &logged {
        let place = line["location"].as_str().unwrap();
        assert!(
            place.starts_with("tests/server/telemetry/panics.rs:"),
            "{place}"
        );
    }
}
