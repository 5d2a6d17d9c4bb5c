//! Lint computes for all versions of a channel together whether OLM v0 reaches the head. Here each version walks
//! there step by step. If opm accepts a channel and OLM v0 does not, both computations must report it.

#![expect(clippy::panic, reason = "a test that cannot go on fails there")]

use std::collections::BTreeSet;

use crate::lint_rules::lint_rule;
use olmguard_catalog::graph::{Graph, version_in_name};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{CatalogBuilder, fbc};
use olmguard_engine::resolve::classic::{
    InstalledCsv, LineError, SubscribedChannel, SubscriptionOrder,
};
use olmguard_views::lint::{Family, lint, written};
use proptest::prelude::*;

/// An entry: the names that it replaces and skips, and the bounds of its range.
type Drawn = (Option<u8>, Vec<u8>, Option<(u8, u8)>);

/// A line of [`crate::rows::channel`]. The entries are the versions from 1 on, and edges can start at other names.
fn line(entries: &[Drawn]) -> String {
    let entry = |(own, (replaces, skips, range)): (usize, &Drawn)| {
        let skipped: Vec<_> = skips.iter().map(ToString::to_string).collect();
        let skipped = Some(skipped.join(",")).filter(|skipped| !skipped.is_empty());
        let parts = [
            Some(own.to_string()),
            replaces.map(|replaces| format!("replaces {replaces}")),
            skipped.map(|skipped| format!("skips {skipped}")),
            range.map(|(from, to)| format!("skipRange >={from}.0.0_<{to}.0.0")),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        parts.join(" ")
    };
    let entries: Vec<_> = (1..).zip(entries).map(entry).collect();
    entries.join("; ")
}

/// Result of OLM v0 for a channel: the names that are left behind, or an error if it refuses the channel.
type Behind = Result<BTreeSet<String>, ()>;

/// Returns the result of lint. `None` if opm refuses the channel.
fn cut_off(catalog: &str) -> Option<Behind> {
    let findings = lint(&[written("c.yaml", catalog.as_bytes())]);
    let is_valid = !findings
        .iter()
        .any(|one| one.rule.family() != Family::Users);
    let cut = findings
        .iter()
        .filter(|one| one.rule == lint_rule("cut-off-version"));
    let names = cut.filter_map(|one| one.message.split('"').nth(1).map(str::to_owned));
    let is_refused = findings
        .iter()
        .any(|one| one.rule == lint_rule("skipped-cycle"));
    let behind = if is_refused {
        Err(())
    } else {
        Ok(names.collect())
    };
    is_valid.then_some(behind)
}

/// Returns the names in a channel from which no walk reaches its head.
fn left_behind(catalog: &str) -> Behind {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("c.yaml", catalog.as_bytes(), &mut builder).unwrap_or_else(|fault| panic!("{fault}"));
    let catalog = builder.finish().expect("no bound");
    let package = catalog.package("p").and_then(Result::ok);
    let graph = Graph::of("p", package.unwrap_or_else(|| panic!("no package")));
    let line = match SubscriptionOrder::of(&graph, SubscribedChannel::To("c")) {
        Ok(line) => line,
        Err(LineError::Cycle { .. }) => return Err(()),
        Err(other) => panic!("opm takes it: {other}"),
    };
    let versions: Vec<_> = graph
        .nodes()
        .map(|node| version_in_name(graph.name_of(node)))
        .collect();
    let nodes = graph.nodes().zip(&versions);
    let behind = nodes.filter(|(node, version)| {
        let installed = InstalledCsv {
            name: graph.name_of(*node),
            version: version.as_ref(),
        };
        // If the head has an edge down, the walk continues from there.
        let mut walked = line.walk(installed).into_iter().chain([*node]);
        !walked.any(|node| Some(node) == line.head())
    });
    let names = behind.map(|(node, _)| graph.name_of(node).to_owned());
    Ok(names.collect())
}

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    (2_u8..8).prop_flat_map(|size| {
        let entry = move |own: u8| {
            let replaces = prop_oneof![
                6 => Just(own.checked_sub(1).filter(|below| *below > 0)),
                2 => proptest::option::of(0..=size),
            ];
            let skips = proptest::collection::btree_set(0..=size, 0..3)
                .prop_map(|skips| skips.into_iter().collect::<Vec<_>>());
            let skips = prop_oneof![3 => Just(Vec::new()), 2 => skips];
            let range = (0..size, 0..=size + 1);
            (replaces, skips, proptest::option::weighted(0.4, range))
        };
        (1..=size).map(entry).collect::<Vec<_>>()
    })
}

proptest! {
    // opm refuses many of the random channels.
    #![proptest_config(ProptestConfig {
        cases: 1000,
        max_global_rejects: 100_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn lint_agrees_with_the_walk(entries in drawn()) {
        let catalog = crate::rows::channel(&line(&entries));
        let cut = cut_off(&catalog);
        prop_assume!(cut.is_some());
        prop_assert_eq!(cut, Some(left_behind(&catalog)), "{}", line(&entries));
    }
}
