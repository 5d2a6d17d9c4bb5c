//! `docs/metrics.md`, made from the registry.
//!
//! `OLMGUARD_BLESS=1` writes it anew.

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
            "version" => "`version`: that of the release".to_owned(),
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

`GET /metrics` on the address of `--ops-listen`, or over TLS on that of `--metrics-listen`, in Prometheus' text
format. This page is written by a test from the registry itself; `cargo xtask bless` writes it anew.

Every series but those of catalogs is there from the start, at 0. No package, version, user or
object is ever a label.

| name | type | labels | what it tells |
| --- | --- | --- | --- |
";
