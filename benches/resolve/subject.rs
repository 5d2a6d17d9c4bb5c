//! One package, alone in a catalog, and the requests about it.

use std::sync::Arc;

use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Bundle, CatalogBuilder, fbc};
use olmguard_engine::extension::{Extension, Filter, Installed, InstalledBundle};
use olmguard_engine::judge::{Basis, Request as Question, rule};
use olmguard_engine::resolve::EditContext;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_fixtures::question::extension;
use serde_json::json;

use crate::resolver::Request;

pub(crate) struct Subject {
    pub(crate) package: String,
    pub(crate) snapshot: Snapshot,
    /// The name and the version of each bundle, lowest version first.
    pub(crate) bundles: Vec<(String, String)>,
    /// The channels, the default channel first.
    pub(crate) channels: Vec<String>,
}

/// A request in the form of the decision table.
pub(crate) struct Asked {
    pub(crate) filter: Filter,
    pub(crate) extension: Extension,
    pub(crate) installed: Installed,
}

impl Subject {
    pub(crate) fn of(name: &str, text: &str) -> Self {
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        fbc::read("cat", text.as_bytes(), &mut builder).expect("a package");
        let catalog = Arc::new(builder.finish().expect("no bound"));
        let package = catalog.package(name).expect("it exists");
        let package = package.expect("it decodes");
        let named = |bundle: &Bundle| {
            let version = bundle.version.as_ref().ok()?;
            Some((bundle.name.to_string(), version.version.to_string()))
        };
        let mut bundles: Vec<_> = package
            .bundles()
            .filter_map(|(_, bundle)| named(bundle))
            .collect();
        bundles.reverse();
        let channels = package.channels().iter().map(|channel| &*channel.name);
        let mut channels: Vec<_> = channels.map(str::to_owned).collect();
        channels.sort_by_key(|channel| channel != package.default_channel());
        let state = CatalogState::named("cat", Content::Loaded(Arc::clone(&catalog)));
        Self {
            package: name.to_owned(),
            snapshot: Snapshot::new(rules, [state]),
            bundles,
            channels,
        }
    }

    /// The bundle that a request resolves to.
    pub(crate) fn resolved(&self, asked: &Asked) -> Option<String> {
        let question = Question {
            filter: &asked.filter,
            installed: &asked.installed,
            context: EditContext::unknown(),
        };
        let ruled = rule(Basis::without_policies(&self.snapshot), &question);
        ruled
            .resolved()
            .map(|choice| choice.bundle().name.to_string())
    }
}

/// Converts a request to the form of the decision table.
pub(crate) fn asked(request: &Request) -> Asked {
    let mut asked = json!({"packageName": request.package});
    if let Some(version) = &request.version {
        asked["version"] = json!(version);
    }
    if let Some(channel) = &request.channel {
        asked["channels"] = json!([channel]);
    }
    let extension = extension(&asked);
    let installed = request
        .installed
        .as_ref()
        .map(|(name, version)| InstalledBundle {
            name: Some(name.clone()),
            version: version.clone(),
            release: None,
        });
    Asked {
        filter: extension.filter.clone().expect("a filter"),
        extension,
        installed: installed.map_or(Installed::Nothing, Installed::Bundle),
    }
}
