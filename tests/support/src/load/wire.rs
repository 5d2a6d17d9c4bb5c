//! A connection of an API server to the webhook: HTTP/1.1 over TLS with keep-alive.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use rustls::ClientConfig;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// An address, and the configuration that verifies its server.
#[derive(Clone)]
pub struct Target {
    pub address: SocketAddr,
    pub tls: Arc<ClientConfig>,
}

/// A connection after its handshake.
pub struct Connection {
    stream: TlsStream<TcpStream>,
    read: Vec<u8>,
    usage: Usage,
}

/// Whether a connection has carried an answer before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Usage {
    Fresh,
    Reused,
}

/// One response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The peer closed the idle connection before anything was sent, so any client would retry.
    #[error("closed before the request was sent")]
    BeforeRequest,
    /// The peer closed the idle connection while the request was being sent. Go then repeats a GET,
    /// but not a POST.
    #[error("closed an idle connection under a request")]
    UnderRequest,
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl Target {
    /// Connects, including the TLS handshake.
    pub async fn connect(&self) -> io::Result<Connection> {
        let tcp = TcpStream::connect(self.address).await?;
        tcp.set_nodelay(true)?;
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::clone(&self.tls));
        Ok(Connection {
            stream: connector.connect(name, tcp).await?,
            read: Vec::new(),
            usage: Usage::Fresh,
        })
    }
}

impl Connection {
    /// Sends the bytes of a request and reads the response.
    pub async fn ask(&mut self, request: &[u8]) -> Result<Response, Broken> {
        if self.usage == Usage::Reused && self.is_closed() {
            return Err(Broken::BeforeRequest);
        }
        match self.exchange(request).await {
            Ok(response) => {
                self.usage = Usage::Reused;
                Ok(response)
            }
            Err(_) if self.usage == Usage::Reused && self.read.is_empty() => {
                Err(Broken::UnderRequest)
            }
            Err(error) => Err(Broken::Failed(error.to_string())),
        }
    }

    /// Returns the certificate that the server presented.
    pub fn certificate(&self) -> Option<&CertificateDer<'static>> {
        self.stream.get_ref().1.peer_certificates()?.first()
    }

    /// Sends a part of a request, or the whole.
    pub async fn send(&mut self, part: &[u8]) -> io::Result<()> {
        self.stream.write_all(part).await?;
        self.stream.flush().await
    }

    async fn exchange(&mut self, request: &[u8]) -> io::Result<Response> {
        self.read.clear();
        self.send(request).await?;
        self.response().await
    }

    /// Whether the peer has closed the idle connection. Tickets of a new session are ignored.
    fn is_closed(&mut self) -> bool {
        let read = pin!(self.stream.read_buf(&mut self.read));
        let mut context = Context::from_waker(Waker::noop());
        read.poll(&mut context).is_ready()
    }

    /// Reads one response to the end of its body.
    async fn response(&mut self) -> io::Result<Response> {
        let end = loop {
            let end = memchr::memmem::find(&self.read, b"\r\n\r\n");
            if let Some(end) = end {
                break end + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(self.read.get(..end).unwrap_or_default()).into_owned();
        let length = header(&head, "content-length").and_then(|length| length.parse().ok());
        let length: usize = length.ok_or_else(|| io::Error::other("no content-length"))?;
        while self.read.len() < end + length {
            self.more().await?;
        }
        let body = self.read.split_off(end);
        let status = head.get(9..12).and_then(|status| status.parse().ok());
        Ok(Response {
            status: status.ok_or_else(|| io::Error::other("no status"))?,
            head,
            body,
        })
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.read).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

impl Response {
    /// Whether the connection is closed after this response.
    pub fn is_last(&self) -> bool {
        header(&self.head, "connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}
