//! Texts that are not manifests yet, because a tool makes the manifest. They are not checked, and the tool is named.

use std::borrow::Cow;

use crate::explain::one_line;
use olmguard_catalog::version::go;

/// Why a text is not a manifest yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unrendered {
    /// The text of a template.
    Template,
    /// A tool fills in a field.
    Placeholder {
        /// The path of the field.
        field: String,
        /// The text to fill in, with its marks.
        text: String,
    },
    /// An OpenShift Template, with the objects in it.
    OpenShiftTemplate,
    /// A kustomization whose result is not among the inputs.
    Kustomization,
    /// A patch of a kustomization.
    Patch,
    /// A resource that a kustomization changes.
    Resource,
}

/// The tool that makes the manifests.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Renderer {
    /// `envsubst`, from this file.
    Envsubst(String),
    /// Helm, from the chart in this directory.
    Helm(String),
    /// Kustomize, from this directory.
    Kustomize(String),
    /// OpenShift's `oc process`, from this file.
    Oc(String),
    /// Unknown.
    Unknown,
}

impl Unrendered {
    /// Why it is not checked, and what to do, in one line.
    pub fn words(&self, by: &Renderer) -> String {
        format!("{}; {}", self.what(), by.words())
    }

    /// That it is skipped, and why, in one line, where no tool can be named.
    pub fn skipped(&self) -> String {
        format!("skipped: {}; render it first", self.what())
    }

    fn what(&self) -> Cow<'_, str> {
        match self {
            Self::Template => "a template".into(),
            Self::Placeholder { field, text } => {
                let text = go::quote(&crate::explain::cut_end(text, MOST_SHOWN));
                format!("a tool fills in {} later: {text}", one_line(field)).into()
            }
            Self::OpenShiftTemplate => "an OpenShift Template".into(),
            Self::Kustomization => "a kustomization".into(),
            Self::Patch => "a patch of a kustomization".into(),
            Self::Resource => "a resource that a kustomization changes".into(),
        }
    }
}

impl Renderer {
    fn words(&self) -> String {
        let command = match self {
            Self::Envsubst(file) => format!("envsubst < {}", argument(file)),
            Self::Helm(directory) => format!("helm template {}", argument(directory)),
            Self::Kustomize(directory) => format!("kubectl kustomize {}", argument(directory)),
            Self::Oc(file) => format!("oc process -f {}", argument(file)),
            Self::Unknown => return "render it first, and check the result (-f -)".to_owned(),
        };
        format!("render it first: {command} | olmguard check -f -")
    }
}

/// A path as a shell takes it.
fn argument(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | ',');
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        one_line(&format!("'{}'", path.replace('\'', r"'\''")))
    }
}

/// How much of a placeholder is shown.
const MOST_SHOWN: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_names_the_tool() {
        let placeholder = |text: &str| Unrendered::Placeholder {
            field: "spec.namespace".to_owned(),
            text: text.to_owned(),
        };
        for (what, by, expected) in [
            (
                Unrendered::Template,
                Renderer::Unknown,
                "a template; render it first, and check the result (-f -)",
            ),
            (
                Unrendered::Template,
                Renderer::Helm("charts/a b".to_owned()),
                "a template; render it first: helm template 'charts/a b' | olmguard check -f -",
            ),
            (
                placeholder("${NS}"),
                Renderer::Envsubst("a's.yaml".to_owned()),
                "a tool fills in spec.namespace later: \"${NS}\"; render it first: envsubst < \
                 'a'\\''s.yaml' | olmguard check -f -",
            ),
            (
                Unrendered::OpenShiftTemplate,
                Renderer::Oc("t.yaml".to_owned()),
                "an OpenShift Template; render it first: oc process -f t.yaml | olmguard check -f -",
            ),
            (
                Unrendered::Patch,
                Renderer::Kustomize("overlays/prod".to_owned()),
                "a patch of a kustomization; render it first: kubectl kustomize overlays/prod | olmguard check -f -",
            ),
        ] {
            assert_eq!(what.words(&by), expected);
        }
    }
}
