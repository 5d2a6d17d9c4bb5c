//! A cache whose process is killed while it writes: only the entry that was being written is lost.
//!
//! The process is this test itself, run again in one of the roles below.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use olmguard::source::cache::{Cache, CacheEntry, CacheError, EntryFault};
use olmguard_catalog::blob::{BlobContent, BlobFault, BlobKey, Sink};
#[cfg(target_os = "linux")]
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// The variable with the directory of a role. Without it, the roles do nothing.
const PART: &str = "CACHE_KILLED_FOLDER";

const LIMIT: u64 = 1 << 30;

const KEPT: &str = "sha256:0123456789abcdef0123456789abcdef";
const LOST: &str = "sha256:fedcba9876543210fedcba9876543210";

#[derive(Default)]
struct Blobs(usize);

impl Sink for Blobs {
    fn blob(&mut self, _: BlobKey<'_>, _: Result<BlobContent<'_>, BlobFault>) {
        self.0 += 1;
    }
}

/// Writes a package with a text that does not compress well.
fn give(entry: &mut CacheEntry, n: u64) {
    let numbers = (0..1000).map(|i| (n * 1000 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut text = String::new();
    for number in numbers {
        write!(text, "{number:x}").unwrap();
    }
    let package = format!(r#"{{"schema":"olm.package","name":"p{n}","description":"{text}"}}"#);
    entry.write_all(package.as_bytes()).unwrap();
}

fn begin(folder: &Path) -> (Cache, CacheEntry) {
    let (cache, dropped) = Cache::open(folder, LIMIT).unwrap();
    assert!(dropped.is_empty(), "{dropped:?}");
    let mut entry = cache.begin(KEPT).unwrap();
    give(&mut entry, 0);
    entry.commit().unwrap();
    let entry = cache.begin(LOST).unwrap();
    (cache, entry)
}

fn folder() -> Option<PathBuf> {
    std::env::var_os(PART).map(PathBuf::from)
}

/// Starts this test again in a role.
fn play(part: &str, wrapper: &[&str], folder: &Path) -> Child {
    let own = std::env::current_exe().unwrap();
    let words = [wrapper, &[own.to_str().unwrap()]].concat();
    let (program, arguments) = words.split_first().unwrap();
    Command::new(program)
        .args(arguments)
        .args(["--exact", &format!("cache_killed::{part}"), "--nocapture"])
        .env(PART, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn part_write_without_end() {
    let Some(folder) = folder() else { return };
    let (_cache, mut entry) = begin(&folder);
    // The process is killed from outside. If it is not, the test ends anyway.
    (1..100_000).for_each(|n| give(&mut entry, n));
}

#[test]
fn part_write_more_than_there_is_room_for() {
    let Some(folder) = folder() else { return };
    let (cache, mut entry) = begin(&folder);
    (1..1000).for_each(|n| give(&mut entry, n));
    let error = entry.commit().unwrap_err();
    assert!(
        matches!(
            error,
            CacheError::Io {
                action: "write",
                ..
            }
        ),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("cannot write: File too large"),
        "{error}"
    );
    // A failed entry does not affect the next one.
    let mut entry = cache.begin(LOST).unwrap();
    give(&mut entry, 1);
    entry.commit().unwrap();
    assert!(cache.load(KEPT, &mut Blobs::default()).unwrap());
}

/// Returns the only file that is being written, once it has this size.
fn half_written(folder: &Path, bytes: u64, child: &mut Child) -> PathBuf {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let partial = |path: &PathBuf| {
            let is_partial = path.extension().is_some_and(|ending| ending == "partial");
            is_partial
                && path.metadata().is_ok_and(|metadata| metadata.len() > bytes)
                && path.to_string_lossy().contains("fedcba")
        };
        if let Some(path) = files.map(|file| file.path()).find(partial) {
            return path;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        thread::yield_now();
    }
    child.kill().unwrap();
    unreachable!("nothing is written");
}

#[test]
fn a_kill_in_the_middle_of_a_write_loses_what_was_being_written_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("cache");
    let mut child = play("part_write_without_end", &[], &folder);
    let partial = half_written(&folder, 256 << 10, &mut child);
    assert!(matches!(
        Cache::open(&folder, LIMIT),
        Err(CacheError::Held { .. })
    ));
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "{status}");

    let (cache, dropped) = Cache::open(&folder, LIMIT).unwrap();
    let dropped: Vec<_> = dropped.iter().map(|one| (&one.file, &one.reason)).collect();
    assert!(
        matches!(dropped[..], [(file, EntryFault::HalfWritten)] if *file == partial),
        "{dropped:?}"
    );
    assert!(!partial.exists());
    assert!(!cache.load(LOST, &mut Blobs::default()).unwrap());
    let mut blobs = Blobs::default();
    assert!(cache.load(KEPT, &mut blobs).unwrap());
    assert_eq!(blobs.0, 1);
}

/// A limit on the size of files simulates a full disk.
#[test]
fn a_write_that_fails_is_told_and_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("cache");
    let limited = [
        "sh",
        "-c",
        "trap '' XFSZ; ulimit -f 1024; exec \"$0\" \"$@\"",
    ];
    let child = play("part_write_more_than_there_is_room_for", &limited, &folder);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{output:?}"
    );
    let (_cache, dropped) = Cache::open(&folder, LIMIT).unwrap();
    assert!(dropped.is_empty(), "{dropped:?}");
    assert_eq!(
        fs::read_dir(&folder).unwrap().count(),
        3,
        "two contents and the lock"
    );
}

/// Root can write everywhere, so the test drops that capability on its own thread.
#[test]
fn a_folder_that_may_only_be_read_says_so_and_stays_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("cache");
    let (cache, entry) = begin(&folder);
    drop((entry, cache));
    allow(&folder, 0o500);
    thread::scope(|scope| {
        scope.spawn(|| {
            give_up_writing_everywhere();
            only_reads(&folder);
        });
    });
    // The directory is removed with the test.
    allow(&folder, 0o700);
}

fn only_reads(folder: &Path) {
    let probe = fs::write(folder.join("probe"), "").map_err(|error| error.kind());
    assert_eq!(probe, Err(ErrorKind::PermissionDenied));
    let (cache, dropped) = Cache::open(folder, LIMIT).unwrap();
    assert!(dropped.is_empty(), "{dropped:?}");
    assert!(cache.load(KEPT, &mut Blobs::default()).unwrap());
    let error = cache.begin(LOST).unwrap_err().to_string();
    assert!(
        error.contains("cannot create: Permission denied"),
        "{error}"
    );
}

fn allow(folder: &Path, mode: u32) {
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
}

/// Drops the capability that lets root ignore permissions, for this thread only.
#[cfg(target_os = "linux")]
fn give_up_writing_everywhere() {
    let mut sets = capabilities(None).unwrap();
    sets.effective.remove(CapabilitySet::DAC_OVERRIDE);
    set_capabilities(None, sets).unwrap();
}

/// Only Linux has capabilities. On other systems, the test needs a user without that right.
#[cfg(not(target_os = "linux"))]
fn give_up_writing_everywhere() {}
