//! The manifests under `deploy/`, as they are applied.
//!
//! There are two sources, the kustomizations and the Helm chart, because clusters are run with either. Both are
//! rendered and normalized by kustomize (objects by kind and name, keys by name). The results must be identical to the
//! byte. The text is committed, so that a change of a source shows its effect.
//!
//! ```text
//! deploy/overlays/NAME -- kubectl kustomize ------------------------.
//!                                                                   |== deploy/rendered/NAME.yaml
//! deploy/chart -- helm template --> one file -- kubectl kustomize --'
//! ```
//!
//! Settings without an overlay are also rendered both ways and compared, but not committed. Directories that the chart
//! does not have are only rendered.
//!
//! The committed text comes from an earlier rendering, so a match shows that rendering is reproducible.

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

/// Writes the committed text again. Programs are looked up in these directories, then on the `PATH`.
pub(crate) fn write(folders: &[PathBuf]) -> Result<(), RenderError> {
    each(folders, |path, rendered| {
        say(path.display());
        fs::write(path, rendered).map_err(RenderError::file(path))
    })
}

/// Compares the renderings with the committed text.
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

/// Renders everything, and passes each text that is committed to `one`, with the path of its file.
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

/// The rendering of kustomize, which must be equal to Helm's.
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

/// Directories that are applied without the webhook: the nightly audit of a cluster, and the add-on that distributes
/// it.
const ALONE: [&str; 2] = ["audit", "fleet"];

/// The first line of a committed file.
fn title(overlay: &str) -> String {
    format!("# From deploy/overlays/{overlay}, by `cargo xtask render`.\n")
}

fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}
