//! A small release, with a script instead of programs that take minutes to build.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::GzDecoder;

use super::super::{Parts, files};
use crate::build::{Build, Package, Target};
use crate::commit::Commit;
use crate::output::Files;
use crate::program::root;

/// A release with every file.
pub(super) static RELEASE: LazyLock<Files> = LazyLock::new(|| files(&parts()).unwrap());

pub(super) fn parts() -> Parts {
    let builds = Target::DELIVERED.map(build).into();
    Parts::gather(builds, SECONDS, Some(URL.to_owned())).unwrap()
}

fn build(target: Target) -> Build {
    let text = str::to_owned;
    Build {
        program: root().join("xtask/src/release/tests/program.sh"),
        target,
        package: Package {
            name: text("olmguard"),
            version: text("0.1.0"),
            description: text("Says \"no\""),
            license: text("Apache-2.0"),
        },
        commit: Some(Commit {
            revision: text("abc"),
            date: text("2026-01-02T03:04:05Z"),
            seconds: SECONDS,
        }),
        target_folder: root().to_owned(),
    }
}

/// A file in an archive.
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) mode: u32,
    /// The sum of user and group: 0 is root.
    pub(super) owner: u64,
    pub(super) date: u64,
    pub(super) content: Vec<u8>,
}

pub(super) fn entries(archive: &[u8]) -> Vec<Entry> {
    let mut archive = tar::Archive::new(archive);
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        Entry {
            path: entry.path().unwrap().display().to_string(),
            mode: entry.header().mode().unwrap(),
            owner: entry.header().uid().unwrap() + entry.header().gid().unwrap(),
            date: entry.header().mtime().unwrap(),
            content,
        }
    });
    entries.collect()
}

pub(super) fn gunzip(content: &[u8]) -> Vec<u8> {
    let header = GzDecoder::new(content);
    assert_eq!(header.header().unwrap().mtime(), 0);
    let mut archive = Vec::new();
    GzDecoder::new(content).read_to_end(&mut archive).unwrap();
    archive
}

pub(super) fn text(name: &str) -> String {
    String::from_utf8(RELEASE[name].clone()).unwrap()
}

pub(super) const URL: &str = "https://example.com/v0.1.0";
pub(super) const SECONDS: u64 = 1_767_323_045;
