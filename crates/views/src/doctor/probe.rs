//! The edit that must be denied: a new extension whose selector has an operator that there is none of.
//!
//! Its CRD takes any text for an operator, so that the API server's own validation lets it through;
//! the row that denies it comes before all that need a catalog, so that a guard that has none denies
//! it as well. Upstream: apimachinery, [`pkg/apis/meta/v1/helpers.go`]; operator-controller's CRD,
//! `spec.source.catalog.selector.matchExpressions[].operator`.
//!
//! [`pkg/apis/meta/v1/helpers.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/apis/meta/v1/helpers.go

use serde_json::{Value, json};

use crate::doctor::facts::Need;
use olmguard_engine::explain::{answer, only_observed};
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::judge::{Basis, Edit, Requester};
use olmguard_engine::snapshot::Snapshot;

/// What the guard says to it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ExpectedAnswer {
    /// The first line of the denial.
    pub(super) denial: String,
    /// The warning in its place where the guard only observes.
    pub(super) observed: String,
}

/// The object, to be created in a dry run.
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

/// What the guard of this version says to it, found out by asking its own judge.
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

/// What it takes to send it.
pub fn need() -> Need {
    Need {
        verb: "create",
        resource: "clusterextensions.olm.operatorframework.io".to_owned(),
        name: None,
        namespace: None,
    }
}

/// The webhook of the guard, as it is shipped.
pub const WEBHOOK: &str = "validate.olmguard.dev";

/// The token of the denial, which no release renames.
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
