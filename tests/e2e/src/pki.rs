//! The CA of a cluster: for servers, clients and the key that signs tokens.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

/// A CA, and the directory for everything that it issues.
#[derive(Debug)]
pub(crate) struct Pki {
    dir: PathBuf,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// The files of a certificate and its key.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

impl Pki {
    /// Creates a CA, whose certificate is `ca.crt` in a new directory `NAME` of `dir`.
    pub(crate) fn new(dir: &Path, name: &str) -> Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params
            .distinguished_name
            .push(DnType::CommonName, format!("e2e {name}"));
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let dir = dir.join(name);
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("ca.crt"), issuer.pem())?;
        Ok(Self { dir, issuer })
    }

    /// Returns the file of the CA certificate.
    pub(crate) fn ca(&self) -> PathBuf {
        self.dir.join("ca.crt")
    }

    /// Issues a certificate for a server with these names, which can include IP addresses.
    pub(crate) fn server(&self, file: &str, names: &[&str]) -> Result<Pair> {
        let names: Vec<String> = names.iter().copied().map(str::to_owned).collect();
        let mut params = CertificateParams::new(names)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(file, &params)
    }

    /// Issues a certificate that identifies `user` in `group` to the API server.
    pub(crate) fn client(&self, user: &str, group: &str) -> Result<Pair> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        params
            .distinguished_name
            .push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(user, &params)
    }

    /// Creates a key pair without a certificate: the private key and the public key.
    pub(crate) fn keys(&self, file: &str) -> Result<Pair> {
        let pair = self.files(file, "pub");
        let key = KeyPair::generate()?;
        fs::write(&pair.cert, key.public_key_pem())?;
        fs::write(&pair.key, key.serialize_pem())?;
        Ok(pair)
    }

    fn issue(&self, file: &str, params: &CertificateParams) -> Result<Pair> {
        let pair = self.files(file, "crt");
        let key = KeyPair::generate()?;
        let cert = params.signed_by(&key, &self.issuer)?;
        fs::write(&pair.cert, cert.pem())?;
        fs::write(&pair.key, key.serialize_pem())?;
        Ok(pair)
    }

    fn files(&self, file: &str, public: &str) -> Pair {
        let named = |extension: &str| self.dir.join(format!("{file}.{extension}"));
        Pair {
            cert: named(public),
            key: named("key"),
        }
    }
}
