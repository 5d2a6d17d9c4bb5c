//! Lists the packages of every catalog, for users who do not know the name of a package yet.

use serde::Serialize;

use crate::see::not_loaded;
use olmguard_catalog::version::go;
use olmguard_catalog::{Catalog, Package, PackageFault};
use olmguard_engine::explain::text::{counted, one_line};
use olmguard_engine::resolve::loaded;
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_report::{Cell, Table, Text, Tone};

/// The packages of the catalogs.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.packages/v1")]
pub struct PackagesReport {
    /// Schema of this object.
    schema: &'static str,
    /// Catalogs whose content is loaded, in byte order of their names.
    catalogs: Vec<CatalogPackages>,
    /// Why a catalog is not in the list.
    notes: Vec<String>,
}

/// One catalog.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct CatalogPackages {
    catalog: String,
    priority: i32,
    /// Packages of the catalog, in byte order of their names.
    packages: Vec<PackageEntry>,
}

/// One package.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct PackageEntry {
    package: String,
    /// Default channel, which OLM v0 uses if a Subscription names none. Null if there is none.
    default_channel: Option<String>,
    /// Channels of the package, in byte order of their names.
    channels: Vec<String>,
    /// Number of bundles.
    bundles: usize,
    /// Deprecation message of the package, possibly empty. Null if it is not deprecated.
    deprecated: Option<String>,
    /// Why the package cannot be read. OLM then installs nothing of it from this catalog.
    error: Option<String>,
}

impl PackagesReport {
    /// Lists the packages of the catalog of this name, or of all catalogs.
    pub fn of(snapshot: &Snapshot, only: Option<&str>) -> Self {
        let (mut catalogs, mut notes) = (Vec::new(), Vec::new());
        let is_asked = |state: &&CatalogState| only.is_none_or(|name| name == state.name);
        for state in snapshot.catalogs().iter().filter(is_asked) {
            match loaded(state) {
                Ok(content) => catalogs.push(CatalogPackages::of(state, content)),
                Err(error) => notes.push(not_loaded(&state.name, &error.why)),
            }
        }
        Self {
            schema: SCHEMA,
            catalogs,
            notes,
        }
    }

    /// Whether a package cannot be read.
    pub fn has_bad_input(&self) -> bool {
        let mut packages = self.catalogs.iter().flat_map(|catalog| &catalog.packages);
        packages.any(|package| package.error.is_some())
    }

    /// Renders the report for `-o text`, with the last line break.
    pub fn to_text(&self) -> Text {
        let mut text = Text::default();
        for (at, catalog) in self.catalogs.iter().enumerate() {
            if at > 0 {
                text.end_line();
            }
            catalog.say(&mut text);
        }
        text.notes(&self.notes);
        text
    }
}

impl CatalogPackages {
    fn of(state: &CatalogState, content: &Catalog) -> Self {
        let entry = |name| Some(PackageEntry::of(name, content.package(name)?));
        Self {
            catalog: state.name.clone(),
            priority: state.priority,
            packages: content.package_names().filter_map(entry).collect(),
        }
    }

    fn say(&self, text: &mut Text) {
        let name = go::escape(&self.catalog);
        let count = match self.packages.len() {
            0 => "no packages".to_owned(),
            count => counted(count, "package"),
        };
        text.line(Tone::Plain, format!("Catalog {name}: {count}"));
        if self.packages.is_empty() {
            return;
        }
        text.end_line();
        let heads = ["Package", "Default channel", "Channels", "Bundles", "Notes"];
        let mut table = Table::new(heads);
        for package in &self.packages {
            table.row(package.row());
        }
        table.say(text);
    }
}

impl PackageEntry {
    fn of(name: &str, read: Result<&Package, &PackageFault>) -> Self {
        let package = read.ok();
        let channels = package.map(Package::channels).unwrap_or_default();
        let default = package.map(Package::default_channel);
        Self {
            package: name.to_owned(),
            default_channel: default.filter(|name| !name.is_empty()).map(str::to_owned),
            channels: channels.iter().map(|one| one.name.to_string()).collect(),
            bundles: package.map_or(0, |package| package.bundles().count()),
            deprecated: package
                .and_then(|package| package.deprecation().of_package())
                .map(str::to_owned),
            error: read.err().map(|fault| one_line(&fault.first())),
        }
    }

    fn row(&self) -> Vec<Cell> {
        let channels = self.channels.iter().map(|name| go::escape(name)).collect();
        let default = self.default_channel.as_deref().map(go::escape);
        let (bundles, tone, note) = match (&self.error, &self.deprecated) {
            (Some(_), _) => (None, Tone::Bad, Some("cannot be read")),
            (None, Some(_)) => (Some(self.bundles), Tone::Caution, Some("deprecated")),
            (None, None) => (Some(self.bundles), Tone::Plain, None),
        };
        vec![
            Cell::one(Tone::Plain, go::escape(&self.package)),
            Cell::list(Tone::Plain, default.into_iter().collect()),
            Cell::list(Tone::Plain, channels),
            Cell::list(Tone::Plain, bundles.iter().map(usize::to_string).collect()),
            Cell::list(tone, note.into_iter().map(str::to_owned).collect()),
        ]
    }
}

const SCHEMA: &str = "olmguard.packages/v1";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::see::scene::snapshot;
    use olmguard_catalog::olm::EdgeSource;
    use olmguard_engine::snapshot::Content;

    fn hub() -> Snapshot {
        let hub = "(default): b\na: 1.0.0\nb: 1.0.0; 1.1.0 replaces 1.0.0";
        let broken = CatalogState::named("worn", Content::Unreadable("not JSON".to_owned()));
        let empty = CatalogState::named("empty", Content::Loaded(Catalog::default().into()));
        snapshot(EdgeSource::Catalog, &[("hub", hub)])
            .with(broken)
            .with(empty)
    }

    #[test]
    fn every_package_of_every_catalog_is_listed() {
        let expected = "\
Catalog empty: no packages

Catalog hub: 1 package

  Package  Default channel  Channels  Bundles
  p        b                a, b      2
Note          catalog worn cannot be read: not JSON
";
        let text = PackagesReport::of(&hub(), None).to_text();
        assert_eq!(text.to_string(), expected);
    }

    #[test]
    fn one_catalog_alone_is_listed() {
        let report = PackagesReport::of(&hub(), Some("empty"));
        assert_eq!(report.to_text().to_string(), "Catalog empty: no packages\n");
    }
}
