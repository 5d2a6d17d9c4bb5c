//! Channels without an order, with the errors of OLM v0.

use super::drawn::Drawn;

fn fault(graph: &str) -> String {
    let fault = Drawn::read(graph).v0("c", "0.0.1");
    fault.expect_err("no order").to_string()
}

#[test]
fn a_channel_without_a_head() {
    assert_eq!(
        fault("c: 1.0.0 replaces 3.0.0; 3.0.0 replaces 1.0.0 skips 2.0.0"),
        "no channel heads (entries not replaced by another entry) found in channel \"c\" of package \"P\""
    );
}

#[test]
fn a_circle_below_the_head() {
    assert_eq!(
        fault("c: 3.0.0 replaces 2.0.0; 2.0.0 replaces 1.0.0; 1.0.0 replaces 2.0.0"),
        "a cycle exists in the chain of replacement beginning with \"P.v3.0.0\" in channel \"c\" of package \"P\""
    );
}

#[test]
fn several_heads() {
    assert_eq!(
        fault("c: 1.0.0; 3.0.0 replaces 1.0.0 skips 2.0.0; 4.0.0 replaces 1.0.0; 5.0.0"),
        "a unique replacement chain within a channel is required to determine the relative order \
         between channel entries, but 3 replacement chains were found in channel \"c\" of package \
         \"P\": P.v5.0.0, P.v4.0.0...P.v1.0.0, P.v3.0.0...P.v1.0.0"
    );
}

#[test]
fn nothing_at_all() {
    let drawn = Drawn::read("(default): c");
    let fault = drawn.v0("", "0.0.1").expect_err("no order");
    assert_eq!(
        fault.to_string(),
        "no operators found in package P in the catalog"
    );
}

#[test]
fn skipped_entries_are_walked_through() {
    let drawn = Drawn::read("c: 1.0.0; 2.0.0 replaces 1.0.0; 3.0.0 replaces 2.0.0 skips 2.0.0");
    let classic = drawn.v0("c", "0.9.0").expect("a line");
    assert_eq!(classic.candidates, "");
    let drawn = Drawn::read(
        r"c: 1.0.0 skipRange <1.0.0; 2.0.0 replaces 1.0.0; 3.0.0 replaces 2.0.0 skips 2.0.0",
    );
    let classic = drawn.v0("c", "0.9.0").expect("a line");
    assert_eq!((&*classic.candidates, &*classic.path), ("1.0.0", "1.0.0"));
}
