//! The index answers as a plain scan does, on random packages of up to 2,000 bundles: which bundles are successors, and
//! which ones are in a range.
//!
//! The index keeps the answers for the versions of bundles, up to 256 versions times 256 ranges. Small packages are
//! below this bound, and large ones above it.

mod drawn;
mod ranges;
mod scan;

use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::{Constraint, Masterminds, Membership, Version};
use olmguard_catalog::{
    AskedChannels, Bundle, BundleIndex, BundleSet, Catalog, CatalogBuilder, Package, fbc,
};
use proptest::prelude::*;

use self::drawn::{CHANNELS, Drawn, drawn, other_version};
use self::ranges::request;
use self::scan::Scan;

/// What is installed.
#[derive(Clone, Debug)]
enum Installed {
    /// A bundle of the package, by its place.
    Bundle(prop::sample::Index),
    /// The version of one bundle, the name of another one.
    Mixed([prop::sample::Index; 2]),
    /// Any version, with some name or none.
    Other(String, Option<&'static str>),
}

fn installed() -> impl Strategy<Value = Installed> {
    let name = prop::sample::select(&[None, Some(""), Some("b1"), Some("stranger")][..]);
    prop_oneof![
        3 => any::<prop::sample::Index>().prop_map(Installed::Bundle),
        1 => any::<[prop::sample::Index; 2]>().prop_map(Installed::Mixed),
        3 => (other_version(), name).prop_map(|(version, name)| Installed::Other(version, name)),
    ]
}

impl Installed {
    /// The name and the version; none if the package has no bundle, or the version cannot be read.
    fn read(&self, package: &Package) -> Option<(Option<String>, Version)> {
        let bundles: Vec<_> = package.bundles().map(|(_, bundle)| bundle).collect();
        let (named, versioned) = match self {
            Self::Other(version, name) => {
                return Some((name.map(str::to_owned), Version::parse(version).ok()?));
            }
            _ if bundles.is_empty() => return None,
            Self::Bundle(at) => (at, at),
            Self::Mixed([named, versioned]) => (named, versioned),
        };
        let version = versioned.get(&bundles).version.as_ref().ok()?;
        let name = named.get(&bundles).name.to_string();
        Some((Some(name), version.version.clone()))
    }
}

fn catalog(text: &str) -> Catalog {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("catalog", text.as_bytes(), &mut builder).expect("a catalog");
    builder.finish().expect("no bound")
}

/// The channels that a request can name: all, one, or several. A name can be no channel.
fn asked() -> Vec<Vec<String>> {
    let names = |names: &[&str]| names.iter().copied().map(str::to_owned).collect();
    let [first, second, third, _] = CHANNELS;
    vec![
        Vec::new(),
        names(&[first]),
        names(&[third, first, "no channel"]),
        names(&[second, second]),
        names(&["no channel"]),
    ]
}

fn members(set: &BundleSet) -> Vec<u32> {
    set.iter().map(BundleIndex::get).collect()
}

/// Compares both answers for everything that is installed, and for every choice of channels.
fn agrees(drawn: &Drawn, installed: &[Installed]) -> Result<(), TestCaseError> {
    let catalog = catalog(&drawn.fbc());
    let package = catalog.package("p").expect("it").expect("decoded");
    prop_assert_eq!(package.bundle_count(), drawn.bundles.len());
    let scan = Scan::of(drawn, package);
    for (name, version) in installed.iter().filter_map(|one| one.read(package)) {
        for names in asked() {
            let asked = package.ask_channels(&names);
            prop_assert_eq!(asked == AskedChannels::All, names.is_empty());
            let found = package.successors(name.as_deref(), &version, &asked);
            let found = [members(&found.edges), members(&found.crashes)];
            let expected = scan.successors(name.as_deref(), &version, &names);
            prop_assert_eq!(&found, &expected, "{:?} {} in {:?}", name, version, names);
            let place = package.first_of(&version);
            let edge =
                |(bundle, _)| package.edge_to(bundle, (name.as_deref(), &version), place, &asked);
            let found = [Membership::Holds, Membership::Crashes].map(|answer| {
                let all = package.bundles().filter(|bundle| edge(*bundle) == answer);
                all.map(|(bundle, _)| bundle.get()).collect::<Vec<_>>()
            });
            prop_assert_eq!(
                found,
                expected,
                "one by one: {:?} {} in {:?}",
                name,
                version,
                names
            );
        }
    }
    Ok(())
}

fn some_installed() -> impl Strategy<Value = Vec<Installed>> {
    prop::collection::vec(installed(), 12)
}

proptest! {
    #[test]
    fn a_range_keeps_the_versions_that_match(
        drawn in drawn(0..100), ranges in prop::collection::vec(request(), 20),
    ) {
        let catalog = catalog(&drawn.fbc());
        let package = catalog.package("p").expect("it").expect("decoded");
        for release in [Masterminds::V3_3_0, Masterminds::V3_3_1, Masterminds::V3_4, Masterminds::V3_5] {
            for range in ranges.iter().filter_map(|range| Constraint::parse(range, release).ok()) {
                let matches = |bundle: &Bundle| {
                    bundle.version.as_ref().is_ok_and(|it| range.matches(&it.version))
                };
                let expected = package.bundles().filter(|(_, bundle)| matches(bundle));
                let expected: Vec<_> = expected.map(|(index, _)| index.get()).collect();
                prop_assert_eq!(members(&package.in_range(&range)), expected, "{:?}", range);
            }
        }
    }

    #[test]
    fn a_small_package_answers_as_a_scan(
        drawn in drawn(0..40), installed in some_installed(),
    ) {
        agrees(&drawn, &installed)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_package_around_the_bound_answers_as_a_scan(
        drawn in drawn(200..320), installed in some_installed(),
    ) {
        agrees(&drawn, &installed)?;
    }

    #[test]
    fn a_large_package_answers_as_a_scan(
        drawn in drawn(600..2001), installed in some_installed(),
    ) {
        agrees(&drawn, &installed)?;
    }
}
