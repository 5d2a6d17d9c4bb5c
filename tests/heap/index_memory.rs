//! The memory of a catalog is counted while its index is built, and limited before it is allocated.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on fails there, one that is left out says so"
)]

use olmguard_support::ALONE;
use std::io::Read;

use crate::ALLOCATOR;
use olmguard::source::cache::Cache;
use olmguard::source::{Progress, SourceError, finished, read_from};
use olmguard_catalog::memory::{Pool, TooLarge};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};

use olmguard_fixtures::shared::shared;
use olmguard_support::shapes::{SHAPES, Shape};

/// The limit of one catalog in these tests, which is small to make them fast.
const EACH: usize = 24 << 20;

/// Memory that is not counted: decompressors, threads, and the test itself.
const BESIDES: usize = 4 << 20;

/// This is a single test, because the allocator counts for the whole process.
#[test]
fn memory_is_bounded_and_counted() {
    let _alone = ALONE.blocking_lock();
    for shape in SHAPES {
        refused_early(shape);
    }
    refused_as_gzip();
    refused_from_the_cache();
    refused_beside_others();
    count_is_near_what_is_allocated();
    aliases_take_the_memory_of_one_document();
}

fn read(pool: &Pool, input: impl Read) -> Result<Catalog, SourceError> {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::within(&rules, pool.account());
    read_from("hub", input, &Progress::default(), &mut builder)?;
    finished("hub", builder)
}

/// Returns the peak allocation of `work`.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let value = work();
    (value, ALLOCATOR.peak_usage().saturating_sub(before))
}

#[track_caller]
fn is_refused<T>(what: &str, read: Result<T, SourceError>, peak: usize, most: usize) {
    let Err(error) = read else {
        panic!("{what}: loaded");
    };
    let SourceError::Memory { file, source } = &error else {
        panic!("{what}: {error}");
    };
    assert_eq!((&**file, *source), ("hub", TooLarge::Each { limit: EACH }));
    assert_eq!(
        error.to_string(),
        "hub: the catalog needs more than 24 MiB of memory, the most that one catalog can use; make \
         it smaller, or raise the memory limit"
    );
    assert!(peak <= most, "{what}: {peak} bytes at its peak, of {most}");
}

fn refused_early(shape: &Shape) {
    let pool = Pool::new(EACH, 4 * EACH);
    let mut text = shape.text();
    let (result, peak) = peak_of(|| read(&pool, &mut text));
    println!(
        "{}: refused after {} bytes, peak {peak}",
        shape.name,
        text.given()
    );
    is_refused(shape.name, result, peak, EACH + BESIDES);
    assert_eq!(pool.taken(), 0, "{}: nothing is left taken", shape.name);
    assert!(
        text.given() <= olmguard_support::shapes::LENGTH,
        "{}",
        shape.name
    );
}

/// The content as it is sent: 2 MiB that decompress to 60.
fn refused_as_gzip() {
    let packed = olmguard_support::shapes::gzip(SHAPES[0].text());
    assert!(packed.len() < 4 << 20, "{} bytes", packed.len());
    let pool = Pool::new(EACH, 4 * EACH);
    let (result, peak) = peak_of(|| read(&pool, &*packed));
    is_refused("gzip", result, peak, EACH + BESIDES);
}

/// Content that was cached under a larger limit. It stays in the cache.
fn refused_from_the_cache() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, _) = Cache::open(folder.path(), 1 << 30).expect("a cache");
    for shape in SHAPES {
        let mut text = shape.text_of(olmguard_support::shapes::LENGTH / 16);
        let mut entry = cache.begin(DIGEST).expect("an entry");
        std::io::copy(&mut text, &mut entry).expect("it never fails");
        entry.commit().expect("there is room");
        let pool = Pool::new(EACH / 8, EACH);
        for _ in 0..2 {
            let (result, peak) = peak_of(|| {
                let rules = Rules::default();
                let mut builder = CatalogBuilder::within(&rules, pool.account());
                let loaded = cache.load(DIGEST, &mut builder);
                loaded.map_err(|error| error.to_string())?;
                builder.finish().map_err(|error| error.to_string())
            });
            let refused = TooLarge::Each { limit: EACH / 8 }.to_string();
            assert_eq!(result.err(), Some(refused), "{}", shape.name);
            assert!(peak <= EACH / 8 + BESIDES, "{}: {peak}", shape.name);
            assert_eq!(pool.taken(), 0);
        }
    }
}

const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef";

/// All catalogs together have a limit, and those that are loaded stay.
fn refused_beside_others() {
    let pool = Pool::new(EACH, EACH);
    let text = || SHAPES[0].text_of(1 << 18);
    let first = read(&pool, text()).expect("the first fits");
    let taken = pool.taken();
    assert!(taken > 0 && first.resident_bytes() >= taken);
    let mut kept = vec![first];
    let refused = loop {
        match read(&pool, text()) {
            Ok(catalog) => kept.push(catalog),
            Err(error) => break error,
        }
    };
    assert!(matches!(
        refused,
        SourceError::Memory {
            source: TooLarge::All { limit: EACH },
            ..
        }
    ));
    assert_eq!(pool.taken(), kept.len() * taken);
    assert_eq!(
        kept[0].counts().packages,
        kept[kept.len() - 1].counts().packages
    );
    kept.pop();
    kept.push(read(&pool, text()).expect("what was dropped makes room"));
    drop(kept);
    assert_eq!(pool.taken(), 0);
}

/// The count is never less than the allocation, and less than twice as much.
fn count_is_near_what_is_allocated() {
    for shape in SHAPES {
        agrees(shape.name, shape.text_of(1 << 16));
    }
    let Some(shared) = shared() else {
        println!("left out: the catalogs of the community, no shared folder");
        return;
    };
    for release in ["4.16", "4.17", "4.18", "4.19", "4.20"] {
        let file = shared.join(format!("catalogs/community-v{release}.jsonl.zst"));
        agrees(release, std::fs::File::open(file).expect("a catalog"));
    }
}

#[track_caller]
fn agrees(what: &str, input: impl Read) {
    let pool = Pool::new(usize::MAX, usize::MAX);
    let before = ALLOCATOR.current_usage();
    let catalog = Box::new(read(&pool, input).expect("a catalog"));
    let held = ALLOCATOR.current_usage() - before;
    let counted = catalog.resident_bytes();
    println!("{what}: {counted} counted, {held} allocated");
    assert!(counted + SLACK >= held, "{what}: {counted} of {held} bytes");
    assert!(
        counted <= 2 * held + SLACK,
        "{what}: {counted} of {held} bytes"
    );
}

/// The memory of the pool and of the account.
const SLACK: usize = 1 << 10;

/// Small documents whose aliases stand for a megabyte each: many of them fit into one batch.
fn aliases_take_the_memory_of_one_document() {
    let (expanded, documents) = (1 << 20, 64);
    let text = "x".repeat(1 << 9);
    let aliases = vec!["*text"; expanded / text.len()].join(",");
    let document = format!("---\nschema: other\ntext: &text {text}\nall: [{aliases}]\n");
    let input = document.repeat(documents);
    let rules = Rules::default();
    let (read, peak) = peak_of(|| {
        let mut builder = CatalogBuilder::within(&rules, Pool::unbounded().account());
        read_from("hub", input.as_bytes(), &Progress::default(), &mut builder)
    });
    read.expect("aliases are within their limit");
    assert!(peak < 8 * expanded, "{peak} bytes at the peak");
}
