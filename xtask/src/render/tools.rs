//! kubectl and helm, as far as they render. Neither asks a cluster.

use std::fs;
use std::path::{Path, PathBuf};

use crate::assets;
use crate::find::find;
use crate::program::{Program, root};
use crate::render::RenderError;

/// The programs.
pub(super) struct Tools {
    kubectl: PathBuf,
    helm: PathBuf,
}

impl Tools {
    /// Those of the end-to-end tests; where these cannot be made, those on the `PATH`.
    pub(super) fn find() -> Result<Self, RenderError> {
        let folders = match assets::prepare() {
            Ok(assets) => assets.programs,
            Err(error) if error.is_for_want_of_means() => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let find = |program| find(program, &folders).ok_or(RenderError::Missing { program });
        Ok(Self {
            kubectl: find("kubectl")?,
            helm: find("helm")?,
        })
    }

    /// What helm itself finds wrong with the chart.
    pub(super) fn lint(&self) -> Result<(), RenderError> {
        let lint = program(&self.helm).args(["lint", "--strict", "--quiet", CHART]);
        Ok(lint.run()?)
    }

    /// What a kustomization comes to; it stands in a folder two below the root.
    pub(super) fn kustomize(&self, kustomization: &str) -> Result<String, RenderError> {
        self.kustomize_with(kustomization, None)
    }

    /// What the chart comes to with these values, in the form that kustomize gives it.
    pub(super) fn helm(&self, values: &str) -> Result<String, RenderError> {
        let template = program(&self.helm)
            .args(["template", "olmguard", CHART, "--set", values])
            .args(["--namespace", NAMESPACE, "--kube-version", OLDEST]);
        self.kustomize_with(FORM, Some(&template.output()?))
    }

    fn kustomize_with(
        &self,
        kustomization: &str,
        objects: Option<&str>,
    ) -> Result<String, RenderError> {
        let target = root().join("target");
        fs::create_dir_all(&target).map_err(RenderError::file(&target))?;
        let folder = tempfile::tempdir_in(&target).map_err(RenderError::file(&target))?;
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).map_err(RenderError::file(&path))
        };
        write("kustomization.yaml", kustomization)?;
        if let Some(objects) = objects {
            write("objects.yaml", objects)?;
        }
        let kustomize = program(&self.kubectl).arg("kustomize").arg(folder.path());
        Ok(kustomize.output()?)
    }
}

/// A program that is where it was found; it works at the root.
fn program(path: &Path) -> Program {
    Program::new(&path.to_string_lossy())
}

const CHART: &str = "deploy/chart";
const NAMESPACE: &str = "olmguard-system";
/// The oldest Kubernetes that the chart takes: one without a cluster has to be named.
const OLDEST: &str = "1.30.0";
const FORM: &str = "sortOptions: {order: legacy}\nresources: [objects.yaml]\n";
