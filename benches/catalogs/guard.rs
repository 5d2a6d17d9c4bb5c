//! `olmguard serve` as a process that follows a cluster, with its own figures and the kernel's.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use olmguard_support::https::Certificate;
use olmguard_support::load::fleet::{Fleet, Rate};
use olmguard_support::load::questions::Question;
use olmguard_support::load::wire::Target;

use super::cluster::Cluster;
use crate::process::{self, olmguard};

/// A server that runs until this is dropped.
pub(crate) struct Guard {
    child: Child,
    target: Target,
    allowed: Question,
    ops: String,
    /// The time of each answered edit in milliseconds, from the log.
    decisions: Arc<Mutex<Vec<f64>>>,
    /// A message for each catalog that was loaded.
    loads: Mutex<Receiver<()>>,
    _files: TempDir,
}

impl Guard {
    /// Starts a server, with or without a directory to cache content in.
    pub(crate) fn start(cluster: &Cluster, cache: Option<&Path>) -> Self {
        let (files, certificate) = (tempfile::tempdir().unwrap(), Certificate::generate());
        let mut command = command(&files, &certificate, cluster);
        if let Some(cache) = cache {
            command.arg("--cache-dir").arg(cache);
        }
        let mut child = command.spawn().expect("the program runs");
        let decisions = Arc::<Mutex<Vec<f64>>>::default();
        let stderr = child.stderr.take().expect("piped");
        let (load, loads) = channel();
        note(stderr, Arc::clone(&decisions), load);
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut address = |scheme: &str| {
            let line = lines.next().expect("a line").unwrap();
            let start = format!("listening on {scheme}://");
            line.strip_prefix(&start).expect("an address").to_owned()
        };
        let target = Target {
            address: address("https").parse().unwrap(),
            tls: certificate.client(),
        };
        Self {
            child,
            target,
            allowed: cluster.allowed,
            ops: address("http"),
            decisions,
            loads: Mutex::new(loads),
            _files: files,
        }
    }

    /// Waits until the server is ready for edits, and this many catalogs are loaded.
    pub(crate) fn ready(&self, catalogs: usize) {
        until(|| self.told("/readyz").starts_with("HTTP/1.1 200"));
        for _ in 0..catalogs {
            self.loaded_one();
        }
    }

    /// Waits for the log line that another catalog has been loaded.
    pub(crate) fn loaded_one(&self) {
        let loads = self.loads.lock().expect("nobody panics with it");
        loads.recv_timeout(DEADLINE).expect("it loads in time");
    }

    /// Connections that request an upgrade that resolves.
    pub(crate) fn fleet(&self, connections: u32, rate: u32) -> Fleet {
        let allowed = &self.allowed;
        Fleet {
            target: self.target.clone(),
            request: allowed.request().into(),
            expected: Arc::from(allowed.answer),
            marked: None,
            connections,
            rate: Rate::PerSecond(rate),
        }
    }

    /// Waits until this many decisions are logged since the last call, and returns their times.
    pub(crate) fn decisions(&self, count: u64) -> Vec<f64> {
        let logged = || self.decisions.lock().expect("nobody panics with it");
        until(|| logged().len() as u64 >= count);
        std::mem::take(&mut logged())
    }

    /// A memory figure of the kernel, such as `VmRSS`, in KiB.
    pub(crate) fn kib(&self, field: &str) -> u64 {
        process::kib(self.child.id(), field)
    }

    /// Resets the peak memory.
    pub(crate) fn forget_peak(&self) {
        let file = format!("/proc/{}/clear_refs", self.child.id());
        fs::write(file, "5").expect("Linux forgets");
    }

    /// The response of the health port at a path, head and body.
    fn told(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.ops).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut told = String::new();
        stream.read_to_string(&mut told).expect("it answers");
        told
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn command(files: &TempDir, certificate: &Certificate, cluster: &Cluster) -> Command {
    let (cert, key) = (files.path().join("cert"), files.path().join("key"));
    fs::write(&cert, certificate.pem()).unwrap();
    fs::write(&key, certificate.key_pem()).unwrap();
    let mut command = olmguard();
    command.args(["serve", "--listen=127.0.0.1:0", "--ops-listen=127.0.0.1:0"]);
    command.args(["--log-format=json", "--log-level=debug"]);
    command
        .arg("--tls-cert")
        .arg(cert)
        .arg("--tls-key")
        .arg(key);
    command.arg("--kubeconfig").arg(cluster.kubeconfig());
    command.arg("--catalogd-ca").arg(cluster.ca());
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Reads the log until it ends.
fn note(log: ChildStderr, decisions: Arc<Mutex<Vec<f64>>>, load: Sender<()>) {
    thread::spawn(move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            let took = line.split_once(r#""duration_ms":"#).map(|(_, rest)| rest);
            let took = took.and_then(|rest| rest.split([',', '}']).next()?.parse().ok());
            if let Some(took) = took {
                decisions.lock().expect("nobody panics with it").push(took);
            } else if line.contains("Loaded catalog") {
                // At the end, no one waits for a load.
                let _ = load.send(());
            }
        }
    });
}

fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "it takes too long");
        thread::sleep(PACE);
    }
}

const PACE: Duration = Duration::from_millis(1);
const DEADLINE: Duration = Duration::from_mins(1);
