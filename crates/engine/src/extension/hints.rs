//! Fields that look like those of another API shape, or misspelt: old documents mix them.
//!
//! A hint changes no verdict. It names what was found and what this shape has instead.

use crate::extension::{Json, Shape};
use crate::nearest::nearest;

/// A field or a word that this shape does not have, and what it has instead.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hint {
    /// The path of the field, as written.
    pub field: String,
    /// What is probably meant.
    pub instead: Instead,
}

/// What is probably meant by a field or word that a shape does not have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Instead {
    /// This shape has the field at another path.
    Field(String),
    /// This shape has another word for the value.
    Word {
        /// The word found.
        found: String,
        /// This shape's.
        word: &'static str,
    },
}

/// The hints for an object that is read in this shape, in the order of its fields.
pub(super) fn hints<'a>(shape: Shape, object: impl Json<'a>) -> Vec<Hint> {
    let places = places(shape);
    let mut hints: Vec<Hint> = places
        .iter()
        .flat_map(|place| place.hints(object))
        .collect();
    hints.extend(word_hint(shape, object));
    hints
}

/// An object of a shape, the fields it has, and where those of other shapes have gone.
struct ShapePlace {
    at: &'static [&'static str],
    path: &'static str,
    has: &'static [&'static str],
    moved: &'static [(&'static str, &'static str)],
}

impl ShapePlace {
    fn hints<'a>(&self, object: impl Json<'a>) -> Vec<Hint> {
        let written = object.at(self.at).and_then(Json::entries);
        let written = written.into_iter().flatten().map(|(field, _)| field);
        let unknown = written.filter(|field| !self.has.contains(field));
        let hint = |field| {
            Some(Hint {
                field: format!("{}.{field}", self.path),
                instead: Instead::Field(self.instead_of(field)?),
            })
        };
        let mut hints: Vec<Hint> = unknown.filter_map(hint).collect();
        hints.sort_by(|one, other| one.field.cmp(&other.field));
        hints
    }

    fn instead_of(&self, field: &str) -> Option<String> {
        let moved = self.moved.iter().find(|(from, _)| *from == field);
        let moved = moved.map(|(_, to)| (*to).to_owned());
        moved.or_else(|| {
            let known = nearest(field, self.has.iter().copied(), 1);
            known.first().map(|known| format!("{}.{known}", self.path))
        })
    }
}

fn places(shape: Shape) -> &'static [ShapePlace] {
    match shape {
        Shape::V1 => V1,
        Shape::V1Alpha1Nested => NESTED,
        Shape::V1Alpha1Flat | Shape::Operator => FLAT,
    }
}

const CATALOG: &[&str] = &[
    "packageName",
    "version",
    "channels",
    "selector",
    "upgradeConstraintPolicy",
];

const V1: &[ShapePlace] = &[
    ShapePlace {
        at: &["spec"],
        path: "spec",
        has: &[
            "namespace",
            "serviceAccount",
            "source",
            "install",
            "config",
            "progressDeadlineMinutes",
        ],
        moved: &[
            ("packageName", "spec.source.catalog.packageName"),
            ("version", "spec.source.catalog.version"),
            ("channel", "spec.source.catalog.channels"),
            ("channels", "spec.source.catalog.channels"),
            (
                "upgradeConstraintPolicy",
                "spec.source.catalog.upgradeConstraintPolicy",
            ),
            ("installNamespace", "spec.namespace"),
            ("preflight", "spec.install.preflight"),
        ],
    },
    ShapePlace {
        at: &["spec", "source", "catalog"],
        path: "spec.source.catalog",
        has: CATALOG,
        moved: &[("channel", "spec.source.catalog.channels")],
    },
    ShapePlace {
        at: &["spec", "install"],
        path: "spec.install",
        has: &["preflight"],
        moved: &[
            ("namespace", "spec.namespace"),
            ("serviceAccount", "spec.serviceAccount"),
        ],
    },
];

const NESTED: &[ShapePlace] = &[
    ShapePlace {
        at: &["spec"],
        path: "spec",
        has: &[
            "source",
            "install",
            "installNamespace",
            "namespace",
            "serviceAccount",
            "preflight",
        ],
        moved: &[
            ("packageName", "spec.source.catalog.packageName"),
            ("version", "spec.source.catalog.version"),
            ("channel", "spec.source.catalog.channel"),
            ("channels", "spec.source.catalog.channels"),
            (
                "upgradeConstraintPolicy",
                "spec.source.catalog.upgradeConstraintPolicy",
            ),
        ],
    },
    ShapePlace {
        at: &["spec", "source", "catalog"],
        path: "spec.source.catalog",
        has: &[
            "packageName",
            "version",
            "channel",
            "channels",
            "selector",
            "upgradeConstraintPolicy",
        ],
        moved: &[],
    },
];

const FLAT: &[ShapePlace] = &[ShapePlace {
    at: &["spec"],
    path: "spec",
    has: &[
        "packageName",
        "version",
        "channel",
        "upgradeConstraintPolicy",
        "installNamespace",
        "serviceAccount",
        "preflight",
    ],
    moved: &[
        ("channels", "spec.channel"),
        ("namespace", "spec.installNamespace"),
    ],
}];

/// The policy's vocabulary changed with v0.16.
fn word_hint<'a>(shape: Shape, object: impl Json<'a>) -> Option<Hint> {
    let fields = crate::extension::Fields::of(shape, object);
    let word = object
        .at(fields.base)?
        .get("upgradeConstraintPolicy")?
        .as_str()?;
    let old = fields.bypass == crate::extension::fields::BypassWords::Ignore;
    let either = fields.bypass == crate::extension::fields::BypassWords::Either;
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
    Some(Hint {
        field: fields.policy(),
        instead,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(shape: Shape, object: &Value, expected: &[(&str, &str)]) {
        let found: Vec<(String, String)> = hints(shape, object)
            .into_iter()
            .map(|hint| match hint.instead {
                Instead::Field(field) => (hint.field, field),
                Instead::Word { word, .. } => (hint.field, word.to_owned()),
            })
            .collect();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
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
    fn what_is_like_nothing_known_is_left_alone() {
        check(Shape::V1, &json!({"spec": {"watchNamespaces": []}}), &[]);
    }
}
