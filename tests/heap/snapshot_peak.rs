//! The memory for the facts of a snapshot: a file of a few KiB can contain many MiB of them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::fs;
use std::path::Path;

use crate::ALLOCATOR;
use olmguard::source::archive::{Archive, ArchiveError};
use olmguard_support::ALONE;
use tar::{Builder, Header};

#[test]
fn facts_take_no_more_than_a_quarter_of_a_gibibyte() {
    let _alone = ALONE.blocking_lock();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.snapshot");
    for kind in ["policies", "extensions"] {
        for item in ["{}", "0", "[]", "\"\"", r#"{"a":{}}"#, r#"{"a":0}"#, "[[]]"] {
            for count in [16_000_000 / (item.len() + 1), 199_000] {
                let length = write(&path, kind, item, count);
                assert!(length < 64 << 10, "{length} bytes");
                let (opened, peak) = opened(&path);
                assert!(peak < 256 << 20, "{kind} {item} {count}: {peak} bytes");
                assert_eq!(opened.is_ok(), count == 199_000, "{kind} {item} {count}");
            }
        }
    }
}

/// Writes a snapshot with `count` copies of an item, and returns the size of the file.
fn write(path: &Path, kind: &str, item: &str, count: usize) -> usize {
    let items = vec![item; count].join(",");
    let facts = format!(
        r#"{{"schema":"olmguard.snapshot/v1","saved":"","program":"","olm":null,
        "{kind}":{{"objects":[{items}]}},"catalogs":[]}}"#
    );
    let mut tar = Builder::new(Vec::new());
    let mut header = Header::new_ustar();
    header.set_size(facts.len() as u64);
    tar.append_data(&mut header, "snapshot.json", facts.as_bytes())
        .unwrap();
    let mut frame = zstd::Encoder::new(Vec::new(), 1).unwrap();
    frame.include_checksum(true).unwrap();
    std::io::copy(&mut tar.into_inner().unwrap().as_slice(), &mut frame).unwrap();
    let bytes = frame.finish().unwrap();
    fs::write(path, &bytes).unwrap();
    bytes.len()
}

/// Opens an archive, and returns it with the peak memory of reading its facts.
fn opened(path: &Path) -> (Result<Archive, ArchiveError>, usize) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let opened = Archive::open(path);
    (opened, ALLOCATOR.peak_usage() - before)
}
