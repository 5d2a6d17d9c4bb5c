//! The catalogs that are judged by, and what is asked of them.

use std::path::{Path, PathBuf};

use olmguard::source::load;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Snapshot;

use olmguard_support::load::questions::{EXAMPLE, Question, REAL};

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

/// An allowed upgrade, a refused jump, and an edit of a label.
pub(crate) fn questions() -> [Question; 3] {
    if shared().is_some() { REAL } else { EXAMPLE }
}

/// An upgrade that is allowed.
pub(crate) fn allowed() -> Question {
    let [allowed, ..] = questions();
    allowed
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
    NAMES.iter().map(|name| (*name, file(name))).collect()
}

fn shared() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("OLMGUARD_SHARED").map_or_else(beside, PathBuf::from);
    let folder = folder.join("catalogs");
    folder.is_dir().then_some(folder)
}

const NAMES: &[&str] = &["v4.16", "v4.17", "v4.18", "v4.19", "v4.20"];
