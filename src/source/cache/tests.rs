use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use tempfile::TempDir;

use super::*;
use olmguard_catalog::blob::{BlobFault, Content, Key};

mod damage;
mod room;

/// A folder that goes with its test.
struct Scene(TempDir);

/// The names that a sink was given.
#[derive(Debug, Default, PartialEq)]
struct Names(Vec<String>);

impl Sink for Names {
    fn blob(&mut self, key: Key<'_>, _: Result<Content<'_>, BlobFault>) {
        self.0.push(key.name.to_owned());
    }
}

impl Scene {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    /// The cache, in which nothing was to be dropped.
    fn open(&self, limit: u64) -> Cache {
        let (cache, dropped) = Cache::open(&self.folder(), limit).unwrap();
        assert!(dropped.is_empty(), "{dropped:?}");
        cache
    }

    /// The files but for the lock, by name.
    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.folder()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name != "lock").collect();
        names.sort();
        names
    }

    fn file(&self, n: u8) -> PathBuf {
        self.folder().join(file(n))
    }

    /// As if it was used last so long after the beginning of time.
    fn used(&self, n: u8, seconds: u64) {
        let moment = UNIX_EPOCH + Duration::from_secs(seconds);
        let file = File::options().write(true).open(self.file(n)).unwrap();
        file.set_times(FileTimes::new().set_modified(moment))
            .unwrap();
    }
}

fn digest(n: u8) -> String {
    format!("sha256:{}", format!("{n:02x}").repeat(32))
}

fn file(n: u8) -> String {
    digest(n).replace(':', "-") + ".jsonl.zst"
}

fn give(entry: &mut CacheEntry, packages: &[&str]) {
    entry.write_all(catalog(packages).as_bytes()).unwrap();
}

fn catalog(packages: &[&str]) -> String {
    let package = |name: &&str| format!("{{\"schema\":\"olm.package\",\"name\":\"{name}\"}}\n");
    packages.iter().map(package).collect()
}

fn store(cache: &Cache, n: u8, names: &[&str]) {
    let mut entry = cache.begin(&digest(n)).unwrap();
    give(&mut entry, names);
    entry.commit().unwrap();
}

fn load(cache: &Cache, n: u8) -> Result<Option<Vec<String>>, CacheError> {
    let mut names = Names::default();
    let is_there = cache.load(&digest(n), &mut names)?;
    Ok(is_there.then_some(names.0))
}

const PLENTY: u64 = 1 << 30;

#[test]
fn what_was_stored_is_there_again_after_a_restart() {
    let scene = Scene::new();
    let cache = scene.open(PLENTY);
    store(&cache, 1, &["a", "b"]);
    assert_eq!(load(&cache, 1).unwrap().unwrap(), ["a", "b"]);
    drop(cache);
    let cache = scene.open(PLENTY);
    assert_eq!(load(&cache, 1).unwrap().unwrap(), ["a", "b"]);
    assert_eq!(load(&cache, 2).unwrap(), None);
    assert_eq!(scene.files(), [file(1)]);
}

#[test]
fn what_is_stored_again_replaces_what_was_there() {
    let scene = Scene::new();
    let cache = scene.open(PLENTY);
    store(&cache, 1, &["a"]);
    store(&cache, 1, &["b"]);
    assert_eq!(load(&cache, 1).unwrap().unwrap(), ["b"]);
    cache.remove(&digest(1)).unwrap();
    cache.remove(&digest(1)).unwrap();
    assert_eq!(load(&cache, 1).unwrap(), None);
}

#[test]
fn an_entry_that_is_not_committed_leaves_nothing() {
    let scene = Scene::new();
    let cache = scene.open(PLENTY);
    let mut entry = cache.begin(&digest(1)).unwrap();
    give(&mut entry, &["a"]);
    assert_eq!(scene.files().len(), 1);
    assert_eq!(load(&cache, 1).unwrap(), None);
    drop(entry);
    assert_eq!(scene.files(), [""; 0]);
}

#[test]
fn two_entries_of_one_digest_do_not_meet() {
    let scene = Scene::new();
    let cache = scene.open(PLENTY);
    let mut entries = [(); 2].map(|()| cache.begin(&digest(1)).unwrap());
    for (entry, name) in entries.iter_mut().zip(["a", "b"]) {
        give(entry, &[name]);
    }
    for entry in entries {
        entry.commit().unwrap();
    }
    assert_eq!(load(&cache, 1).unwrap().unwrap(), ["b"]);
    assert_eq!(scene.files(), [file(1)]);
}

#[test]
fn a_folder_is_held_by_one() {
    let scene = Scene::new();
    let cache = scene.open(PLENTY);
    let error = Cache::open(&scene.folder(), PLENTY)
        .unwrap_err()
        .to_string();
    let folder = scene.folder();
    let expected = "another olmguard uses this directory: give each olmguard its own";
    assert_eq!(error, format!("{}: {expected}", folder.display()));
    let entry = cache.begin(&digest(1)).unwrap();
    drop(cache);
    assert!(
        Cache::open(&folder, PLENTY).is_err(),
        "an entry holds it too"
    );
    drop(entry);
    drop(scene.open(PLENTY));
}

#[test]
fn nobody_else_may_look_into_it() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    store(&scene.open(PLENTY), 1, &["a"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&scene.folder()), 0o700);
    assert_eq!(mode(&scene.file(1)), 0o600);
    assert_eq!(mode(&scene.folder().join("lock")), 0o600);
}

#[test]
fn what_is_no_digest_is_not_cached() {
    let scene = Scene::new();
    let cache = scene.open(PLENTY);
    for digest in ["", "sha256:../../etc/passwd", "latest"] {
        let mut names = Names::default();
        let answers = [
            cache.load(digest, &mut names).map(drop),
            cache.begin(digest).map(drop),
            cache.remove(digest),
        ];
        for answer in answers {
            assert!(matches!(answer, Err(CacheError::Digest { .. })), "{digest}");
        }
        cache.retain(&[digest]).unwrap();
    }
    assert_eq!(scene.files(), [""; 0]);
}

#[test]
fn a_folder_that_cannot_be_made_says_so() {
    let scene = Scene::new();
    fs::write(scene.folder(), "a file").unwrap();
    let below = scene.folder().join("below");
    let error = Cache::open(&below, PLENTY).unwrap_err().to_string();
    let expected = format!("{}: cannot create the directory: ", below.display());
    assert!(error.starts_with(&expected), "{error}");
}
