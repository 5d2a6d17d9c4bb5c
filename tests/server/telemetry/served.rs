//! The running program, called on loopback.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use olmguard_support::https::Certificate;
use olmguard_support::process::Process;

use super::decision::CATALOG;

/// A server with one catalog.
pub(crate) struct Served {
    process: Process,
    certificate: Certificate,
    reviews: String,
    ops: String,
}

impl Served {
    /// Starts the server, whose files have this name.
    pub(crate) fn start(name: &str, more: &[&str]) -> Self {
        let certificate = Certificate::generate();
        let cert = file(&format!("{name}.crt"), &certificate.pem());
        let key = file(&format!("{name}.key"), &certificate.key_pem());
        let catalog = file(&format!("{name}.json"), CATALOG);
        let flags = [
            format!("--tls-cert={cert}"),
            format!("--tls-key={key}"),
            format!("--catalog=hub={catalog}"),
        ];
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        let mut process = Process::start(&[&FLAGS[..], &flags[..], more].concat());
        let mut address = || process.line().rsplit('/').next().unwrap().to_owned();
        let (reviews, ops) = (address(), address());
        Self {
            process,
            certificate,
            reviews,
            ops,
        }
    }

    /// Opens a connection that is kept.
    pub(crate) fn connect(&self) -> Connection {
        Connection(BufReader::new(self.tls(self.certificate.client(), SELF)))
    }

    /// Returns the whole response to these bytes over TLS, after which the server closes the
    /// connection.
    #[track_caller]
    pub(crate) fn answer(&self, request: &[u8]) -> String {
        let mut stream = self.tls(self.certificate.client(), SELF);
        stream.write_all(request).unwrap();
        rest(stream)
    }

    /// Returns the whole response to these bytes over TLS, after which the client sends no more.
    #[track_caller]
    pub(crate) fn broken_off(&self, request: &[u8]) -> String {
        let mut stream = self.tls(self.certificate.client(), SELF);
        stream.write_all(request).unwrap();
        stream.conn.send_close_notify();
        stream.flush().unwrap();
        stream.sock.shutdown(Shutdown::Write).unwrap();
        rest(stream)
    }

    /// Returns the result of a handshake with this server name by a client that trusts this
    /// certificate.
    pub(crate) fn handshake(&self, name: &str, trusted: &Certificate) -> std::io::Result<()> {
        self.tls(trusted.client(), name).write_all(b"GET")
    }

    /// Returns the whole response to these final bytes without TLS on the port for reviews.
    #[track_caller]
    pub(crate) fn plain(&self, bytes: &[u8]) -> String {
        let mut socket = socket(&self.reviews);
        socket.write_all(bytes).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        rest(socket)
    }

    /// Returns the whole response to a request on the second port.
    #[track_caller]
    pub(crate) fn ops(&self, head: &str, body: &str) -> String {
        let length = body.len();
        let request = format!(
            "{head}\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let mut socket = socket(&self.ops);
        socket.write_all(request.as_bytes()).unwrap();
        rest(socket)
    }

    /// Returns the current metrics.
    pub(crate) fn metrics(&self) -> String {
        let response = self.ops("GET /metrics HTTP/1.1", "");
        let (head, text) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        text.to_owned()
    }

    /// Ends the server and returns its log.
    pub(crate) fn ended(self) -> String {
        self.process.terminate();
        let ended = self.process.ended();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stderr
    }

    fn tls(&self, config: Arc<ClientConfig>, name: &str) -> Tls {
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let connection = ClientConnection::new(config, name).unwrap();
        StreamOwned::new(connection, socket(&self.reviews))
    }
}

/// A connection that is kept.
pub(crate) struct Connection(BufReader<Tls>);

type Tls = StreamOwned<ClientConnection, TcpStream>;

impl Connection {
    /// Returns the status of the response to a request.
    pub(crate) fn status(&mut self, request: &[u8]) -> u16 {
        self.0.get_mut().write_all(request).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(self.0.read_line(&mut head).unwrap(), 0, "{head}");
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).unwrap();
        head[9..12].parse().unwrap()
    }
}

fn socket(address: &str) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

/// Reads until the peer closes the connection, cleanly or not, but in time.
#[track_caller]
fn rest(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    let ended = stream.read_to_end(&mut bytes).map_err(|error| error.kind());
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert_ne!(
        ended,
        Err(ErrorKind::WouldBlock),
        "not ended after {text:?}"
    );
    text
}

fn file(name: &str, content: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

const FLAGS: [&str; 4] = [
    "serve",
    "--listen=127.0.0.1:0",
    "--ops-listen=127.0.0.1:0",
    "--shutdown-delay=0s",
];

/// The name in the certificate.
const SELF: &str = "localhost";

const DEADLINE: Duration = Duration::from_secs(30);
