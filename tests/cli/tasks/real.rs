//! The same questions about packages of a real catalog.

#![expect(clippy::print_stdout, reason = "what is left out is said")]

use std::path::PathBuf;

use olmguard_fixtures::shared::shared;
use tempfile::TempDir;

use super::{answers, answers_within};

/// Returns a catalog as a flag, if this machine has it.
fn catalog(name: &str, version: &str) -> Option<String> {
    let file = shared()?.join(format!("catalogs/community-{version}.jsonl.zst"));
    if !file.is_file() {
        println!("left out: the recorded catalog, no shared folder");
        return None;
    }
    Some(format!("--catalog={name}={}", file.display()))
}

fn community() -> Option<String> {
    catalog("community", "v4.20")
}

/// A directory with an extension `cache` that requests this version of infinispan.
struct Manifest(TempDir);

impl Manifest {
    fn of(version: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        let text = format!(
            "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {{name: cache}}\n\
             spec:\n  namespace: cache\n  serviceAccount: {{name: cache}}\n  source:\n    sourceType: Catalog\n    \
             catalog:\n      packageName: infinispan\n      version: \"{version}\"\n"
        );
        std::fs::write(folder.path().join("cache.yaml"), text).expect("a file");
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

#[test]
fn a_pull_request_that_leaps_over_a_gap() {
    let Some(community) = community() else { return };
    let [new, base] = ["2.5.14", "2.2.5"].map(Manifest::of);
    let base = format!("--base={}", base.path().display());
    let new = new.path().display().to_string();
    answers(
        &["check", &new, &base, &community],
        &[
            "infinispan: 2.2.5 -> 2.5.14 refused: 2.5.14 is not a successor of 2.2.5 in catalog community \
             [NotASuccessor]",
            "No upgrade path from 2.2.5 to 2.5.14. Only the catalog author can add one.",
            "1 denied",
        ],
        &["Fix:", "Path:"],
    );
}

#[test]
fn the_next_version_is_a_release_of_the_default_channel() {
    let Some(community) = community() else { return };
    answers(
        &["versions", "infinispan", "--installed=2.4.0", &community],
        &["Allowed next 2.4.1", "Highest reachable: 2.5.14"],
        &["Prerelease"],
    );
    // Ten channels come first.
    answers_within(
        20,
        &["versions", "sailoperator", "--installed=1.26.0", &community],
        &[
            "Allowed next 1.30.3, 1.30.0, 1.29.2,",
            "Prerelease 1.31.0-nightly-",
            "Highest reachable: 1.30.3. Highest prerelease: 1.31.0-nightly-2026-08-22.",
        ],
        &[],
    );
    answers(
        &["path", "sailoperator", "1.26.0", &community],
        &[
            "sailoperator: 1.26.0 -> 1.30.3: 1 step",
            "Highest reachable: 1.30.3. Highest prerelease: 1.31.0-nightly-2026-08-22.",
            "Prerelease OLM upgrades automatically to 1.31.0-nightly-2026-08-22",
        ],
        &[],
    );
    answers(
        &[
            "versions",
            "hive-operator",
            "--installed=2.3.3033-c1c7735",
            &community,
        ],
        &[
            "Allowed next 2.3.3039-60b8a9a (prerelease)",
            "Highest reachable: 2.3.3039-60b8a9a (prerelease).",
        ],
        &[],
    );
}

#[test]
fn a_refusal_of_olm_is_explained_and_its_path_comes_before_the_author() {
    let Some(community) = community() else { return };
    let reported = "error upgrading from currently installed version \"2.4.0\": no bundles found for package \
                    \"infinispan\" matching version \"2.5.14\"";
    answers(
        &["explain", reported],
        &["no upgrade edge from the installed bundle to any of them"],
        &[],
    );
    answers(
        &["explain", "infinispan", "2.4.0", "2.5.14", &community],
        &[
            "denied: 2.5.14 is not a successor of 2.4.0 in catalog community [NotASuccessor] Fix install 2.4.1 \
             first Path 2.4.0 -> 2.4.1",
        ],
        &[],
    );
}

#[test]
fn a_downgrade_names_the_override() {
    let Some(community) = community() else { return };
    answers(
        &["path", "infinispan", "2.4.0", "2.3.8", &community],
        &[
            "infinispan: 2.4.0 -> 2.3.8: no upgrade path",
            "2.3.8 is older than 2.4.0 and not a successor of it in catalog community [Downgrade]",
            "Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified",
        ],
        &["Fix:"],
    );
}

#[test]
fn two_catalogs_with_the_package() {
    let both = [("a", "v4.20"), ("b", "v4.19")].map(|(name, version)| catalog(name, version));
    let [Some(a), Some(b)] = both else { return };
    answers(
        &["path", "infinispan", "2.4.0", &a, &b],
        &[
            "ambiguous: catalogs a, b have the same priority",
            "Fix select one of them with --in CATALOG",
        ],
        &["no newer version is reachable: "],
    );
}

#[test]
fn a_z_stream_and_where_an_open_range_goes() {
    let Some(community) = community() else { return };
    for range in ["~2.4", "2.4.x"] {
        answers(
            &["range", range, "--package=infinispan", &community],
            &["from 2.4.0 up to, but without, 2.5.0"],
            &[],
        );
    }
    answers(
        &["path", "infinispan", "2.4.0", "--range=>=2.4", &community],
        &[
            "infinispan: 2.4.0 -> 2.5.14: 19 steps",
            "One edit set spec.source.catalog.version to \">=2.4.0 <=2.5.14\"",
            "Automatic if the version is \">=2.4\": 2.4.0 -> 2.4.1 -> 2.4.2",
        ],
        &[],
    );
    answers(
        &["path", "infinispan", "2.2.5", &community],
        &[
            "infinispan: 2.2.5: no newer version is reachable",
            "Highest reachable: none. No upgrade to the 43 newer versions.",
        ],
        &[],
    );
}

#[test]
fn a_picture_takes_its_form_from_its_name() {
    let Some(community) = community() else { return };
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("infinispan.html");
    let flag = format!("--output-file={}", file.display());
    answers(
        &[
            "graph",
            "infinispan",
            "--installed=2.2.5",
            &community,
            &flag,
        ],
        &[],
        &["graph BT"],
    );
    let page = std::fs::read_to_string(&file).expect("a page");
    assert!(page.starts_with("<!doctype html>"), "{page:.80}");
    assert!(page.contains("<title>infinispan: upgrade graph</title>"));
}

#[test]
fn a_new_catalog_is_compared_and_put_to_what_runs() {
    let Some(community) = community() else { return };
    let both = [("a", "v4.19"), ("b", "v4.20")].map(|(name, version)| catalog(name, version));
    let files = both.map(|flag| flag.and_then(|flag| Some(flag.rsplit_once('=')?.1.to_owned())));
    let [Some(old), Some(new)] = files else {
        return;
    };
    answers(
        &["diff", &old, &new],
        &["OLM v1 users: ", "breaking changes"],
        &[],
    );
    let folder = TempDir::new().expect("a folder");
    let installed = |name: &str, package: &str, version: &str| {
        format!(
            "---\napiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {{name: {name}}}\n\
             spec:\n  namespace: {name}\n  serviceAccount: {{name: {name}}}\n  source:\n    sourceType: Catalog\n    \
             catalog: {{packageName: {package}}}\nstatus:\n  install:\n    bundle: {{name: \
             {package}.v{version}, version: {version}}}\n"
        )
    };
    let file = folder.path().join("installed.yaml");
    let text = installed("mesh", "sailoperator", "1.26.0");
    std::fs::write(&file, text).expect("a file");
    answers(
        &["audit", &file.display().to_string(), &community],
        &[
            "1 extension: 1 upgrades to a prerelease, 1 upgrades automatically",
            "moves to prerelease: OLM upgrades automatically from a release to the prerelease 1.31.0-nightly-",
        ],
        &["without findings", "moves_to_prerelease"],
    );
}

#[test]
fn a_guardrail_that_must_be_passed() {
    let Some(community) = community() else { return };
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("rules.yaml");
    let rules = "schema: olmguard.guardrails.v1alpha1\npackage: infinispan\nrules:\n- {id: via-2.4.9, kind: \
                 PassThrough, via: \">=2.4.9 <2.4.10-0\", reason: 2.4.9 converts the caches}\n";
    std::fs::write(&file, rules).expect("a file");
    let flag = format!("--guardrails={}", file.display());
    let manifest = Manifest::of(">=2.4.18 <=2.5.14");
    let manifest = manifest.path().display().to_string();
    let installed = "--installed=cache=2.4.0";
    answers(
        &["check", &manifest, installed, &community, &flag],
        &["refused", "2.4.8 -> 2.4.9 -> 2.4.10"],
        &[],
    );
}

#[test]
fn the_webhook_is_off_with_one_command_and_code_4_is_explained() {
    let emergency = std::fs::read_to_string("docs/emergency.md").expect("a page");
    let first = emergency.lines().take(12).collect::<Vec<_>>().join(" ");
    assert!(first.contains("kubectl patch"), "{first}");
    answers(
        &["explain", "4"],
        &["a change is undecided because a fact is missing"],
        &[],
    );
}
