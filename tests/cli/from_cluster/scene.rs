//! A directory with manifests and a kubeconfig, and the cluster of the kubeconfig.

use std::fs;
use std::path::Path;
use std::process::Command;

use axum::http::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use olmguard_support::api_server::{ApiServer, catalog};
use olmguard_support::schema::assert_fits;

/// A cluster with OLM 1.11 and catalog `hub`: `lantern-operator` with 1.0.0, 1.1.0, 1.2.0 and
/// 1.3.0, each the successor of the one before. `a.yaml` requests 1.3.0 of it.
pub(crate) struct Scene {
    pub(crate) api: ApiServer,
    folder: TempDir,
}

/// The output of a run, and its exit code.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::of("1.11")
    }

    /// Creates a scene with this release of OLM.
    pub(crate) fn of(olm: &str) -> Self {
        let (api, folder) = (ApiServer::start(olm), TempDir::new().expect("a folder"));
        let scene = Self { api, folder };
        scene.write("kubeconfig", &scene.api.kubeconfig());
        scene.write("a.yaml", &extension("1.3.0"));
        scene.api.answer(HUB_PATH, StatusCode::OK, HUB);
        scene.api.catalogs(&[scene.hub()]);
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lantern"}});
        scene.api.put("/api/v1/namespaces/lantern", &namespace);
        scene
    }

    /// Returns the object of the catalog.
    pub(crate) fn hub(&self) -> Value {
        catalog("hub", &self.api.url("/catalogs/hub"))
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.path().join(file), text).expect(file);
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Installs a version of the package in the cluster.
    pub(crate) fn installed(&self, version: &str) {
        let bundle = json!({"name": format!("lantern-operator.v{version}"), "version": version});
        self.api
            .extension("a", &json!({"install": {"bundle": bundle}}));
    }

    /// Runs the program in this directory with these words, without variables of its own.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_as(words, &[])
    }

    pub(crate) fn run_as(&self, words: &[&str], environment: &[(&str, &str)]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
            .args(words)
            .current_dir(self.path())
            .env_clear()
            .envs(environment.iter().copied())
            .output()
            .expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Checks `a.yaml` with these additional flags. Returns JSON that is validated by its schema.
    #[track_caller]
    pub(crate) fn judged(&self, flags: &[&str]) -> (Option<i32>, Value, String) {
        let ran = self.run(&[&["check", "-f", "a.yaml", "-o", "json"], flags].concat());
        let report: Value = serde_json::from_str(&ran.stdout).expect(&ran.stderr);
        assert_fits("schemas/olmguard.check.v1.json", &report);
        (ran.code, report["results"][0].clone(), ran.stderr)
    }

    /// Checks against the cluster, and returns the exit code and the reason code.
    #[track_caller]
    pub(crate) fn token(&self, flags: &[&str]) -> (Option<i32>, String) {
        let (code, result, _) = self.judged(&[LIVE, flags].concat());
        (code, result["token"].as_str().expect("a text").to_owned())
    }
}

/// Returns an extension that requests a version of `lantern-operator`.
pub(crate) fn extension(version: &str) -> String {
    format!(
        "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata:\n  name: a\n\
         spec:\n  namespace: lantern\n  serviceAccount: {{name: lantern}}\n  source:\n    \
         sourceType: Catalog\n    catalog:\n      packageName: lantern-operator\n      \
         version: \"{version}\"\n"
    )
}

/// The flags that make `check` read the cluster.
pub(crate) const LIVE: &[&str] = &["--from-cluster", "--kubeconfig=kubeconfig"];
pub(crate) const HUB: &str = include_str!("../../../examples/Resolved/hub.yaml");
pub(crate) const HUB_PATH: &str = "/catalogs/hub/api/v1/all";
