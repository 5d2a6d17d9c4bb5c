//! The catalogs and cases of the demo. A case is the command of a user, and the review that an API server sends for
//! it.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::source::load_bytes;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Snapshot;

/// One edit of an extension.
#[derive(Clone, Copy, Debug)]
pub(super) struct DemoCase {
    /// A description of the case.
    pub(super) about: &'static str,
    /// The name of the extension.
    pub(super) extension: &'static str,
    package: &'static str,
    edit: DemoEdit,
}

/// The action of a user.
#[derive(Clone, Copy, Debug)]
enum DemoEdit {
    /// Requests another version of an installed package.
    Move {
        from: &'static str,
        to: &'static str,
        policy: Option<&'static str>,
    },
    /// Requests a package.
    Create { version: Option<&'static str> },
    /// Labels an extension that requests this version.
    Label {
        installed: &'static str,
        wanted: &'static str,
    },
}

impl DemoCase {
    /// The command that the user types.
    pub(super) fn command(&self) -> String {
        let extension = self.extension;
        match self.edit {
            DemoEdit::Move { to, policy, .. } => {
                let catalog = asked(Some(to), policy);
                let patch = json!({"spec": {"source": {"catalog": catalog}}});
                format!("kubectl patch clusterextension {extension} --type=merge -p '{patch}'")
            }
            DemoEdit::Create { .. } => format!("kubectl create -f {extension}.yaml"),
            DemoEdit::Label { .. } => {
                format!("kubectl label clusterextension {extension} {LABEL}=night")
            }
        }
    }

    /// The verb that kubectl prints for an edit that succeeded.
    pub(super) fn done(&self) -> &'static str {
        match self.edit {
            DemoEdit::Move { .. } => "patched",
            DemoEdit::Create { .. } => "created",
            DemoEdit::Label { .. } => "labeled",
        }
    }

    /// The text that kubectl prints before the message of the API server.
    pub(super) fn context(&self) -> String {
        match self.edit {
            DemoEdit::Create { .. } => format!("error when creating \"{}.yaml\": ", self.extension),
            DemoEdit::Move { .. } | DemoEdit::Label { .. } => String::new(),
        }
    }

    /// The review, as an API server sends it.
    pub(super) fn review(&self, number: usize) -> Value {
        let (operation, object, old) = self.objects();
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": uid(number),
                "kind": {"group": GROUP, "version": "v1", "kind": "ClusterExtension"},
                "resource": {"group": GROUP, "version": "v1", "resource": "clusterextensions"},
                "name": self.extension,
                "operation": operation,
                "userInfo": {"username": "keeper"},
                "object": object,
                "oldObject": old,
                "dryRun": false,
            },
        })
    }

    /// The operation, the new object and the old object.
    fn objects(&self) -> (&'static str, Value, Value) {
        match self.edit {
            DemoEdit::Create { version } => {
                let new = DemoObject {
                    version,
                    ..DemoObject::default()
                };
                ("CREATE", self.object(new), Value::Null)
            }
            DemoEdit::Move { from, to, policy } => {
                let old = DemoObject::at(from, from);
                let version = Some(to);
                let new = DemoObject {
                    version,
                    policy,
                    ..old
                };
                ("UPDATE", self.object(new), self.object(old))
            }
            DemoEdit::Label { installed, wanted } => {
                let old = DemoObject::at(installed, wanted);
                let watch = Some("night");
                let new = DemoObject { watch, ..old };
                ("UPDATE", self.object(new), self.object(old))
            }
        }
    }

    fn object(&self, object: DemoObject) -> Value {
        let mut catalog = asked(object.version, object.policy);
        catalog.insert("packageName".to_owned(), json!(self.package));
        let bundle = object.installed.map(
            |version| json!({"name": format!("{}.v{version}", self.package), "version": version}),
        );
        json!({
            "apiVersion": format!("{GROUP}/v1"),
            "kind": "ClusterExtension",
            "metadata": {"name": self.extension, "labels": {LABEL: object.watch}},
            "spec": {
                "namespace": "harbor",
                "serviceAccount": {"name": "installer"},
                "source": {"sourceType": "Catalog", "catalog": catalog},
            },
            "status": {"install": bundle.map(|bundle| json!({"bundle": bundle}))},
        })
    }
}

/// The fields that differ between the objects of the demo.
#[derive(Clone, Copy, Debug, Default)]
struct DemoObject {
    version: Option<&'static str>,
    policy: Option<&'static str>,
    installed: Option<&'static str>,
    watch: Option<&'static str>,
}

impl DemoObject {
    fn at(installed: &'static str, wanted: &'static str) -> Self {
        Self {
            version: Some(wanted),
            installed: Some(installed),
            ..Self::default()
        }
    }
}

/// The fields of a filter, except the package.
fn asked(version: Option<&str>, policy: Option<&str>) -> Map<String, Value> {
    let fields = [("version", version), ("upgradeConstraintPolicy", policy)];
    let given = fields
        .into_iter()
        .filter_map(|(field, value)| Some((field.to_owned(), json!(value?))));
    given.collect()
}

/// The uid that identifies the reply to a case.
pub(super) fn uid(number: usize) -> String {
    format!("0a1b2c3d-0000-4000-8000-{number:012}")
}

pub(super) const GROUP: &str = "olm.operatorframework.io";
const LABEL: &str = "watch";

const fn lights(about: &'static str, edit: DemoEdit) -> DemoCase {
    DemoCase {
        about,
        extension: "harbor-lights",
        package: "harbor-lights-operator",
        edit,
    }
}

const fn step(from: &'static str, to: &'static str, policy: Option<&'static str>) -> DemoEdit {
    DemoEdit::Move { from, to, policy }
}

/// The cases, in the order in which they are played.
pub(super) const CASES: &[DemoCase] = &[
    lights(
        "Upgrade to a successor of 1.3.2.",
        step("1.3.2", "1.4.0", None),
    ),
    lights(
        "Skip all versions between 1.1.0 and 2.0.0.",
        step("1.1.0", "2.0.0", None),
    ),
    lights("Downgrade from 2.1.0.", step("2.1.0", "2.0.2", None)),
    lights(
        "The same downgrade with the override SelfCertified (Ignore in older releases).",
        step("2.1.0", "2.0.2", Some("SelfCertified")),
    ),
    lights(
        "Request a version that does not exist.",
        step("1.4.0", "1.9.0", None),
    ),
    lights(
        "Install a deprecated bundle.",
        DemoEdit::Create {
            version: Some("1.2.1"),
        },
    ),
    DemoCase {
        about: "Install a package that two catalogs have, without selecting one.",
        extension: "foghorn",
        package: "foghorn-operator",
        edit: DemoEdit::Create { version: None },
    },
    lights(
        "Label an extension that OLM cannot resolve today: not checked.",
        DemoEdit::Label {
            installed: "1.4.0",
            wanted: "1.9.0",
        },
    ),
];

/// The catalogs of the demo.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// A catalog with the history of `harbor-lights-operator`, and with `foghorn-operator`.
    pub(super) lighthouse: Cow<'static, [u8]>,
    /// A catalog that also has `foghorn-operator`.
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
