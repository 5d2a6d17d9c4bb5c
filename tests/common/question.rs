//! A question to the decision table, put together piece by piece.

use std::sync::Arc;

use olmguard::catalog::{CatalogBuilder, Package};
use olmguard::explain::{Answer, answer};
use olmguard::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard::judge::{Edit, Request, Ruled, rule};
use olmguard::olm::{Gates, OlmRelease, Rules};
use olmguard::snapshot::{CatalogState, Content, Snapshot};
use olmguard::source::{Progress, read_from};
use serde_json::{Value, json};

use super::written::Written;

/// An extension, what is installed, and the catalogs.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    rules: Rules,
    catalogs: Vec<CatalogState>,
    /// `spec.source.catalog`.
    asked: Value,
    installed: Installed,
}

/// Nothing is installed, anything of package `P` is asked for, by the newest rules.
pub(crate) fn ask(catalogs: &[(&str, i32, &Written<'_>)]) -> Question {
    ask_at("1.11", &[], catalogs)
}

/// The same by the rules of a release with these gates.
pub(crate) fn ask_at(
    olm: &str,
    gates: &[&str],
    catalogs: &[(&str, i32, &Written<'_>)],
) -> Question {
    let rules = rules(olm, gates);
    let state = |(name, priority, written): &(&str, i32, &Written<'_>)| {
        let mut state = CatalogState::named(name, content(&written.fbc(), &rules));
        state.priority = *priority;
        state
    };
    Question {
        catalogs: catalogs.iter().map(state).collect(),
        asked: json!({"packageName": "P"}),
        installed: Installed::Nothing,
        rules,
    }
}

/// The rules of a release with these gates.
pub(crate) fn rules(olm: &str, gates: &[&str]) -> Rules {
    let olm: OlmRelease = olm.parse().expect("a release");
    let gates = Gates::parse(gates.iter().copied(), olm).expect("gates of the release");
    Rules::new(olm, gates)
}

/// The content of a catalog with this text.
pub(crate) fn content(fbc: &str, rules: &Rules) -> Content {
    let mut builder = CatalogBuilder::new(rules);
    match read_from(
        "catalog",
        fbc.as_bytes(),
        &Progress::default(),
        &mut builder,
    ) {
        Ok(()) => Content::Loaded(Arc::new(builder.finish().expect("no bound"))),
        Err(error) => Content::Unreadable(error.to_string()),
    }
}

/// A package that a readable catalog has.
pub(crate) fn package<'c>(content: &'c Content, name: &str) -> &'c Package {
    let catalog = match content {
        Content::Loaded(catalog) => Some(catalog),
        _ => None,
    };
    let package = catalog.and_then(|catalog| catalog.package(name)?.ok());
    package.expect("a package that decodes")
}

/// A `ClusterExtension` that asks for this.
pub(crate) fn extension(asked: &Value) -> Extension {
    let object = json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "ext"},
        "spec": {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": asked}},
    });
    Extension::read(Shape::V1, &object)
}

/// The answer to a creation or an update of an extension whose old state is not known.
pub(crate) fn answer_to(snapshot: &Snapshot, asked: &Value, installed: &Installed) -> Answer {
    let new = extension(asked);
    let edit = Edit {
        new: &new,
        old: None,
        installed,
        schema: &[],
    };
    answer(snapshot, &edit)
}

impl Question {
    pub(crate) fn package(self, name: &str) -> Self {
        self.with("packageName", json!(name))
    }

    pub(crate) fn range(self, range: &str) -> Self {
        self.with("version", json!(range))
    }

    pub(crate) fn channels(self, channels: &[&str]) -> Self {
        self.with("channels", json!(channels))
    }

    pub(crate) fn bypass(self) -> Self {
        self.with("upgradeConstraintPolicy", json!("SelfCertified"))
    }

    pub(crate) fn selector(self, selector: Value) -> Self {
        self.with("selector", selector)
    }

    /// Selects one catalog by its automatic label.
    pub(crate) fn of_catalog(self, name: &str) -> Self {
        let label = "olm.operatorframework.io/metadata.name";
        self.selector(json!({"matchLabels": {label: name}}))
    }

    /// Installed is `P.vVERSION`.
    pub(crate) fn installed(self, version: &str) -> Self {
        self.installed_as(&format!("P.v{version}"), version, None)
    }

    pub(crate) fn installed_as(self, name: &str, version: &str, release: Option<&str>) -> Self {
        self.with_installed(Installed::Bundle(InstalledBundle {
            name: Some(name.to_owned()),
            version: version.to_owned(),
            release: release.map(str::to_owned),
        }))
    }

    pub(crate) fn with_installed(self, installed: Installed) -> Self {
        Self { installed, ..self }
    }

    /// Changes what is known of one catalog.
    pub(crate) fn state(mut self, name: &str, change: impl FnOnce(&mut CatalogState)) -> Self {
        let state = self.catalogs.iter_mut().find(|state| state.name == name);
        change(state.expect("a catalog of the question"));
        self
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.rules.clone(), self.catalogs.clone())
    }

    pub(crate) fn answer(&self) -> Answer {
        answer_to(&self.snapshot(), &self.asked, &self.installed)
    }

    /// What rows 2 to 18 found.
    pub(crate) fn ruled<R>(&self, see: impl FnOnce(&Ruled<'_>) -> R) -> R {
        let (snapshot, extension) = (self.snapshot(), extension(&self.asked));
        let filter = extension.filter.as_ref().expect("a readable filter");
        let request = Request {
            filter,
            installed: &self.installed,
        };
        see(&rule(&snapshot, &request))
    }

    fn with(mut self, field: &str, value: Value) -> Self {
        let asked = self.asked.as_object_mut().expect("an object");
        asked.insert(field.to_owned(), value);
        self
    }
}
