use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;
use tempfile::TempDir;

use super::super::decompress::compress;
use super::*;
use olmguard_catalog::blob::{BlobContent, BlobFault, BlobKey};

/// A directory that is removed at the end of its test.
struct Scene(TempDir);

/// The names that a sink received.
#[derive(Debug, Default, PartialEq)]
struct Names(Vec<String>);

impl Sink for Names {
    fn blob(&mut self, key: BlobKey<'_>, _: Result<BlobContent<'_>, BlobFault>) {
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

    /// Opens the cache, which must not drop any file.
    fn open(&self, limit: u64) -> Cache {
        let (cache, dropped) = Cache::open(&self.folder(), limit).unwrap();
        assert!(dropped.is_empty(), "{dropped:?}");
        cache
    }

    /// Returns the names of the files, without the lock.
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

    /// Sets the time of the last use, in seconds after the epoch.
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

#[test]
fn what_is_no_digest_names_no_file() {
    let hex = "1a".repeat(32);
    let long = format!("sha256:{}", "1a".repeat(65));
    for text in [
        "",
        ":",
        "sha256",
        "sha256:",
        "sha256:1a2b",
        &hex,
        &format!(":{hex}"),
        &format!("sha256-{hex}"),
        &format!("SHA256:{hex}"),
        &format!("sha256:{}", hex.to_uppercase()),
        &format!("sha256:../{hex}"),
        &format!("../sha256:{hex}"),
        &format!("sha+b64:{hex}"),
        &format!("sha256:{hex}\n"),
        &format!("sha256:{hex}:{hex}"),
        &long,
    ] {
        let refused = Digest::parse(text).map_err(|error| error.to_string());
        let expected = format!(
            "digest {text:?}: expected one such as sha256: and 64 hexadecimal digits; it is not \
                 cached"
        );
        assert_eq!(refused, Err(expected));
    }
}

proptest! {
    #[test]
    fn a_digest_comes_back_from_its_name(text in "[a-z0-9]{1,16}:[0-9a-f]{32,128}") {
        let digest = Digest::parse(&text).unwrap();
        prop_assert_eq!(Digest::of_stem(&digest.0), Some(digest.clone()));
        prop_assert_eq!(&digest.0, &text.replace(':', "-"));
    }

    #[test]
    fn whatever_it_is_its_name_stays_in_its_folder(text: String) {
        if let Ok(digest) = Digest::parse(&text) {
            prop_assert!(!digest.0.contains(['/', '.', '\0']));
        }
    }
}

// === The size of a cache ===

/// Returns the size of a small file.
fn size() -> u64 {
    let scene = Scene::new();
    store(&scene.open(PLENTY), 1, &["a"]);
    scene.file(1).metadata().unwrap().len()
}

#[test]
fn what_was_used_longest_ago_goes_first_and_only_as_far_as_needed() {
    let scene = Scene::new();
    let cache = scene.open(3 * size());
    for n in 1..=3 {
        store(&cache, n, &["a"]);
    }
    for (n, seconds) in [(1, 30), (2, 10), (3, 20)] {
        scene.used(n, seconds);
    }
    store(&cache, 4, &["a"]);
    assert_eq!(scene.files(), [file(1), file(3), file(4)]);
    cache.retain(&[&digest(3), &digest(4)]).unwrap();
    assert_eq!(scene.files(), [file(1), file(3), file(4)], "there is room");
    store(&cache, 5, &["a"]);
    assert_eq!(scene.files(), [file(3), file(4), file(5)], "3 is in use");
}

#[test]
fn to_load_is_to_use() {
    let scene = Scene::new();
    let cache = scene.open(2 * size());
    for n in 1..=2 {
        store(&cache, n, &["a"]);
        scene.used(n, n.into());
    }
    load(&cache, 1).unwrap().unwrap();
    store(&cache, 3, &["a"]);
    assert_eq!(scene.files(), [file(1), file(3)]);
}

#[test]
fn what_does_not_fit_beside_what_is_in_use_is_not_kept() {
    let scene = Scene::new();
    let (size, limit) = (size(), 2 * size());
    let cache = scene.open(limit);
    for n in 1..=2 {
        store(&cache, n, &["a"]);
    }
    cache.retain(&[&digest(1), &digest(2)]).unwrap();
    let mut entry = cache.begin(&digest(3)).unwrap();
    give(&mut entry, &["a"]);
    assert_eq!(
        entry.commit().unwrap_err().to_string(),
        format!(
            "{size} bytes do not fit into {limit} next to the catalogs in use: raise --cache-limit"
        )
    );
    assert_eq!(scene.files(), [file(1), file(2)]);
    cache.retain(&[&digest(2)]).unwrap();
    store(&cache, 3, &["a"]);
    assert_eq!(scene.files(), [file(2), file(3)]);
}

#[test]
fn what_replaces_itself_needs_no_more_room() {
    let scene = Scene::new();
    let cache = scene.open(2 * size());
    for n in 1..=2 {
        store(&cache, n, &["a"]);
    }
    cache.retain(&[&digest(1), &digest(2)]).unwrap();
    store(&cache, 1, &["a"]);
    assert_eq!(scene.files(), [file(1), file(2)]);
}

/// Two entries that are being written use no more than all complete ones may.
#[test]
fn one_takes_no_more_than_half() {
    let scene = Scene::new();
    let most = size() - 1;
    let cache = scene.open(2 * most);
    let mut entry = cache.begin(&digest(1)).unwrap();
    give(&mut entry, &["a"]);
    let error = entry.commit().unwrap_err().to_string();
    let why = format!(
        "more than {most} bytes, compressed, which is half of the cache size: raise --cache-limit"
    );
    assert!(
        error.ends_with(&format!(": cannot write: {why}")),
        "{error}"
    );
    assert_eq!(scene.files(), [""; 0]);
}

#[test]
fn a_smaller_limit_holds_at_once() {
    let scene = Scene::new();
    let cache = scene.open(PLENTY);
    for n in 1..=3 {
        store(&cache, n, &["a"]);
        scene.used(n, n.into());
    }
    drop(cache);
    drop(scene.open(2 * size()));
    assert_eq!(scene.files(), [file(2), file(3)]);
}

// === Files that have changed ===

#[track_caller]
fn not_loaded(scene: &Scene, bytes: &[u8], case: &str) -> String {
    let cache = scene.open(PLENTY);
    fs::write(scene.file(1), bytes).unwrap();
    let error = load(&cache, 1).unwrap_err();
    assert!(matches!(error, CacheError::Damaged(_)), "{case}: {error:?}");
    assert_eq!(scene.files(), [""; 0], "{case}");
    assert_eq!(load(&cache, 1).unwrap(), None, "{case}");
    error.to_string()
}

fn whole(scene: &Scene) -> Vec<u8> {
    store(&scene.open(PLENTY), 1, &["a", "b"]);
    fs::read(scene.file(1)).unwrap()
}

/// Returns a text in a frame.
fn framed(text: &str) -> Vec<u8> {
    let mut frame = compress(Vec::new()).unwrap();
    frame.write_all(text.as_bytes()).unwrap();
    frame.finish().unwrap()
}

#[test]
fn a_changed_byte_is_refused_or_changes_nothing() {
    let scene = Scene::new();
    let whole = whole(&scene);
    let cache = scene.open(PLENTY);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(scene.file(1), bytes).unwrap();
        match load(&cache, 1) {
            Ok(names) => assert_eq!(names.unwrap(), ["a", "b"], "byte {at}"),
            Err(error) => assert!(matches!(error, CacheError::Damaged(_)), "{error:?}"),
        }
    }
}

#[test]
fn a_file_that_ends_early_is_refused_at_every_length() {
    let scene = Scene::new();
    let whole = whole(&scene);
    for length in 0..whole.len() {
        not_loaded(&scene, &whole[..length], &format!("length {length}"));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let scene = Scene::new();
    let whole = whole(&scene);
    let here = scene.file(1).display().to_string();
    let longer = [&whole[..], b"x"].concat();
    for (bytes, why) in [
        (b"{}".to_vec(), "cannot read: Unknown frame descriptor"),
        (whole[..9].to_vec(), "cannot read: incomplete frame"),
        (longer, "cannot read: more bytes after its end"),
        (
            framed("{\"schema\":"),
            "byte 10: incomplete JSON: the catalog ends within a value",
        ),
    ] {
        let error = not_loaded(&scene, &bytes, why);
        let expected = format!("{here}: removed: content: {why}; it must be fetched again");
        assert_eq!(error, expected);
    }
}

/// Another thread can store the content again while the damaged file is read.
#[test]
fn what_replaces_a_damaged_file_while_it_is_read_stays() {
    struct StoresAgain<'c>(Option<&'c Cache>);

    impl Sink for StoresAgain<'_> {
        fn blob(&mut self, _: BlobKey<'_>, _: Result<BlobContent<'_>, BlobFault>) {
            if let Some(cache) = self.0.take() {
                store(cache, 1, &["new"]);
            }
        }
    }

    let scene = Scene::new();
    let cache = scene.open(PLENTY);
    // More than is read before the first blob.
    let damaged = [&framed(&catalog(&vec!["a"; 10_000]))[..], b"x"].concat();
    fs::write(scene.file(1), damaged).unwrap();
    let read = cache.load(&digest(1), &mut StoresAgain(Some(&cache)));
    assert!(matches!(read, Err(CacheError::Damaged(_))), "{read:?}");
    assert_eq!(load(&cache, 1).unwrap().unwrap(), ["new"]);
}

/// A start must not read hundreds of MiB that a load reads anyway.
#[test]
fn what_a_file_holds_is_checked_when_it_is_loaded() {
    let scene = Scene::new();
    drop(scene.open(PLENTY));
    fs::write(scene.file(1), "no frame").unwrap();
    let cache = scene.open(PLENTY);
    assert_eq!(scene.files(), [file(1)]);
    let error = load(&cache, 1).unwrap_err();
    assert!(matches!(error, CacheError::Damaged(_)), "{error:?}");
    assert_eq!(scene.files(), [""; 0]);
}

#[test]
fn what_was_not_written_to_its_end_is_dropped_and_told() {
    let scene = Scene::new();
    drop(scene.open(PLENTY));
    let stem = digest(1).replace(':', "-");
    let partial = scene.folder().join(format!("{stem}.12.partial"));
    fs::write(&partial, "half").unwrap();
    let (_cache, dropped) = Cache::open(&scene.folder(), PLENTY).unwrap();
    let dropped: Vec<_> = dropped.iter().map(ToString::to_string).collect();
    let why = "removed: it was not written completely";
    assert_eq!(dropped, [format!("{}: {why}", partial.display())]);
    assert_eq!(scene.files(), [""; 0]);
}

#[test]
fn a_link_is_no_content_and_what_it_leads_to_stays() {
    let scene = Scene::new();
    drop(scene.open(PLENTY));
    let target = scene.0.path().join("target");
    fs::write(&target, "precious").unwrap();
    symlink(&target, scene.file(1)).unwrap();
    let (_cache, dropped) = Cache::open(&scene.folder(), PLENTY).unwrap();
    assert!(
        matches!(
            dropped[..],
            [DroppedFile {
                reason: EntryFault::NotAFile,
                ..
            }]
        ),
        "{dropped:?}"
    );
    assert_eq!(fs::read(target).unwrap(), b"precious");
}

#[test]
fn files_of_others_are_left_alone() {
    let scene = Scene::new();
    drop(scene.open(PLENTY));
    let strangers = [
        "README",
        "a.jsonl.zst",
        "a.partial",
        "sha256-1a2b.0.partial",
        "sha256-1a2b.jsonl.zst",
    ];
    for name in strangers {
        fs::write(scene.folder().join(name), "precious").unwrap();
    }
    fs::create_dir(scene.folder().join("lost+found")).unwrap();
    store(&scene.open(1000), 1, &["a"]);
    drop(scene.open(0));
    let mut left = strangers.map(str::to_owned).to_vec();
    left.insert(3, "lost+found".to_owned());
    assert_eq!(scene.files(), left);
}
