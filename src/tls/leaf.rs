//! What a certificate says of itself.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::CertificateError;
use rustls::pki_types::CertificateDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;
use x509_parser::time::ASN1Time;

use crate::tls::fitness::{list, utc};

/// The facts of a certificate that is served.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Leaf {
    /// The first moment at which it may be used.
    pub not_before: SystemTime,
    /// The last moment at which it may be used.
    pub not_after: SystemTime,
    /// The DNS names and IP addresses that it is for, as text.
    pub names: Vec<String>,
    /// Its serial number, in hexadecimal.
    pub serial: String,
    /// Whom it is made out to, such as `CN=olmguard`.
    pub subject: String,
    /// Who vouches for it, by its own words.
    pub issuer: String,
    der: CertificateDer<'static>,
}

impl Leaf {
    pub(crate) fn read(der: &CertificateDer<'_>) -> Result<Self, rustls::Error> {
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

    /// The certificate itself, without its chain.
    pub fn der(&self) -> &CertificateDer<'static> {
        &self.der
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "for {}, until {}, serial {}",
            list(&self.names),
            utc(self.not_after),
            self.serial
        )
    }
}

/// Reads a certificate, and nothing after it.
pub(super) fn parse<'a>(der: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, rustls::Error> {
    match X509Certificate::from_der(der) {
        Ok(([], parsed)) => Ok(parsed),
        Ok(_) | Err(_) => Err(CertificateError::BadEncoding.into()),
    }
}

/// Before 1970 there were no certificates: that is as good as 1970.
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
