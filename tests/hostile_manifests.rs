//! Manifests made to hurt, each read by a process of its own with 256 MiB of address space.
//!
//! A process is this test binary again, asked for one case. It answers with what it read; running
//! out of memory, a stack overflow or a panic ends it without an answer.

#![cfg(all(feature = "program", target_os = "linux"))]

use std::io::Cursor;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use olmguard::manifest::{Inputs, documents};

/// One file: its name in a failure, how it is made, and what reading it must say.
struct Case {
    name: &'static str,
    file: fn() -> Vec<u8>,
    want: &'static str,
}

const CASES: &[Case] = &[
    case(
        "flow-lists",
        || format!("a: {}", "[ ".repeat(100_000)).into(),
        TOO_DEEP,
    ),
    case("flow-mappings", || "{a: ".repeat(100_000).into(), TOO_DEEP),
    case("json-lists", || nested("[", "]"), TOO_DEEP),
    case(
        "json-mappings",
        || nested("{\"a\":", "}").repeat(2),
        TOO_DEEP,
    ),
    case("block-lists", || "- ".repeat(100_000).into(), TOO_DEEP),
    case("block-mappings", stairs, TOO_DEEP),
    case(
        "explicit-keys",
        || "? ".repeat(100_000).into(),
        "found a mapping as a key",
    ),
    case(
        "alias-bomb",
        || bomb("[lol, lol, lol, lol]"),
        "more than 1000000 values",
    ),
    case(
        "text-bomb",
        || bomb(&"x".repeat(1 << 20)),
        "more than 50331648 bytes",
    ),
    case("merge-bomb", merge_bomb, "more than 1000000 values"),
    case("alias-depth", alias_depth, TOO_DEEP),
    case("anchors", || anchors(400_000), "read 1"),
    case(
        "many-nodes",
        || "- 1\n".repeat(8 << 20).into(),
        "more than 1000000 values",
    ),
    case(
        "many-texts",
        || "- abcdefgh\n".repeat(950_000).into(),
        "read 1",
    ),
    case("many-keys", many_keys, "read 1"),
    case("json-keys", json_keys, "read 1"),
    case("merged-then-written", merged_then_written, "read 1"),
    case("one-text", || quoted(31 << 20), "read 1"),
    case(
        "json-text",
        || format!("{{\"a\":{:?}}}", "x".repeat(31 << 20)).into(),
        "read 1",
    ),
    case("one-block", || block(31 << 20), "read 1"),
    case("one-plain", || b"x ".repeat(15 << 20), "read 1"),
    case(
        "long-key",
        || [b"x".repeat(31 << 20), b": 1".to_vec()].concat(),
        "no valid YAML",
    ),
    case("comments", || b"#\n".repeat(15 << 20), "read 0"),
    case("separators", || b"---\n".repeat(7 << 20), "read 0"),
    case(
        "errors",
        || b"---\n]\n".repeat(100_000),
        "misplaced bracket",
    ),
    case("nul", || vec![0; 31 << 20], "the control character '\\0'"),
    case("not-utf8", || vec![0xff; 31 << 20], "not UTF-8"),
    case("json-stream", || b"{} ".repeat(5 << 20), "read 5242880"),
    case("json-errors", || b"{\"\n".repeat(9 << 20), "no valid JSON"),
    case("endless", || b"#".repeat(33 << 20), "larger than 32 MiB"),
    case("tabs", || b"\t".repeat(31 << 20), "read 0"),
    case("quotes", || b"'".repeat(31 << 20), "read 1"),
    case("colons", || b"a: ".repeat(10 << 20), "no valid YAML"),
];

const fn case(name: &'static str, file: fn() -> Vec<u8>, want: &'static str) -> Case {
    Case { name, file, want }
}

const TOO_DEEP: &str = "nested deeper than 128 levels";

/// One text of that many pieces.
fn pieces(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

fn nested(open: &str, close: &str) -> Vec<u8> {
    format!("{}1{}", open.repeat(100_000), close.repeat(100_000)).into()
}

/// Each line one deeper than the one before, as far as the size allows.
fn stairs() -> Vec<u8> {
    pieces(5_000, |depth| format!("{}a:\n", " ".repeat(depth))).into()
}

/// Ten levels, each ten times the one before.
fn bomb(first: &str) -> Vec<u8> {
    let level = |n: usize| {
        format!(
            "a{}: &a{} [{}]\n",
            n + 1,
            n + 1,
            vec![format!("*a{n}"); 10].join(", ")
        )
    };
    format!(
        "a0: &a0 {first}\n{}",
        (0..10).map(level).collect::<String>()
    )
    .into()
}

fn merge_bomb() -> Vec<u8> {
    let members = pieces(1000, |n| format!("k{n}: 1, "));
    let uses = "- {<<: [*a, *a, *a, *a, *a]}\n".repeat(10_000);
    format!("a: &a {{{members}}}\nb:\n{uses}").into()
}

fn alias_depth() -> Vec<u8> {
    let level = |n: usize| format!("a{}: &a{} [[[[[*a{n}]]]]]\n", n + 1, n + 1);
    format!("a0: &a0 []\n{}", (0..40).map(level).collect::<String>()).into()
}

fn anchors(count: usize) -> Vec<u8> {
    pieces(count, |n| format!("- &a{n} 1\n")).into()
}

fn many_keys() -> Vec<u8> {
    pieces(480_000, |n| format!("key-{n}: v{n}\n")).into()
}

fn json_keys() -> Vec<u8> {
    let members = pieces(480_000, |n| format!("\"key-{n}\":\"v{n}\","));
    format!("{{{members}\"last\":0}}").into()
}

/// Quadratic, if each key were sought among the others.
fn merged_then_written() -> Vec<u8> {
    let members = pieces(100_000, |n| format!("  k{n}: 1\n"));
    format!("a: &a\n{members}b:\n  <<: *a\n{members}").into()
}

fn quoted(len: usize) -> Vec<u8> {
    format!("a: '{}'\n", "x".repeat(len)).into()
}

fn block(len: usize) -> Vec<u8> {
    format!(
        "a: |\n{}",
        "  xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(len / 32)
    )
    .into()
}

#[test]
fn hostile_manifests_stay_within_256_mib() {
    let failures: Vec<String> = CASES.iter().filter_map(failure).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn failure(case: &Case) -> Option<String> {
    let begun = Instant::now();
    let answer = answer_of(case.name);
    eprintln!("{}: {:?}", case.name, begun.elapsed());
    let said = answer
        .lines()
        .any(|line| line.starts_with("ANSWER") && line.contains(case.want));
    (!said).then(|| format!("{}: expected {:?} in {answer}", case.name, case.want))
}

/// Runs [`one_case`] in a process with little memory. One malloc arena, as a program with one
/// thread has.
fn answer_of(name: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 262144; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().expect("a test has a path"))
        .args([
            "--exact",
            "one_case",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("OLMGUARD_HOSTILE_CASE", name)
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("sh runs");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
#[ignore = "is one process of hostile_manifests_stay_within_256_mib"]
fn one_case() {
    let name = std::env::var("OLMGUARD_HOSTILE_CASE").expect("the case's name");
    let case = CASES
        .iter()
        .find(|case| case.name == name)
        .expect("a case of that name");
    let input = Inputs::new([PathBuf::from("-")], Cursor::new((case.file)()))
        .next()
        .expect("an input");
    match input.bytes {
        Err(error) => println!("\nANSWER {error}"),
        Ok(bytes) => println!("\nANSWER {}", reading(&bytes)),
    }
}

/// The first error, else how many documents there are.
fn reading(bytes: &[u8]) -> String {
    let mut read = 0;
    let mut first = None;
    for document in documents(bytes) {
        match document {
            Ok(_) => read += 1,
            Err(error) => drop(first.get_or_insert_with(|| error.to_string())),
        }
    }
    first.unwrap_or_else(|| format!("read {read}"))
}
