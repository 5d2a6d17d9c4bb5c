//! The catalogs to read: whole ones, or a small one in a smoke run.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use olmguard::source::{Loader, Progress};
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_support::load::questions::{EXAMPLE, Question, REAL};
use serde_json::{Value, json};

use crate::run::Run;

/// Five catalogs.
pub(crate) enum World {
    /// Whole catalogs, 68 MB in total, in this directory.
    Whole(PathBuf),
    /// Five times the same catalog, which has one package with few bundles.
    Small,
}

impl World {
    /// The catalogs. Returns `None`, and prints a line, if whole catalogs are needed and missing on this machine.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        if run.is_smoke {
            return Some(Self::Small);
        }
        let folder = shared().join("catalogs");
        if folder.is_dir() {
            return Some(Self::Whole(folder));
        }
        run.leave_out("no whole catalogs; name their directory with OLMGUARD_SHARED");
        None
    }

    /// The environment variable for a process of this program, which [`Self::of_variable`] reads.
    pub(crate) fn variable(&self) -> (&'static str, &OsStr) {
        match self {
            Self::Whole(folder) => (WORLD, folder.as_os_str()),
            Self::Small => (WORLD, OsStr::new("")),
        }
    }

    /// The catalogs that the parent process has set.
    pub(crate) fn of_variable() -> Self {
        let folder = std::env::var_os(WORLD).expect("a world");
        if folder.is_empty() {
            return Self::Small;
        }
        Self::Whole(folder.into())
    }

    pub(crate) fn names(&self) -> [&'static str; 5] {
        match self {
            Self::Whole(_) => ["v4.16", "v4.17", "v4.18", "v4.19", "v4.20"],
            Self::Small => ["hub", "hub-2", "hub-3", "hub-4", "hub-5"],
        }
    }

    /// A file that olmguard loads.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        match self {
            Self::Whole(folder) => folder.join(format!("community-{name}.jsonl.zst")),
            Self::Small => root().join("examples/Resolved/hub.yaml"),
        }
    }

    /// The content of a catalog as catalogd sends it: JSON lines.
    pub(crate) fn content(&self, name: &str) -> Vec<u8> {
        match self {
            Self::Whole(_) => unpacked(&self.file(name)),
            Self::Small => small().into_bytes(),
        }
    }

    /// The files of a catalog in YAML.
    pub(crate) fn yaml(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Whole(folder) => {
                let archive = unpacked(&folder.join("community-v4.18-yaml.tar.zst"));
                files_of_tar(&archive)
            }
            Self::Small => vec![fs::read(self.file("hub")).expect("an example")],
        }
    }

    /// Writes a catalog as one JSON file into a new directory, as opm and operator-registry read it.
    pub(crate) fn write_json(&self, name: &str, directory: &Path) {
        write(directory, &[self.content(name)], "json");
    }

    /// Writes the YAML catalog as many files into a new directory.
    pub(crate) fn write_yaml(&self, directory: &Path) {
        write(directory, &self.yaml(), "yaml");
    }

    /// An allowed upgrade, a refused jump, and an edit of a label.
    pub(crate) fn questions(&self) -> [Question; 3] {
        match self {
            Self::Whole(_) => REAL,
            Self::Small => EXAMPLE,
        }
    }

    /// All five catalogs, loaded.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let rules = Rules::default();
        let (progress, memory) = (Progress::default(), Pool::unbounded());
        let mut loader = Loader::new(&rules, &progress, &memory);
        let states = self.names().map(|name| {
            let content = loader.load(&self.file(name));
            CatalogState::named(name, content)
        });
        drop(loader);
        let is_whole = states.iter().all(|state| state.loaded().is_some());
        assert!(is_whole, "every catalog is read");
        Snapshot::new(rules, states)
    }

    /// The blobs of one package of a catalog, as JSON lines.
    pub(crate) fn package(&self, catalog: &str, package: &str) -> String {
        let text = String::from_utf8(self.content(catalog)).expect("JSON is UTF-8");
        let is_of_it = |line: &&str| {
            let blob: Value = serde_json::from_str(line).expect("a blob");
            let is_package = blob["schema"] == "olm.package";
            blob[if is_package { "name" } else { "package" }] == package
        };
        text.lines()
            .filter(is_of_it)
            .flat_map(|line| [line, "\n"])
            .collect()
    }
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The directory of whole catalogs and recorded packages, which may not exist.
pub(crate) fn shared() -> PathBuf {
    std::env::var_os("OLMGUARD_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from)
}

/// The package of the examples with two more bundles: one below the installed version, and one with a `skipRange`.
pub(crate) fn small() -> String {
    let name = |version: &str| format!("lantern-operator.v{version}");
    let before = [None].into_iter().chain(VERSIONS.map(Some));
    let entries = VERSIONS.iter().zip(before).map(|(version, before)| {
        let mut entry = json!({"name": name(version)});
        if let Some(before) = before {
            entry["replaces"] = json!(name(before));
        }
        if *version == "1.1.1" {
            entry["skipRange"] = json!(">=1.0.0 <1.1.1");
        }
        entry
    });
    let entries: Vec<_> = entries.collect();
    let channel =
        json!({"schema": "olm.channel", "package": PACKAGE, "name": "stable", "entries": entries});
    let bundles = VERSIONS.map(|version| {
        let value = json!({"packageName": PACKAGE, "version": version});
        json!({"schema": "olm.bundle", "package": PACKAGE, "name": name(version), "image": "example.com/lantern:v1",
            "properties": [{"type": "olm.package", "value": value}]})
    });
    let package = json!({"schema": "olm.package", "name": PACKAGE, "defaultChannel": "stable"});
    let blobs = [package, channel].into_iter().chain(bundles);
    blobs.map(|blob| blob.to_string() + "\n").collect()
}

pub(crate) const PACKAGE: &str = "lantern-operator";
const WORLD: &str = "OLMGUARD_BENCH_WORLD";
const VERSIONS: [&str; 6] = ["0.9.0", "1.0.0", "1.1.0", "1.1.1", "1.2.0", "1.3.0"];

fn write(directory: &Path, files: &[Vec<u8>], end: &str) {
    fs::create_dir(directory).expect("a directory");
    for (number, content) in files.iter().enumerate() {
        fs::write(directory.join(format!("{number}.{end}")), content).expect("a file");
    }
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let file = File::open(path).expect("a catalog");
    let mut decoder = zstd::Decoder::new(file).expect("zstd");
    decoder.read_to_end(&mut text).expect("zstd");
    text
}

/// The content of each file of a tar archive.
fn files_of_tar(tar: &[u8]) -> Vec<Vec<u8>> {
    let mut archive = tar::Archive::new(tar);
    let entries = archive.entries().expect("an archive");
    let content = entries.filter_map(|entry| {
        let mut entry = entry.expect("an entry");
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("its content");
        (entry.header().entry_type().is_file() && !content.is_empty()).then_some(content)
    });
    content.collect()
}
