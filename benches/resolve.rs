//! What one judgement costs: the rows with all their evidence, words and advice excluded.
//!
//! Reads the recorded packages through `OLMGUARD_SHARED` (default `../shared`). Requests come in a
//! shuffled order, fixed by a seed; nothing is remembered between calls, the ranges are compiled in
//! each of them.

use olmguard_engine::judge::Basis;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use olmguard::source::{Progress, read};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};
use olmguard_engine::extension::{
    Extension, Filter, Installed, InstalledBundle, Shape, SourceType,
};
use olmguard_engine::judge::{Continuation, Edit, Request, Requester, Warning, judge, rule};
use olmguard_engine::resolve::EditContext;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use serde_json::json;

fn main() {
    divan::main();
}

#[divan::bench(args = PACKAGES)]
fn fresh_no_version(bencher: Bencher<'_, '_>, package: &str) {
    let bench = Bench::of(package);
    let request = vec![(bench.filter(None), Installed::Nothing)];
    bench.run(bencher, &request);
}

#[divan::bench(args = PACKAGES)]
fn upgrade_from_one(bencher: Bencher<'_, '_>, package: &str) {
    let bench = Bench::of(package);
    let version = if package == "project-quay" {
        "3.10.13"
    } else {
        "2.21.0"
    };
    let installed = bench
        .bundles()
        .into_iter()
        .find(|(_, v)| v == version)
        .expect("recorded");
    bench.run(bencher, &[(bench.filter(None), as_installed(installed))]);
}

/// Every installed version with no version, every exact version and a range of each kind.
#[divan::bench(args = PACKAGES)]
fn shuffled_over_all(bencher: Bencher<'_, '_>, package: &str) {
    let bench = Bench::of(package);
    let bundles = bench.bundles();
    let mut requests = Vec::new();
    for from in &bundles {
        requests.push((bench.filter(None), as_installed(from.clone())));
        for (_, to) in bundles.iter().step_by(7) {
            for range in [
                to.clone(),
                format!(">={to}"),
                format!("^{to}"),
                format!("~{to} || <1.0.0"),
            ] {
                requests.push((bench.filter(Some(&range)), as_installed(from.clone())));
            }
        }
    }
    shuffle(&mut requests);
    bench.run(bencher, &requests);
}

/// The rows of an edit whose newest match is 25 steps away, and the same with its warnings: one of them says
/// where OLM goes from what it installs first, and looks at each step.
#[divan::bench(args = ["rows", "rows and warnings"])]
fn newest_is_many_steps_away(bencher: Bencher<'_, '_>, part: &str) {
    let bench = Bench::of("project-quay");
    let filter = bench.filter(Some("3.10.x"));
    let mut installed = bench.bundles().into_iter();
    let installed = installed.find(|(_, v)| v == "3.10.0").expect("recorded");
    let request = [(filter, as_installed(installed))];
    let [(filter, installed)] = &request;
    let mut extension = Extension::read(Shape::V1, &json!({}));
    extension.filter = Ok(filter.clone());
    extension.source_type = SourceType::Catalog;
    let edit = Edit {
        new: &extension,
        old: None,
        installed,
        schema: &[],
        requester: Requester::unknown(),
    };
    let basis = Basis::without_policies(&bench.snapshot);
    let judged = judge(basis, &edit);
    assert!(matches!(
        judged.warnings.as_slice(),
        [Warning::NewestNotDirect {
            then: Continuation::Newest,
            ..
        }]
    ));
    match part {
        "rows" => bench.run(bencher, &request),
        _ => bencher.bench(|| judge(black_box(basis), black_box(&edit))),
    }
}

const PACKAGES: &[&str] = &["project-quay", "opendatahub-operator"];

struct Bench {
    package: String,
    snapshot: Snapshot,
    catalog: Arc<Catalog>,
}

impl Bench {
    fn of(package: &str) -> Self {
        let rules = Rules::default();
        let file = shared().join(format!("vectors/decisions/catalogs/{package}.jsonl"));
        let mut builder = CatalogBuilder::new(&rules);
        read(&file, &Progress::default(), &mut builder).expect("a recorded package");
        let catalog = Arc::new(builder.finish().expect("no bound"));
        let state = CatalogState::named("cat", Content::Loaded(Arc::clone(&catalog)));
        Self {
            package: package.to_owned(),
            snapshot: Snapshot::new(rules, [state]),
            catalog,
        }
    }

    fn filter(&self, version: Option<&str>) -> Filter {
        Filter {
            package: self.package.clone(),
            version: version.map(str::to_owned),
            ..Filter::default()
        }
    }

    fn bundles(&self) -> Vec<(String, String)> {
        let package = self
            .catalog
            .package(&self.package)
            .expect("there")
            .expect("decoded");
        let bundles = package.bundles().map(|(_, bundle)| bundle);
        let read = bundles.filter_map(|b| Some((b.name.to_string(), b.version.as_ref().ok()?)));
        read.map(|(name, version)| (name, version.version.to_string()))
            .collect()
    }

    fn run(&self, bencher: Bencher<'_, '_>, requests: &[(Filter, Installed)]) {
        bencher.counter(ItemsCount::new(requests.len())).bench(|| {
            for (filter, installed) in requests {
                black_box(rule(
                    Basis::without_policies(&self.snapshot),
                    black_box(&Request {
                        filter,
                        installed,
                        context: EditContext::unknown(),
                    }),
                ));
            }
        });
    }
}

fn as_installed((name, version): (String, String)) -> Installed {
    Installed::Bundle(InstalledBundle {
        name: Some(name),
        version,
        release: None,
    })
}

/// Fisher and Yates with a small generator of fixed seed: the same order in every run.
fn shuffle<T>(items: &mut [T]) {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    for last in (1..items.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let pick = usize::try_from((state >> 33) % (last as u64 + 1)).expect("below len");
        items.swap(last, pick);
    }
}

fn shared() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    std::env::var_os("OLMGUARD_SHARED").map_or_else(beside, PathBuf::from)
}
