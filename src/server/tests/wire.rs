//! A client that sees every byte.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::Started;

/// A connection below HTTP.
pub(super) struct Wire<S> {
    stream: S,
    read: Vec<u8>,
}

/// One response.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

/// A condition that a test waits for comes true in time, or the test fails.
pub(super) async fn soon<T>(condition: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), condition)
        .await
        .expect("in time")
}

impl Wire<TlsStream<TcpStream>> {
    pub(super) async fn to(started: &Started) -> Self {
        let versions = rustls::DEFAULT_VERSIONS;
        Self::with(started, versions, &[b"http/1.1"]).await.unwrap()
    }

    pub(super) async fn with(
        started: &Started,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&[u8]],
    ) -> std::io::Result<Self> {
        Self::at(started.server.addr(), &started.certificate, versions, alpn).await
    }

    /// To this address, trusting this certificate.
    pub(super) async fn at(
        addr: SocketAddr,
        certificate: &CertificateDer<'static>,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&[u8]],
    ) -> std::io::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
        let tcp = TcpStream::connect(addr).await?;
        let name = ServerName::from(addr.ip());
        let stream = TlsConnector::from(Arc::new(config))
            .connect(name, tcp)
            .await?;
        Ok(Self::over(stream))
    }

    pub(super) fn alpn(&self) -> Option<&[u8]> {
        self.stream.get_ref().1.alpn_protocol()
    }
}

impl Wire<TcpStream> {
    pub(super) async fn plain(addr: SocketAddr) -> Self {
        Self::over(TcpStream::connect(addr).await.unwrap())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(super) fn over(stream: S) -> Self {
        Self {
            stream,
            read: Vec::new(),
        }
    }

    pub(super) async fn send(&mut self, bytes: &str) {
        self.try_send(bytes).await.unwrap();
    }

    /// A server that has answered already need not read the rest.
    pub(super) async fn try_send(&mut self, bytes: &str) -> std::io::Result<()> {
        self.stream.write_all(bytes.as_bytes()).await?;
        self.stream.flush().await
    }

    pub(super) async fn response(&mut self) -> Response {
        soon(async {
            let head = self.until_blank_line().await;
            let length = header(&head, "content-length").map_or(0, |n| n.parse().unwrap());
            while self.read.len() < length {
                assert_ne!(self.more().await, 0, "body cut off");
            }
            let body = self.read.drain(..length).collect();
            Response { head, body }
        })
        .await
    }

    pub(super) async fn ask(&mut self, request: &str) -> Response {
        self.send(request).await;
        self.response().await
    }

    /// The server has closed, with nothing more said.
    pub(super) async fn is_closed(&mut self) -> bool {
        soon(self.more()).await == 0 && self.read.is_empty()
    }

    async fn until_blank_line(&mut self) -> String {
        loop {
            let end = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n");
            if let Some(end) = end {
                let head = self.read.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap();
            }
            assert_ne!(self.more().await, 0, "no response: {:?}", self.read);
        }
    }

    async fn more(&mut self) -> usize {
        self.stream.read_buf(&mut self.read).await.unwrap_or(0)
    }
}

impl Response {
    pub(super) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let mut values = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
    values.next().map(|(_, value)| value)
}
