//! The program under attack, in its own cgroup.

use std::fs;

use tempfile::TempDir;

use super::group::Group;
use olmguard_support::https::Certificate;
use olmguard_support::load::wire::Target;
use olmguard_support::process::Process;

/// The running program.
pub(crate) struct Program {
    process: Process,
    pub(crate) target: Target,
    group: Option<Group>,
    _folder: TempDir,
}

impl Program {
    /// Starts the delivered program for this cluster, and waits until it accepts reviews.
    pub(crate) fn start(kubeconfig: &str) -> Self {
        let program = std::env::var("OLMGUARD_ATTACKED").expect("OLMGUARD_ATTACKED is its path");
        let folder = tempfile::tempdir().unwrap();
        let certificate = Certificate::generate();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let group = Group::limited(crate::LIMIT);
        let join = group.as_ref().map_or_else(String::new, Group::join);
        let script = format!("{join}shift; exec '{program}' \"$@\"");
        let cache = format!("{}/cache", folder.path().display());
        let arguments = [
            "serve",
            "--listen=127.0.0.1:0",
            "--ops-listen=127.0.0.1:0",
            "--shutdown-delay=0s",
            "--olm-release=1.11",
            // Without its own cgroup, there is no limit to detect.
            if group.is_some() {
                "--log-format=json"
            } else {
                "--memory-limit=384Mi"
            },
            "--kubeconfig",
            &file("kubeconfig", kubeconfig),
            "--cache-dir",
            &cache,
            "--tls-cert",
            &file("cert", &certificate.pem()),
            "--tls-key",
            &file("key", &certificate.key_pem()),
        ];
        let mut process = Process::under(&["sh", "-c", &script, "sh"], &arguments);
        let line = process.line();
        let address = line.strip_prefix("listening on https://").unwrap();
        let (address, tls) = (address.parse().unwrap(), certificate.client());
        Self {
            process,
            target: Target { address, tls },
            group,
            _folder: folder,
        }
    }

    /// Returns its peak memory in bytes, and how much of that are pages of its own file, which the kernel drops if
    /// memory is short.
    pub(crate) fn peak(&mut self) -> (usize, usize) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let bytes = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let kibibytes = line.unwrap().trim().strip_suffix(" kB").unwrap();
            kibibytes.parse::<usize>().unwrap() << 10
        };
        (bytes("VmHWM:"), bytes("RssFile:"))
    }

    /// Returns the maximum number of bytes that were charged to its cgroup, if it has one.
    pub(crate) fn charged(&self) -> Option<usize> {
        self.group.as_ref().and_then(Group::peak)
    }

    /// Ends the program and returns its exit code.
    pub(crate) fn end(self) -> Option<i32> {
        self.process.terminate();
        self.process.ended().code
    }
}
