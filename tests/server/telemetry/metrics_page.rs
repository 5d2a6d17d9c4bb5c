//! `docs/metrics.md`, generated from the registry.
//!
//! `OLMGUARD_BLESS=1` writes it again.

use std::fmt::Write;

use olmguard_fixtures::committed::compare;

use super::exposition::{Family, families};
use super::metrics::all;

#[cfg(target_os = "linux")]
#[test]
fn the_page_of_the_metrics_is_that_of_the_registry() {
    let mut page = HEAD.to_owned();
    for (name, family) in families(&all().render()) {
        writeln!(
            page,
            "| `{name}` | {} | {} | {} |",
            family.kind,
            labels(&family),
            family.help
        )
        .unwrap();
    }
    compare("docs/metrics.md", &page);
}

fn labels(family: &Family) -> String {
    let labels = family
        .labels()
        .into_iter()
        .map(|(label, values)| match label {
            "catalog" => "`catalog`: the names of the catalogs".to_owned(),
            "version" => "`version`: the version of olmguard".to_owned(),
            _ => {
                let values: Vec<_> = values
                    .into_iter()
                    .map(|value| format!("`{value}`"))
                    .collect();
                format!("`{label}`: {}", values.join(", "))
            }
        });
    labels.collect::<Vec<_>>().join("; ")
}

const HEAD: &str = "\
# Metrics

olmguard serves these metrics at `GET /metrics`, in the text format of Prometheus. The address is
`--ops-listen`, or with TLS `--metrics-listen`. A test writes this page from the registry: run
`cargo xtask bless` to update it.

Every series except the series of catalogs and of the last audit exists from the start, at 0. Only the
replica that audits has the series of the last audit. Packages, versions, users and objects are never
labels.

| name | type | labels | description |
| --- | --- | --- | --- |
";
