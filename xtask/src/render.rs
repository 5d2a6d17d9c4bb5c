//! The manifests under `deploy/`, as they are applied.
//!
//! There are two sources, kustomize's and the Helm chart's, because clusters are run with either. Both
//! are rendered, brought to one form by kustomize (objects by kind and name, keys by name), and have to
//! be the same to the byte; that text is committed, so that a change of a source shows what it changes.
//!
//! ```text
//! deploy/overlays/NAME -- kubectl kustomize ------------------------.
//!                                                                   |== deploy/rendered/NAME.yaml
//! deploy/chart -- helm template --> one file -- kubectl kustomize --'
//! ```
//!
//! Settings that no overlay has are rendered both ways and compared, too; nothing is committed of them. Directories
//! that the chart does not have are only rendered.
//! What was committed was rendered before: that it is the same now says that two renderings are alike.

mod combination;
mod fault;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use combination::Combination;
pub(crate) use fault::RenderError;
use fault::difference;
use tools::Tools;

use crate::report::say;

/// Writes what is committed anew. Programs are looked for in these folders, then on the `PATH`.
pub(crate) fn write(folders: &[PathBuf]) -> Result<(), RenderError> {
    each(folders, |path, rendered| {
        say(path.display());
        fs::write(path, rendered).map_err(RenderError::file(path))
    })
}

/// Compares it with what is committed.
pub(crate) fn check(folders: &[PathBuf]) -> Result<(), RenderError> {
    each(folders, |path, rendered| {
        let committed = fs::read_to_string(path).map_err(RenderError::file(path))?;
        if committed == rendered {
            return Ok(());
        }
        Err(RenderError::Stale {
            path: path.to_owned(),
            difference: difference(&committed, rendered),
        })
    })
}

/// Renders all, and hands on the text of each that is committed with the path of its file.
fn each(
    folders: &[PathBuf],
    mut one: impl FnMut(&Path, &str) -> Result<(), RenderError>,
) -> Result<(), RenderError> {
    let root = root();
    let tools = Tools::find(folders, root)?;
    tools.lint()?;
    for directory in ALONE {
        tools.kustomize(&format!("resources: [../../deploy/{directory}]\n"))?;
    }
    for combination in combination::all() {
        let rendered = both(&tools, &combination)?;
        if let Some(name) = combination.overlay() {
            let path = root.join("deploy/rendered").join(format!("{name}.yaml"));
            one(&path, &(title(&name) + &rendered))?;
        }
    }
    Ok(())
}

/// What kustomize makes of it, which is what Helm makes of it.
fn both(tools: &Tools<'_>, combination: &Combination) -> Result<String, RenderError> {
    let by_kustomize = tools.kustomize(&combination.kustomization())?;
    let by_helm = tools.helm(&combination.values())?;
    if by_kustomize == by_helm {
        return Ok(by_kustomize);
    }
    Err(RenderError::Unlike {
        combination: combination.to_string(),
        difference: difference(&by_kustomize, &by_helm),
    })
}

/// What is applied without the webhook: the nightly audit of a cluster, and the add-on that carries it to many.
const ALONE: [&str; 2] = ["audit", "fleet"];

/// What a committed file begins with.
fn title(overlay: &str) -> String {
    format!("# From deploy/overlays/{overlay}, by `cargo xtask render`.\n")
}

fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}
