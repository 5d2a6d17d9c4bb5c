//! The matrix of TLS versions, kinds and forms of keys, and clients with and without a certificate
//! of their own; with rustls, and with `openssl` if it is installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rcgen::SanType;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use rustls::{DEFAULT_VERSIONS, HandshakeKind, ServerConfig, SupportedProtocolVersion};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{Ca, Pair, ca, client, file, link, read, write};
use crate::tls::{ClientCa, MinVersion, TlsConfig, TlsError};

const VERSIONS: [&[&SupportedProtocolVersion]; 2] = [&[&TLS12], &[&TLS13]];

/// The arguments of openssl to generate a key, and to write it.
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
    let identity = read(&cert, &key).unwrap();
    let file = terms.client_file().unwrap();
    Arc::new(terms.server_config(&identity, file.as_ref()).unwrap())
}

/// Runs openssl; none if it is not installed.
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

/// Generates a pair with openssl, in the form that the last arguments name.
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

/// Returns the output of openssl about a handshake.
async fn s_client(folder: &Path, server: Arc<ServerConfig>, arguments: &[&str]) -> Option<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let accepting = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // The client reports the result.
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

// === Clients that present a certificate, and clients that do not ===

/// Returns a server that accepts clients with these CAs and names.
fn server_for_clients(
    folder: &Path,
    pair: &Pair,
    cas: &[&Ca],
    allowed: &[&str],
) -> Arc<ServerConfig> {
    Arc::new(config(folder, pair, &bundle(cas), allowed).unwrap())
}

fn config(
    folder: &Path,
    pair: &Pair,
    bundle: &str,
    allowed: &[&str],
) -> Result<ServerConfig, TlsError> {
    let cert = file(folder, "tls.crt", pair.cert.pem());
    let key = file(folder, "tls.key", pair.key.serialize_pem());
    let terms = TlsConfig {
        min_version: MinVersion::V1_2,
        client_ca: Some(ClientCa {
            file: file(folder, "ca.crt", bundle),
            allowed: allowed.iter().map(|&name| name.to_owned()).collect(),
        }),
    };
    let identity = read(&cert, &key)?;
    terms.server_config(&identity, terms.client_file()?.as_ref())
}

fn bundle(cas: &[&Ca]) -> String {
    cas.iter().map(|ca| ca.pem()).collect()
}

fn dns(name: &str) -> SanType {
    SanType::DnsName(name.try_into().unwrap())
}

#[tokio::test]
async fn the_allow_list_holds_common_names_dns_names_and_uris() {
    let folder = tempfile::tempdir().unwrap();
    let (server_pair, one, two, other) = (Pair::made(), ca("one"), ca("two"), ca("one"));
    let uri = || SanType::URI("spiffe://cluster/api".try_into().unwrap());
    let ours = Pair::signed(&one, "api", dns("api.example"));
    let second = Pair::signed(&two, "api", uri());
    let foreign = Pair::signed(&other, "api", dns("api.example"));
    let rows: [(&[&str], &Pair, bool); 9] = [
        (&[], &ours, true),
        (&[], &second, true),
        (&[], &foreign, false),
        (&["api"], &ours, true),
        (&["other", "api.example"], &ours, true),
        (&["spiffe://cluster/api"], &second, true),
        (&["spiffe://cluster/api"], &ours, false),
        (&["API"], &ours, false),
        (&["api"], &foreign, false),
    ];
    for versions in [&[&TLS12][..], &[&TLS13]] {
        for (allowed, own, is_taken) in rows {
            let server = server_for_clients(folder.path(), &server_pair, &[&one, &two], allowed);
            let client = client(&server_pair.der(), versions, Some(own));
            let linked = link(server, &client).await;
            assert_eq!(linked.is_ok(), is_taken, "{allowed:?} {versions:?}");
        }
    }
}

#[tokio::test]
async fn no_certificate_is_refused_and_no_session_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let (pair, one) = (Pair::made(), ca("one"));
    let server = server_for_clients(folder.path(), &pair, &[&one], &[]);
    for versions in [&[&TLS12][..], &[&TLS13]] {
        let stranger = client(&pair.der(), versions, None);
        assert!(link(Arc::clone(&server), &stranger).await.is_err());
        let own = Pair::signed(&one, "api", dns("x"));
        let known = client(&pair.der(), versions, Some(&own));
        for _ in 0..2 {
            let link = link(Arc::clone(&server), &known).await.unwrap();
            let kind = link.server.get_ref().1.handshake_kind();
            assert_eq!(kind, Some(HandshakeKind::Full));
        }
    }
}

#[tokio::test]
async fn without_clients_that_must_show_one_a_session_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::made();
    let cert = file(folder.path(), "tls.crt", pair.cert.pem());
    let key = file(folder.path(), "tls.key", pair.key.serialize_pem());
    let identity = read(&cert, &key).unwrap();
    let fresh = || Arc::new(TlsConfig::default().server_config(&identity, None).unwrap());
    let (first, second) = (fresh(), fresh());
    let client = client(&pair.der(), DEFAULT_VERSIONS, None);
    let mut kinds = Vec::new();
    for server in [&first, &first, &second] {
        let link = link(Arc::clone(server), &client).await.unwrap();
        kinds.extend(link.server.get_ref().1.handshake_kind());
    }
    let expected = [
        HandshakeKind::Full,
        HandshakeKind::Resumed,
        HandshakeKind::Full,
    ];
    assert_eq!(kinds, expected, "a session is of one configuration");
}

#[test]
fn authorities_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (pair, one) = (Pair::made(), ca("one"));
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (content, expected) in [
        (String::new(), "ca.crt: no certificate in it"),
        (
            format!("{}{damaged}", one.pem()),
            "ca.crt: certificate 2 cannot be used as a CA certificate for clients: ",
        ),
    ] {
        let error = config(folder.path(), &pair, &content, &[]).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
