//! kubectl, as users run it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Result, ensure};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// kubectl with a kubeconfig, and with its own directory for its cache.
#[derive(Debug, Clone)]
pub(crate) struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    home: PathBuf,
}

/// The output of a command, and how it ended.
#[derive(Debug, Clone)]
pub(crate) struct Printed {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Kubectl {
    pub(crate) fn new(program: PathBuf, kubeconfig: PathBuf, home: &Path) -> Self {
        Self {
            program,
            kubeconfig,
            home: home.to_owned(),
        }
    }

    /// Returns the same user with another program that reads a kubeconfig: another kubectl, Helm,
    /// or a shell.
    pub(crate) fn by(&self, program: PathBuf) -> Self {
        Self {
            program,
            ..self.clone()
        }
    }

    /// The directory in which the commands run.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Runs a command with its arguments separated by spaces, and returns how it ended.
    pub(crate) async fn try_run(&self, arguments: &str, stdin: &str) -> Result<Printed> {
        self.run_with(
            &arguments.split_whitespace().collect::<Vec<_>>(),
            stdin,
            &[],
        )
        .await
    }

    /// Runs a command that must succeed, and returns its standard output.
    pub(crate) async fn run(&self, arguments: &str, stdin: &str) -> Result<String> {
        let printed = self.try_run(arguments, stdin).await?;
        ensure!(printed.code == Some(0), "kubectl {arguments}: {printed:?}");
        Ok(printed.stdout)
    }

    /// Applies objects, which must succeed.
    pub(crate) async fn apply(&self, objects: &str) -> Result<String> {
        self.run("apply -f -", objects).await
    }

    /// Runs a command with these variables set.
    pub(crate) async fn run_with(
        &self,
        arguments: &[&str],
        stdin: &str,
        variables: &[(&str, &str)],
    ) -> Result<Printed> {
        let mut child = Command::new(&self.program)
            .args(arguments)
            .env_clear()
            .env("HOME", &self.home)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(variables.iter().copied())
            .current_dir(&self.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // A command that ends without reading its input reports the reason in its output.
            let _unread = input.write_all(stdin.as_bytes()).await;
        }
        let output = child.wait_with_output().await?;
        Ok(Printed {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout)?,
            stderr: String::from_utf8(output.stderr)?,
        })
    }
}
