//! Certificates that are generated for tests, and how clients react to them.

mod handshakes;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

use super::leaf::judge_leaf;
use super::{Leaf, Observer, ServerIdentity, TlsError};
use crate::pem_file::PemFile;

// === Certificates and keys for tests, and their directory ===

/// A certificate and its key.
pub(super) struct Pair {
    pub(super) cert: rcgen::Certificate,
    pub(super) key: KeyPair,
}

/// An authority for tests.
pub(super) type Ca = CertifiedIssuer<'static, KeyPair>;

impl Pair {
    /// Generates a self-signed certificate for `localhost`.
    pub(super) fn made() -> Self {
        Self::of(KeyPair::generate().unwrap())
    }

    pub(super) fn of(key: KeyPair) -> Self {
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let cert = params.self_signed(&key).unwrap();
        Self { cert, key }
    }

    /// Generates a certificate of a client, with this common name and alternative name.
    pub(super) fn signed(ca: &Ca, name: &str, alternative: rcgen::SanType) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.subject_alt_names = vec![alternative];
        let cert = params.signed_by(&key, ca).unwrap();
        Self { cert, key }
    }

    pub(super) fn der(&self) -> CertificateDer<'static> {
        self.cert.der().clone()
    }

    pub(super) fn key_der(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(self.key.serialize_der().into())
    }
}

pub(super) fn ca(name: &str) -> Ca {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Writes a file, and returns its path.
pub(super) fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

/// Writes a pair as `tls.crt` and `tls.key`.
pub(super) fn write(folder: &Path, pair: &Pair) {
    file(folder, "tls.crt", pair.cert.pem());
    file(folder, "tls.key", pair.key.serialize_pem());
}

/// An observer that records its calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(Arc<Mutex<Vec<Result<String, String>>>>);

impl Told {
    /// The serial of each reloaded certificate, and the text of each refusal.
    pub(super) fn all(&self) -> Vec<Result<String, String>> {
        self.0.lock().unwrap().clone()
    }

    /// Waits until this number of calls was recorded, with a deadline.
    pub(super) async fn until(&self, count: usize) -> Vec<Result<String, String>> {
        let told = async {
            while self.all().len() < count {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            self.all()
        };
        let deadline = Duration::from_mins(2);
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

// === Handshakes in memory ===

/// The two ends of a connection.
pub(super) struct Link {
    pub(super) client: client::TlsStream<DuplexStream>,
    pub(super) server: server::TlsStream<DuplexStream>,
}

/// Connects to `localhost`, and sends a byte in each direction: with TLS 1.3, a client learns only then that it is
/// rejected.
pub(super) async fn link(
    server: Arc<ServerConfig>,
    client: &Arc<ClientConfig>,
) -> io::Result<Link> {
    let (near, far) = tokio::io::duplex(1 << 14);
    let name = ServerName::try_from("localhost").unwrap();
    let (client, server) = tokio::join!(
        TlsConnector::from(Arc::clone(client)).connect(name, near),
        TlsAcceptor::from(server).accept(far),
    );
    let mut link = Link {
        server: server?,
        client: client?,
    };
    link.echo().await?;
    Ok(link)
}

impl Link {
    /// Sends one byte in each direction.
    pub(super) async fn echo(&mut self) -> io::Result<()> {
        self.client.write_all(b"x").await?;
        self.client.flush().await?;
        let byte = self.server.read_u8().await?;
        self.server.write_all(&[byte]).await?;
        self.server.flush().await?;
        assert_eq!(self.client.read_u8().await?, b'x');
        Ok(())
    }

    /// Returns the certificate that the server presented.
    pub(super) fn shown(&self) -> CertificateDer<'static> {
        let shown = self.client.get_ref().1.peer_certificates();
        shown.unwrap().first().unwrap().clone()
    }
}

/// Returns a client that trusts this certificate, and presents a certificate of its own or none.
pub(super) fn client(
    trusted: &CertificateDer<'static>,
    versions: &[&'static SupportedProtocolVersion],
    own: Option<&Pair>,
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots);
    Arc::new(match own {
        None => builder.with_no_client_auth(),
        Some(own) => builder
            .with_client_auth_cert(vec![own.der()], own.key_der())
            .unwrap(),
    })
}

// === Whether clients can use the served certificate ===

const WEBHOOK: &str = "olmguard.olmguard-system.svc";

fn day(number: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(number * 24 * 60 * 60)
}

/// Returns a certificate that is valid from the 10th to the 20th day of 1970.
fn leaf(names: &[&str]) -> Leaf {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.not_before = day(9).into();
    params.not_after = day(19).into();
    let cert = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
    Leaf::read(cert.der()).unwrap()
}

fn judged(names: &[&str], wanted: &[&'static str], now: SystemTime) -> String {
    let wanted = wanted
        .iter()
        .map(|&name| ServerName::try_from(name).unwrap());
    let judged = judge_leaf(&leaf(names), &wanted.collect::<Vec<_>>(), now);
    judged.map_or_else(|unfit| unfit.to_string(), |()| "fit".to_owned())
}

#[test]
fn a_certificate_is_fit_for_its_names_in_its_time() {
    let (early, late) = (
        day(9) - Duration::from_secs(1),
        day(19) + Duration::from_secs(1),
    );
    for (names, wanted, now, expected) in [
        (&["a"][..], &[][..], day(9), "fit"),
        (&["a"], &[], day(19), "fit"),
        (&["a", WEBHOOK], &[WEBHOOK], day(9), "fit"),
        (&["*.olmguard-system.svc"], &[WEBHOOK], day(9), "fit"),
        (&["127.0.0.1", "::1"], &["127.0.0.1", "::1"], day(9), "fit"),
        (
            &["a"],
            &[],
            early,
            "the served certificate is not valid before 1970-01-10T00:00:00Z: expected one that is valid now; is the clock right?",
        ),
        (
            &["a"],
            &[],
            late,
            "the served certificate expired at 1970-01-20T00:00:00Z: expected one that is valid now",
        ),
        (
            &["a.example", "127.0.0.1"],
            &[WEBHOOK],
            day(9),
            "the served certificate is for a.example, 127.0.0.1: expected it to be for olmguard.olmguard-system.svc as well",
        ),
        (
            &[],
            &[WEBHOOK],
            day(9),
            "the served certificate is for no name: expected it to be for olmguard.olmguard-system.svc as well",
        ),
    ] {
        assert_eq!(judged(names, wanted, now), expected);
    }
}

#[test]
fn a_leaf_tells_what_the_certificate_says() {
    let leaf = leaf(&["a.example", "10.0.0.1", "fd00::1"]);
    assert_eq!(leaf.names, ["a.example", "10.0.0.1", "fd00::1"]);
    assert_eq!((leaf.not_before, leaf.not_after), (day(9), day(19)));
    assert_eq!(leaf.subject, "CN=rcgen self signed cert");
    assert!(leaf.serial.contains(':'), "{}", leaf.serial);
}

// === Usable files, and the errors for others ===

fn pem(label: &str, der: &[u8]) -> String {
    let mut lines = String::new();
    for line in base64_simd::STANDARD
        .encode_to_string(der)
        .as_bytes()
        .chunks(64)
    {
        lines.push_str(std::str::from_utf8(line).unwrap());
        lines.push('\n');
    }
    format!("-----BEGIN {label}-----\n{lines}-----END {label}-----\n")
}

fn read(cert: &Path, key: &Path) -> Result<ServerIdentity, TlsError> {
    ServerIdentity::from_pem(&PemFile::read_again(cert)?, &PemFile::read_again(key)?)
}

#[test]
fn a_certificate_with_a_chain_and_a_mark_before_it_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let (leaf, other) = (Pair::made(), Pair::made());
    let chain = format!("\u{feff}{}{}", leaf.cert.pem(), other.cert.pem());
    let cert = file(folder.path(), "tls.crt", chain);
    let key = format!("Bag Attributes\n{}", leaf.key.serialize_pem());
    let key = file(folder.path(), "tls.key", key);
    let identity = read(&cert, &key).unwrap();
    assert_eq!(identity.pair().cert, [leaf.der(), other.der()]);
    assert_eq!(identity.leaf().names, ["localhost"]);
}

#[test]
fn each_kind_of_key_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    for algorithm in [
        &rcgen::PKCS_ECDSA_P256_SHA256,
        &rcgen::PKCS_ECDSA_P384_SHA384,
        &rcgen::PKCS_ED25519,
    ] {
        let pair = Pair::of(KeyPair::generate_for(algorithm).unwrap());
        let cert = file(folder.path(), "tls.crt", pair.cert.pem());
        let key = file(folder.path(), "tls.key", pair.key.serialize_pem());
        assert!(read(&cert, &key).is_ok(), "{algorithm:?}");
    }
}

/// A key as OpenSSL encrypts it in the old form, with headers.
const OLD_ENCRYPTED: &str = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n\
                             AAAA\n-----END RSA PRIVATE KEY-----\n";

#[test]
fn what_cannot_be_used_names_the_file_and_the_fault() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name, content: &str| file(folder.path(), name, content);
    let none = folder.path().join("none");
    let device = PathBuf::from("/dev/null");
    let (made, other) = (Pair::made(), Pair::made());
    let cert = &file("good.crt", &made.cert.pem());
    let key = &file("good.key", &made.key.serialize_pem());
    let encrypted = pem("ENCRYPTED PRIVATE KEY", b"secret");
    let bad_base64 = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
    let nonsense = pem("CERTIFICATE", b"nonsense");
    let many = 49152 / made.der().len() + 1;
    assert!(read(&file("full", &made.cert.pem().repeat(many - 1)), key).is_ok());
    let rows = [
        (&none, key, "none: cannot read: No such file"),
        (cert, &none, "none: cannot read: No such file"),
        // A pipe is not a regular file either, and reading it would block.
        (&device, key, "null: not a regular file: expected PEM"),
        (
            &file("a", ""),
            key,
            "a: no certificate in it: expected PEM with BEGIN CERTIFICATE",
        ),
        (
            key,
            cert,
            "good.key: no certificate in it: expected PEM with BEGIN CERTIFICATE; certificate and key seem to be swapped",
        ),
        (cert, cert, "good.crt: no private key in it"),
        (
            cert,
            &file("b", &encrypted),
            "this key is encrypted: decrypt it first",
        ),
        (&file("c", bad_base64), key, "c: not PEM: "),
        (
            &file("d", "-----BEGIN CERTIFICATE-----\nAAAA\n"),
            key,
            "d: not PEM: a section has no end: expected -----END CERTIFICATE-----",
        ),
        (
            &file("d2", "-----BEGIN CERTIFICATE\nAAAA\n"),
            key,
            "d2: not PEM: found \"-----BEGIN CERTIFICATE\": expected five hyphens at its end too",
        ),
        (
            cert,
            &file("b2", OLD_ENCRYPTED),
            "b2: no private key in it: expected PEM with BEGIN PRIVATE KEY, BEGIN RSA PRIVATE KEY or BEGIN EC \
             PRIVATE KEY; this key is encrypted: decrypt it first",
        ),
        (&file("e", &nonsense), key, "e and "),
        (
            cert,
            &file("f", &other.key.serialize_pem()),
            "f: cannot be used: keys may not be consistent",
        ),
        (
            cert,
            &file("g", &pem("PRIVATE KEY", b"nonsense")),
            "g: cannot be used: ",
        ),
        (
            cert,
            &file("h", &"x".repeat((1 << 20) + 1)),
            "h: too large: expected PEM of at most 1048576 bytes",
        ),
        (
            &file("i", &made.cert.pem().repeat(many)),
            key,
            &format!(
                "i: {many} certificates with {} bytes of DER: clients cannot read so many; expected at most 49152 \
                 bytes: the leaf and its intermediate certificates, without other CA certificates",
                many * made.der().len()
            ),
        ),
    ];
    for (cert, key, expected) in rows {
        let error = read(cert, key).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn nothing_of_a_key_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let made = Pair::made();
    let cert = file(folder.path(), "tls.crt", made.cert.pem());
    let text = made.key.serialize_pem();
    let secret = &text.lines().nth(1).unwrap()[..20];
    let broken = text.replacen(secret, &format!("{secret}!"), 1);
    let cut = text.replace("-----END PRIVATE KEY-----", "");
    for broken in [broken, cut] {
        let key = file(folder.path(), "tls.key", broken);
        let error = read(&cert, &key).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(secret), "{error:?}");
    }
    let key = file(folder.path(), "tls.key", &text);
    let shown = format!("{:?}", read(&cert, &key).unwrap());
    assert!(
        shown.starts_with("ServerIdentity { leaf: Leaf {") && shown.ends_with("}, .. }"),
        "{shown}"
    );
}
