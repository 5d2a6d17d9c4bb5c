//! A CA for catalogds, and certificates that it signs.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;

/// A CA. Each one has its own key, and a name that distinguishes it from others.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// The settings of a certificate.
pub struct Leaf<'a> {
    pub names: &'a [&'a str],
    pub validity: Validity,
}

/// The validity of a certificate.
#[derive(Clone, Copy)]
pub enum Validity {
    Now,
    /// Valid until the last day of 2020.
    Over,
    /// Valid from the first day of 3000.
    ToCome,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// Returns the certificate of the CA.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Returns the TLS configuration of a server on `localhost` and `127.0.0.1` with HTTP/1.1.
    pub fn server(&self) -> ServerConfig {
        let (names, validity) = (&["localhost", "127.0.0.1"][..], Validity::Now);
        self.server_with(&Leaf { names, validity })
    }

    /// Returns the TLS configuration of a server with this certificate.
    pub fn server_with(&self, leaf: &Leaf<'_>) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let certificate = leaf.params().signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }
}

impl Leaf<'_> {
    fn params(&self) -> CertificateParams {
        let names: Vec<_> = self.names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        match self.validity {
            Validity::Now => {}
            Validity::Over => params.not_after = date_time_ymd(2020, 12, 31),
            Validity::ToCome => params.not_before = date_time_ymd(3000, 1, 1),
        }
        params
    }
}
