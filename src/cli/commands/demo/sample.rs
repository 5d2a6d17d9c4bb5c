//! The catalogs of the demo, built into the program.

use std::borrow::Cow;

use crate::source::load_bytes;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Snapshot;

/// The catalogs of the demo.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// A package with a history: `harbor-lights-operator`; beside it `foghorn-operator`.
    pub(super) lighthouse: Cow<'static, [u8]>,
    /// `foghorn-operator` once more.
    pub(super) far_shore: Cow<'static, [u8]>,
}

impl Sample {
    pub(super) fn built_in() -> Self {
        Self {
            lighthouse: include_bytes!("../../../../examples/catalogs/lighthouse.yaml").into(),
            far_shore: include_bytes!("../../../../examples/catalogs/far-shore.yaml").into(),
        }
    }

    pub(super) fn snapshot(&self, rules: Rules) -> Snapshot {
        let catalogs = [
            load_bytes("lighthouse", &self.lighthouse, &rules),
            load_bytes("far-shore", &self.far_shore, &rules),
        ];
        Snapshot::new(rules, catalogs)
    }
}
