//! What is told before reviews are taken.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::wire::soon;
use super::{LOOPBACK, listen_on};
use crate::admission::Enforcement;
use crate::server::{Guard, Limits};
use crate::tls::self_managed::{AuthorityError, StoreError};
use crate::tls::{TlsConfig, TlsError, self_signed};
use olmguard_engine::snapshot::Snapshot;

/// The status and the body of an answer on the port for health.
pub(super) async fn told(ops: SocketAddr, path: &str) -> (u16, String) {
    let ask = async {
        let mut stream = TcpStream::connect(ops).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let answer = soon(ask).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

/// The store of a certificate may be an API server that is away: that is no reason to be ended.
#[tokio::test]
async fn health_is_told_while_a_certificate_is_waited_for() {
    let listening = listen_on(LOOPBACK.parse().unwrap(), Limits::default());
    let ops = listening.server().ops_addr();
    assert_eq!(told(ops, "/livez").await.0, 200);
    assert_eq!(told(ops, "/metrics").await.0, 200);
    let waits = "waits for a certificate";
    let expected = (503, format!("not started: {waits}\n"));
    assert_eq!(told(ops, "/startupz").await, expected);

    let away = AuthorityError::Store(StoreError::Unavailable("it is away".into()));
    listening.observer().refused(&TlsError::from(away));
    let waits = format!("{waits}: the store of the certificate authority: it is away\n");
    let expected = (503, format!("not started: {waits}"));
    assert_eq!(told(ops, "/startupz").await, expected);
    let expected = format!("not ready: {waits}[-] certificate: {waits}");
    assert_eq!(told(ops, "/readyz").await, (503, expected));
    assert_eq!(told(ops, "/livez").await.0, 200);

    let expected = (503, format!("no certificate: {waits}"));
    assert_eq!(told(ops, "/certificate").await, expected);

    let certificates = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
    let leaf = certificates.leaf().der().clone();
    let certified = listening.certify(certificates);
    let (code, chain) = told(ops, "/certificate").await;
    let chain = CertificateDer::pem_slice_iter(chain.as_bytes());
    let chain: Vec<_> = chain.map(Result::unwrap).collect();
    assert_eq!((code, chain), (200, vec![leaf]));
    let expected = (503, "not started: it takes no reviews yet\n".to_owned());
    assert_eq!(told(ops, "/startupz").await, expected);
    let guard = Guard::from(Snapshot::default());
    let _server = certified.open(Arc::new(guard), Enforcement::default());
    for path in ["/startupz", "/readyz"] {
        assert_eq!(told(ops, path).await.0, 200);
    }
}
