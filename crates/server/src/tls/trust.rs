//! Trust decisions: whether a client with given CAs accepts a certificate, as an API server decides it, and whether the
//! certificate of a client is accepted.
//!
//! Upstream: Go, [`crypto/x509/verify.go`]. Unlike webpki, it rejects an expired CA certificate, and accepts a
//! certificate that is itself among the trusted ones. The validity and the names of the certificate itself are checked
//! elsewhere: [`Leaf`], [`is_for`](super::is_for).
//!
//! [`crypto/x509/verify.go`]: https://github.com/golang/go/blob/go1.26.8/src/crypto/x509/verify.go

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::client::danger::HandshakeSignatureValid;
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme,
};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::x509::X509Version;

use crate::pem_file::PemFile;
use crate::tls::leaf::{parse, utc};
use crate::tls::{Leaf, TlsError};

/// The trusted CA certificates.
#[derive(Clone, Debug, Default)]
pub struct Authorities(Vec<Leaf>);

/// The reason why a certificate is not trusted.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Distrust {
    /// No trusted CA signed the certificate.
    #[error("it is issued by {issuer}, {}", listed(authorities))]
    Stranger {
        /// The issuer that the certificate names.
        issuer: String,
        /// The subjects of the trusted CA certificates.
        authorities: Vec<String>,
    },
    /// The CA certificate that signed it has expired.
    #[error("its CA certificate expired at {}", utc(*since))]
    AuthorityExpired {
        /// The end of its validity.
        since: SystemTime,
    },
    /// Any other reason, in the words of rustls.
    #[error("{0}")]
    Refused(String),
}

impl Authorities {
    /// Returns the number of certificates.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Reads CA certificates from PEM. Blocks that are not certificates are skipped, as Go skips them.
    pub fn from_pem(text: &[u8]) -> Self {
        let certificates = CertificateDer::pem_slice_iter(text).filter_map(Result::ok);
        let read = certificates.filter_map(|der| Leaf::read(&der).ok());
        Self(read.collect())
    }

    /// Checks whether these CAs trust the chain of a server, which starts with the leaf.
    pub fn vouch(&self, chain: &[CertificateDer<'_>], now: SystemTime) -> Result<(), Distrust> {
        let Some((leaf, others)) = chain.split_first() else {
            return Err(Distrust::Refused("it presents no certificate".to_owned()));
        };
        let leaf = Leaf::read(leaf).map_err(refused)?;
        let able = self
            .0
            .iter()
            .filter(|one| one.der() == leaf.der() || one.not_before <= now && may_sign(one));
        let (alive, dead): (Vec<_>, Vec<_>) = able.partition(|one| one.not_after >= now);
        let failed = match vouch(&alive, &leaf, others, now) {
            Ok(()) => return Ok(()),
            Err(failed) => failed,
        };
        let expired = dead
            .iter()
            .find(|one| vouch(&[one], &leaf, others, now).is_ok());
        match expired {
            Some(expired) => Err(Distrust::AuthorityExpired {
                since: expired.not_after,
            }),
            None => Err(self.distrust(&leaf, failed)),
        }
    }

    fn distrust(&self, leaf: &Leaf, error: rustls::Error) -> Distrust {
        match error {
            rustls::Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::BadSignature,
            ) => Distrust::Stranger {
                issuer: leaf.issuer.clone(),
                authorities: self.0.iter().map(|one| one.subject.clone()).collect(),
            },
            other => refused(other),
        }
    }
}

/// Whether the certificate can sign others, as in `CheckSignatureFrom`: before version 3, certificates do not specify
/// it.
fn may_sign(one: &Leaf) -> bool {
    let Ok(parsed) = parse(one.der()) else {
        return false;
    };
    match parsed.basic_constraints() {
        Ok(Some(constraints)) => constraints.value.ca,
        Ok(None) => parsed.version() != X509Version::V3,
        Err(_) => false,
    }
}

fn listed(authorities: &[String]) -> String {
    match authorities {
        [] => "but no CA is trusted".to_owned(),
        all => format!("but the trusted CAs are {}", all.join(", ")),
    }
}

fn vouch(
    authorities: &[&Leaf],
    leaf: &Leaf,
    others: &[CertificateDer<'_>],
    now: SystemTime,
) -> Result<(), rustls::Error> {
    if authorities.iter().any(|one| one.der() == leaf.der()) {
        return Ok(());
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities.iter().map(|one| one.der().clone()));
    // The validity of the leaf is checked elsewhere. `clamp` would panic on a leaf that ends before it starts.
    let moment = now.max(leaf.not_before).min(leaf.not_after);
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    verify_server_cert_signed_by_trust_anchor(
        &ParsedCertificate::try_from(leaf.der())?,
        &roots,
        others,
        UnixTime::since_unix_epoch(since),
        ring::default_provider()
            .signature_verification_algorithms
            .all,
    )
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what map_err hands over"
)]
fn refused(error: rustls::Error) -> Distrust {
    Distrust::Refused(error.to_string())
}

// === Whether the certificate of a client is accepted ===

/// The CAs and names that the certificates of clients must have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientCa {
    /// The PEM file with one or more CA certificates; a client needs a certificate from any of them.
    pub file: PathBuf,
    /// Common names, DNS names or URIs. A client's certificate must contain one of them, byte for byte. If empty, every
    /// certificate of these CAs is accepted.
    pub allowed: BTreeSet<String>,
}

/// A verifier of client certificates: webpki checks the chain, and this module the names.
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
        let parsed = parse(certificate)?;
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{
        BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
        date_time_ymd,
    };

    use super::*;

    struct Ca {
        pem: String,
        issuer: Issuer<'static, KeyPair>,
    }

    fn ca(name: &str, last_year: i32) -> Ca {
        let mut params = named(name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = date_time_ymd(last_year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Ca {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    fn named(name: &str) -> CertificateParams {
        let mut params = CertificateParams::new(vec!["a.b.svc".to_owned()]).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = date_time_ymd(2020, 1, 1);
        params
    }

    fn leaf_of(ca: &Ca) -> CertificateDer<'static> {
        leaf_until(ca, 2030)
    }

    fn leaf_until(ca: &Ca, last_year: i32) -> CertificateDer<'static> {
        let mut params = named("leaf");
        params.not_after = date_time_ymd(last_year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let leaf = params.signed_by(&key, &ca.issuer).unwrap();
        leaf.der().clone()
    }

    fn year(year: i32) -> SystemTime {
        date_time_ymd(year, 6, 1).into()
    }

    #[track_caller]
    fn says(bundle: &str, leaf: &CertificateDer<'_>, now: SystemTime, expected: Result<(), &str>) {
        let authorities = Authorities::from_pem(bundle.as_bytes());
        let vouched = authorities.vouch(std::slice::from_ref(leaf), now);
        let vouched = vouched.map_err(|why| why.to_string());
        assert_eq!(vouched.as_ref().map_err(String::as_str).copied(), expected);
    }

    #[test]
    fn an_authority_vouches_for_what_it_signed_while_its_time_lasts() {
        let (one, other) = (ca("one", 2028), ca("other", 2040));
        let both = format!("{}{}", other.pem, one.pem);
        let leaf = leaf_of(&one);
        says(&one.pem, &leaf, year(2026), Ok(()));
        says(&both, &leaf, year(2026), Ok(()));
        says(
            "",
            &leaf,
            year(2026),
            Err("it is issued by CN=one, but no CA is trusted"),
        );
        says(
            &other.pem,
            &leaf,
            year(2026),
            Err("it is issued by CN=one, but the trusted CAs are CN=other"),
        );
        says(
            &both,
            &leaf,
            year(2029),
            Err("its CA certificate expired at 2028-01-01T00:00:00Z"),
        );
    }

    #[test]
    fn an_authority_of_the_same_name_and_another_key_is_a_stranger() {
        let (one, renewed) = (ca("one", 2040), ca("one", 2040));
        let expected = "it is issued by CN=one, but the trusted CAs are CN=one";
        says(&renewed.pem, &leaf_of(&one), year(2026), Err(expected));
    }

    #[test]
    fn who_has_not_begun_or_is_no_authority_vouches_for_nothing() {
        let ahead = ca("one", 2040);
        let expected = "it is issued by CN=one, but the trusted CAs are CN=one";
        says(&ahead.pem, &leaf_of(&ahead), year(2019), Err(expected));
        let params = named("one");
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let none = Ca { pem, issuer };
        says(&none.pem, &leaf_of(&none), year(2026), Err(expected));
    }

    #[test]
    fn what_is_itself_trusted_needs_nobody() {
        let one = ca("one", 2040);
        let own = CertificateDer::from_pem_slice(one.pem.as_bytes()).unwrap();
        says(&one.pem, &own, year(2026), Ok(()));
    }

    #[test]
    fn that_its_own_time_is_over_is_no_distrust() {
        let one = ca("one", 2040);
        let late = year(2030) + Duration::from_hours(24);
        says(&one.pem, &leaf_of(&one), late, Ok(()));
    }

    #[test]
    fn a_certificate_that_ends_before_it_begins_is_not_taken() {
        let one = ca("one", 2040);
        let authorities = Authorities::from_pem(one.pem.as_bytes());
        let vouched = authorities.vouch(&[leaf_until(&one, 2019)], year(2026));
        assert!(matches!(vouched, Err(Distrust::Refused(_))), "{vouched:?}");
    }
}
