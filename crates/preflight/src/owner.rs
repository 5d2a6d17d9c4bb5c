//! Checks whether an existing object prevents an installation because it does not belong to the extension.
//!
//! A Helm release adopts objects that have its marks; a revision of Boxcutter adopts nothing. But the extension itself
//! may have created the object. As long as that is possible, only the label of another extension counts.
//!
//! Upstream: operator-controller, [`internal/operator-controller/applier/helm.go`] and
//! [`internal/operator-controller/applier/boxcutter.go`].
//!
//! [`internal/operator-controller/applier/helm.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/applier/helm.go
//! [`internal/operator-controller/applier/boxcutter.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/applier/boxcutter.go

use serde_json::Value;

use crate::PreflightCheck;
use crate::bundle::field_at;

/// The extension that would own an object.
#[derive(Clone, Copy, Debug)]
pub struct NewOwner<'a> {
    /// The name of the extension.
    pub extension: &'a str,
    /// The namespace that the extension is installed in.
    pub namespace: &'a str,
}

/// An object that operator-controller does not adopt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ForeignObject {
    /// The kind of the object.
    pub kind: String,
    /// The namespace of the object; empty if it has none.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The other extension whose label the object has.
    pub owner: Option<String>,
    /// Whether OLM v0 installed the object.
    pub is_of_v0: bool,
    /// Whether operator-controller would adopt the object if it had the marks of the extension's Helm release.
    pub is_adoptable: bool,
}

impl NewOwner<'_> {
    /// Returns an object of the cluster as foreign if operator-controller does not adopt it. `can_be_own` returns
    /// whether the extension may have created the object, and is used if no label decides.
    pub fn refused(
        &self,
        kind: &str,
        object: &Value,
        boxcutter: bool,
        can_be_own: impl FnOnce() -> bool,
    ) -> Option<ForeignObject> {
        let text = |keys: &[&str]| field_at(object, keys).and_then(Value::as_str);
        let is_of_extension = text(OWNER_KIND) == Some("ClusterExtension");
        let owner = text(OWNER_NAME).filter(|_| is_of_extension);
        let is_own = owner == Some(self.extension);
        let is_foreign = match owner {
            // Helm checks only the marks, whatever the label is.
            _ if !boxcutter && self.has_marks(&text) => false,
            Some(_) if !is_own => true,
            // A revision that is being created or deleted has the object.
            Some(_) if boxcutter => false,
            _ => !can_be_own(),
        };
        let read = |keys: &[&str]| text(keys).unwrap_or_default().to_owned();
        is_foreign.then(|| ForeignObject {
            kind: kind.to_owned(),
            namespace: read(&["metadata", "namespace"]),
            name: read(NAME),
            owner: owner.filter(|_| !is_own).map(str::to_owned),
            is_of_v0: text(OF_V0) == Some("true"),
            is_adoptable: !boxcutter,
        })
    }

    fn has_marks<'a>(&self, text: &impl Fn(&[&str]) -> Option<&'a str>) -> bool {
        text(MANAGED_BY) == Some("Helm")
            && text(RELEASE_NAME) == Some(self.extension)
            && text(RELEASE_NAMESPACE) == Some(self.namespace)
    }
}

impl ForeignObject {
    /// Whether the object is a CRD.
    pub fn is_crd(&self) -> bool {
        self.kind == CRD
    }

    /// The check that fails.
    pub fn check(&self) -> PreflightCheck {
        match self.owner {
            Some(_) => PreflightCheck::OwnedElsewhere,
            None => PreflightCheck::ExistsUnowned,
        }
    }
}

/// The kind of CRDs.
pub const CRD: &str = "CustomResourceDefinition";

/// The fields of an object that show its owner and its resource version.
pub(crate) const MARKS: [&[&str]; 8] = [
    NAME,
    VERSION,
    OWNER_KIND,
    OWNER_NAME,
    MANAGED_BY,
    RELEASE_NAME,
    RELEASE_NAMESPACE,
    OF_V0,
];

/// Whether two states of an object show the same owner.
pub fn is_same_owner(one: &Value, other: &Value) -> bool {
    let mut marks = MARKS.iter().filter(|mark| **mark != VERSION);
    marks.all(|mark| field_at(one, mark) == field_at(other, mark))
}

const NAME: &[&str] = &["metadata", "name"];

/// Every write changes the resource version.
const VERSION: &[&str] = &["metadata", "resourceVersion"];

/// OLM v0 labels the CRDs that it installs.
const OF_V0: &[&str] = &["metadata", "labels", "olm.managed"];

const OWNER_KIND: &[&str] = &["metadata", "labels", "olm.operatorframework.io/owner-kind"];
const OWNER_NAME: &[&str] = &["metadata", "labels", "olm.operatorframework.io/owner-name"];
const MANAGED_BY: &[&str] = &["metadata", "labels", "app.kubernetes.io/managed-by"];
const RELEASE_NAME: &[&str] = &["metadata", "annotations", "meta.helm.sh/release-name"];
const RELEASE_NAMESPACE: &[&str] = &["metadata", "annotations", "meta.helm.sh/release-namespace"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OWNER: NewOwner<'static> = NewOwner {
        extension: "ext",
        namespace: "ns",
    };

    /// A CRD with the labels of this extension, and the marks of a Helm release of that name.
    fn crd(owner: Option<&str>, release: Option<&str>) -> Value {
        let mut labels = json!({});
        if let Some(owner) = owner {
            labels = json!({"olm.operatorframework.io/owner-kind": "ClusterExtension",
                "olm.operatorframework.io/owner-name": owner});
        }
        let mut annotations = json!({});
        if let Some(release) = release {
            labels["app.kubernetes.io/managed-by"] = "Helm".into();
            annotations = json!({"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": "ns"});
        }
        json!({"metadata": {"name": "a.b", "labels": labels, "annotations": annotations}})
    }

    #[test]
    fn marks_let_a_release_take_over_and_no_revision() {
        use PreflightCheck::{ExistsUnowned, OwnedElsewhere};
        let unowned = [Some(ExistsUnowned), None];
        let elsewhere = [Some(OwnedElsewhere); 2];
        let rows = [
            // The owner, the release, the result with Helm and with Boxcutter: for an object that cannot be its own,
            // and that can.
            (None, None, unowned, unowned),
            (None, Some("ext"), [None; 2], unowned),
            (None, Some("other"), unowned, unowned),
            (Some("ext"), Some("ext"), [None; 2], [None; 2]),
            (Some("ext"), None, unowned, [None; 2]),
            (Some("other"), Some("ext"), [None; 2], elsewhere),
            (Some("other"), None, elsewhere, elsewhere),
        ];
        for (owner, release, helm, boxcutter) in rows {
            let crd = crd(owner, release);
            let found = |boxcutter| {
                [false, true].map(|own| Some(OWNER.refused(CRD, &crd, boxcutter, || own)?.check()))
            };
            let found = (found(false), found(true));
            assert_eq!(found, (helm, boxcutter), "{owner:?} {release:?}");
        }
    }

    #[test]
    fn a_write_that_changes_no_mark_leaves_the_owner() {
        let at = |version: &str, owner| {
            let mut crd = crd(owner, None);
            crd["metadata"]["resourceVersion"] = version.into();
            crd
        };
        assert!(is_same_owner(&at("1", None), &at("2", None)));
        assert!(!is_same_owner(&at("1", None), &at("1", Some("ext"))));
    }

    #[test]
    fn marks_count_for_one_namespace_and_a_label_for_extensions() {
        let to = NewOwner {
            namespace: "elsewhere",
            ..OWNER
        };
        let found = to
            .refused(CRD, &crd(None, Some("ext")), false, || false)
            .unwrap();
        assert_eq!((&*found.name, &found.owner), ("a.b", &None));
        let mut other = crd(Some("other"), None);
        other["metadata"]["labels"]["olm.operatorframework.io/owner-kind"] = "Catalog".into();
        assert_eq!(to.refused(CRD, &other, false, || true), None);
        assert!(!found.is_of_v0);
        other["metadata"]["labels"]["olm.managed"] = "true".into();
        let found = to.refused(CRD, &other, false, || false).unwrap();
        assert!(found.is_of_v0);
    }
}
