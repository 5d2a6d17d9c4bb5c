//! Hints about fields that an API does not have, and about words of another API. Old documents mix them.
//!
//! A hint changes no verdict. It names the field or word found and, if known, its likely replacement in this API. An
//! API server drops or refuses an unknown field, so an object that it accepted has none.

use serde_json::Value;

use crate::extension::schema::{self, SchemaRelease, UnknownField};
use crate::extension::{BypassWords, ChannelField, Fields, Json, Shape};
use crate::nearest::nearest;
use olmguard_preflight::config::is_deployment_field;

/// A field or word that an API does not have, with its likely replacement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hint {
    /// The path to the field. The index of a list item is a part too.
    pub path: Vec<String>,
    /// The likely replacement.
    pub instead: Instead,
    /// The line and column, if the object comes from a file.
    pub at: Option<(u32, u32)>,
}

/// The likely replacement for a field or word that an API does not have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Instead {
    /// No replacement is known.
    Unknown,
    /// The API has the field at another path, or a field with a similar name.
    Field(String),
    /// Only the experimental CRD of this minor release has the field.
    Experimental(u8),
    /// A field of OLM v0, with what to do in OLM v1.
    OfV0(&'static str),
    /// This shape has another word for the value.
    Word {
        /// The word found.
        found: String,
        /// The word of this shape.
        word: &'static str,
    },
}

/// The hints for an object of this shape, in the order of its fields. For a manifest, `olm` is the release of its CRD.
/// An object from a cluster has passed an unknown CRD, so `olm` is `None`: a newer CRD may have a field that resembles
/// no known one.
pub fn hints<'a>(shape: Shape, olm: Option<SchemaRelease>, object: impl Json<'a>) -> Vec<Hint> {
    let (unknown, known) = schema::unknown(shape, olm, object);
    let is_both = Fields::of(shape, object).channels == ChannelField::Both;
    let is_said = |field: &UnknownField<'_>| {
        let name = field.path.last().copied().unwrap_or_default();
        is_both && matches!(name, "channel" | "channels")
    };
    let hint = |field: UnknownField<'_>| {
        let olm = olm.filter(|_| field.is_experimental);
        let experimental = olm.map(|olm| Instead::Experimental(olm.minor()));
        let instead = || instead_of(&field, &known, Some(shape));
        Hint::of(&field, experimental.unwrap_or_else(instead))
    };
    let hints = unknown
        .into_iter()
        .filter(|field| !is_said(field))
        .map(hint);
    let hints = hints.filter(|hint| olm.is_some() || hint.instead != Instead::Unknown);
    hints.chain(word_hint(shape, object)).collect()
}

/// The hints for a `ClusterCatalog` of `olm.operatorframework.io/v1`.
pub fn catalog_hints(object: &Value) -> Vec<Hint> {
    let (unknown, known) = schema::unknown_in_catalog(object);
    let unknown = unknown.iter();
    unknown
        .map(|field| Hint::of(field, instead_of(field, &known, None)))
        .collect()
}

impl Hint {
    fn of(field: &UnknownField<'_>, instead: Instead) -> Self {
        Self {
            path: field.path.iter().map(|&step| step.to_owned()).collect(),
            instead,
            at: None,
        }
    }

    /// The path as users write it: `spec.source.catalog.channel`.
    pub fn field(&self) -> String {
        let path: Vec<_> = self.path.iter().map(String::as_str).collect();
        path_name(&path)
    }
}

fn path_name(path: &[&str]) -> String {
    let mut name = String::new();
    for step in path {
        match step.parse::<usize>() {
            Ok(index) => name.extend(["[", &index.to_string(), "]"]),
            Err(_) if name.is_empty() => name.push_str(step),
            Err(_) => name.extend([".", step]),
        }
    }
    name
}

fn instead_of(field: &UnknownField<'_>, known: &[String], shape: Option<Shape>) -> Instead {
    let Some((name, above)) = field.path.split_last() else {
        return Instead::Unknown;
    };
    let path = |last: &str| path_name(&[above, &[last]].concat());
    if let Some((_, answer)) = OF_V0.iter().find(|(v0, _)| v0 == name) {
        return Instead::OfV0(answer);
    }
    let is_v1 = shape == Some(Shape::V1);
    if is_v1 && above == ["spec", "config"] {
        let deployment = is_deployment_field(name).then_some(".deploymentConfig");
        let deployment = deployment.unwrap_or_default();
        return Instead::Field(format!("spec.config.inline{deployment}.{name}"));
    }
    let is_known = |path: &str| known.iter().any(|known| known == path);
    let is_here = |path: &str| is_known(path) || (is_v1 && path.starts_with("spec.config."));
    let moved = MOVED.iter().filter(|(old, _)| old == name);
    let moved = moved.map(|(_, path)| *path).find(|path| is_here(path));
    let elsewhere = || {
        let mut known = known.iter().filter(|_| *name != "name");
        known.find(|path| path.rsplit('.').next() == Some(name))
    };
    let near = || nearest(name, field.siblings.iter().copied(), 1);
    let moved = moved.or_else(|| elsewhere().map(String::as_str));
    let instead = moved
        .map(str::to_owned)
        .or_else(|| near().first().map(|near| path(near)));
    instead.map_or(Instead::Unknown, Instead::Field)
}

/// Fields of other releases and other tools, with the paths of their replacements. An API has at most one of the paths.
/// A field that an API has under the same name at another path needs no entry.
const MOVED: &[(&str, &str)] = &[
    ("name", "spec.source.catalog.packageName"),
    ("name", "spec.packageName"),
    ("package", "spec.source.catalog.packageName"),
    ("package", "spec.packageName"),
    ("channel", "spec.source.catalog.channels"),
    ("channels", "spec.source.catalog.channel"),
    ("channels", "spec.channel"),
    ("range", "spec.source.catalog.version"),
    ("versionRange", "spec.source.catalog.version"),
    ("catalogFilter", "spec.source.catalog.selector"),
    ("catalogSelector", "spec.source.catalog.selector"),
    ("catalogName", "spec.source.catalog.selector"),
    ("catalogs", "spec.source.catalog.selector"),
    ("labelSelector", "spec.source.catalog.selector"),
    ("installNamespace", "spec.namespace"),
    ("installNamespace", "spec.install.namespace"),
    ("namespace", "spec.installNamespace"),
    ("serviceAccountName", "spec.serviceAccount.name"),
    ("serviceAccountName", "spec.install.serviceAccount.name"),
    (
        "policy",
        "spec.install.preflight.crdUpgradeSafety.enforcement",
    ),
    (
        "disabled",
        "spec.install.preflight.crdUpgradeSafety.enforcement",
    ),
    ("watchNamespace", "spec.config.inline.watchNamespace"),
    ("watchNamespaces", "spec.config.inline.watchNamespace"),
    ("targetNamespace", "spec.config.inline.watchNamespace"),
    ("targetNamespaces", "spec.config.inline.watchNamespace"),
    ("inline", "spec.config.inline"),
    ("configType", "spec.config.configType"),
    ("deploymentConfig", "spec.config.inline.deploymentConfig"),
    ("type", "spec.source.sourceType"),
    ("sourceType", "spec.source.type"),
    ("pollInterval", "spec.source.image.pollIntervalMinutes"),
    ("interval", "spec.source.image.pollIntervalMinutes"),
    ("availability", "spec.availabilityMode"),
    ("digest", "spec.source.image.ref"),
    ("tag", "spec.source.image.ref"),
];

/// Fields of OLM v0's Subscription and `CatalogSource` that have no equivalent in OLM v1.
const OF_V0: &[(&str, &str)] = &[
    (
        "installPlanApproval",
        "pin spec.source.catalog.version to approve upgrades",
    ),
    ("startingCSV", "set spec.source.catalog.version"),
    (
        "sourceNamespace",
        "catalogs have no namespace; use spec.source.catalog.selector",
    ),
    ("catalogSource", "use spec.source.catalog.selector"),
    ("catalogSourceNamespace", "catalogs have no namespace"),
    (
        "updateStrategy",
        "set spec.source.image.pollIntervalMinutes",
    ),
    ("registryPoll", "set spec.source.image.pollIntervalMinutes"),
];

/// A hint about a word of the policy, whose vocabulary changed in v0.16.
fn word_hint<'a>(shape: Shape, object: impl Json<'a>) -> Option<Hint> {
    let fields = Fields::of(shape, object);
    let word = object
        .at(fields.base)?
        .get("upgradeConstraintPolicy")?
        .as_str()?;
    let old = fields.bypass == BypassWords::Ignore;
    let either = fields.bypass == BypassWords::Either;
    let meant = match word {
        _ if either => return None,
        "Ignore" if !old => "SelfCertified",
        "Enforce" if !old => "CatalogProvided",
        "SelfCertified" if old => "Ignore",
        "CatalogProvided" if old => "Enforce",
        _ => return None,
    };
    let instead = Instead::Word {
        found: word.to_owned(),
        word: meant,
    };
    let path = fields.policy();
    Some(Hint {
        path: path.split('.').map(str::to_owned).collect(),
        instead,
        at: None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(shape: Shape, object: &Value, expected: &[(&str, &str)]) {
        let found = hints(shape, Some(SchemaRelease::v1(11)), object);
        assert_hints(&found, expected);
    }

    #[track_caller]
    fn assert_hints(found: &[Hint], expected: &[(&str, &str)]) {
        let instead = |hint: &Hint| match &hint.instead {
            Instead::Unknown => "?".to_owned(),
            Instead::Field(field) => field.clone(),
            Instead::Experimental(minor) => format!("experimental {minor}"),
            Instead::OfV0(_) => "v0".to_owned(),
            Instead::Word { word, .. } => (*word).to_owned(),
        };
        let found: Vec<_> = found
            .iter()
            .map(|hint| (hint.field(), instead(hint)))
            .collect();
        let found: Vec<_> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn fields_of_older_shapes_have_moved() {
        let object =
            json!({"spec": {"packageName": "p", "installNamespace": "n", "serviceAccout": {}}});
        check(
            Shape::V1,
            &object,
            &[
                ("spec.installNamespace", "spec.namespace"),
                ("spec.packageName", "spec.source.catalog.packageName"),
                ("spec.serviceAccout", "spec.serviceAccount"),
            ],
        );
        check(
            Shape::V1,
            &json!({"spec": {"install": {"namespace": "n", "serviceAccount": {"name": "n"},
                "preflight": {"crdUpgradeSafety": {"policy": "Disabled"}}}, "preflight": {},
                "serviceAccount": {"namespace": "n"}}}),
            &[
                ("spec.install.namespace", "spec.namespace"),
                (
                    "spec.install.preflight.crdUpgradeSafety.policy",
                    "spec.install.preflight.crdUpgradeSafety.enforcement",
                ),
                ("spec.install.serviceAccount", "spec.serviceAccount"),
                ("spec.preflight", "spec.install.preflight"),
                ("spec.serviceAccount.namespace", "spec.namespace"),
            ],
        );
    }

    #[test]
    fn a_channel_alone_is_of_an_older_shape() {
        let object = json!({"spec": {"source": {"catalog": {"packageName": "p", "channel": "a"}}}});
        check(
            Shape::V1,
            &object,
            &[(
                "spec.source.catalog.channel",
                "spec.source.catalog.channels",
            )],
        );
        check(Shape::V1Alpha1Nested, &object, &[]);
    }

    #[test]
    fn each_vocabulary_of_the_policy_belongs_to_its_shapes() {
        let policy = |word: &str| {
            json!({"spec": {"source": {"catalog": {"upgradeConstraintPolicy": word}},
                            "upgradeConstraintPolicy": word}})
        };
        let path = "spec.source.catalog.upgradeConstraintPolicy";
        let moved = ("spec.upgradeConstraintPolicy", path);
        check(
            Shape::V1,
            &policy("Ignore"),
            &[moved, (path, "SelfCertified")],
        );
        check(Shape::V1, &policy("SelfCertified"), &[moved]);
        let flat = json!({"spec": {"upgradeConstraintPolicy": "SelfCertified"}});
        check(
            Shape::Operator,
            &flat,
            &[("spec.upgradeConstraintPolicy", "Ignore")],
        );
    }

    #[test]
    fn every_field_that_the_shape_does_not_have_is_named() {
        let object = json!({"specs": {}, "metadata": {"name": "x", "lables": {}, "zoo": "me"},
            "spec": {"source": {"catalog": {"selector": {"matchExpressions": [{}, {"oparator": "In"}]},
            "zebra": 1}}}, "status": {"anything": true}});
        check(
            Shape::V1,
            &object,
            &[
                ("specs", "spec"),
                ("metadata.lables", "metadata.labels"),
                ("metadata.zoo", "?"),
                (
                    "spec.source.catalog.selector.matchExpressions[1].oparator",
                    "spec.source.catalog.selector.matchExpressions[1].operator",
                ),
                ("spec.source.catalog.zebra", "?"),
            ],
        );
    }

    #[test]
    fn the_fields_of_other_tools_have_their_answer() {
        for (field, expected) in [
            ("watchNamespace", "spec.config.inline.watchNamespace"),
            ("targetNamespaces", "spec.config.inline.watchNamespace"),
            ("name", "spec.source.catalog.packageName"),
            ("version", "spec.source.catalog.version"),
            ("channel", "spec.source.catalog.channels"),
            ("selector", "spec.source.catalog.selector"),
            ("catalogFilter", "spec.source.catalog.selector"),
            ("serviceAccountName", "spec.serviceAccount.name"),
            ("sourceType", "spec.source.sourceType"),
            (
                "crdUpgradeSafety",
                "spec.install.preflight.crdUpgradeSafety",
            ),
            ("installPlanApproval", "v0"),
            ("startingCSV", "v0"),
            ("sourceNamespace", "v0"),
            ("foo", "?"),
        ] {
            let path = format!("spec.{field}");
            check(
                Shape::V1,
                &json!({"spec": {field: "x"}}),
                &[(&path, expected)],
            );
        }
        check(
            Shape::V1Alpha1Flat,
            &json!({"spec": {"packageName": "p", "namespace": "n", "channels": ["c"], "watchNamespace": "n"}}),
            &[
                ("spec.channels", "spec.channel"),
                ("spec.namespace", "spec.installNamespace"),
                ("spec.watchNamespace", "?"),
            ],
        );
    }

    #[test]
    fn what_only_the_experimental_crd_has_depends_on_the_release() {
        let object = json!({"spec": {"config": {"configType": "Inline", "env": [], "watchNamespace": "n",
            "inline": {"anything": 1}}, "progressDeadlineMinutes": 10}});
        let inner = [
            ("spec.config.env", "spec.config.inline.deploymentConfig.env"),
            (
                "spec.config.watchNamespace",
                "spec.config.inline.watchNamespace",
            ),
        ];
        for (minor, config, deadline) in [
            (4, "?", Some("?")),
            (5, "experimental 5", Some("?")),
            (8, "", Some("experimental 8")),
            (11, "experimental 11", Some("experimental 11")),
        ] {
            let config = Some(("spec.config", config)).filter(|(_, instead)| !instead.is_empty());
            let inner = inner.into_iter().filter(|_| minor != 4);
            let deadline = deadline.map(|instead| ("spec.progressDeadlineMinutes", instead));
            let expected: Vec<_> = config.into_iter().chain(inner).chain(deadline).collect();
            assert_hints(
                &hints(Shape::V1, Some(SchemaRelease::v1(minor)), &object),
                &expected,
            );
        }
    }

    #[test]
    fn what_an_api_server_let_through_may_be_of_any_release() {
        let object = json!({"spec": {"config": {"configType": "Inline"}, "progressDeadlineMinutes": 10, "zebra": 1,
            "version": "1.0.0"}, "metadata": {"lables": {}}});
        assert_hints(
            &hints(Shape::V1, None, &object),
            &[("spec.version", "spec.source.catalog.version")],
        );
    }

    #[test]
    fn catalogs_have_hints_too() {
        let object = json!({"spec": {"prority": 5, "availability": "Disabled", "updateStrategy": {}, "image": "x",
            "source": {"sourceType": "Image", "image": {"ref": "x", "pollInterval": "10m"}}}});
        assert_hints(
            &catalog_hints(&object),
            &[
                ("spec.availability", "spec.availabilityMode"),
                ("spec.image", "spec.source.image"),
                ("spec.prority", "spec.priority"),
                (
                    "spec.source.image.pollInterval",
                    "spec.source.image.pollIntervalMinutes",
                ),
                ("spec.source.sourceType", "spec.source.type"),
            ],
        );
    }
}
