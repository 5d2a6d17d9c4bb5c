//! The catalogs that are judged by, and an edit that they resolve.

use std::path::{Path, PathBuf};

use olmguard::source::load;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Snapshot;

use olmguard_support::load::review::Edit;

/// The real ones where they are, else the small one of an example.
pub(crate) fn snapshot() -> Snapshot {
    let rules = Rules::default();
    let states: Vec<_> = files()
        .iter()
        .map(|(name, file)| load(name, file, &rules))
        .collect();
    assert!(
        states.iter().all(|state| state.loaded().is_some()),
        "every catalog is read"
    );
    Snapshot::new(rules, states)
}

/// An upgrade that resolves.
pub(crate) fn edit() -> Edit<'static> {
    if shared().is_some() {
        return Edit {
            package: "cert-manager",
            catalog: "v4.18",
            installed: ("cert-manager.v1.16.1", "1.16.1"),
            wanted: "1.16.5",
        };
    }
    Edit {
        package: "lantern-operator",
        catalog: "hub",
        installed: ("lantern-operator.v1.0.0", "1.0.0"),
        wanted: "1.1.0",
    }
}

/// Which catalogs these are, for people.
pub(crate) fn title() -> &'static str {
    if shared().is_some() {
        "five real catalogs"
    } else {
        "left out: real catalogs, they are not on this machine; an example's is used"
    }
}

fn files() -> Vec<(&'static str, PathBuf)> {
    let Some(folder) = shared() else {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        return vec![("hub", root.join("examples/Resolved/hub.yaml"))];
    };
    let file = |name| folder.join(format!("community-{name}.jsonl.zst"));
    REAL.iter().map(|name| (*name, file(name))).collect()
}

fn shared() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("OLMGUARD_SHARED").map_or_else(beside, PathBuf::from);
    let folder = folder.join("catalogs");
    folder.is_dir().then_some(folder)
}

const REAL: &[&str] = &["v4.16", "v4.17", "v4.18", "v4.19", "v4.20"];
