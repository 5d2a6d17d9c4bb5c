//! Whether the certificate of a client is accepted.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme,
};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;

use crate::pem_file::PemFile;
use crate::tls::{TlsError, leaf};

/// Whom clients must be vouched for by.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientCa {
    /// PEM with one authority or several; any of them will do.
    pub file: PathBuf,
    /// Common names, DNS names or URIs of which a client's certificate must hold one, byte for byte;
    /// none for every certificate of these authorities.
    pub allowed: BTreeSet<String>,
}

/// The chain is judged by webpki, the names by us.
#[derive(Debug)]
pub(super) struct ClientVerifier {
    chain: Arc<dyn ClientCertVerifier>,
    allowed: BTreeSet<String>,
}

impl ClientVerifier {
    pub(super) fn new(ca: &ClientCa, file: &PemFile) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        for (at, certificate) in file.certificates()?.into_iter().enumerate() {
            let added = roots.add(certificate);
            added.map_err(|error| unusable(ca, at + 1, &error))?;
        }
        let provider = Arc::new(ring::default_provider());
        let chain = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
        Ok(Self {
            chain: chain.map_err(|error| unusable(ca, 1, &error))?,
            allowed: ca.allowed.clone(),
        })
    }

    fn is_allowed(&self, certificate: &CertificateDer<'_>) -> Result<bool, rustls::Error> {
        let parsed = leaf::parse(certificate)?;
        let mut names = common_names(&parsed).chain(alternative_names(&parsed));
        Ok(self.allowed.is_empty() || names.any(|name| self.allowed.contains(name)))
    }
}

fn unusable(ca: &ClientCa, number: usize, error: &dyn std::error::Error) -> TlsError {
    TlsError::ClientCa {
        path: ca.file.clone(),
        number,
        why: error.to_string(),
    }
}

fn common_names<'a>(parsed: &'a X509Certificate<'_>) -> impl Iterator<Item = &'a str> {
    let names = parsed.subject().iter_common_name();
    names.filter_map(|name| name.as_str().ok())
}

fn alternative_names<'a>(parsed: &'a X509Certificate<'_>) -> impl Iterator<Item = &'a str> {
    let extension = parsed.subject_alternative_name().ok().flatten();
    let names = extension.map(|extension| extension.value.general_names.iter());
    names.into_iter().flatten().filter_map(|name| match name {
        GeneralName::DNSName(name) | GeneralName::URI(name) => Some(*name),
        _ => None,
    })
}

impl ClientCertVerifier for ClientVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.chain.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        let verified = self
            .chain
            .verify_client_cert(end_entity, intermediates, now)?;
        if self.is_allowed(end_entity)? {
            return Ok(verified);
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chain
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chain
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}
