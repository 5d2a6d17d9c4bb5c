//! Files that change while they are served.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::RecommendedWatcher;
use rcgen::SanType;
use rustls::DEFAULT_VERSIONS;
use tempfile::TempDir;
use tokio::sync::Notify;

use super::{CertificateFiles, FoundFiles, Means, POLL, serve, serve_by, settled};
use crate::tls::tests::{Pair, Told, ca, client, file, link, write};
use crate::tls::{Certificates, ClientCa, TlsConfig};

fn files(folder: &Path, poll: Duration) -> CertificateFiles {
    CertificateFiles {
        cert: folder.join("tls.crt"),
        key: folder.join("tls.key"),
        terms: TlsConfig::default(),
        wanted: Vec::new(),
        poll,
    }
}

fn start(files: CertificateFiles) -> (Certificates, Told) {
    let told = Told::default();
    let certificates = serve(files, Arc::new(told.clone())).unwrap();
    (certificates, told)
}

/// A system that provides no watch.
fn no_watch(_: &BTreeSet<PathBuf>, _: Arc<Notify>) -> Result<RecommendedWatcher, notify::Error> {
    Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch))
}

/// Panics while there is a file of this name.
fn read_or_panic(files: &CertificateFiles) -> FoundFiles {
    assert!(!files.cert.with_file_name("panic").exists());
    settled(files)
}

fn serial(pair: &Pair) -> String {
    crate::tls::Leaf::read(pair.cert.der()).unwrap().serial
}

/// A Secret as the kubelet mounts it.
struct Mount(TempDir);

impl Mount {
    fn new(pair: &Pair) -> Self {
        let mount = Self(tempfile::tempdir().unwrap());
        mount.swap("..0", pair);
        for name in ["tls.crt", "tls.key"] {
            symlink(Path::new("..data").join(name), mount.path().join(name)).unwrap();
        }
        mount
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Creates a new directory, renames a symlink over the old one, and removes the old directory.
    fn swap(&self, folder: &str, pair: &Pair) {
        let old = fs::read_link(self.path().join("..data"));
        fs::create_dir(self.path().join(folder)).unwrap();
        write(&self.path().join(folder), pair);
        symlink(folder, self.path().join("..data_tmp")).unwrap();
        fs::rename(self.path().join("..data_tmp"), self.path().join("..data")).unwrap();
        if let Ok(old) = old {
            fs::remove_dir_all(self.path().join(old)).unwrap();
        }
    }
}

/// Swaps three times in a row, and checks that exactly three reloads are reported.
async fn three_swaps(poll: Duration) {
    let pair = Pair::made();
    let mount = Mount::new(&pair);
    let (certificates, told) = start(files(mount.path(), poll));
    let connect = async |pair: &Pair| {
        let client = client(&pair.der(), DEFAULT_VERSIONS, None);
        link(certificates.server_config(), &client).await.unwrap()
    };
    let mut first = connect(&pair).await;
    for (at, folder) in ["..1", "..2", "..3"].into_iter().enumerate() {
        let pair = Pair::made();
        mount.swap(folder, &pair);
        let all = told.until(at + 1).await;
        assert_eq!(all.len(), at + 1);
        assert_eq!(all[at], Ok(serial(&pair)));
        assert_eq!(certificates.leaf().serial, serial(&pair));
        assert_eq!(connect(&pair).await.shown(), pair.der());
        first.echo().await.expect("an old connection still works");
    }
}

#[tokio::test]
async fn three_swaps_by_the_kubelet_are_seen_by_the_watch() {
    three_swaps(Duration::from_hours(1)).await;
}

#[tokio::test(start_paused = true)]
async fn three_swaps_by_the_kubelet_are_seen_in_time() {
    three_swaps(POLL).await;
}

#[tokio::test(start_paused = true)]
async fn what_no_watch_sees_is_found_by_the_poll() {
    let (elsewhere, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(elsewhere.path(), &Pair::made());
    for name in ["tls.crt", "tls.key"] {
        symlink(elsewhere.path().join(name), folder.path().join(name)).unwrap();
    }
    let (certificates, told) = start(files(folder.path(), POLL));
    let begun = tokio::time::Instant::now();
    let pair = Pair::made();
    write(elsewhere.path(), &pair);
    assert_eq!(told.until(1).await, [Ok(serial(&pair))]);
    assert!(begun.elapsed() <= Duration::from_secs(10));
    assert_eq!(certificates.leaf().serial, serial(&pair));
}

#[tokio::test(start_paused = true)]
async fn where_there_is_no_watch_the_poll_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Pair::made());
    let told = Told::default();
    let means = Means {
        watch: no_watch,
        ..Means::default()
    };
    let observer = Arc::new(told.clone());
    let certificates = serve_by(files(folder.path(), POLL), observer, means).unwrap();
    let pair = Pair::made();
    write(folder.path(), &pair);
    assert_eq!(told.until(1).await, [Ok(serial(&pair))]);
    assert_eq!(certificates.leaf().serial, serial(&pair));
}

#[tokio::test(start_paused = true)]
async fn a_panic_does_not_end_the_looking() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Pair::made());
    let told = Told::default();
    let means = Means {
        read: read_or_panic,
        ..Means::default()
    };
    let observer = Arc::new(told.clone());
    let certificates = serve_by(files(folder.path(), POLL), observer, means).unwrap();
    let panic = file(folder.path(), "panic", "");
    let pair = Pair::made();
    write(folder.path(), &pair);
    tokio::time::sleep(POLL * 3).await;
    assert!(told.all().is_empty(), "{:?}", told.all());
    fs::remove_file(panic).unwrap();
    assert_eq!(told.until(1).await, [Ok(serial(&pair))]);
    assert_eq!(certificates.leaf().serial, serial(&pair));
}

#[tokio::test(start_paused = true)]
async fn clients_that_cannot_be_judged_anew_hold_up_no_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new, ca) = (Pair::made(), Pair::made(), ca("clients"));
    write(folder.path(), &old);
    let mut files = files(folder.path(), POLL);
    files.terms.client_ca = Some(ClientCa {
        file: file(folder.path(), "ca.crt", ca.pem()),
        allowed: std::iter::empty().collect(),
    });
    let (certificates, told) = start(files);
    for (at, broken) in ["", "-----BEGIN CERTIFICATE-----\n"]
        .into_iter()
        .enumerate()
    {
        file(folder.path(), "ca.crt", broken);
        let error = told.until(at + 1).await.remove(at).unwrap_err();
        assert!(error.contains("ca.crt: "), "{error}");
    }
    write(folder.path(), &new);
    assert_eq!(told.until(3).await[2], Ok(serial(&new)));
    let own = Pair::signed(&ca, "api", SanType::DnsName("x".try_into().unwrap()));
    let known = client(&new.der(), DEFAULT_VERSIONS, Some(&own));
    link(certificates.server_config(), &known).await.unwrap();
    let stranger = client(&new.der(), DEFAULT_VERSIONS, None);
    assert!(link(certificates.server_config(), &stranger).await.is_err());
    tokio::time::sleep(POLL * 5).await;
    assert_eq!(told.all().len(), 3, "told once");
}

#[tokio::test(start_paused = true)]
async fn half_a_pair_is_refused_once_and_then_mended() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (Pair::made(), Pair::made());
    write(folder.path(), &old);
    let (certificates, told) = start(files(folder.path(), POLL));
    file(folder.path(), "tls.crt", new.cert.pem());
    let error = told.until(1).await.remove(0).unwrap_err();
    assert!(
        error.contains("tls.key: cannot be used: keys may not be consistent"),
        "{error}"
    );
    tokio::time::sleep(POLL * 5).await;
    assert_eq!(told.all().len(), 1, "told once");
    assert_eq!(certificates.leaf().serial, serial(&old));
    let client = client(&old.der(), DEFAULT_VERSIONS, None);
    link(certificates.server_config(), &client).await.unwrap();
    fs::remove_file(folder.path().join("tls.key")).unwrap();
    let error = told.until(2).await.remove(1).unwrap_err();
    assert!(error.contains("tls.key: cannot read: "), "{error}");
    file(folder.path(), "tls.key", new.key.serialize_pem());
    assert_eq!(told.until(3).await[2], Ok(serial(&new)));
    assert_eq!(certificates.leaf().serial, serial(&new));
}

/// The result of `cat /etc/ssl/certs/ca-certificates.crt >> tls.crt`.
#[tokio::test(start_paused = true)]
async fn a_chain_that_no_client_reads_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let old = Pair::made();
    write(folder.path(), &old);
    let (certificates, told) = start(files(folder.path(), POLL));
    let bundle = old.cert.pem().repeat(200);
    file(folder.path(), "tls.crt", &bundle);
    let error = told.until(1).await.remove(0).unwrap_err();
    assert!(error.contains("tls.crt: 200 certificates with "), "{error}");
    let client = client(&old.der(), DEFAULT_VERSIONS, None);
    link(certificates.server_config(), &client).await.unwrap();
    file(folder.path(), "tls.crt", old.cert.pem());
    assert_eq!(told.until(2).await[1], Ok(serial(&old)));
}

#[tokio::test(start_paused = true)]
async fn a_client_of_an_authority_that_is_gone_is_refused_with_its_session_too() {
    let folder = tempfile::tempdir().unwrap();
    let (pair, old, new) = (Pair::made(), ca("old"), ca("new"));
    write(folder.path(), &pair);
    let mut files = files(folder.path(), POLL);
    files.terms.client_ca = Some(ClientCa {
        file: file(folder.path(), "ca.crt", old.pem()),
        allowed: std::iter::once("api".to_owned()).collect(),
    });
    let (certificates, told) = start(files);
    let of = |ca| {
        let alternative = SanType::DnsName("x".try_into().unwrap());
        let own = Pair::signed(ca, "api", alternative);
        client(&pair.der(), DEFAULT_VERSIONS, Some(&own))
    };
    let (of_old, of_new) = (of(&old), of(&new));
    let connect = |client| link(certificates.server_config(), client);
    assert!(connect(&of_old).await.is_ok());
    assert!(connect(&of_new).await.is_err());
    file(folder.path(), "ca.crt", new.pem());
    told.until(1).await;
    assert!(connect(&of_old).await.is_err(), "nor with what it kept");
    assert!(connect(&of_new).await.is_ok());
}

#[tokio::test]
async fn at_first_the_files_must_be_good() {
    let folder = tempfile::tempdir().unwrap();
    let told = Told::default();
    let error = serve(files(folder.path(), POLL), Arc::new(told.clone())).unwrap_err();
    assert!(error.to_string().contains("tls.crt: cannot read: "));
    assert!(told.all().is_empty());
}
