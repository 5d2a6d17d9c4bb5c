//! Any bytes as a file-based catalog, JSON or YAML: it is read and indexed, or refused, and the same each time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olmguard_catalog::fbc::read;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};

fuzz_target!(|text: &[u8]| {
    let rules = Rules::default();
    let (one, other) = (catalog(text, &rules), catalog(text, &rules));
    let counts = one.as_ref().map(Catalog::counts);
    assert_eq!(counts, other.as_ref().map(Catalog::counts));
    for name in one.iter().flat_map(Catalog::package_names) {
        let found = one.as_ref().ok().and_then(|catalog| catalog.package(name));
        assert!(found.is_some(), "{name:?}");
    }
    assert!(counts.map_or(0, |counts| counts.bundles) <= text.len());
});

fn catalog(text: &[u8], rules: &Rules) -> Result<Catalog, String> {
    let mut builder = CatalogBuilder::new(rules);
    read("fuzzed", text, &mut builder).map_err(|error| error.to_string())?;
    builder.finish().map_err(|error| error.to_string())
}
