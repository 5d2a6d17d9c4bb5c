//! Rendering with kubectl and helm. Neither contacts a cluster.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::find::find;
use crate::render::RenderError;

/// The programs, and the directory in which they run.
pub(super) struct Tools<'r> {
    root: &'r Path,
    kubectl: PathBuf,
    helm: PathBuf,
}

impl<'r> Tools<'r> {
    pub(super) fn find(folders: &[PathBuf], root: &'r Path) -> Result<Self, RenderError> {
        let find = |program| find(program, folders).ok_or(RenderError::Missing { program });
        Ok(Self {
            root,
            kubectl: find("kubectl")?,
            helm: find("helm")?,
        })
    }

    /// Runs helm's own linter on the chart.
    pub(super) fn lint(&self) -> Result<(), RenderError> {
        let lint = ["lint", "--strict", "--quiet", CHART].map(OsStr::new);
        self.run(&self.helm, &lint).map(drop)
    }

    /// The rendering of a kustomization, which is placed in a directory two levels below the root.
    pub(super) fn kustomize(&self, kustomization: &str) -> Result<String, RenderError> {
        self.kustomize_with(kustomization, None)
    }

    /// The rendering of the chart with these values, normalized by kustomize.
    pub(super) fn helm(&self, values: &str) -> Result<String, RenderError> {
        let line = ["template", "olmguard", CHART, "--set", values];
        let cluster = ["--namespace", NAMESPACE, "--kube-version", OLDEST];
        let line: Vec<_> = line.iter().chain(&cluster).map(OsStr::new).collect();
        let objects = self.run(&self.helm, &line)?;
        self.kustomize_with(FORM, Some(&objects))
    }

    fn kustomize_with(
        &self,
        kustomization: &str,
        objects: Option<&str>,
    ) -> Result<String, RenderError> {
        let target = self.root.join("target");
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
        self.run(
            &self.kubectl,
            &[OsStr::new("kustomize"), folder.path().as_os_str()],
        )
    }

    /// Runs a program, and returns its output.
    fn run(&self, program: &Path, arguments: &[&OsStr]) -> Result<String, RenderError> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .current_dir(self.root);
        let line = || {
            format!(
                "{} {}",
                program.display(),
                arguments.join(OsStr::new(" ")).display()
            )
        };
        let output = command.output().map_err(|source| RenderError::Start {
            line: line(),
            source,
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(RenderError::Failed {
            line: line(),
            status: output.status,
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

const CHART: &str = "deploy/chart";
const NAMESPACE: &str = "olmguard-system";
/// The oldest Kubernetes version that the chart supports. Without a cluster, the version must be
/// given.
const OLDEST: &str = "1.30.0";
const FORM: &str = "sortOptions: {order: legacy}\nresources: [objects.yaml]\n";
