//! Layers whose names point outside, that are not archives, or that are too large.

use std::sync::atomic::AtomicUsize;

use tar::EntryType;

use super::*;
use crate::source::image::layer::{Budget, LayerJob};

#[test]
fn no_name_of_a_layer_leads_out() {
    let reader = Reader::new();
    let outside = reader.folder.path().join("outside");
    for (layer, expected) in [
        (
            Layer::of(&[("configs/../../outside", "x")]),
            "\"configs/../../outside\" is a name outside the image",
        ),
        (
            Layer::of(&[]).link("configs/l", EntryType::Symlink, "../../../outside"),
            "\"configs/l\" is a symbolic link to \"../../../outside\", which is not a file in the same directory tree",
        ),
        (
            Layer::of(&[])
                .link("configs/l", EntryType::Symlink, "/")
                .file("configs/l/x", b"x"),
            "\"configs/l/x\" is below \"configs/l\", which is not a directory",
        ),
        (
            Layer::of(&[]).link("configs/l", EntryType::Link, "etc/passwd"),
            "\"configs/l\" is a hard link to \"etc/passwd\", which is not a file in the same directory tree",
        ),
        (
            Layer::of(&[]).link("configs/d", EntryType::Char, ""),
            "\"configs/d\" is a device: expected a file, a directory or a link",
        ),
    ] {
        let fault = reader.fault(&TestImage::catalog(&[layer.gzip()]));
        assert!(fault.ends_with(expected), "{fault}");
        assert!(!outside.exists());
    }
    let deep = Layer::of(&[]).link("configs/l", EntryType::Symlink, &"a/".repeat(40));
    let fault = reader.fault(&TestImage::catalog(&[deep.gzip()]));
    assert!(fault.contains("is a symbolic link to"), "{fault}");
    let absolute = Layer::of(&[("/configs/a", "x")]);
    let layout = reader.folder.path().join("layout");
    TestImage::catalog(&[absolute.gzip()]).write(&layout, "v1");
    let image = reader
        .read(&format!("oci-layout:{}", layout.display()))
        .unwrap();
    assert!(
        image.root().join("a").exists(),
        "a path with a slash before it begins at the root"
    );
}

#[test]
fn pax_headers_are_read_by_their_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = tar::Builder::new(Vec::new());
    let records: [(&str, &[u8]); 2] = [
        ("SCHILY.xattr.user.a", b"two\nlines"),
        ("path", b"configs/long"),
    ];
    archive.append_pax_extensions(records).unwrap();
    let mut header = tar::Header::new_ustar();
    header.set_size(1);
    header.set_cksum();
    archive
        .append_data(&mut header, "short", &b"x"[..])
        .unwrap();
    let job = LayerJob {
        kept: KeptFolders(vec!["configs".into()]),
        contents: folder.path().to_owned(),
        number: 0,
        budget: Budget::default(),
        progress: Progress::default(),
        attempts: AtomicUsize::new(0),
    };
    let layer = archive.into_inner().unwrap();
    let read = job.run(&mut layer.as_slice()).unwrap();
    assert!(read.changes.added.get("configs/long").is_some());
}

#[test]
fn names_that_no_file_has_are_refused() {
    let mut latin = Layer::of(&[]).file("configs/a", b"").tar();
    latin[8] = 0xe9;
    // The checksum of the header, which the byte changes.
    let sum: u32 = latin[..512]
        .iter()
        .enumerate()
        .map(|(at, byte)| {
            if (148..156).contains(&at) {
                32
            } else {
                u32::from(*byte)
            }
        })
        .sum();
    latin[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let fault = Reader::new().fault(&TestImage::catalog(&[latin]));
    let expected =
        "is not a usable name: expected UTF-8, at most 4096 bytes in all, 255 for each part";
    assert!(fault.ends_with(expected), "{fault}");
}

#[test]
fn layers_that_are_no_archives_are_refused() {
    let zeros = |bytes: usize| {
        let mut zipped = GzEncoder::new(Vec::new(), Compression::best());
        zipped.write_all(&vec![0; bytes]).unwrap();
        zipped.finish().unwrap()
    };
    let whole = Layer::of(&[("configs/a", "x")]).gzip();
    for (layer, expected) in [
        (
            b"<html>not found</html>".repeat(40),
            "not a valid tar archive: ",
        ),
        (
            whole[..whole.len() - 9].to_vec(),
            "cut off: it ends in the middle",
        ),
        (vec![0x1f, 0x8b, 0, 0], "cut off: it ends in the middle"),
    ] {
        let fault = Reader::new().fault(&TestImage::catalog(&[layer]));
        assert!(fault.contains(expected), "{fault}");
    }
    // An archive of zeros is an empty archive.
    let fault = Reader::new().fault(&TestImage::catalog(&[zeros(64 << 20)]));
    assert_eq!(
        fault,
        "has no directory /configs: expected one with the files of the catalog, as its label says"
    );
}

#[test]
fn budgets_end_what_is_too_large() {
    let layer = Layer::of(&[
        ("configs/a", "12345"),
        ("configs/b", "12345"),
        ("c", "12345"),
    ])
    .tar();
    let kept = KeptFolders(vec!["configs".into()]);
    let full = Budget {
        members: 3,
        unpacked: 8192,
        kept: 10,
        names: 600,
    };
    for (budget, expected) in [
        (full, None),
        (Budget { members: 2, ..full }, Some("files and directories")),
        (
            Budget {
                unpacked: 2048,
                ..full
            },
            Some("bytes, decompressed"),
        ),
        (Budget { kept: 9, ..full }, Some("bytes in its files")),
        (Budget { names: 500, ..full }, Some("bytes of names")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let job = LayerJob {
            kept: kept.clone(),
            contents: folder.path().to_owned(),
            number: 0,
            budget,
            progress: Progress::default(),
            attempts: AtomicUsize::new(0),
        };
        let read = job.run(&mut layer.as_slice());
        let fault = read.err().map(|fault| fault.to_string());
        assert_eq!(fault.is_some(), expected.is_some(), "{fault:?}");
        assert!(
            fault
                .unwrap_or_default()
                .contains(expected.unwrap_or_default())
        );
    }
}
