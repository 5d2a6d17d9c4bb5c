//! The memory that a catalog reports is what it requested from the allocator, rounded as the allocator does.

use crate::ALLOCATOR;
use olmguard::source::{Progress, read_from};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};
use olmguard_support::ALONE;
use serde_json::json;

use olmguard_fixtures::shared::shared;

/// This is a single test, because the allocator counts for the whole process.
#[test]
fn the_figure_is_no_less_and_less_than_twice_that() {
    let _alone = ALONE.blocking_lock();
    agrees("no package", b"");
    agrees("many small packages", &packages(3000, 1));
    agrees("few large packages", &packages(4, 1500));
    agrees("packages that cannot be decoded", &broken(2000));
    match shared() {
        Some(shared) => {
            let file = shared.join("catalogs/community-v4.20.jsonl.zst");
            agrees("community 4.20", &std::fs::read(file).expect("a catalog"));
        }
        None => println!("left out: community-v4.20.jsonl.zst, no shared folder"),
    }
}

#[track_caller]
fn agrees(what: &str, text: &[u8]) {
    let before = ALLOCATOR.current_usage();
    let catalog = Box::new(catalog(text));
    let held = ALLOCATOR.current_usage() - before;
    let estimate = catalog.resident_bytes();
    let is_near = held <= estimate + SLACK && estimate <= 2 * held + SLACK;
    assert!(is_near, "{what}: {estimate} of {held} bytes");
}

/// The account of the catalog, and allocations of the test harness.
const SLACK: usize = 1 << 14;

fn catalog(text: &[u8]) -> Catalog {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    read_from("catalog", text, &Progress::default(), &mut builder).expect("a catalog");
    builder.finish().expect("no bound")
}

/// Returns packages whose bundles have prereleases, build metadata, all kinds of edges, and deprecations.
fn packages(packages: usize, bundles: usize) -> Vec<u8> {
    let mut blobs = Vec::new();
    for package in 0..packages {
        let name = format!("package-{package}");
        let bundle = |n: usize| format!("{name}.v1.{n}.0-rc.{n}");
        let entries = (0..bundles).map(|n| {
            json!({"name": bundle(n), "replaces": bundle(n + 1), "skips": [bundle(n + 2)],
                "skipRange": format!(">=1.{n}.0-alpha <1.{}.7", n + 3)})
        });
        blobs.push(
            json!({"schema": "olm.channel", "package": name, "name": "stable",
            "entries": entries.collect::<Vec<_>>()}),
        );
        blobs.extend((0..bundles).map(|n| {
            let version =
                json!({"packageName": name, "version": format!("1.{n}.0-rc.{n}+build.{n}")});
            json!({"schema": "olm.bundle", "package": name, "name": bundle(n),
                "properties": [{"type": "olm.package", "value": version}]})
        }));
        blobs.push(
            json!({"schema": "olm.deprecations", "package": name, "entries": [
            {"reference": {"schema": "olm.package"}, "message": "no longer kept"},
            {"reference": {"schema": "olm.bundle", "name": bundle(0)}, "message": "too old"}]}),
        );
    }
    lines(&blobs)
}

fn broken(packages: usize) -> Vec<u8> {
    let blob = |n: usize| {
        json!({"schema": "olm.channel", "package": format!("package-{n}"), "name": "stable",
            "entries": [{"name": n}]})
    };
    lines(&(0..packages).map(blob).collect::<Vec<_>>())
}

fn lines(blobs: &[serde_json::Value]) -> Vec<u8> {
    let lines: Vec<_> = blobs.iter().map(ToString::to_string).collect();
    lines.join("\n").into_bytes()
}
