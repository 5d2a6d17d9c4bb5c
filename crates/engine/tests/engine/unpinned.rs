//! The behaviour of OLM v1 if no version is requested, as `diff` and the report of a promotion use
//! it.

use olmguard_catalog::AskedChannels;
use olmguard_catalog::version::VersionRelease;
use olmguard_engine::resolve::Unpinned;
use olmguard_engine::snapshot::Content;
use olmguard_fixtures::question::ask;
use olmguard_fixtures::written::written;

/// The successors of a version, the best first, and the next one.
fn next(lines: &str, version: &str) -> (Vec<String>, Option<String>) {
    let snapshot = ask(&[("hub", 0, &written(lines))]).snapshot();
    let Some(Content::Loaded(catalog)) = snapshot.catalogs().first().map(|it| &it.content) else {
        panic!("a catalog");
    };
    let package = catalog
        .package("P")
        .and_then(Result::ok)
        .expect("a package");
    let unpinned = Unpinned::of(package, AskedChannels::All);
    let (name, version) = (
        format!("P.v{version}"),
        VersionRelease::parse_legacy(version, snapshot.rules().legacy_release).expect("a version"),
    );
    let named = |index| package.bundle(index).name.to_string();
    let successors = unpinned.successors(&name, Some(&version));
    let next = unpinned.next(&name, Some(&version)).map(named);
    (successors.iter().map(named).collect(), next)
}

#[test]
fn a_bundle_that_olm_refuses_is_neither_a_successor_nor_passed_over() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.0.0";
    let of = |successors: &[&str], next: Option<&str>| {
        let successors = successors.iter().map(|it| (*it).to_owned()).collect();
        (successors, next.map(str::to_owned))
    };
    let both = of(&["P.v1.2.0", "P.v1.1.0"], Some("P.v1.2.0"));
    assert_eq!(next(lines, "1.0.0"), both);
    assert_eq!(next(lines, "1.2.0"), of(&[], None));
    let refused = format!("{lines}\n(requires): 1.2.0 olm.gvk.required");
    assert_eq!(next(&refused, "1.0.0"), of(&["P.v1.1.0"], None));
}
