use std::fs;
use std::io::{self, Write};

use tempfile::TempDir;
use tracing_subscriber::fmt::MakeWriter;

use super::*;

/// A log that a test reads.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Log {
    /// What is logged while `act` runs, a line each, without the time.
    fn of(act: impl FnOnce()) -> Vec<String> {
        let log = Self::default();
        let format = tracing_subscriber::fmt().without_time().with_ansi(false);
        let subscriber = format.with_writer(log.clone()).finish();
        tracing::subscriber::with_default(subscriber, act);
        let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

fn pem() -> String {
    let names = ["localhost".to_owned()];
    rcgen::generate_simple_self_signed(names)
        .unwrap()
        .cert
        .pem()
}

fn file(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("ca.crt");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn damage_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, &pem());
    let roots = Roots::new(Some(&path)).unwrap();
    let first = roots.config();
    let lines = Log::of(|| {
        for text in ["", "", "# another nothing"] {
            file(&folder, text);
            assert!(Arc::ptr_eq(&first, &roots.config()), "the old ones stay");
        }
        fs::remove_file(&path).unwrap();
        assert!(Arc::ptr_eq(&first, &roots.config()), "the old ones stay");
        roots.config();
    });
    let kept = "Failed to load the new CA certificates for catalogd, keeping the old ones error=";
    let of = |why| {
        format!(
            " WARN olmguard::source::catalogd::roots: {kept}{}: {why}",
            path.display()
        )
    };
    let nothing = of("no certificate in it: expected PEM with BEGIN CERTIFICATE");
    let gone = of("cannot read: No such file or directory (os error 2)");
    assert_eq!(lines, [nothing.clone(), nothing, gone]);
}

#[test]
fn what_is_new_is_taken_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, &pem());
    let roots = Roots::new(Some(&path)).unwrap();
    let first = roots.config();
    assert!(Arc::ptr_eq(&first, &roots.config()), "nothing is new");
    let lines = Log::of(|| {
        file(&folder, &pem());
        let second = roots.config();
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &roots.config()), "nothing is new");
    });
    assert_eq!(lines.len(), 1, "{lines:?}");
}

#[test]
fn no_session_is_resumed_and_only_http1_is_spoken() {
    for config in [system(), Arc::unwrap_or_clone(of_file())] {
        assert_eq!(config.alpn_protocols, [b"http/1.1"]);
        let resumption = format!("{:?}", config.resumption);
        assert_eq!(resumption, format!("{:?}", Resumption::disabled()));
    }
}

fn of_file() -> Arc<ClientConfig> {
    let folder = tempfile::tempdir().unwrap();
    Roots::new(Some(&file(&folder, &pem()))).unwrap().config()
}
