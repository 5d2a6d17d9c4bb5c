//! From a socket to TLS, or to an error in plain HTTP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::server::pace::{PeerWait, heard};
use crate::telemetry::metrics::HandshakeFailure;
use crate::tls::Certificates;

/// Begins TLS on sockets.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    pub(super) certificates: Certificates,
}

/// Why there is no TLS on a socket.
#[derive(Debug, thiserror::Error)]
pub(super) enum HandshakeError {
    #[error("the peer speaks plain HTTP")]
    PlainHttp,
    #[error("the peer closed before it began")]
    Closed,
    #[error("it took too long")]
    TooSlow,
    #[error(transparent)]
    Failed(#[from] io::Error),
}

impl Handshake {
    /// Begins TLS, or gives up in time. The stream is boxed: each future around it would keep its own
    /// room for a kibibyte of TLS as long as the connection is open.
    pub(super) async fn within(
        &self,
        most: Duration,
        stream: TcpStream,
        pace: &Arc<PeerWait>,
    ) -> Result<Box<TlsStream<impl AsyncRead + AsyncWrite + Unpin + use<>>>, HandshakeError> {
        let begun = timeout(most, self.begin(stream, pace)).await;
        begun.unwrap_or(Err(HandshakeError::TooSlow))
    }

    async fn begin(
        &self,
        stream: TcpStream,
        pace: &Arc<PeerWait>,
    ) -> Result<Box<TlsStream<impl AsyncRead + AsyncWrite + Unpin + use<>>>, HandshakeError> {
        let mut first = [0];
        if stream.peek(&mut first).await? == 0 {
            return Err(HandshakeError::Closed);
        }
        // A method begins with a letter, a handshake never.
        if first[0].is_ascii_alphabetic() {
            return Err(explain(stream).await);
        }
        let acceptor = TlsAcceptor::from(self.certificates.server_config());
        Ok(Box::new(acceptor.accept(heard(stream, pace)).await?))
    }
}

impl HandshakeError {
    /// What kind of fault it is, for counting.
    pub(super) fn class(&self) -> HandshakeFailure {
        match self {
            Self::PlainHttp => HandshakeFailure::NotTls,
            Self::Closed => HandshakeFailure::Closed,
            Self::TooSlow => HandshakeFailure::Timeout,
            Self::Failed(error) => {
                let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
                tls.map_or(HandshakeFailure::Closed, class)
            }
        }
    }
}

fn class(error: &rustls::Error) -> HandshakeFailure {
    match error {
        rustls::Error::InvalidMessage(_) => HandshakeFailure::NotTls,
        rustls::Error::PeerIncompatible(_) | rustls::Error::NoApplicationProtocol => {
            HandshakeFailure::NothingInCommon
        }
        rustls::Error::NoCertificatesPresented | rustls::Error::InvalidCertificate(_) => {
            HandshakeFailure::ClientCertificate
        }
        rustls::Error::AlertReceived(_) => HandshakeFailure::RefusedByPeer,
        _ => HandshakeFailure::Other,
    }
}

/// Says to one who speaks plain HTTP what is spoken here, and reads what it still sends for a
/// moment: a socket that is closed with bytes unread may take the answer with it.
async fn explain(mut stream: TcpStream) -> HandshakeError {
    let said = async {
        stream.write_all(PLAIN_HTTP.as_bytes()).await?;
        stream.shutdown().await?;
        let mut rest = stream.take(MOST_DROPPED);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
    };
    // Whether it could be said makes no difference to what it is.
    drop(timeout(A_MOMENT, said).await);
    HandshakeError::PlainHttp
}

const PLAIN_HTTP: &str = "HTTP/1.1 400 Bad Request\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    connection: close\r\n\
    content-length: 48\r\n\r\n\
    plain HTTP on a port that speaks TLS: use https\n";

const A_MOMENT: Duration = Duration::from_secs(1);
const MOST_DROPPED: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_a_class() {
        let failed = |error: rustls::Error| {
            HandshakeError::Failed(io::Error::new(io::ErrorKind::InvalidData, error)).class()
        };
        let end = io::ErrorKind::UnexpectedEof.into();
        for (class, expected) in [
            (HandshakeError::PlainHttp.class(), "not_tls"),
            (HandshakeError::TooSlow.class(), "timeout"),
            (HandshakeError::Failed(end).class(), "closed"),
            (
                failed(rustls::InvalidMessage::InvalidContentType.into()),
                "not_tls",
            ),
            (
                failed(rustls::Error::NoApplicationProtocol),
                "nothing_in_common",
            ),
            (
                failed(rustls::CertificateError::UnknownIssuer.into()),
                "client_certificate",
            ),
            (
                failed(rustls::Error::AlertReceived(
                    rustls::AlertDescription::UnknownCA,
                )),
                "refused_by_peer",
            ),
            (failed(rustls::Error::DecryptError), "other"),
        ] {
            assert_eq!(class.as_str(), expected);
        }
    }

    #[test]
    fn the_length_is_that_of_the_text() {
        let (head, text) = PLAIN_HTTP.split_once("\r\n\r\n").unwrap();
        assert!(
            head.ends_with(&format!("content-length: {}", text.len())),
            "{}",
            text.len()
        );
    }
}
