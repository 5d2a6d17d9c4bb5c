//! Files that can be used, and what is said of those that cannot.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{CertifiedKey, KeyPair};
use tempfile::TempDir;

use super::*;

/// A file in a folder, its path.
fn file(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path
}

fn made() -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

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

fn certificate(made: &CertifiedKey<KeyPair>) -> String {
    pem("CERTIFICATE", made.cert.der())
}

fn key(made: &CertifiedKey<KeyPair>) -> String {
    pem("PRIVATE KEY", made.signing_key.serialized_der())
}

fn config(cert: &Path, key: &Path) -> Result<ServerConfig, TlsError> {
    TlsIdentity::from_files(cert, key)?.server_config()
}

#[test]
fn a_certificate_with_a_chain_and_a_mark_before_it_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let (leaf, other) = (made(), made());
    let chain = format!("\u{feff}{}{}", certificate(&leaf), certificate(&other));
    let cert = file(&folder, "tls.crt", chain);
    let key = file(
        &folder,
        "tls.key",
        format!("Bag Attributes\n{}", key(&leaf)),
    );
    let identity = TlsIdentity::from_files(&cert, &key).unwrap();
    assert_eq!(identity.chain.len(), 2);
    assert!(identity.server_config().is_ok());
}

#[test]
fn each_kind_of_key_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    for algorithm in [
        &rcgen::PKCS_ECDSA_P256_SHA256,
        &rcgen::PKCS_ECDSA_P384_SHA384,
        &rcgen::PKCS_ED25519,
    ] {
        let signing_key = KeyPair::generate_for(algorithm).unwrap();
        let params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        let cert = params.self_signed(&signing_key).unwrap();
        let made = CertifiedKey { cert, signing_key };
        let cert = file(&folder, "tls.crt", certificate(&made));
        let key = file(&folder, "tls.key", key(&made));
        assert!(config(&cert, &key).is_ok(), "{algorithm:?}");
    }
}

#[test]
fn what_cannot_be_used_names_the_file_and_the_fault() {
    let folder = tempfile::tempdir().unwrap();
    let (made, other) = (made(), made());
    let good_cert = file(&folder, "good.crt", certificate(&made));
    let good_key = file(&folder, "good.key", key(&made));
    let encrypted = pem("ENCRYPTED PRIVATE KEY", b"secret");
    let rows = [
        (
            folder.path().join("none"),
            good_key.clone(),
            "none: cannot read: No such file",
        ),
        (
            good_cert.clone(),
            folder.path().join("none"),
            "none: cannot read: No such file",
        ),
        (
            file(&folder, "a", ""),
            good_key.clone(),
            "a: no certificate in it: expected PEM with BEGIN CERTIFICATE",
        ),
        (
            good_key.clone(),
            good_cert.clone(),
            "good.key: no certificate in it: expected PEM with BEGIN CERTIFICATE; certificate and key seem to be swapped",
        ),
        (
            good_cert.clone(),
            good_cert.clone(),
            "good.crt: no private key in it",
        ),
        (
            good_cert.clone(),
            file(&folder, "b", encrypted),
            "this key is encrypted: decrypt it first",
        ),
        (
            file(
                &folder,
                "c",
                "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
            ),
            good_key.clone(),
            "c: not PEM: ",
        ),
        (
            file(&folder, "d", "-----BEGIN CERTIFICATE-----\nAAAA\n"),
            good_key.clone(),
            "d: not PEM: ",
        ),
        (
            file(&folder, "e", pem("CERTIFICATE", b"nonsense")),
            good_key.clone(),
            "e and ",
        ),
        (
            good_cert.clone(),
            file(&folder, "f", key(&other)),
            "f: cannot be used: ",
        ),
        (
            good_cert,
            file(&folder, "g", pem("PRIVATE KEY", b"nonsense")),
            "g: cannot be used: ",
        ),
    ];
    for (cert, key, expected) in rows {
        let error = config(&cert, &key).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn nothing_of_a_key_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let made = made();
    let cert = file(&folder, "tls.crt", certificate(&made));
    let text = key(&made);
    let secret = &text.lines().nth(1).unwrap()[..20];
    let broken = text.replacen(secret, &format!("{secret}!"), 1);
    let cut = text.replace("-----END PRIVATE KEY-----\n", "");
    for broken in [broken, cut] {
        let key = file(&folder, "tls.key", broken);
        let error = config(&cert, &key).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(secret), "{error:?}");
    }
    let identity = TlsIdentity::self_signed().unwrap();
    let shown = format!("{identity:?}");
    assert!(shown.contains("[secret key elided]"), "{shown}");
}
