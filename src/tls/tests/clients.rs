//! Clients that show a certificate, and those that do not.

use std::path::Path;
use std::sync::Arc;

use rcgen::SanType;
use rustls::version::{TLS12, TLS13};
use rustls::{DEFAULT_VERSIONS, HandshakeKind, ServerConfig};

use super::link::{client, link};
use super::pairs::{Ca, Pair, ca, file};
use crate::tls::{ClientCa, Identity, MinVersion, TlsConfig, TlsError};

/// A server that takes clients of these authorities and names.
fn server(folder: &Path, pair: &Pair, cas: &[&Ca], allowed: &[&str]) -> Arc<ServerConfig> {
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
    let identity = Identity::from_files(&cert, &key)?;
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
            let server = server(folder.path(), &server_pair, &[&one, &two], allowed);
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
    let server = server(folder.path(), &pair, &[&one], &[]);
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
    let identity = Identity::from_files(&cert, &key).unwrap();
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
