//! Hostile manifests: `olmguard check` reads each one in its own process with 256 MiB of address space, reports the
//! fault, and checks the extension next to it.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

/// A file: its name, its content, and the text that must be reported.
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
    case("anchors", || anchors(400_000), CLEAN),
    case(
        "many-nodes",
        || "- 1\n".repeat(8 << 20).into(),
        "more than 1000000 values",
    ),
    case(
        "many-texts",
        || "- abcdefgh\n".repeat(950_000).into(),
        CLEAN,
    ),
    case("many-keys", many_keys, CLEAN),
    case("json-keys", json_keys, CLEAN),
    case("merged-then-written", merged_then_written, CLEAN),
    case("one-text", || quoted(31 << 20), CLEAN),
    case(
        "json-text",
        || format!("{{\"a\":{:?}}}", "x".repeat(31 << 20)).into(),
        CLEAN,
    ),
    case("one-block", || block(31 << 20), CLEAN),
    case("one-plain", || b"x ".repeat(15 << 20), CLEAN),
    case(
        "long-key",
        || [b"x".repeat(31 << 20), b": 1".to_vec()].concat(),
        "invalid YAML",
    ),
    case("comments", || b"#\n".repeat(15 << 20), CLEAN),
    case("separators", || b"---\n".repeat(7 << 20), CLEAN),
    case(
        "errors",
        || b"---\n]\n".repeat(100_000),
        "misplaced bracket",
    ),
    case("nul", || vec![0; 31 << 20], "the control character '\\0'"),
    case("not-utf8", || vec![0xff; 31 << 20], "not UTF-8"),
    case("json-stream", || b"{} ".repeat(5 << 20), CLEAN),
    case("json-errors", || b"{\"\n".repeat(9 << 20), "invalid JSON"),
    case("endless", || b"#".repeat(33 << 20), "larger than 32 MiB"),
    case("tabs", || b"\t".repeat(31 << 20), CLEAN),
    case("quotes", || b"'".repeat(31 << 20), CLEAN),
    case("colons", || b"a: ".repeat(10 << 20), "invalid YAML"),
];

const fn case(name: &'static str, file: fn() -> Vec<u8>, want: &'static str) -> Case {
    Case { name, file, want }
}

/// No fault is expected.
const CLEAN: &str = "";

const TOO_DEEP: &str = "nested deeper than 128 levels";

/// Returns a text of this many pieces.
fn pieces(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

fn nested(open: &str, close: &str) -> Vec<u8> {
    format!("{}1{}", open.repeat(100_000), close.repeat(100_000)).into()
}

/// Returns lines that are each nested one level deeper, as far as the size allows.
fn stairs() -> Vec<u8> {
    pieces(5_000, |depth| format!("{}a:\n", " ".repeat(depth))).into()
}

/// Returns ten levels, each ten times as large as the one before.
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

/// Searching each key among the others would take quadratic time.
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
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("hub.json"), HUB).expect("a file");
    fs::write(at.join("good.yaml"), GOOD).expect("a file");
    let failures = CASES.iter().filter_map(|case| failure(at, case));
    let failures: Vec<String> = failures.collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Checks a case next to a valid extension, which must not be affected. Returns the failure.
fn failure(at: &Path, case: &Case) -> Option<String> {
    let begun = Instant::now();
    fs::write(at.join("hostile.yaml"), (case.file)()).expect("a file");
    let ended = check(at);
    eprintln!("{}: {:?}", case.name, begun.elapsed());
    let (stdout, stderr) = (text(&ended.stdout), text(&ended.stderr));
    let is_judged = stdout.contains("resolves to p.v1.0.0 1.0.0 of catalog hub");
    let is_as_wanted = match case.want {
        CLEAN => ended.status.code() == Some(0) && is_noted(&stderr),
        words => ended.status.code() == Some(3) && stderr.contains(words),
    };
    let (name, want) = (case.name, case.want);
    let said: String = stderr.chars().take(1000).collect();
    let found = format!(
        "{name}: expected {want:?}, {:?}: {stdout}{said}",
        ended.status
    );
    (!(is_judged && is_as_wanted)).then_some(found)
}

/// Whether there are only notes.
fn is_noted(stderr: &str) -> bool {
    stderr.lines().all(|line| line.starts_with("note: "))
}

/// Runs the program with little memory, and with a single malloc arena, as a program with one thread has.
fn check(at: &Path) -> Output {
    let settings = std::env::vars_os().map(|(name, _)| name);
    let settings = settings.filter(|name| name.to_string_lossy().starts_with("OLMGUARD_"));
    let mut command = Command::new("sh");
    for name in settings {
        command.env_remove(name);
    }
    command
        .args(["-c", "ulimit -v 262144; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_olmguard"))
        .args(["check", "-f=hostile.yaml", "-f=good.yaml", "--no-schema"])
        .arg("--catalog=hub=hub.json")
        .current_dir(at)
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("sh runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const GOOD: &str = "\
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: good}
spec: {source: {sourceType: Catalog, catalog: {packageName: p}}}
";

const HUB: &str = r#"{"schema":"olm.bundle","package":"p","name":"p.v1.0.0","properties":
[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}]}"#;
