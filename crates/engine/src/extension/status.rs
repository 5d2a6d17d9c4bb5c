//! The installed bundle according to an extension's status.
//!
//! Upstream: operator-controller, [`api/v1/clusterextension_types.go`] and its predecessors:
//! `status.install.bundle` from v0.15 on, `status.installedBundle` from v0.10, an image reference
//! without name or version before.
//!
//! [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

use crate::extension::{Json, Shape};

/// The installed bundle, as far as it is known.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Installed {
    /// Nothing is installed.
    #[default]
    Nothing,
    /// Unknown, with the reason.
    Unknown(UnknownCause),
    /// This bundle is installed.
    Bundle(InstalledBundle),
    /// A bundle of this version is. Its name was not given: it is the only one in the edges of the catalogs that fits.
    Inferred(InstalledBundle),
}

/// Why it is not known what is installed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UnknownCause {
    /// The Installed condition is Unknown.
    Condition,
    /// The status names an image only.
    ImageOnly,
    /// A field of the status is missing or has another type, against its schema.
    WrongType {
        /// The path of the field.
        field: &'static str,
    },
    /// A request to update the object does not contain the old object.
    NoOldObject,
    /// The cluster that knows could not be asked, for this reason.
    NotToBeHad {
        /// The reason.
        why: String,
    },
    /// The base does not contain it.
    NotInBase {
        /// Why not.
        why: String,
    },
    /// It is undecided what the earlier request resolves to.
    BaseUndecided {
        /// The token of the row that left it undecided.
        reason: &'static str,
    },
    /// A version was given without a name, and catalogs have several bundles of it.
    Several {
        /// Their names, in byte order.
        bundles: Vec<String>,
    },
    /// A version was given without a name, no catalog has a bundle of it, and the answer depends on the name.
    Nameless {
        /// The names in the edges that fit the version, in byte order: none or several.
        names: Vec<String>,
    },
}

/// An installed bundle, as it is recorded.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InstalledBundle {
    /// Its name; absent if only its version is known.
    pub name: Option<String>,
    /// Its version as recorded, perhaps with a release as build metadata.
    pub version: String,
    /// Its explicit release. Absent and empty differ.
    pub release: Option<String>,
}

impl InstalledBundle {
    /// `NAME VERSION[+RELEASE]`, as audit annotations have it; without the name where only the
    /// version is known.
    pub fn line(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        let release = self.release.as_deref().unwrap_or_default();
        let gap = if name.is_empty() { "" } else { " " };
        let plus = if release.is_empty() { "" } else { "+" };
        format!("{name}{gap}{}{plus}{release}", self.version)
    }
}

/// Whether an upgrade is still rolling out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Rollout {
    /// None is, as far as the status says.
    #[default]
    Settled,
    /// Progressing has the reason `RollingOut`: OLM carries edits of the spec out only after it.
    RollingOut,
}

impl Installed {
    /// Reads an object's status.
    pub fn read<'a>(shape: Shape, object: impl Json<'a>) -> Self {
        let sources: &[StatusField] = match shape {
            Shape::V1 => &[INSTALL],
            Shape::V1Alpha1Nested => &[INSTALL, INSTALLED_BUNDLE],
            Shape::V1Alpha1Flat => &[INSTALLED_BUNDLE, INSTALL],
            Shape::Operator => &[],
        };
        let found = sources.iter().find_map(|source| source.read(object));
        found.unwrap_or_else(|| without_bundle(shape, object))
    }

    /// The bundle, if one is known.
    pub fn bundle(&self) -> Option<&InstalledBundle> {
        match self {
            Self::Bundle(bundle) | Self::Inferred(bundle) => Some(bundle),
            Self::Nothing | Self::Unknown(_) => None,
        }
    }
}

impl Rollout {
    pub(super) fn read<'a>(object: impl Json<'a>) -> Self {
        let reason = condition(object, "Progressing").and_then(|c| c.get("reason"));
        match reason.and_then(Json::as_str) {
            Some("RollingOut") => Self::RollingOut,
            _ => Self::Settled,
        }
    }
}

/// A place of the status that holds an installed bundle.
struct StatusField {
    at: &'static [&'static str],
    path: &'static str,
}

const INSTALL: StatusField = StatusField {
    at: &["status", "install", "bundle"],
    path: "status.install.bundle",
};

const INSTALLED_BUNDLE: StatusField = StatusField {
    at: &["status", "installedBundle"],
    path: "status.installedBundle",
};

impl StatusField {
    fn read<'a>(&self, object: impl Json<'a>) -> Option<Installed> {
        let bundle = object.at(self.at).filter(|bundle| !bundle.is_null())?;
        let text = |field| match bundle.get(field).filter(|field| !field.is_null()) {
            None => Ok(None),
            Some(field) => field.as_str().map(str::to_owned).map(Some).ok_or(()),
        };
        let (Ok(name), Ok(Some(version)), Ok(release), true) = (
            text("name"),
            text("version"),
            text("release"),
            bundle.is_object(),
        ) else {
            return Some(Installed::Unknown(UnknownCause::WrongType {
                field: self.path,
            }));
        };
        Some(Installed::Bundle(InstalledBundle {
            name: name.filter(|name| !name.is_empty()),
            version,
            release,
        }))
    }
}

fn without_bundle<'a>(shape: Shape, object: impl Json<'a>) -> Installed {
    let image = object
        .at(&["status", "installedBundleResource"])
        .and_then(Json::as_str);
    let names_images = matches!(shape, Shape::Operator | Shape::V1Alpha1Flat);
    if names_images && image.is_some_and(|image| !image.is_empty()) {
        return Installed::Unknown(UnknownCause::ImageOnly);
    }
    let status = condition(object, "Installed").and_then(|condition| condition.get("status"));
    match status.and_then(Json::as_str) {
        Some("Unknown") => Installed::Unknown(UnknownCause::Condition),
        _ => Installed::Nothing,
    }
}

fn condition<'a, J: Json<'a>>(object: J, kind: &str) -> Option<J> {
    let mut conditions = object.at(&["status", "conditions"])?.items()?;
    conditions.find(|c| c.get("type").and_then(Json::as_str) == Some(kind))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn bundle(release: Option<&str>) -> Installed {
        let release = release.map(str::to_owned);
        Installed::Bundle(InstalledBundle {
            name: Some("p.v1.0.0".to_owned()),
            version: "1.0.0".to_owned(),
            release,
        })
    }

    #[test]
    fn each_shape_has_its_place() {
        let written = json!({"name": "p.v1.0.0", "version": "1.0.0"});
        let install = json!({"status": {"install": {"bundle": written}}});
        let installed_bundle = json!({"status": {"installedBundle": written}});
        let image = json!({"status": {"installedBundleResource": "example.com/p@sha256:1"}});
        let image_only = Installed::Unknown(UnknownCause::ImageOnly);
        for (shape, object, expected) in [
            (Shape::V1, &install, bundle(None)),
            (Shape::V1, &installed_bundle, Installed::Nothing),
            (Shape::V1Alpha1Nested, &install, bundle(None)),
            (Shape::V1Alpha1Nested, &installed_bundle, bundle(None)),
            (Shape::V1Alpha1Flat, &installed_bundle, bundle(None)),
            (Shape::V1Alpha1Flat, &image, image_only.clone()),
            (Shape::Operator, &image, image_only),
            (Shape::Operator, &json!({}), Installed::Nothing),
        ] {
            assert_eq!(
                Installed::read(shape, object),
                expected,
                "{shape:?} {object}"
            );
        }
    }

    #[test]
    fn an_absent_release_and_an_empty_one_differ() {
        let read = |release: Value| {
            let bundle = json!({"name": "p.v1.0.0", "version": "1.0.0", "release": release});
            Installed::read(
                Shape::V1,
                &json!({"status": {"install": {"bundle": bundle}}}),
            )
        };
        assert_eq!(read(json!(null)), bundle(None));
        assert_eq!(read(json!("")), bundle(Some("")));
        assert_eq!(read(json!("2")), bundle(Some("2")));
        let wrong = UnknownCause::WrongType {
            field: "status.install.bundle",
        };
        assert_eq!(read(json!(2)), Installed::Unknown(wrong.clone()));
        let versionless = json!({"status": {"install": {"bundle": {"name": "p.v1.0.0"}}}});
        assert_eq!(
            Installed::read(Shape::V1, &versionless),
            Installed::Unknown(wrong)
        );
    }

    #[test]
    fn unknown_is_what_the_condition_says_and_no_conditions_mean_nothing() {
        let read = |status: Value| Installed::read(Shape::V1, &json!({"status": status}));
        let unknown = json!([{"type": "Installed", "status": "Unknown"}]);
        let condition = Installed::Unknown(UnknownCause::Condition);
        assert_eq!(read(json!({"conditions": unknown})), condition);
        assert_eq!(
            read(json!({"conditions": unknown, "install": null})),
            condition
        );
        assert_eq!(read(json!({"conditions": []})), Installed::Nothing);
        assert_eq!(read(json!({})), Installed::Nothing);
    }
}
