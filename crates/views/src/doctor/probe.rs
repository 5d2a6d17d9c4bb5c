//! The probe: an edit that olmguard must deny. It is a new extension whose selector has an unknown operator.
//!
//! The CRD accepts any text as an operator, so the API server's own validation accepts the probe. The check
//! that denies it comes before all checks that need a catalog, so olmguard also denies it without
//! catalogs. Upstream: apimachinery, [`pkg/apis/meta/v1/helpers.go`]; operator-controller's CRD,
//! `spec.source.catalog.selector.matchExpressions[].operator`.
//!
//! [`pkg/apis/meta/v1/helpers.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/apis/meta/v1/helpers.go

use serde_json::{Value, json};

use crate::doctor::facts::Need;
use olmguard_engine::explain::{answer, only_observed};
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::judge::{Basis, Edit, Requester};
use olmguard_engine::snapshot::Snapshot;

/// The answer of olmguard to the probe.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ExpectedAnswer {
    /// First line of the denial.
    pub(super) denial: String,
    /// Warning instead of the denial, in observe mode.
    pub(super) observed: String,
}

/// Returns the object to create in a dry run.
pub fn object(namespace: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"generateName": format!("{NAME}-")},
        "spec": {
            "namespace": namespace,
            "serviceAccount": {"name": NAME},
            "source": {"sourceType": "Catalog", "catalog": {
                "packageName": NAME,
                "selector": {"matchExpressions": [{"key": KEY, "operator": OPERATOR}]},
            }},
        },
    })
}

/// Computes the answer of this version of olmguard.
pub(super) fn expected() -> ExpectedAnswer {
    let new = Extension::read(Shape::V1, &object(NAME));
    let edit = Edit {
        new: &new,
        old: None,
        installed: &new.installed,
        schema: &[],
        requester: Requester::unknown(),
    };
    let answer = answer(Basis::without_policies(&Snapshot::default()), &edit);
    let message = answer.message.as_deref().unwrap_or_default();
    ExpectedAnswer {
        denial: message.lines().next().unwrap_or_default().to_owned(),
        observed: only_observed(&answer),
    }
}

/// Returns the right that is needed to send the probe.
pub fn need() -> Need {
    Need {
        verb: "create",
        resource: "clusterextensions.olm.operatorframework.io".to_owned(),
        name: None,
        namespace: None,
    }
}

/// Name of the shipped webhook.
pub const WEBHOOK: &str = "validate.olmguard.dev";

/// Reason code of the denial. No release renames it.
pub(super) const TOKEN: &str = "[InvalidSelector]";

const NAME: &str = "olmguard-doctor";
const KEY: &str = "olmguard.dev/doctor";
const OPERATOR: &str = "DeniedForTheDoctor";

#[cfg(test)]
mod tests {
    use super::*;
    use olmguard_engine::extension::schema::{SchemaRelease, check};

    #[test]
    fn a_guard_without_catalogs_denies_it() {
        let expected = expected();
        assert_eq!(
            expected.denial,
            "olmguard-doctor: install of any version refused: the catalog selector is not valid \
             [InvalidSelector]"
        );
        assert!(expected.denial.ends_with(TOKEN));
        assert!(expected.observed.starts_with("allowed in observe mode: "));
        assert!(expected.observed.ends_with(TOKEN));
    }

    #[test]
    fn its_crd_lets_it_through() {
        let object = object("olmguard-system");
        for minor in 0..=11 {
            let faults = check(Shape::V1, SchemaRelease::v1(minor), &object);
            assert_eq!(faults, [], "v1.{minor}");
        }
    }
}
