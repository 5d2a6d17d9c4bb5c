//! Real catalogs: their contents, and that YAML and JSON give the same.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail, and the archive is well formed"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use olmguard::source::{Progress, read};
use olmguard_catalog::blob::{BlobContent, BlobFault, BlobKey, Sink};
use olmguard_catalog::fbc::Decisive;

use olmguard_fixtures::shared::shared;

/// All blobs by their keys, as text.
#[derive(Default)]
struct Blobs {
    by_key: BTreeMap<[String; 3], String>,
    packages: usize,
    channels: usize,
    bundles: usize,
}

impl Sink for Blobs {
    fn blob(&mut self, key: BlobKey<'_>, content: Result<BlobContent<'_>, BlobFault>) {
        let content = content.unwrap_or_else(|fault| panic!("{fault}"));
        match content {
            BlobContent::Package(_) => self.packages += 1,
            BlobContent::Channel(_) => self.channels += 1,
            BlobContent::Bundle(_) => self.bundles += 1,
            BlobContent::Deprecations(_) | BlobContent::Guardrails(_) | BlobContent::Other => {}
        }
        let names = [key.package, key.schema, key.name].map(str::to_owned);
        self.by_key.insert(names, format!("{content:?}"));
    }
}

fn load(path: &Path) -> Blobs {
    let (mut blobs, progress) = (Blobs::default(), Progress::default());
    let read = read(path, &progress, &mut Decisive(&mut blobs));
    read.unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(progress.done(), progress.total(), "{}", path.display());
    blobs
}

#[test]
fn whole_catalogs_are_complete() {
    let Some(shared) = shared() else {
        println!("left out: the whole catalogs are not here");
        return;
    };
    for (version, packages, channels, bundles) in [
        ("v4.16", 18, 27, 221),
        ("v4.17", 29, 71, 695),
        ("v4.18", 35, 78, 727),
        ("v4.19", 37, 81, 757),
        ("v4.20", 37, 85, 803),
    ] {
        let file = format!("catalogs/community-{version}.jsonl.zst");
        let found = load(&shared.join(file));
        let counts = (found.packages, found.channels, found.bundles);
        assert_eq!(counts, (packages, channels, bundles), "{version}");
    }
}

#[test]
fn yaml_and_json_of_one_catalog_are_equal() {
    let Some(shared) = shared() else {
        println!("left out: the whole catalogs are not here");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let tar = File::open(shared.join("catalogs/community-v4.18-yaml.tar.zst")).expect("a tar");
    let mut bytes = Vec::new();
    zstd::Decoder::new(tar)
        .and_then(|mut tar| tar.read_to_end(&mut bytes))
        .expect("zstd");
    unpack(&bytes, folder.path());

    let yaml = load(folder.path());
    let json = load(&shared.join("catalogs/community-v4.18.jsonl.zst"));
    assert_eq!(yaml.by_key.len(), 840);
    assert!(yaml.by_key == json.by_key, "the blobs differ");
}

/// Unpacks the files of a tar archive.
fn unpack(mut tar: &[u8], folder: &Path) {
    while let Some((header, rest)) = tar.split_at_checked(512) {
        let field = |range| {
            str::from_utf8(&header[range])
                .expect("ASCII")
                .trim_matches('\0')
        };
        let Ok(size) = usize::from_str_radix(field(124..135).trim(), 8) else {
            break;
        };
        if header[156] == b'0' {
            let path = folder.join(field(0..100));
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, &rest[..size]).expect("a file");
        }
        tar = rest.get(size.next_multiple_of(512)..).unwrap_or_default();
    }
}
