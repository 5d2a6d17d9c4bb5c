//! `olmguard serve` as a process, with a certificate that its clients trust.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use rustls::ClientConfig;
use tempfile::TempDir;

use crate::https::Certificate;
use crate::load::wire::Target;
use crate::process::{DEADLINE, Ended, Process};

/// A server that is ready.
pub struct Served {
    pub process: Process,
    pub target: Target,
    /// The address of its health port.
    pub ops: String,
    _folder: Option<TempDir>,
}

impl Served {
    /// Starts a server with one small catalog, on free ports of the loopback address.
    pub fn start(arguments: &[&str]) -> Self {
        Self::under(&[], arguments)
    }

    /// Starts a server under another program, which gets the command as its last arguments.
    pub fn under(wrapper: &[&str], arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let certificate = Certificate::generate();
        let file = |name: &str, text: String| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let cert = file("cert", certificate.pem());
        let key = file("key", certificate.key_pem());
        let shown = ["--tls-cert", &cert, "--tls-key", &key];
        let arguments = [&shown, arguments].concat();
        let started = Self::showing(wrapper, &arguments, certificate.client());
        Self {
            _folder: Some(folder),
            ..started
        }
    }

    /// Starts a server whose arguments name its certificate, for clients with this configuration.
    pub fn showing(wrapper: &[&str], arguments: &[&str], tls: Arc<ClientConfig>) -> Self {
        let mut process = Process::under(wrapper, &[&["serve"], &ANY[..], arguments].concat());
        let address = url(&process.line(), "https://");
        let ops = url(&process.line(), "http://");
        Self {
            process,
            target: Target {
                address: address.parse().unwrap(),
                tls,
            },
            ops,
            _folder: None,
        }
    }

    /// Returns the status of a path on the health port, if there is an answer.
    pub fn health(&self, path: &str) -> Option<u16> {
        self.told(path)?.get(9..12)?.parse().ok()
    }

    /// Waits until the server is no longer ready.
    #[track_caller]
    pub fn until_unready(&self) {
        let begun = Instant::now();
        while self.health("/readyz") == Some(200) {
            assert!(begun.elapsed() < DEADLINE, "it is ready still");
        }
    }

    /// Returns the response to a path on the health port, head and body.
    pub fn told(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(&self.ops).ok()?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut response = String::new();
        stream.read_to_string(&mut response).ok()?;
        Some(response)
    }

    /// Ends the server with a signal, and waits for its end.
    pub fn end(self) -> Ended {
        self.process.terminate();
        self.process.ended()
    }
}

/// Returns the address in a line such as `listening on https://127.0.0.1:41234`.
fn url(line: &str, scheme: &str) -> String {
    let address = line
        .strip_prefix("listening on ")
        .and_then(|url| url.strip_prefix(scheme));
    address.expect("a line with an address").to_owned()
}

const ANY: [&str; 6] = [
    "--listen",
    "127.0.0.1:0",
    "--ops-listen",
    "127.0.0.1:0",
    "--log-format=json",
    concat!(
        "--catalog=c=",
        env!("CARGO_MANIFEST_DIR"),
        "/src/load/catalog.jsonl"
    ),
];
