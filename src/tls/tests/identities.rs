//! Files that can be used, and what is said of those that cannot.

use std::path::Path;

use rcgen::KeyPair;

use super::pairs::{Pair, file};
use crate::tls::{Identity, TlsError};

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

fn read(cert: &Path, key: &Path) -> Result<Identity, TlsError> {
    Identity::from_files(cert, key)
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

#[test]
fn what_cannot_be_used_names_the_file_and_the_fault() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name, content: &str| file(folder.path(), name, content);
    let none = folder.path().join("none");
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
            "d: not PEM: ",
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
        shown.starts_with("Identity { leaf: Leaf {") && shown.ends_with("}, .. }"),
        "{shown}"
    );
}
