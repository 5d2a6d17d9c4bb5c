//! Whole catalogs in the cache: the index from the cache equals the one from the source.
#![expect(clippy::panic, reason = "a test may fail")]

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use olmguard::source::cache::Cache;
use olmguard::source::{Progress, read};
use olmguard_catalog::fbc::Decisive;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder, Package};

/// Returns the catalogs of this repository.
fn committed() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples = fs::read_dir(root.join("examples")).expect("examples");
    let files = examples.map(|example| example.expect("an example").path().join("hub.yaml"));
    let mut files: Vec<_> = files.filter(|file| file.is_file()).collect();
    files.push(root.join("examples/catalogs/lighthouse.yaml"));
    files.sort();
    files
}

/// Returns the real catalogs, if they are on this machine.
fn shared() -> Vec<PathBuf> {
    let Some(folder) = olmguard_fixtures::shared::shared() else {
        return Vec::new();
    };
    let files = fs::read_dir(folder.join("catalogs")).expect("catalogs");
    let files = files.map(|file| file.expect("a file").path());
    let is_catalog = |file: &PathBuf| file.to_string_lossy().ends_with(".jsonl.zst");
    let mut files: Vec<_> = files.filter(is_catalog).collect();
    files.sort();
    files
}

/// Returns the index from the source, and the one from a cache with the same content.
fn both(path: &Path, rules: &Rules) -> (Catalog, Catalog) {
    let mut source = CatalogBuilder::new(rules);
    let read = read(path, &Progress::default(), &mut Decisive(&mut source));
    read.unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, _) = Cache::open(folder.path(), LIMIT).expect("a cache");
    let mut entry = cache.begin(DIGEST).expect("an entry");
    let mut file = fs::File::open(path).expect("a file");
    io::copy(&mut file, &mut entry).expect("it never fails");
    entry.commit().expect("there is room");
    let mut cached = CatalogBuilder::new(rules);
    assert!(cache.load(DIGEST, &mut cached).expect("a whole file"));
    (
        source.finish().expect("no bound"),
        cached.finish().expect("no bound"),
    )
}

const LIMIT: u64 = 1 << 30;
const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef";

/// Returns everything that a decision reads from a package, as text.
fn text(package: &Package) -> String {
    let bundles: Vec<_> = package.bundles().collect();
    let deprecated = package
        .bundles()
        .filter(|(at, _)| package.is_deprecated(*at));
    let deprecated: Vec<_> = deprecated.map(|(at, _)| at).collect();
    let mut text = format!("{bundles:?} {deprecated:?} {:?}\n", package.deprecation());
    let channels = package
        .channels()
        .iter()
        .map(|channel| vec![channel.name.to_string()]);
    for asked in channels.chain([vec![]]) {
        let asked = package.ask_channels(&asked);
        writeln!(text, "{asked:?} {:?}", package.members(&asked)).expect("a String");
        for (_, bundle) in &bundles {
            let Ok(version) = &bundle.version else {
                continue;
            };
            let next = package.successors(Some(&bundle.name), &version.version, &asked);
            writeln!(text, "{} {next:?}", bundle.name).expect("a String");
        }
    }
    text
}

#[track_caller]
fn assert_equal(path: &Path, rules: &Rules) {
    let (source, cached) = both(path, rules);
    let (names, others) = (source.package_names(), cached.package_names());
    assert_eq!(names.collect::<Vec<_>>(), others.collect::<Vec<_>>());
    assert_eq!(source.counts(), cached.counts(), "{}", path.display());
    for name in source.package_names() {
        let texts = [&source, &cached].map(|catalog| match catalog.package(name) {
            Some(Ok(package)) => text(package),
            other => format!("{other:?}"),
        });
        let [source, cached] = texts;
        assert!(source == cached, "{}: {name}", path.display());
    }
}

#[test]
fn the_index_from_the_cache_is_that_from_the_source() {
    let oldest = Rules::new(
        "1.0".parse().expect("a release"),
        olmguard_catalog::olm::Gates::default(),
    );
    let files = committed();
    assert!(files.len() > 10, "{files:?}");
    let whole = shared();
    if whole.is_empty() {
        println!("left out: whole catalogs, they are not here");
    }
    for path in files.iter().chain(&whole) {
        for rules in [&Rules::default(), &oldest] {
            assert_equal(path, rules);
        }
    }
}
