//! Certificates and keys made for tests, and the folder they lie in.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::tls::{Leaf, Observer, TlsError};

/// A certificate and its key.
pub(in crate::tls) struct Pair {
    pub(in crate::tls) cert: rcgen::Certificate,
    pub(in crate::tls) key: KeyPair,
}

/// An authority for tests.
pub(in crate::tls) type Ca = CertifiedIssuer<'static, KeyPair>;

impl Pair {
    /// One for `localhost` that vouches for itself.
    pub(in crate::tls) fn made() -> Self {
        Self::of(KeyPair::generate().unwrap())
    }

    pub(in crate::tls) fn of(key: KeyPair) -> Self {
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let cert = params.self_signed(&key).unwrap();
        Self { cert, key }
    }

    /// One of a client, with this common name and alternative name.
    pub(in crate::tls) fn signed(ca: &Ca, name: &str, alternative: rcgen::SanType) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.subject_alt_names = vec![alternative];
        let cert = params.signed_by(&key, ca).unwrap();
        Self { cert, key }
    }

    pub(in crate::tls) fn der(&self) -> CertificateDer<'static> {
        self.cert.der().clone()
    }

    pub(in crate::tls) fn key_der(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(self.key.serialize_der().into())
    }
}

pub(in crate::tls) fn ca(name: &str) -> Ca {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Writes a file, and says where.
pub(in crate::tls) fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

/// Writes a pair as `tls.crt` and `tls.key`.
pub(in crate::tls) fn write(folder: &Path, pair: &Pair) {
    file(folder, "tls.crt", pair.cert.pem());
    file(folder, "tls.key", pair.key.serialize_pem());
}

/// What an observer was told.
#[derive(Clone, Debug, Default)]
pub(in crate::tls) struct Told(Arc<Mutex<Vec<Result<String, String>>>>);

impl Told {
    /// The serial of each that was reloaded, the text of each that was refused.
    pub(in crate::tls) fn all(&self) -> Vec<Result<String, String>> {
        self.0.lock().unwrap().clone()
    }

    /// Waits until so many have been told, with a deadline.
    pub(in crate::tls) async fn until(&self, count: usize) -> Vec<Result<String, String>> {
        let told = async {
            while self.all().len() < count {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            self.all()
        };
        let deadline = std::time::Duration::from_mins(2);
        tokio::time::timeout(deadline, told)
            .await
            .expect("told in time")
    }
}

impl Observer for Told {
    fn reloaded(&self, leaf: &Leaf) {
        self.0.lock().unwrap().push(Ok(leaf.serial.clone()));
    }

    fn refused(&self, error: &TlsError) {
        self.0.lock().unwrap().push(Err(error.to_string()));
    }
}
