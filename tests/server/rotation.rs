//! A certificate that a kubelet replaces while the server gets requests.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use olmguard_support::https::{Certificate, trusting};
use olmguard_support::load::fleet::Fleet;
use olmguard_support::load::served::Served;
use tempfile::TempDir;
use tokio::sync::watch;

/// A Secret as a kubelet mounts it: its files are links through `..data`, which is also a link.
struct Mount(TempDir);

impl Mount {
    fn of(certificate: &Certificate) -> Self {
        let mount = Self(tempfile::tempdir().unwrap());
        for name in ["tls.crt", "tls.key"] {
            symlink(format!("..data/{name}"), mount.path(name)).unwrap();
        }
        mount.swap(0, &certificate.pem(), &certificate.key_pem());
        mount
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Replaces both files at the same time, as a kubelet does: a new directory, and a new link renamed over the old
    /// one.
    fn swap(&self, number: usize, certificate: &str, key: &str) {
        let folder = format!("..2026_11_21_{number}");
        fs::create_dir(self.path(&folder)).unwrap();
        fs::write(self.path(&folder).join("tls.crt"), certificate).unwrap();
        fs::write(self.path(&folder).join("tls.key"), key).unwrap();
        let before = fs::read_link(self.path("..data"));
        symlink(&folder, self.path("..data_tmp")).unwrap();
        fs::rename(self.path("..data_tmp"), self.path("..data")).unwrap();
        if let Ok(before) = before {
            fs::remove_dir_all(self.path(before.to_str().unwrap())).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_swaps_under_load_lose_nothing() {
    let certificates: [_; 4] = std::array::from_fn(|_| Certificate::generate());
    let mount = Mount::of(&certificates[0]);
    let server = serve(&mount, &certificates);
    let (stop, stopped) = watch::channel(());
    let fleet = Fleet::of_edits(&server.target, 8);
    let request = Arc::clone(&fleet.request);
    let mut before = server.target.connect().await.unwrap();
    let load = tokio::spawn(async move { fleet.run_until(stopped).await });

    for (number, certificate) in certificates.iter().enumerate().skip(1) {
        mount.swap(number, &certificate.pem(), &certificate.key_pem());
        shown(&server, certificate).await;
        assert_eq!(before.ask(&request).await.unwrap().status, 200);
    }
    drop(stop);
    let figures = load.await.unwrap();
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
    assert!(figures.answered > 0);
    assert_eq!((figures.reconnected, figures.sent_twice), (0, 0));
    assert_eq!(reloads(&server, "ok"), 3);
    assert_eq!(server.end().code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_that_does_not_fit_is_refused_and_the_next_one_is_taken() {
    let certificates: [_; 2] = std::array::from_fn(|_| Certificate::generate());
    let [old, new] = &certificates;
    let mount = Mount::of(old);
    let server = serve(&mount, &certificates);
    mount.swap(1, &new.pem(), &old.key_pem());
    soon(async {
        while reloads(&server, "refused") == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    shown(&server, old).await;
    assert_eq!(server.health("/readyz"), Some(200));
    mount.swap(2, &new.pem(), &new.key_pem());
    shown(&server, new).await;
    assert_eq!(
        (reloads(&server, "refused"), reloads(&server, "ok")),
        (1, 1)
    );
}

/// Starts a server with the mounted certificate, for clients that trust all of these.
fn serve(mount: &Mount, certificates: &[Certificate]) -> Served {
    let (cert, key) = (mount.path("tls.crt"), mount.path("tls.key"));
    let arguments = [
        "--tls-cert",
        cert.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
        "--shutdown-delay=0s",
    ];
    let tls = trusting(certificates.iter().map(Certificate::der));
    Served::showing(&[], &arguments, tls)
}

/// Connects until this certificate is served.
async fn shown(server: &Served, certificate: &Certificate) {
    soon(async {
        loop {
            let connection = server.target.connect().await.unwrap();
            if connection.certificate() == Some(&certificate.der()) {
                return;
            }
        }
    })
    .await;
}

/// Returns how often a certificate was reloaded with this result.
fn reloads(server: &Served, result: &str) -> u32 {
    let metrics = server.told("/metrics").unwrap();
    let series = format!("olmguard_tls_reloads_total{{result=\"{result}\"}} ");
    let value = metrics.lines().find_map(|line| line.strip_prefix(&series));
    value.unwrap().parse().unwrap()
}

async fn soon<T>(condition: impl Future<Output = T>) -> T {
    tokio::time::timeout(IN_TIME, condition).await.unwrap()
}

/// The time limit for a change of a kubelet to take effect.
const IN_TIME: Duration = Duration::from_secs(15);
