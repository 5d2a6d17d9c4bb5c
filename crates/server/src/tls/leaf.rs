//! The contents of a certificate, whether its key matches, and whether clients can use it now.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::CertificateError;
use rustls::client::verify_server_name;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use time::OffsetDateTime;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;
use x509_parser::time::ASN1Time;
use zeroize::Zeroizing;

use crate::pem_file::PemFile;
use crate::tls::TlsError;

/// The facts of a served certificate.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
#[display("for {}, until {}, serial {serial}", list(names), utc(*not_after))]
pub struct Leaf {
    /// The start of its validity.
    pub not_before: SystemTime,
    /// The end of its validity.
    pub not_after: SystemTime,
    /// The DNS names and IP addresses that it is valid for, as text.
    pub names: Vec<String>,
    /// The serial number, in hexadecimal.
    pub serial: String,
    /// The subject, such as `CN=olmguard`.
    pub subject: String,
    /// The issuer that the certificate names.
    pub issuer: String,
    der: CertificateDer<'static>,
}

impl Leaf {
    /// Reads a certificate in DER.
    ///
    /// # Errors
    /// If it is not an X.509 certificate.
    pub fn read(der: &CertificateDer<'_>) -> Result<Self, rustls::Error> {
        let parsed = parse(der)?;
        let validity = parsed.validity();
        Ok(Self {
            not_before: moment(validity.not_before),
            not_after: moment(validity.not_after),
            names: names(&parsed),
            serial: parsed.raw_serial_as_string(),
            subject: parsed.subject().to_string(),
            issuer: parsed.issuer().to_string(),
            der: der.clone().into_owned(),
        })
    }

    /// Returns the certificate itself, without its chain.
    pub fn der(&self) -> &CertificateDer<'static> {
        &self.der
    }
}

/// Reads a certificate, and rejects trailing bytes.
pub(super) fn parse<'a>(der: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, rustls::Error> {
    match X509Certificate::from_der(der) {
        Ok(([], parsed)) => Ok(parsed),
        Ok(_) | Err(_) => Err(CertificateError::BadEncoding.into()),
    }
}

/// Converts a time. Times before 1970 become 1970, because no certificate is that old.
pub(super) fn moment(time: ASN1Time) -> SystemTime {
    let seconds = u64::try_from(time.timestamp()).unwrap_or(0);
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn names(parsed: &X509Certificate<'_>) -> Vec<String> {
    let Ok(Some(extension)) = parsed.subject_alternative_name() else {
        return Vec::new();
    };
    let names = extension.value.general_names.iter();
    names.filter_map(name).collect()
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => <[u8; 4]>::try_from(*bytes)
            .map(std::net::IpAddr::from)
            .or_else(|_| <[u8; 16]>::try_from(*bytes).map(std::net::IpAddr::from))
            .ok()
            .map(|address| address.to_string()),
        _ => None,
    }
}

// === Whether clients can use the served certificate now ===

/// The reason why a client would reject the served certificate.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unfit {
    /// The certificate has expired.
    #[error("the served certificate expired at {}: expected one that is valid now", utc(*since))]
    Expired {
        /// The end of its validity.
        since: SystemTime,
    },
    /// The certificate is not valid yet.
    #[error(
        "the served certificate is not valid before {}: expected one that is valid now; is the clock right?",
        utc(*until)
    )]
    NotYetValid {
        /// The start of its validity.
        until: SystemTime,
    },
    /// The certificate does not have a name that clients use.
    #[error(
        "the served certificate is for {}: expected it to be for {name} as well",
        list(found)
    )]
    Lacks {
        /// The missing name.
        name: String,
        /// The names that the certificate has.
        found: Vec<String>,
    },
}

/// Checks a leaf against the clock and the names that it must have.
pub(super) fn judge_leaf(
    leaf: &Leaf,
    wanted: &[ServerName<'static>],
    now: SystemTime,
) -> Result<(), Unfit> {
    if now > leaf.not_after {
        return Err(Unfit::Expired {
            since: leaf.not_after,
        });
    }
    if now < leaf.not_before {
        return Err(Unfit::NotYetValid {
            until: leaf.not_before,
        });
    }
    match wanted.iter().find(|name| !is_for(leaf, name)) {
        None => Ok(()),
        Some(name) => Err(Unfit::Lacks {
            name: name.to_str().into_owned(),
            found: leaf.names.clone(),
        }),
    }
}

/// Whether a certificate is valid for a name, as a client checks it, including wildcards.
pub fn is_for(leaf: &Leaf, name: &ServerName<'_>) -> bool {
    ParsedCertificate::try_from(leaf.der())
        .and_then(|parsed| verify_server_name(&parsed, name))
        .is_ok()
}

/// Formats a time as `2026-11-21T14:30:00Z`.
pub fn utc(moment: SystemTime) -> String {
    let seconds = moment
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    OffsetDateTime::from_unix_timestamp(seconds).map_or_else(
        |_| "a day after the year 9999".to_owned(),
        |at| {
            let (hour, minute, second) = at.to_hms();
            format!("{}T{hour:02}:{minute:02}:{second:02}Z", at.date())
        },
    )
}

/// Lists the names of a certificate for a sentence.
pub(super) fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "no name".to_owned();
    }
    names.join(", ")
}

// === A certificate with its chain and its key, checked against each other ===

/// The identity that a server presents: a certificate with its chain, and the key of the certificate.
///
/// Invariant: the key belongs to the certificate.
#[derive(Clone)]
pub struct ServerIdentity {
    pair: Arc<CertifiedKey>,
    leaf: Arc<Leaf>,
}

/// The origin of an identity, for errors.
#[derive(Clone, Debug)]
pub(super) enum IdentityOrigin {
    Files { cert: PathBuf, key: PathBuf },
    Made,
}

impl ServerIdentity {
    /// Reads an identity from PEM files: a certificate with its chain, the leaf first, and its key in PKCS#1, PKCS#8 or
    /// SEC1.
    pub(super) fn from_pem(cert: &PemFile, key: &PemFile) -> Result<Self, TlsError> {
        let origin = IdentityOrigin::Files {
            cert: cert.path().to_owned(),
            key: key.path().to_owned(),
        };
        Self::new(chain(cert)?, key.key()?, &origin)
    }

    pub(super) fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        origin: &IdentityOrigin,
    ) -> Result<Self, TlsError> {
        let key = Zeroizing::new(key);
        let refused = |source| origin.refused(source);
        let key = any_supported_type(&key).map_err(refused)?;
        let pair = CertifiedKey::new(chain, key);
        pair.keys_match().map_err(refused)?;
        let leaf = Leaf::read(pair.end_entity_cert().map_err(refused)?).map_err(refused)?;
        Ok(Self {
            pair: Arc::new(pair),
            leaf: Arc::new(leaf),
        })
    }

    /// Returns the facts of the certificate.
    pub fn leaf(&self) -> &Arc<Leaf> {
        &self.leaf
    }

    pub(super) fn pair(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.pair)
    }
}

/// Reads the certificates of a server, and rejects more than clients can read.
fn chain(file: &PemFile) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain = file.certificates()?;
    let length = chain.iter().map(|certificate| certificate.len()).sum();
    if length <= CHAIN_LIMIT {
        return Ok(chain);
    }
    Err(TlsError::LongChain {
        path: file.path().to_owned(),
        certificates: chain.len(),
        length,
        limit: CHAIN_LIMIT,
    })
}

/// The largest size of a server's certificates in DER, in bytes. rustls and older releases of Go read handshake
/// messages of at most 64 KiB, OpenSSL of 100 KiB. A quarter is left for the rest of the message. Chains have 2 to 8
/// KiB. The limit is on the size, because clients do not limit the number.
const CHAIN_LIMIT: usize = 48 << 10;

/// Debug output without the key.
impl fmt::Debug for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerIdentity")
            .field("leaf", &self.leaf)
            .finish_non_exhaustive()
    }
}

impl IdentityOrigin {
    fn refused(&self, source: rustls::Error) -> TlsError {
        match self {
            Self::Files { cert, key } => TlsError::Pair {
                cert: cert.clone(),
                key: key.clone(),
                source,
            },
            Self::Made => TlsError::Made(source.to_string()),
        }
    }
}
