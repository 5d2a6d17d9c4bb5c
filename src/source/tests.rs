//! Files, directories and streams on a real file system, including hostile ones.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::source::{Progress, read, read_from};
use olmguard_catalog::blob::{BlobContent, BlobFault, BlobKey};
use olmguard_catalog::fbc::json::{Cursor, CursorResult};
use olmguard_catalog::fbc::raw::{self, Raw};
use olmguard_catalog::fbc::reader::{NextItem, Reader};
use olmguard_catalog::fbc::{self, BlobPlace, Decisive, FbcError, Intake, Places, TextOrigin};
use olmguard_catalog::memory::Account;

/// The keys of the blobs, in order, or their faults.
#[derive(Debug, Default, Eq, PartialEq)]
struct Blobs(Vec<String>);

impl Sink for Blobs {
    fn blob(&mut self, key: BlobKey<'_>, content: Result<BlobContent<'_>, BlobFault>) {
        self.0.push(match content {
            Ok(_) => format!("{}/{}/{}", key.package, key.schema, key.name),
            Err(fault) => fault.to_string(),
        });
    }
}

/// Returns the blobs of these bytes, or the text of the fault.
fn read_bytes(bytes: &[u8]) -> Result<Vec<String>, String> {
    let (mut blobs, progress) = (Blobs::default(), Progress::default());
    let outcome = read_from("file", bytes, &progress, &mut blobs);
    outcome.map(|()| blobs.0).map_err(|fault| fault.to_string())
}

/// Returns the blobs of a path, or the text of the fault without the path itself.
fn read_path(path: &Path) -> Result<Vec<String>, String> {
    let (mut blobs, progress) = (Blobs::default(), Progress::default());
    let outcome = read(path, &progress, &mut Decisive(&mut blobs));
    let shown = |text: String| text.replace(&*path.to_string_lossy(), "ROOT");
    outcome
        .map(|()| blobs.0.into_iter().map(shown).collect())
        .map_err(|fault| shown(fault.to_string()))
}

fn package(name: &str) -> String {
    format!("{{\"schema\":\"olm.package\",\"name\":\"{name}\"}}\n")
}

fn gzip(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content.as_ref()).expect("gzip");
    encoder.finish().expect("gzip")
}

#[test]
fn a_tar_archive_is_named_as_one() {
    let expected = "file: is a tar archive: unpack it, and name the file or directory of the catalog in it; expected a \
                    file-based catalog, as opm render prints it";
    for mut header in [tar::Header::new_gnu(), tar::Header::new_ustar()] {
        let text = package("p");
        header.set_size(text.len() as u64);
        let mut archive = tar::Builder::new(Vec::new());
        let appended = archive.append_data(&mut header, "catalog.json", text.as_bytes());
        appended.expect("a member");
        let bytes = archive.into_inner().expect("an archive");
        assert_eq!(read_bytes(&bytes), Err(expected.to_owned()));
        assert_eq!(read_bytes(&gzip(bytes)), Err(expected.to_owned()));
    }
    // The same word at this place of a catalog means nothing.
    let blob = r#"{"schema":"olm.package","name":"p","x":""#;
    let text = format!("{blob:257}ustar\"}}");
    assert_eq!(read_bytes(text.as_bytes()).map(|blobs| blobs.len()), Ok(1));
}

fn zstd_frame(text: &str, window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("zstd");
    encoder.window_log(window_log).expect("zstd");
    encoder.write_all(text.as_bytes()).expect("zstd");
    encoder.finish().expect("zstd")
}

const TWO: [&str; 2] = ["a/olm.package/a", "b/olm.package/b"];

#[test]
fn compressed_files_are_read_whole() {
    let (a, b) = (package("a"), package("b"));
    let want = Ok(TWO.map(str::to_owned).to_vec());
    assert_eq!(read_bytes([&*a, &b].concat().as_bytes()), want);
    assert_eq!(read_bytes(&[gzip(&a), gzip(&b)].concat()), want);
    assert_eq!(
        read_bytes(&[zstd_frame(&a, 20), zstd_frame(&b, 20)].concat()),
        want
    );
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let frames = [
        &skippable,
        &*zstd_frame(&a, 20),
        &skippable,
        &zstd_frame(&b, 20),
    ];
    assert_eq!(read_bytes(&frames.concat()), want);
}

#[test]
fn a_broken_compressed_file_is_a_fault() {
    let (gz, zst) = (gzip(package("a")), zstd_frame(&package("a"), 20));
    for bytes in [
        &gz[..gz.len() - 1],
        &gz[..12],
        &zst[..zst.len() - 1],
        &zst[..5],
    ] {
        let fault = read_bytes(bytes).expect_err("a fault");
        assert!(fault.starts_with("file: cannot read: "), "{fault}");
    }
}

#[test]
fn a_decoder_forgets_what_is_left_of_a_broken_file() {
    let mut decoder = Decoder::default();
    let mut read_bytes = |bytes: &[u8]| {
        let (mut blobs, progress) = (Blobs::default(), Progress::default());
        let outcome = read_from_with(&mut decoder, "file", bytes, &progress, &mut blobs);
        outcome.map(|()| blobs.0).map_err(|fault| fault.to_string())
    };
    let whole = zstd_frame(&[package("a"), package("b")].concat(), 20);
    let large = zstd_frame(&package("a"), 26);
    for broken in [&whole[..whole.len() - 1], &whole[..5], &large] {
        let fault = read_bytes(broken).expect_err("a fault");
        assert!(fault.starts_with("file: cannot read: "), "{fault}");
        assert_eq!(read_bytes(&whole), Ok(TWO.map(str::to_owned).to_vec()));
    }
}

#[test]
fn a_zstd_window_is_bounded() {
    assert!(read_bytes(&zstd_frame(&package("a"), 25)).is_ok());
    let fault = read_bytes(&zstd_frame(&package("a"), 26)).expect_err("a fault");
    assert!(fault.contains("too much memory"), "{fault}");
}

#[test]
fn a_folder_is_read_in_the_order_of_its_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("b/x.yaml", "schema: olm.package\nname: b\n");
    write("b.yaml", "schema: olm.package\nname: c\n");
    write("B/README", &package("a"));
    write("z", "");
    write("empty/.indexignore", "");
    let want = ["a/olm.package/a", "b/olm.package/b", "c/olm.package/c"];
    assert_eq!(
        read_path(folder.path()),
        Ok(want.map(str::to_owned).to_vec())
    );
}

/// This is the case of upstream's own tests (operator-registry, `alpha/declcfg/load_test.go`).
#[test]
fn an_indexignore_leaves_files_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write(
        ".indexignore",
        "*\n!*.json\n!*.yaml\n*.clusterserviceversion.yaml\n",
    );
    write("a.json", &package("a"));
    write("b.yaml", "schema: olm.package\nname: b\n");
    write(
        "c.clusterserviceversion.yaml",
        "kind: ClusterServiceVersion\n",
    );
    write("README.md", "[not] a catalog");
    fs::create_dir(folder.path().join("sub")).expect("a folder");
    write("sub/.indexignore", "# all\n/*\n");
    write("sub/broken.yaml", "- a\n");
    assert_eq!(
        read_path(folder.path()),
        Ok(TWO.map(str::to_owned).to_vec())
    );
}

#[test]
fn patterns_of_all_indexignores_are_bounded() {
    for (lines, is_read) in [(4_000, true), (6_000, false)] {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a", "b"] {
            let below = folder.path().join(name);
            fs::create_dir(&below).expect("a folder");
            fs::write(below.join(".indexignore"), "x\n".repeat(lines)).expect("a file");
        }
        fs::write(folder.path().join("c.json"), package("c")).expect("a file");
        let read = read_path(folder.path());
        assert_eq!(read.is_ok(), is_read, "{read:?}");
        let fault = "b/.indexignore: with this file, the .indexignore files of the directory have more than \
                     1024 KiB or 10000 patterns";
        assert!(read.err().is_none_or(|error| error.ends_with(fault)));
    }
}

#[test]
fn links_stay_in_the_folder() {
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("a"), package("a")).expect("a file");
    let out = outside.path().join("a");
    for (target, want) in [
        (Path::new("real"), Ok(())),
        (&out, Err(LEADS_OUT)),
        (Path::new(".."), Err(LEADS_OUT)),
        (Path::new("sub"), Err(TO_A_FOLDER)),
        (Path::new("link"), Err(TO_ITSELF)),
        (Path::new("nothing"), Err(TO_NOTHING)),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("sub")).expect("a folder");
        fs::write(folder.path().join("real"), package("b")).expect("a file");
        symlink(target, folder.path().join("link")).expect("a link");
        let found = read_path(folder.path()).map(drop);
        assert_eq!(found, want.map_err(str::to_owned), "{}", target.display());
    }
}

const LEADS_OUT: &str =
    "ROOT/link: symbolic link points outside the directory of the catalog; copy the file into it";

const TO_A_FOLDER: &str = "ROOT/link: expected a file, found a symbolic link to a directory; \
                           exclude it with an .indexignore file, or remove it";

const TO_ITSELF: &str =
    "ROOT/link: cannot follow the link: Too many levels of symbolic links (os error 40)";

const TO_NOTHING: &str =
    "ROOT/link: cannot follow the link: No such file or directory (os error 2)";

#[test]
fn faults_name_file_place_and_package() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |text: &str, want: Result<&[&str], &str>| {
        fs::write(folder.path().join("f"), text).expect("a file");
        let want = want.map(|blobs| blobs.iter().map(|&blob| blob.to_owned()).collect());
        assert_eq!(
            read_path(folder.path()),
            want.map_err(|fault| format!(
                "{fault}; if the file is not part of the catalog, list it in .indexignore"
            )),
            "{text}"
        );
    };
    check(
        "{\"schema\":\"x\"}\n{\"schema\":\"olm.bundle\",\"package\":\"p\",\"name\":\"b\",\"image\":7}",
        Ok(&[
            "/x/x",
            "ROOT/f: byte 15: olm.bundle \"b\" of package \"p\": image: expected a string, found a number",
        ]),
    );
    check(
        "schema: x\n---\n\n# c\nschema: olm.channel\npackage: p\nname: c\nentries:\n- name: a\n- replaces: [b]\n",
        Ok(&[
            "/x/x",
            "ROOT/f:5:1: olm.channel \"c\" of package \"p\": \
            entries[1].replaces: expected a string, found a list",
        ]),
    );
    check(
        "{\"package\":\"p\",\"name\":\"n\"}",
        Ok(&[
            "ROOT/f: byte 0: blob \"n\" of package \"p\": missing schema: expected a string such as \"olm.bundle\"",
        ]),
    );
    check(
        "{\"schema\":\"olm.bundle\",\"package\":\"p\",\"name\":\"b\",\
        \"properties\":[{\"type\":\"olm.bundle.object\",\"value\":{\"data\":\"!\"}}]}",
        Ok(&["ROOT/f: byte 0: olm.bundle \"b\" of package \"p\": \
            properties[0].value.data: not base64 (standard alphabet, padded)"]),
    );
    check(
        "schema: x\n---\na: [\n",
        Err("ROOT/f:3:4: invalid YAML: unclosed bracket '['"),
    );
    check(
        "[]",
        Err("ROOT/f:1:1: expected an object with schema, package and name, found a list"),
    );
    check(
        "{\"schema\":\"x\"}{\"schema\":\"x\"}{\"schema\":\"x\"",
        Err("ROOT/f: byte 41: incomplete JSON: the catalog ends within a value"),
    );
    check(
        "{\"schema\":\"x\"}{\"schema\":\"x\",\"Schema\":\"x\"}",
        Err(
            "ROOT/f: byte 14: duplicate keys for key \"schema\": [Schema schema]; keep one of them",
        ),
    );
    check(
        "{\"schema\":\"x\",\"name\":null}",
        Err("ROOT/f: byte 21: expected value for key \"name\" to be a string, found null"),
    );
    check(
        &format!("schema: x\nname: {}\n", "n".repeat(251)),
        Err(&format!(
            "ROOT/f:1:1: name \"{}\" cannot name a file: it is too long for a file name",
            "n".repeat(64)
        )),
    );
    check(
        "a: 1\n---b\n",
        Err(
            "ROOT/f:2:1: invalid YAML document separator: expected only a comment after \"---\", \
             found \"b\"",
        ),
    );
}

#[test]
fn what_is_not_there_is_a_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("none");
    let fault = "ROOT: cannot open: No such file or directory (os error 2)";
    assert_eq!(read_path(&path), Err(fault.to_owned()));
}

/// This is enough YAML for threads: the blobs come in order, and the first fault is returned.
#[test]
fn much_yaml_is_read_in_order() {
    let padding = "x".repeat(1000);
    let document = |n: usize| format!("schema: s\nname: n{n}\ndescription: {padding}\n---\n");
    let mut text = (0..5000).map(document).collect::<String>();
    let want = (0..5000).map(|n| format!("/s/n{n}")).collect::<Vec<_>>();
    assert_eq!(read_bytes(text.as_bytes()), Ok(want));

    text.push_str("schema: [\n---\nschema: {\n");
    let fault = "file:20001:9: invalid YAML: unclosed bracket '['";
    assert_eq!(read_bytes(text.as_bytes()), Err(fault.to_owned()));
}

proptest! {
    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _: Result<Vec<String>, String> = read_bytes(&bytes);
    }

    #[test]
    fn never_panics_on_broken_catalogs(at in 0..400_usize, piece in "[\\PC\n\t{}\\[\\]\",:\\\\]{0,4}") {
        let blob = r#"{"entries":[{"name":"a","skips":["b"]}],"icon":{"base64data":"YQ=="},"name":"n",
            "package":"p","properties":[{"type":"olm.package","value":{"version":"1.0.0"}},
            {"type":"olm.bundle.object","value":{"data":"YTogMQ=="}}],"schema":"olm.bundle"}"#;
        let (before, after) = blob.split_at(at.min(blob.len()));
        let _: Result<Vec<String>, String> = read_bytes([before, &piece, after].concat().as_bytes());
    }
}

// === A text that arrives in pieces is read like the whole text ===

/// Returns what a reader finds in a text that arrives in pieces, cut at these positions.
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
                NextItem::Blob {
                    blob,
                    position,
                    consumed,
                    ..
                } => {
                    found.push(format!("{position} {blob:?}"));
                    consumed
                }
                NextItem::Document { document, consumed } => {
                    found.push(format!("{document:?}"));
                    consumed
                }
                NextItem::Skipped { consumed } => consumed,
                NextItem::Incomplete | NextItem::End => break,
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

// === Endless and oversized inputs are faults ===

/// Creates a sparse file of this length.
fn sparse(length: u64) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    file.as_file().set_len(length).expect("a sparse file");
    file
}

#[test]
fn size_is_bounded() {
    let gigabyte = sparse(1 << 30);
    let fault = read_path(gigabyte.path()).expect_err("a fault");
    let want = "ROOT: larger than 805306368 bytes, decompressed; a catalog has tens to hundreds of \
                megabytes";
    assert_eq!(fault, want);

    let blob = sparse(40 << 20);
    let fault = read_path(blob.path()).expect_err("a fault");
    let want =
        "ROOT:1:1: a blob is larger than 33554432 bytes; split it, or move large data out of it";
    assert_eq!(fault, want);

    let string = Read::chain(&b"{\"schema\":\""[..], io::repeat(b'x'));
    let fault = read_from("pipe", string, &Progress::default(), &mut Blobs::default());
    let want = "pipe: byte 0: a blob is larger than 33554432 bytes; split it, or move large data \
                out of it";
    assert_eq!(fault.expect_err("a fault").to_string(), want);
}

/// An endless sequence of blobs of a hundred kilobytes.
struct Endless(Vec<u8>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let whole = buffer.len() / self.0.len() * self.0.len();
        for piece in buffer[..whole].chunks_mut(self.0.len()) {
            piece.copy_from_slice(&self.0);
        }
        Ok(whole)
    }
}

#[test]
fn an_endless_stream_ends() {
    for (size, want) in [
        (100_000, "pipe: larger than 805306368 bytes, decompressed"),
        (1, "pipe: byte 4999999: more than 500000 blobs"),
    ] {
        let blob = [&b"{\"x\":\""[..], &vec![b'x'; size], b"\"}\n"].concat();
        let endless = io::BufReader::with_capacity(1 << 20, Endless(blob));
        let fault = read_from("pipe", endless, &Progress::default(), &mut Blobs::default());
        let fault = fault.expect_err("a fault").to_string();
        assert!(fault.starts_with(want), "{fault}");
    }
}

#[test]
fn what_a_blob_keeps_is_bounded() {
    let many = |item: &str| vec![item; 250_001].join(",");
    let keys = (0..250_001)
        .map(|n| format!("\"{n}\":1"))
        .collect::<Vec<_>>()
        .join(",");
    for blob in [
        format!(
            "{{\"schema\":\"olm.channel\",\"entries\":[{}]}}",
            many("{}")
        ),
        format!(
            "{{\"schema\":\"olm.channel\",\"entries\":[{{\"skips\":[{}]}}]}}",
            many("\"\"")
        ),
        format!("{{\"schema\":\"olm.channel\",\"entries\":[{{\"Name\":\"\",{keys}}}]}}"),
        format!("{{{keys}}}"),
    ] {
        let fault = read_bytes([package("a"), package("b"), blob].concat().as_bytes());
        let fault = fault.expect_err("a fault");
        assert!(
            fault.ends_with("a blob has more than 250000 keys and list items; split it"),
            "{fault}"
        );
    }
    let lines = (0..10_001).map(|n| ["- &a", &n.to_string(), " b\n"].concat());
    let anchors = lines.collect::<String>();
    let fault = "file:10001:11: more than 10000 YAML anchors in one document; \
        write the values out";
    assert_eq!(read_bytes(anchors.as_bytes()), Err(fault.to_owned()));
}

// === JSON is read on several cores as on one: the same blobs, positions and faults in the same order ===

/// Everything that was handed over from a file, with its position, including faults.
#[derive(Default)]
struct Written(Vec<String>);

impl Intake for Written {
    type Blob<'a> = Raw<'a>;

    const PLACES: Places = Places::Wanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Raw<'a>> {
        raw::read(cursor)
    }

    fn take(&mut self, blob: Raw<'_>, place: &BlobPlace<'_>) {
        let (position, origin) = (place.position, place.origin);
        let length = place.text.len();
        self.0
            .push(format!("{position} {origin:?} {length} {blob:?}"));
    }

    fn fault(
        &mut self,
        _: &str,
        fault: FbcError,
        origin: TextOrigin,
        _: &[u8],
    ) -> Result<(), FbcError> {
        self.0.push(format!("{origin:?} {fault}"));
        Ok(())
    }
}

fn agrees(text: &str) {
    assert!(text.len() > 3 << 20, "enough for several cores");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog");
    fs::write(&path, text).expect("a file");

    let (mut here, mut there) = (Written::default(), Written::default());
    fbc::read_into("catalog", text.as_bytes(), &mut here).expect("faults are taken");
    read(&path, &Progress::default(), &mut there).expect("faults are taken");
    let difference = here.0.iter().zip(&there.0).position(|(a, b)| a != b);
    assert_eq!(difference, None);
    assert_eq!(here.0.len(), there.0.len());

    let mut blobs = Blobs::default();
    let alone = fbc::read("ROOT", text.as_bytes(), &mut blobs);
    let alone =
        alone.map_err(|fault| format!("{}: {}", fault.position.in_file("ROOT"), fault.malformed));
    assert!(read_path(&path) == alone.map(|()| blobs.0), "what decides");
}

/// Returns `count` blobs with `between` inserted before their fields and entries.
fn blobs(count: usize, between: &str) -> Vec<String> {
    let blob = |n: usize| {
        let entry = |m: usize| {
            format!(
                r#"{{"name":"n{n}.{m}",{between}"skips":["\u00e9 ç",{between}"b"],"odd":{{"x":[1,null]}}}}"#
            )
        };
        let entries = (0..10)
            .map(entry)
            .collect::<Vec<_>>()
            .join(&format!(",{between}"));
        format!(
            r#"{{"schema":"olm.channel",{between}"package":"p","name":"c{n}","entries":[{between}{entries}]}}"#
        )
    };
    (0..count).map(blob).collect()
}

#[test]
fn lines_are_read_alike() {
    let lines = blobs(6000, "");
    agrees(&lines.join("\n"));
    agrees(&(lines.join(" \r\n\t\n ") + "\n"));
    agrees(&lines.concat());
    agrees(&lines.join("\nnull\n{}\n7 [] "));
}

/// A line that starts with `{` in the middle of a blob does not start a new blob.
#[test]
fn objects_over_many_lines_are_read_alike() {
    agrees(&blobs(5000, "\n").join("\n"));
    agrees(&blobs(5000, "\n  ").join("\n"));
}

#[test]
fn faults_are_found_alike() {
    for broken in [
        r#"{"schema":"olm.channel","name":"#,
        "{\"schema\":\"olm.channel\",\"name\":\"a\nb\"}",
        r#"{"schema":"olm.bundle","package":"p","name":7}"#,
        r#"{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":{}}]}"#,
        "}{",
    ] {
        for at in [3, 2999, 5999] {
            let mut lines = blobs(6000, "");
            lines[at].replace_range(.., broken);
            agrees(&lines.join("\n"));
        }
    }
    let lines = blobs(6000, "").join("\n");
    agrees(&lines[..lines.len() - 40]);
}

#[test]
fn a_blob_larger_than_what_is_held_is_read_alike() {
    let mut lines = blobs(3000, "");
    let long = "\\n odd".repeat(400_000);
    lines[1000] = lines[1000].replacen("odd", &long, 1);
    agrees(&lines.join("\n"));
}
