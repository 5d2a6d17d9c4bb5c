//! A blocking client of the webhook, and the certificate of a server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A self-signed certificate for `localhost`.
pub struct Certificate(rcgen::CertifiedKey<rcgen::KeyPair>);

impl Certificate {
    pub fn generate() -> Self {
        let names = ["localhost".to_owned()];
        Self(rcgen::generate_simple_self_signed(names).expect("a certificate"))
    }

    pub fn pem(&self) -> String {
        pem("CERTIFICATE", self.0.cert.der())
    }

    pub fn key_pem(&self) -> String {
        pem("PRIVATE KEY", self.0.signing_key.serialized_der())
    }

    pub fn der(&self) -> CertificateDer<'static> {
        self.0.cert.der().clone()
    }

    /// Returns the configuration of a client that trusts only this certificate.
    pub fn client(&self) -> Arc<ClientConfig> {
        trusting([self.der()])
    }
}

/// Returns the configuration of a client that trusts only these certificates.
pub fn trusting(
    certificates: impl IntoIterator<Item = CertificateDer<'static>>,
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate).expect("a certificate to trust");
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

/// Posts a review and returns the whole response, head and body.
pub fn post(address: &str, certificate: &Certificate, body: &str) -> String {
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(certificate.client(), name).expect("a client");
    let socket = TcpStream::connect(address).expect("the server listens");
    let mut stream = StreamOwned::new(connection, socket);
    write!(
        stream,
        "POST /validate HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("the server reads");
    let mut response = String::new();
    stream
        .read_to_string(&mut response)
        .expect("the server answers");
    response
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64_simd::STANDARD.encode_to_string(der);
    let lines: Vec<_> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).expect("ASCII"))
        .collect();
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    )
}
