//! How fast catalogs are read: real ones, from memory, on one core and (YAML) on all.
//!
//! Needs the folder with whole catalogs, named by `OLMGUARD_SHARED`; without it nothing is timed.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use olmguard::source::{Progress, read_from};
use olmguard_catalog::blob::{BlobFault, Content, Key, Sink};

fn main() {
    if catalogs().is_some() {
        divan::main();
    } else {
        eprintln!("left out: no catalogs; name their folder with OLMGUARD_SHARED");
    }
}

/// Takes blobs and forgets them.
struct Forget;

impl Sink for Forget {
    fn blob(&mut self, key: Key<'_>, content: Result<Content<'_>, BlobFault>) {
        black_box((key, content.is_ok()));
    }
}

#[divan::bench(args = ["v4.16", "v4.17", "v4.18", "v4.19", "v4.20"])]
fn json(bencher: Bencher<'_, '_>, version: &str) {
    let text = unpacked(&format!("community-{version}.jsonl.zst"));
    time(bencher, &text);
}

/// All files of the YAML catalog in one.
#[divan::bench]
fn yaml(bencher: Bencher<'_, '_>) {
    let tar = unpacked("community-v4.18-yaml.tar.zst");
    time(bencher, &files_of_tar(&tar).join(&b"\n---\n"[..]));
}

fn time(bencher: Bencher<'_, '_>, text: &[u8]) {
    bencher.counter(BytesCount::of_slice(text)).bench(|| {
        let progress = Progress::default();
        read_from("bench", Cursor::new(text), &progress, &mut Forget).expect("a real catalog");
    });
}

fn catalogs() -> Option<PathBuf> {
    let shared = std::env::var_os("OLMGUARD_SHARED")?;
    let folder = Path::new(&shared).join("catalogs");
    folder.is_dir().then_some(folder)
}

fn unpacked(file: &str) -> Vec<u8> {
    let path = catalogs().expect("checked in main").join(file);
    let mut text = Vec::new();
    let file = std::fs::File::open(path).expect("a catalog");
    let mut decoder = zstd::Decoder::new(file).expect("zstd");
    decoder.read_to_end(&mut text).expect("zstd");
    text
}

/// The content of each file of a tar archive.
fn files_of_tar(mut tar: &[u8]) -> Vec<&[u8]> {
    let mut files = Vec::new();
    while let Some((header, rest)) = tar.split_at_checked(512) {
        let size = header
            .get(124..135)
            .and_then(|octal| str::from_utf8(octal).ok());
        let size = size.and_then(|octal| usize::from_str_radix(octal.trim(), 8).ok());
        let Some(size) = size else { break };
        let (content, _) = rest.split_at(size);
        if header.get(156) == Some(&b'0') && size > 0 {
            files.push(content);
        }
        tar = rest.get(size.next_multiple_of(512)..).unwrap_or_default();
    }
    files
}
