mod cluster;
mod extension;
mod reading;

use serde_json::{Value, json};

use super::*;
use olmguard_catalog::olm::{Gates, Rules};
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::judge::{Basis, Policies, Requester};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::question::content;

/// A catalog, and the objects of OLM v0.
struct Scene {
    rules: Rules,
    catalog: &'static str,
    csv: Value,
    more: Vec<Value>,
    objects: Vec<Value>,
    extensions: Vec<Value>,
    /// Whether installed CSVs that are not among the objects exist, with the content of the catalog.
    has_csvs: bool,
}

const ALL: &[&str] = &["AllNamespaces"];

/// An OLM 1.11 with unknown gates. Package `p` has 1.0.0, 1.1.0 and 1.2.0 in channel `stable`, which support these
/// install modes.
fn scene(modes: &[&str]) -> Scene {
    let modes = modes
        .iter()
        .map(|mode| json!({"type": mode, "supported": true}));
    Scene {
        rules: Rules::default(),
        catalog: "hub",
        csv: json!({"installModes": modes.collect::<Vec<_>>()}),
        more: Vec::new(),
        objects: Vec::new(),
        extensions: Vec::new(),
        has_csvs: true,
    }
}

fn object(kind: &str, name: &str, spec: &Value, status: &Value) -> Value {
    let version = if kind == "OperatorGroup" {
        "v1"
    } else {
        "v1alpha1"
    };
    json!({"apiVersion": format!("operators.coreos.com/{version}"), "kind": kind,
        "metadata": {"name": name, "namespace": "ns"}, "spec": spec, "status": status})
}

/// A Subscription of package `p` in namespace `ns`, with additional fields in its spec.
fn subscription(more: &Value, installed: &str) -> Value {
    let mut spec =
        json!({"name": "p", "source": "hub", "sourceNamespace": "olm", "channel": "stable"});
    for (key, value) in more.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    object(
        "Subscription",
        "sub",
        &spec,
        &json!({"installedCSV": installed, "state": "AtLatestKnown"}),
    )
}

fn csv(name: &str, spec: &Value) -> Value {
    object(
        "ClusterServiceVersion",
        name,
        spec,
        &json!({"phase": "Succeeded"}),
    )
}

fn group(targets: &Value) -> Value {
    object(
        "OperatorGroup",
        "group",
        &json!({"targetNamespaces": targets}),
        &json!({}),
    )
}

impl Scene {
    fn with(mut self, object: Value) -> Self {
        self.objects.push(object);
        self
    }

    fn olm(self, release: &str, gates: Option<&[&str]>) -> Self {
        let olm = release.parse().unwrap();
        let gates = gates.map(|gates| Gates::parse(gates.iter().copied(), olm).unwrap());
        let rules = Rules::new(olm, gates.unwrap_or_default());
        Self { rules, ..self }
    }

    fn without_csv(self) -> Self {
        let has_csvs = false;
        Self { has_csvs, ..self }
    }

    /// Returns the installed CSVs that are not among the objects.
    fn csvs(&self) -> Vec<Value> {
        let named = |name: &str| {
            let mut names = self.objects.iter().map(|one| &one["metadata"]["name"]);
            names.any(|known| known == name)
        };
        let installed = self
            .objects
            .iter()
            .map(|one| &one["status"]["installedCSV"]);
        let installed = installed
            .filter_map(Value::as_str)
            .filter(|_| self.has_csvs);
        let missing = installed.filter(|name| !name.is_empty() && !named(name));
        let mut missing: Vec<_> = missing.collect();
        missing.sort_unstable();
        missing.dedup();
        missing.iter().map(|name| csv(name, &self.csv)).collect()
    }

    fn fbc(&self) -> String {
        let bundle = |version: &str| {
            let package =
                json!({"type": "olm.package", "value": {"packageName": "p", "version": version}});
            let csv = json!({"type": "olm.csv.metadata", "value": self.csv});
            let properties: Vec<_> = [package, csv]
                .into_iter()
                .chain(self.more.clone())
                .collect();
            json!({"schema": "olm.bundle", "package": "p", "name": format!("p.v{version}"),
                "image": format!("example.com/p:{version}"), "properties": properties})
        };
        let entries = json!([{"name": "p.v1.0.0", "replaces": "p.v0.9.0"},
            {"name": "p.v1.1.0", "replaces": "p.v1.0.0"}, {"name": "p.v1.2.0", "replaces": "p.v1.1.0"}]);
        let blobs = [
            json!({"schema": "olm.package", "name": "p", "defaultChannel": "stable"}),
            json!({"schema": "olm.channel", "package": "p", "name": "stable", "entries": entries}),
            json!({"schema": "olm.channel", "package": "p", "name": "old", "entries": [{"name": "p.v1.0.0"}]}),
            bundle("1.0.0"),
            bundle("1.1.0"),
            bundle("1.2.0"),
        ];
        blobs.iter().map(Value::to_string).collect()
    }

    fn report(&self) -> MigrationReport {
        self.report_under(&Policies::default(), Requester::unknown())
    }

    fn report_under(&self, policies: &Policies, requester: &Requester) -> MigrationReport {
        let content = content(&self.fbc(), &self.rules);
        let state = CatalogState::named(self.catalog, content);
        let snapshot = Snapshot::new(self.rules.clone(), [state]);
        let mut objects = ClassicObjects::default();
        for object in self.objects.iter().chain(&self.csvs()) {
            objects.add(object).unwrap();
        }
        let extensions = self.extensions.iter();
        let extensions: Vec<_> = extensions
            .map(|one| Extension::read(Shape::V1, one))
            .collect();
        MigrationReport::of(&MigrationFacts {
            basis: Basis {
                snapshot: &snapshot,
                policies,
            },
            requester,
            objects: &objects,
            extensions: &extensions,
        })
    }

    /// Returns the only Subscription.
    fn only(&self) -> SubscriptionReport {
        let [only] = <[_; 1]>::try_from(self.report().subscriptions).unwrap();
        only
    }

    /// Checks the verdict, and the ids of the obstacles, the needs and the changes.
    #[track_caller]
    fn gives(&self, verdict: &str, ids: [&[&str]; 3]) -> SubscriptionReport {
        let only = self.only();
        let found = [&only.obstacles, &only.needs, &only.changes];
        let found = found.map(|list| list.iter().map(|one| one.id).collect::<Vec<_>>());
        assert_eq!(
            (only.verdict, found.each_ref().map(|ids| &**ids)),
            (verdict, ids),
            "{only:?}"
        );
        only
    }
}

/// Returns the field of the extension at this path.
fn at(report: &SubscriptionReport, path: &str) -> Value {
    let extension = report.extension.as_ref().unwrap();
    extension.pointer(path).cloned().unwrap_or_default()
}

const VERSION: &str = "/spec/source/catalog/version";
const INLINE: &str = "/spec/config/inline";

fn automatic(installed: &str) -> Value {
    subscription(&json!({}), installed)
}
