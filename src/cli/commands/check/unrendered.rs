//! What is skipped because a tool makes manifests of it, with the tool.

use std::path::Path;

use super::cases::CasePlace;
use super::kustomize::Kustomizations;
use olmguard_engine::explain::{Renderer, Unrendered};

/// Something that is not checked, and why not.
#[derive(Debug)]
pub(super) struct Skipped {
    pub(super) place: CasePlace,
    pub(super) why: Unrendered,
    pub(super) by: Renderer,
}

impl Skipped {
    pub(super) fn new(place: CasePlace, why: Unrendered, kustomizations: &Kustomizations) -> Self {
        let by = renderer(&place.file, &why, kustomizations);
        Self { place, why, by }
    }

    /// Why, and what to do, in a line.
    pub(super) fn words(&self) -> String {
        self.why.words(&self.by)
    }
}

/// What renders this file.
fn renderer(file: &str, why: &Unrendered, kustomizations: &Kustomizations) -> Renderer {
    let chart = || {
        let mut directories = Path::new(file).ancestors().skip(1);
        directories.find(|directory| directory.join("Chart.yaml").is_file())
    };
    match why {
        Unrendered::OpenShiftTemplate => return Renderer::Oc(file.to_owned()),
        Unrendered::Placeholder { text, .. }
            if text.starts_with('$') && !text.starts_with("$(") =>
        {
            return Renderer::Envsubst(file.to_owned());
        }
        _ => {}
    }
    let built = kustomizations.built(file).map(Renderer::Kustomize);
    let chart = || chart().map(|directory| Renderer::Helm(shown(directory)));
    built.or_else(chart).unwrap_or(Renderer::Unknown)
}

/// A directory as a command takes it.
fn shown(directory: &Path) -> String {
    match directory.to_string_lossy() {
        shown if shown.is_empty() => ".".to_owned(),
        shown => shown.into_owned(),
    }
}
