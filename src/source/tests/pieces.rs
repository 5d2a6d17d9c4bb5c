//! A text that comes in pieces is read as the whole.

use super::package;
use olmguard_catalog::fbc::intake::{Decisive, Intake};
use olmguard_catalog::fbc::reader::{Next, Reader};
use olmguard_catalog::memory::Account;

/// What a reader finds in a text that comes to it in pieces, cut at these places.
fn in_pieces(text: &[u8], cuts: &[usize]) -> Vec<String> {
    let mut reader = Reader::new(Decisive::PLACES, Account::default());
    let mut found = Vec::new();
    let mut start = 0;
    for (n, &end) in cuts.iter().chain([&text.len()]).enumerate() {
        let ended = n == cuts.len();
        loop {
            let next = match reader.next(&text[start..end], ended, Decisive::read) {
                Ok(next) => next,
                Err(fault) => {
                    found.push(fault.to_string());
                    return found;
                }
            };
            start += match next {
                Next::Blob {
                    blob,
                    position,
                    consumed,
                    ..
                } => {
                    found.push(format!("{position} {blob:?}"));
                    consumed
                }
                Next::Document { document, consumed } => {
                    found.push(format!("{document:?}"));
                    consumed
                }
                Next::Skipped { consumed } => consumed,
                Next::Incomplete | Next::End => break,
            };
        }
    }
    found
}

#[test]
fn cuts_change_nothing() {
    let yaml = "---\na: 1\n--- # c\n\"b\": |\n  x\n---\n---\nc: 1\n";
    for text in [
        format!("{}{} null {}", package("a"), package("b"), package("c")),
        format!("{}---\nschema: x\n---\nschema: y\n", package("a")),
        format!("{}{}{{\"x\":1e}}", package("a"), package("b")),
        format!("null\n{}", package("\\ud83d\\ude00 \u{e9}")),
        yaml.to_owned(),
        yaml.replace('\n', "\r\n"),
    ] {
        let text = text.as_bytes();
        let whole = in_pieces(text, &[]);
        for cut in 0..=text.len() {
            assert_eq!(in_pieces(text, &[cut]), whole, "cut at {cut}");
        }
        let bytewise = (0..text.len()).collect::<Vec<_>>();
        assert_eq!(in_pieces(text, &bytewise), whole, "byte by byte");
    }
}
