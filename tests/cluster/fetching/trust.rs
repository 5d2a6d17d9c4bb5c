//! The servers that are trusted.

use std::fs;
use std::os::unix::fs::symlink;

use olmguard::source::catalogd::Catalogd;
use olmguard::source::http::{FetchClass, FetchLimits};
use tempfile::TempDir;

use super::scene::{Scene, fetch, trusting};
use olmguard_support::catalogd::answer::Answer;
use olmguard_support::catalogd::authority::{Authority, Leaf, Validity};
use olmguard_support::catalogd::scripted::Scripted;

/// A directory with CA certificates.
struct Cas(TempDir);

impl Cas {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> std::path::PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

/// Fetches from a server with this certificate, whose CA is trusted.
async fn shows(leaf: &Leaf<'_>) -> Result<String, (FetchClass, String)> {
    let (authority, cas) = (Authority::new("catalogd"), Cas::new());
    let ca = cas.file("ca.crt", &authority.pem());
    let server = Scripted::tls(authority.server_with(leaf), |_| Answer::ok(b"x")).await;
    let fetched = fetch(&trusting(&ca), &server).await;
    let port = format!(":{}:", server.port());
    let words = |text: String| text.replace(&port, ":PORT:");
    fetched
        .map(|fetched| fetched.value)
        .map_err(|error| (error.class(), words(error.to_string())))
}

#[track_caller]
fn refused(shown: &Result<String, (FetchClass, String)>, words: &str) {
    let words = format!("TLS with localhost:PORT: {words}");
    assert_eq!(*shown, Err((FetchClass::Tls, words)));
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let (names, validity) = (&["localhost"][..], Validity::Over);
    refused(
        &shows(&Leaf { names, validity }).await,
        "certificate expired on 2020-12-31",
    );
}

#[tokio::test]
async fn a_certificate_of_the_future_is_refused() {
    let (names, validity) = (&["localhost"][..], Validity::ToCome);
    let words = "certificate is not valid before 3000-01-01";
    refused(&shows(&Leaf { names, validity }).await, words);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let validity = Validity::Now;
    let names = &["catalogd-service.olmv1-system.svc"][..];
    let words = "certificate is for \"catalogd-service.olmv1-system.svc\", expected \"localhost\"";
    refused(&shows(&Leaf { names, validity }).await, words);
    let names = &["a.svc", "b.svc", "c.svc", "d.svc", "e.svc"][..];
    let words =
        "certificate is for \"a.svc\", \"b.svc\", \"c.svc\" and 2 more, expected \"localhost\"";
    refused(&shows(&Leaf { names, validity }).await, words);
    let words = "certificate is for no name, expected \"localhost\"";
    refused(
        &shows(&Leaf {
            names: &[],
            validity,
        })
        .await,
        words,
    );
}

#[tokio::test]
async fn a_certificate_of_a_stranger_is_refused() {
    let scene = Scene::answering(Answer::ok(b"x")).await;
    let cas = Cas::new();
    let stranger = cas.file("ca.crt", &Authority::new("stranger").pem());
    let error = fetch(&trusting(&stranger), &scene.server)
        .await
        .unwrap_err();
    let words = format!(
        "TLS with localhost:{}: certificate is not signed by a CA certificate in {}",
        scene.server.port(),
        stranger.display(),
    );
    assert_eq!((error.class(), error.to_string()), (FetchClass::Tls, words));

    let catalogd = Catalogd::new(None, FetchLimits::default()).unwrap();
    let error = fetch(&catalogd, &scene.server).await.unwrap_err();
    let words = format!(
        "TLS with localhost:{}: certificate is not signed by a CA certificate in the system's \
         store",
        scene.server.port(),
    );
    assert_eq!((error.class(), error.to_string()), (FetchClass::Tls, words));
    assert!(
        scene.server.asked().is_empty(),
        "nothing was asked of a stranger"
    );
}

#[tokio::test]
async fn a_server_without_tls_is_told() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        while let Ok((mut socket, _)) = listener.accept().await {
            drop(socket.write_all(b"HTTP/1.0 400 Bad Request\r\n\r\n").await);
            drop(socket.shutdown().await);
        }
    });
    let catalogd = Catalogd::new(None, FetchLimits::default()).unwrap();
    let base = format!("https://localhost:{port}/c");
    let error = catalogd.fetch(&base, super::scene::text).await.unwrap_err();
    let words = format!("TLS with localhost:{port}: expected a server with TLS, found one without");
    assert_eq!((error.class(), error.to_string()), (FetchClass::Tls, words));
}

#[tokio::test]
async fn any_authority_of_a_bundle_will_do() {
    let (first, second) = (Authority::new("first"), Authority::new("second"));
    let cas = Cas::new();
    let bundle = format!(
        "# the old one\n{}# the new one\n{}",
        first.pem(),
        second.pem()
    );
    let ca = cas.file("ca.crt", &bundle);
    for authority in [first, second] {
        let server = Scripted::tls(authority.server(), |_| Answer::ok(b"x")).await;
        assert_eq!(fetch(&trusting(&ca), &server).await.unwrap().value, "x");
    }
}

/// The directory is mounted as by a kubelet, with a key and files that are not certificates.
#[tokio::test]
async fn every_file_of_a_folder_is_looked_at() {
    let (first, second) = (Authority::new("first"), Authority::new("second"));
    let cas = Cas::new();
    fs::create_dir(cas.path("..2026_11_21")).unwrap();
    symlink("..2026_11_21", cas.path("..data")).unwrap();
    cas.file("..2026_11_21/ca.crt", &first.pem());
    symlink("..data/ca.crt", cas.path("ca.crt")).unwrap();
    cas.file("other.pem", second.pem().trim_end());
    cas.file(
        "tls.key",
        &rcgen::KeyPair::generate().unwrap().serialize_pem(),
    );
    cas.file("README", "certificates\n");
    for authority in [first, second] {
        let server = Scripted::tls(authority.server(), |_| Answer::ok(b"x")).await;
        assert_eq!(
            fetch(&trusting(cas.0.path()), &server).await.unwrap().value,
            "x"
        );
    }
}

#[tokio::test]
async fn a_ca_that_is_replaced_counts_from_the_next_try_on() {
    let (cas, old, new) = (Cas::new(), Authority::new("old"), Authority::new("new"));
    let ca = cas.file("ca.crt", &old.pem());
    let server = Scripted::tls(new.server(), |_| Answer::ok(b"x")).await;
    let catalogd = trusting(&ca);
    assert_eq!(
        fetch(&catalogd, &server).await.unwrap_err().class(),
        FetchClass::Tls
    );
    cas.file("ca.crt", &new.pem());
    assert_eq!(fetch(&catalogd, &server).await.unwrap().value, "x");
    cas.file("ca.crt", &old.pem());
    assert_eq!(
        fetch(&catalogd, &server).await.unwrap_err().class(),
        FetchClass::Tls
    );
}

#[tokio::test]
async fn a_ca_that_is_damaged_leaves_the_old_one() {
    let scene = Scene::answering(Answer::ok(b"x")).await;
    let catalogd = scene.catalogd();
    for damage in [
        "",
        "-----BEGIN CERTIFICATE-----\nAAAA",
        "no certificate at all",
    ] {
        fs::write(scene.ca.path(), damage).unwrap();
        assert_eq!(fetch(&catalogd, &scene.server).await.unwrap().value, "x");
    }
    fs::remove_file(scene.ca.path()).unwrap();
    assert_eq!(fetch(&catalogd, &scene.server).await.unwrap().value, "x");
}

#[test]
fn a_ca_that_cannot_be_used_is_told_at_the_start() {
    let cas = Cas::new();
    let refuses = |path: &std::path::Path, words: &str| {
        let error = Catalogd::new(Some(path), FetchLimits::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: {words}", path.display()));
    };
    let none = "cannot read: No such file or directory (os error 2)";
    refuses(&cas.path("none"), none);
    let nothing = "no certificate in it: expected PEM with BEGIN CERTIFICATE";
    refuses(&cas.file("empty", ""), nothing);
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    refuses(&cas.file("key", &key), nothing);
    let cut = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
    let pem = "not PEM: base64 decode error: InvalidCharacter(33)";
    refuses(&cas.file("cut", cut), pem);
    let ca = Authority::new("first").pem();
    let second = format!("{ca}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let bad = "certificate 2 cannot be used: invalid peer certificate: BadEncoding";
    refuses(&cas.file("second", &second), bad);
    let large = "too large: expected PEM of at most 1048576 bytes";
    refuses(&cas.file("large", &" ".repeat((1 << 20) + 1)), large);
}
