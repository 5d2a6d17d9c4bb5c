//! The matrix: versions of TLS, each kind of key in each of its forms, clients with and without a
//! certificate of their own; by rustls, and by `openssl` where there is one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rcgen::SanType;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::link::{client, link};
use super::pairs::{Ca, Pair, ca, file, write};
use crate::tls::{ClientCa, Identity, MinVersion, TlsConfig};

const VERSIONS: [&[&SupportedProtocolVersion]; 2] = [&[&TLS12], &[&TLS13]];

/// How openssl is told to make a key, and to write it.
const KEYS: [(&str, &[&str], &[&str]); 6] = [
    (
        "RSA, PKCS#1",
        &["-algorithm", "RSA"],
        &["rsa", "-traditional"],
    ),
    ("RSA, PKCS#8", &["-algorithm", "RSA"], &["pkey"]),
    (
        "P-256, SEC1",
        &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        &["ec"],
    ),
    (
        "P-256, PKCS#8",
        &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        &["pkey"],
    ),
    (
        "P-384, SEC1",
        &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
        &["ec"],
    ),
    ("Ed25519, PKCS#8", &["-algorithm", "ED25519"], &["pkey"]),
];

fn server(folder: &Path, min_version: MinVersion, clients: Option<&Ca>) -> Arc<ServerConfig> {
    let client_ca = clients.map(|ca| ClientCa {
        file: file(folder, "ca.crt", ca.pem()),
        allowed: std::iter::once("api".to_owned()).collect(),
    });
    let terms = TlsConfig {
        min_version,
        client_ca,
    };
    let (cert, key) = (folder.join("tls.crt"), folder.join("tls.key"));
    let identity = Identity::from_files(&cert, &key).unwrap();
    let file = terms.client_file().unwrap();
    Arc::new(terms.server_config(&identity, file.as_ref()).unwrap())
}

/// Runs openssl; nothing if there is none.
fn openssl(folder: &Path, arguments: &[&str]) -> Option<String> {
    let run = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    let Ok(output) = run else {
        println!("left out: handshakes with openssl, it is not here");
        return None;
    };
    let all = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&all).into_owned())
}

/// A pair that openssl makes, written as the last arguments say.
fn make(folder: &Path, key: &[&str], form: &[&str]) -> Option<CertificateDer<'static>> {
    openssl(folder, &[&["genpkey", "-out", "made.key"], key].concat())?;
    openssl(
        folder,
        &[
            &form[..1],
            &["-in", "made.key", "-out", "tls.key"],
            &form[1..],
        ]
        .concat(),
    )?;
    openssl(
        folder,
        &[
            "req",
            "-x509",
            "-key",
            "made.key",
            "-out",
            "tls.crt",
            "-subj",
            "/CN=x",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ],
    )?;
    Some(CertificateDer::from_pem_file(folder.join("tls.crt")).unwrap())
}

#[tokio::test]
async fn each_key_in_each_form_serves_each_version() {
    let folder = tempfile::tempdir().unwrap();
    for (name, key, form) in KEYS {
        let Some(certificate) = make(folder.path(), key, form) else {
            return;
        };
        let server = server(folder.path(), MinVersion::V1_2, None);
        for versions in VERSIONS {
            let client = client(&certificate, versions, None);
            let link = link(Arc::clone(&server), &client).await;
            assert_eq!(link.unwrap().shown(), certificate, "{name} {versions:?}");
        }
    }
}

#[tokio::test]
async fn the_oldest_version_does_not_depend_on_clients_showing_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let (pair, authority) = (Pair::made(), ca("clients"));
    write(folder.path(), &pair);
    let own = Pair::signed(&authority, "api", SanType::DnsName("x".try_into().unwrap()));
    for clients in [None, Some(&authority)] {
        for (min_version, versions, is_taken) in [
            (MinVersion::V1_2, VERSIONS[0], true),
            (MinVersion::V1_2, VERSIONS[1], true),
            (MinVersion::V1_3, VERSIONS[0], false),
            (MinVersion::V1_3, VERSIONS[1], true),
        ] {
            let server = server(folder.path(), min_version, clients);
            let client = client(&pair.der(), versions, clients.map(|_| &own));
            let linked = link(server, &client).await;
            assert_eq!(linked.is_ok(), is_taken, "{min_version:?} {versions:?}");
        }
    }
}

/// What openssl says of a handshake.
async fn s_client(folder: &Path, server: Arc<ServerConfig>, arguments: &[&str]) -> Option<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let accepting = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // The client says how it went.
        if let Ok(stream) = TlsAcceptor::from(server).accept(stream).await {
            let (mut read, mut write) = tokio::io::split(stream);
            let echo = tokio::io::copy(&mut read, &mut write);
            drop(tokio::time::timeout(Duration::from_secs(20), echo).await);
        }
    });
    let fixed = ["s_client", "-connect", &address, "-servername", "localhost"];
    let trust = [
        "-CAfile",
        "tls.crt",
        "-verify_return_error",
        "-alpn",
        "h2,http/1.1",
    ];
    let arguments: Vec<String> = [&fixed[..], &trust, arguments]
        .concat()
        .iter()
        .map(|&a| a.to_owned())
        .collect();
    let folder: PathBuf = folder.to_owned();
    let said = tokio::task::spawn_blocking(move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        openssl(&folder, &arguments)
    });
    let said = said.await.unwrap();
    accepting.abort();
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn openssl_comes_to_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let authority = ca("clients");
    let own = Pair::signed(&authority, "api", SanType::DnsName("x".try_into().unwrap()));
    file(folder.path(), "own.crt", own.cert.pem());
    file(folder.path(), "own.key", own.key.serialize_pem());
    let (none, shown): (&[&str], &[&str]) = (&[], &["-cert", "own.crt", "-key", "own.key"]);
    for (name, key, form) in KEYS {
        if make(folder.path(), key, form).is_none() {
            return;
        }
        for (min_version, clients, version, own, expected) in [
            (
                MinVersion::V1_2,
                None,
                "-tls1_2",
                none,
                "Protocol  : TLSv1.2",
            ),
            (
                MinVersion::V1_2,
                None,
                "-tls1_3",
                none,
                "TLSv1.3, Cipher is TLS_",
            ),
            (MinVersion::V1_3, None, "-tls1_2", none, "Cipher is (NONE)"),
            (
                MinVersion::V1_2,
                Some(&authority),
                "-tls1_2",
                shown,
                "Protocol  : TLSv1.2",
            ),
            (
                MinVersion::V1_3,
                Some(&authority),
                "-tls1_3",
                shown,
                "TLSv1.3, Cipher is TLS_",
            ),
            (MinVersion::V1_2, Some(&authority), "-tls1_2", none, "alert"),
        ] {
            let server = server(folder.path(), min_version, clients);
            let arguments = [&[version], own].concat();
            let Some(said) = s_client(folder.path(), server, &arguments).await else {
                return;
            };
            assert!(said.contains(expected), "{name} {version}: {said}");
            let is_taken = !expected.contains("NONE") && expected != "alert";
            if is_taken {
                assert!(
                    said.contains("ALPN protocol: http/1.1"),
                    "{name} {version}: {said}"
                );
                assert!(
                    said.contains("Verify return code: 0 (ok)"),
                    "{name} {version}: {said}"
                );
            }
        }
    }
}
