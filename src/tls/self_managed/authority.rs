//! One certificate authority: its certificate, its key, and the certificates that it signs.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData, SignatureAlgorithm, SigningKey,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use time::OffsetDateTime;
use zeroize::Zeroizing;

use crate::pem_file;
use crate::tls::leaf::{IdentityOrigin, moment, parse};
use crate::tls::self_managed::{AUTHORITY_LIFE, AuthorityError, BACKDATE, LEAF_LIFE};
use crate::tls::{ServerIdentity, TlsError};

/// An authority, when it was published, and whether it is about to leave. Cheap to clone.
///
/// Invariant: the key is the certificate's. rcgen takes a foreign one without complaint.
#[derive(Clone)]
pub(super) struct Authority {
    material: Arc<Material>,
    pub(super) published: Option<SystemTime>,
    /// Whether it is marked: who is signed for by it, look for another.
    pub(super) is_leaving: bool,
}

struct Material {
    certificate: String,
    key: Zeroizing<String>,
    issuer: Issuer<'static, CaKey>,
    not_before: SystemTime,
    not_after: SystemTime,
}

/// A key to sign with, of which the copy that rcgen keeps is wiped when it is dropped.
struct CaKey(Zeroizing<KeyPair>);

impl Authority {
    /// Makes one that nobody knows of yet.
    pub(super) fn make(now: SystemTime) -> Result<Self, AuthorityError> {
        let key = Zeroizing::new(KeyPair::generate()?);
        let (from, until) = (now - BACKDATE, now + AUTHORITY_LIFE);
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        // A name for each, so that no client takes one for the other.
        let name = format!("olmguard authority {}", date(now)?.unix_timestamp());
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = date(from)?;
        params.not_after = date(until)?;
        let certificate = params.self_signed(&*key)?.pem();
        Self::read(&certificate, Zeroizing::new(key.serialize_pem())).map_err(|why| {
            AuthorityError::Damaged {
                why: why.to_owned(),
            }
        })
    }

    /// Takes one as stored, if it is whole, as if it had not been published.
    pub(super) fn read(certificate: &str, key: Zeroizing<String>) -> Result<Self, &'static str> {
        let der = CertificateDer::from_pem_slice(certificate.as_bytes())
            .map_err(|_| "its certificate is not PEM")?;
        let parsed = parse(&der).map_err(|_| "its certificate cannot be read")?;
        let pair = KeyPair::from_pem(&key).map_err(|_| "its key cannot be read")?;
        if !parsed.is_ca() {
            return Err("its certificate is not a CA certificate");
        }
        if pair.subject_public_key_info() != parsed.public_key().raw {
            return Err("its key does not belong to its certificate");
        }
        let validity = parsed.validity();
        let (not_before, not_after) = (moment(validity.not_before), moment(validity.not_after));
        let issuer = Issuer::from_ca_cert_der(&der, CaKey(Zeroizing::new(pair)))
            .map_err(|_| "its certificate cannot sign other certificates")?;
        Ok(Self {
            material: Arc::new(Material {
                certificate: pem_file::written(&[&der]),
                key,
                issuer,
                not_before,
                not_after,
            }),
            published: None,
            is_leaving: false,
        })
    }

    /// A leaf for these names with a key of its own, which does not outlive its authority.
    pub(super) fn sign(
        &self,
        names: &[String],
        now: SystemTime,
    ) -> Result<ServerIdentity, TlsError> {
        let made = self.leaf(names, now)?;
        let key = PrivateKeyDer::Pkcs8(made.1.serialize_der().into());
        ServerIdentity::new(vec![made.0], key, &IdentityOrigin::Made)
    }

    fn leaf(
        &self,
        names: &[String],
        now: SystemTime,
    ) -> Result<(CertificateDer<'static>, Zeroizing<KeyPair>), AuthorityError> {
        let key = Zeroizing::new(KeyPair::generate()?);
        let mut params = CertificateParams::new(names)?;
        params
            .distinguished_name
            .push(DnType::CommonName, "olmguard");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        params.not_before = date(now - BACKDATE)?;
        params.not_after = date((now + LEAF_LIFE).min(self.material.not_after))?;
        let certificate = params.signed_by(&*key, &self.material.issuer)?;
        Ok((certificate.der().clone(), key))
    }

    /// The certificate of the authority, PEM.
    pub(super) fn certificate(&self) -> &str {
        &self.material.certificate
    }

    /// The key of the authority, PEM, for the store alone.
    pub(super) fn key(&self) -> &Zeroizing<String> {
        &self.material.key
    }

    /// The start and the end of the validity.
    pub(super) fn validity(&self) -> (SystemTime, SystemTime) {
        (self.material.not_before, self.material.not_after)
    }

    /// Whether both are one, published or not.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.certificate() == other.certificate()
    }
}

impl PublicKeyData for CaKey {
    fn der_bytes(&self) -> &[u8] {
        self.0.der_bytes()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl SigningKey for CaKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        self.0.sign(message)
    }
}

/// Certificates know whole seconds, and years of four digits.
fn date(moment: SystemTime) -> Result<OffsetDateTime, AuthorityError> {
    let since = moment.duration_since(UNIX_EPOCH);
    let seconds = since.map_err(|_| AuthorityError::Clock)?.as_secs();
    let seconds = i64::try_from(seconds).map_err(|_| AuthorityError::Clock)?;
    OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| AuthorityError::Clock)
}
