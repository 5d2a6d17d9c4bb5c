//! Recorded answers of the real resolver, and the answers of this program to the same questions.

use olmguard_engine::judge::Basis;
use olmguard_engine::resolve::{Choice, EditContext};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use olmguard_catalog::olm::{Gates, OlmRelease, Rules};
use olmguard_catalog::version::BundleReleaseSupport;
use olmguard_catalog::{Catalog, CatalogBuilder, fbc};
use olmguard_engine::explain::{Answer, answer};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::Edit;
use olmguard_engine::judge::Request;
use olmguard_engine::judge::Requester;
use olmguard_engine::judge::RuledEdit;
use olmguard_engine::judge::rule;
use olmguard_engine::judge::successors;
use olmguard_engine::snapshot::{
    Availability, CatalogState, Content, Labels, ServingState, Snapshot,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// One case, as `decisions/README.md` describes it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) catalogs: Vec<CaseCatalog>,
    pub(crate) spec: Value,
    #[serde(default)]
    pub(crate) features: BTreeMap<String, bool>,
    pub(crate) installed: Option<CaseInstalled>,
    #[serde(default)]
    pub(crate) expect: Expect,
    #[serde(default, rename = "expectByRelease")]
    pub(crate) expect_by_release: BTreeMap<String, Expect>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CaseCatalog {
    name: String,
    priority: i32,
    fbc: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default, rename = "availabilityMode")]
    availability_mode: Option<String>,
    #[serde(default)]
    serving: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CaseInstalled {
    name: String,
    version: String,
    #[serde(default, deserialize_with = "present")]
    pub(crate) release: Option<String>,
}

/// The recorded answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Expect {
    pub(crate) bundle: Option<String>,
    pub(crate) catalog: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) release: Option<String>,
    pub(crate) deprecation_catalog: Option<String>,
    #[serde(default)]
    pub(crate) deprecated: Option<bool>,
    pub(crate) error: Option<String>,
    pub(crate) error_kind: Option<String>,
    pub(crate) matched: Option<BTreeMap<String, usize>>,
    pub(crate) successors: Option<BTreeMap<String, Vec<String>>>,
    pub(crate) alternatives: Option<Vec<Value>>,
    pub(crate) record: Option<Value>,
}

/// Puts cases to this program. A catalog is indexed once for all cases that name it.
pub(crate) struct Bench {
    rules: Rules,
    folder: std::path::PathBuf,
    read: RefCell<HashMap<String, Content>>,
}

impl Bench {
    pub(crate) fn new(olm: &str, gates: &[&str], folder: &Path) -> Self {
        let olm: OlmRelease = olm.parse().expect("a release");
        let gates = Gates::parse(gates.iter().copied(), olm).expect("gates of the release");
        Self {
            rules: Rules::new(olm, gates),
            folder: folder.into(),
            read: RefCell::default(),
        }
    }

    pub(crate) fn snapshot(&self, case: &Case) -> Snapshot {
        let catalogs = case.catalogs.iter().map(|catalog| self.state(catalog));
        Snapshot::new(self.rules.clone(), catalogs)
    }

    fn state(&self, catalog: &CaseCatalog) -> CatalogState {
        let mut state = CatalogState::named(&catalog.name, self.content(&catalog.fbc));
        state.priority = catalog.priority;
        state.labels = Labels::with_name(&catalog.name, catalog.labels.clone());
        if catalog.availability_mode.as_deref() == Some("Unavailable") {
            state.availability = Availability::Unavailable;
        }
        if catalog.serving == Some(false) {
            state.serving = ServingState::KnownNot;
        }
        state
    }

    fn content(&self, fbc: &str) -> Content {
        self.read
            .borrow_mut()
            .entry(fbc.to_owned())
            .or_insert_with(|| self.load(fbc))
            .clone()
    }

    fn load(&self, fbc: &str) -> Content {
        let text = match fbc.strip_prefix("catalogs/") {
            Some(_) => std::fs::read_to_string(self.folder.join(fbc)).expect(fbc),
            None => fbc.to_owned(),
        };
        match catalog(&text, &self.rules) {
            Ok(catalog) => Content::Loaded(Arc::new(catalog)),
            Err(error) => Content::Unreadable(error),
        }
    }
}

/// A catalog, read from its text.
pub(crate) fn catalog(text: &str, rules: &Rules) -> Result<Catalog, String> {
    let mut builder = CatalogBuilder::new(rules);
    let read = fbc::read("catalog", text.as_bytes(), &mut builder);
    read.map(|()| builder.finish().expect("no bound"))
        .map_err(|error| format!("catalog: {error}"))
}

impl Case {
    pub(crate) fn extension(&self) -> Extension {
        let source = json!({"sourceType": "Catalog", "catalog": self.spec});
        let object = json!({
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": {"name": "case"},
            "spec": {"namespace": "case", "source": source},
        });
        Extension::read(Shape::V1, &object)
    }

    pub(crate) fn installed(&self) -> Installed {
        match &self.installed {
            None => Installed::Nothing,
            Some(bundle) => Installed::Bundle(InstalledBundle {
                name: Some(bundle.name.clone()),
                version: bundle.version.clone(),
                release: bundle.release.clone(),
            }),
        }
    }

    pub(crate) fn bundle_release_support(&self) -> BundleReleaseSupport {
        match self.features.get("BundleReleaseSupport") {
            Some(true) => BundleReleaseSupport::Enabled,
            _ => BundleReleaseSupport::Disabled,
        }
    }

    /// The row that answers, and the whole answer with its text.
    pub(crate) fn put_to<R>(
        &self,
        snapshot: &Snapshot,
        see: impl FnOnce(&RuledEdit<'_>, Option<&[Choice<'_>]>, &Answer) -> R,
    ) -> R {
        let (extension, installed) = (self.extension(), self.installed());
        let filter = extension.filter.as_ref().expect("a readable filter");
        let basis = Basis::without_policies(snapshot);
        let request = Request {
            filter,
            installed: &installed,
            context: EditContext::unknown(),
        };
        let ruled = rule(basis, &request);
        let successors = successors(basis, &request, &ruled.ruling);
        let edit = Edit {
            new: &extension,
            old: None,
            installed: &installed,
            schema: &[],
            requester: Requester::unknown(),
        };
        see(&ruled, successors.as_deref(), &answer(basis, &edit))
    }
}

fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    String::deserialize(from).map(Some)
}
