//! Hostile catalogs: `olmguard check` reads each one in its own process with 256 MiB of address space, reports the
//! fault, checks everything that does not need the catalog, and exits with 3.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A function that writes the files of a case, and returns the value of `--catalog`.
type Make = fn(&Path) -> &'static str;

/// The cases: a name, its files, and the text that stderr and the results together must contain.
const CASES: &[(&str, Make, &str)] = &[
    (
        "json-depth",
        |at| file(at, "{\"a\":".repeat(200_000).as_bytes()),
        "levels of nesting",
    ),
    (
        "json-lists",
        |at| file(at, ["{\"a\":", &"[".repeat(200_000)].concat().as_bytes()),
        "levels of nesting",
    ),
    (
        "yaml-flow-depth",
        |at| file(at, ["a: ", &"[".repeat(100_000)].concat().as_bytes()),
        "invalid YAML",
    ),
    (
        "yaml-block-depth",
        |at| file(at, "- ".repeat(100_000).as_bytes()),
        "invalid YAML",
    ),
    ("alias-bomb", |at| file(at, bomb().as_bytes()), "aliases"),
    (
        "nul",
        |at| file(at, b"schema: olm.package\0\nname: p\n"),
        "invalid YAML",
    ),
    (
        "binary",
        |at| file(at, &[0xff, 0xfe, 0x00, 0x01]),
        "invalid UTF-8",
    ),
    (
        "invalid-utf-8",
        |at| file(at, b"schema: olm.package\nname: \xff\n"),
        "invalid UTF-8",
    ),
    (
        "duplicate-keys",
        |at| file(at, br#"{"schema":"a","Schema":"b"}"#),
        "duplicate keys",
    ),
    (
        "truncated",
        |at| file(at, br#"{"schema":"olm.package","name":"p"#),
        "incomplete JSON",
    ),
    ("sparse-gigabyte", sparse, "larger than 805306368 bytes"),
    (
        "one-blob",
        |at| file(at, &one_blob(100 << 20)),
        "larger than",
    ),
    (
        "zstd-window",
        |at| file(at, &window_log_27()),
        "too much memory",
    ),
    (
        "zstd-garbage",
        |at| file(at, &[0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff]),
        "incomplete frame",
    ),
    (
        "gzip-garbage",
        |at| file(at, &[0x1f, 0x8b, 0x08, 0xff, 0xff]),
        "unexpected end of file",
    ),
    (
        "link-out",
        link_out,
        "points outside the directory of the catalog",
    ),
];

#[test]
fn each_ends_with_a_clear_error() {
    for (name, make, expected) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let catalog = make(folder.path());
        let ended = check(folder.path(), &format!("bad={catalog}"), Stdio::null());
        expect(name, &ended, expected);
    }
}

#[test]
fn a_loop_of_links_ends() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("catalog/inner");
    fs::create_dir_all(&inner).unwrap();
    symlink("..", inner.join("up")).unwrap();
    file(
        &folder.path().join("catalog"),
        b"schema: olm.package\nname: p\n",
    );
    let ended = check(folder.path(), "bad=catalog", Stdio::null());
    expect("loop", &ended, "found a symbolic link to a directory");
}

#[test]
fn a_gigabyte_through_a_pipe_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), "bad=-")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let endless = io::repeat(b'a').take(1 << 30);
        let head: &[u8] = br#"{"schema":"olm.package","name":""#;
        // The reader may stop before everything is written.
        io::copy(&mut head.chain(endless), &mut pipe).ok()
    });
    let ended = child.wait_with_output().unwrap();
    writer.join().unwrap();
    expect("pipe", &ended, "larger than");
}

/// Checks that the extension that needs the bad catalog is undecided, and that the other one is checked.
fn expect(name: &str, ended: &Output, expected: &str) {
    let stdout = String::from_utf8_lossy(&ended.stdout);
    let said = format!("{stdout}{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(3), "{name}: {said}");
    assert!(
        said.contains(expected),
        "{name}: expected {expected:?} in {said}"
    );
    assert!(
        said.contains("catalog bad is not loaded [CatalogNotLoaded]"),
        "{name}: {said}"
    );
    assert!(
        said.contains("resolves to p.v1.0.0 1.0.0 of catalog good"),
        "{name}: {said}"
    );
}

fn check(folder: &Path, catalog: &str, stdin: Stdio) -> Output {
    command(folder, catalog).stdin(stdin).output().unwrap()
}

/// Returns the program with a limit of 256 MiB of address space.
fn command(folder: &Path, catalog: &str) -> Command {
    fs::write(folder.join("extensions.yaml"), EXTENSIONS).unwrap();
    fs::write(folder.join("good.json"), GOOD).unwrap();
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "ulimit -v 262144 && exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_olmguard"),
        ])
        .args([
            "check",
            "-f",
            "extensions.yaml",
            "--no-schema",
            "--catalog",
            "good=good.json",
        ])
        .args(["--catalog", catalog])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

const EXTENSIONS: &str = r"
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: needs-bad}
spec: {source: {sourceType: Catalog, catalog: {packageName: p, selector: {matchLabels: {
  olm.operatorframework.io/metadata.name: bad}}}}}
---
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: needs-good}
spec: {source: {sourceType: Catalog, catalog: {packageName: p, selector: {matchLabels: {
  olm.operatorframework.io/metadata.name: good}}}}}
";

const GOOD: &str = r#"{"schema":"olm.bundle","package":"p","name":"p.v1.0.0","properties":
[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}]}"#;

fn file(folder: &Path, content: &[u8]) -> &'static str {
    fs::write(folder.join("catalog"), content).unwrap();
    "catalog"
}

fn sparse(folder: &Path) -> &'static str {
    let mut file = File::create(folder.join("catalog")).unwrap();
    file.write_all(b"{\"schema\":\"").unwrap();
    file.set_len(1 << 30).unwrap();
    "catalog"
}

fn link_out(folder: &Path) -> &'static str {
    let catalog = folder.join("folder");
    fs::create_dir_all(&catalog).unwrap();
    symlink(folder.join("good.json"), catalog.join("link")).unwrap();
    "folder"
}

fn one_blob(size: usize) -> Vec<u8> {
    [
        &br#"{"schema":"olm.package","name":""#[..],
        &vec![b'a'; size],
        br#""}"#,
    ]
    .concat()
}

/// Returns anchors that each name the previous one ten times.
fn bomb() -> String {
    let lines = (1..12).map(|n| {
        let before = format!("*a{}", n - 1);
        format!("a{n}: &a{n} [{}]\n", vec![before; 10].join(", "))
    });
    ["a0: &a0 [lol]\n".to_owned()]
        .into_iter()
        .chain(lines)
        .collect()
}

/// Returns a frame with a window of 128 MiB.
fn window_log_27() -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(&one_blob(200 << 20)).unwrap();
    encoder.finish().unwrap()
}
