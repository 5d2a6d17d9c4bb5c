//! Files that are not what they were.

use std::os::unix::fs::symlink;

use super::*;
use crate::source::cache::entry::VERSION;
use crate::source::framed;
use crate::source::record::Recorder;
use crate::source::sealed::{SealedKind, Sealer};

/// The file is refused and removed, by whoever meets it first.
#[track_caller]
fn refused(scene: &Scene, bytes: &[u8], case: &str) -> [String; 2] {
    let dropped = swept(scene, bytes, case);
    [dropped, not_loaded(scene, bytes, case)]
}

#[track_caller]
fn swept(scene: &Scene, bytes: &[u8], case: &str) -> String {
    fs::write(scene.file(1), bytes).unwrap();
    let (_cache, dropped) = Cache::open(&scene.folder(), PLENTY).unwrap();
    let [dropped] = &dropped[..] else {
        panic!("{case}: {dropped:?}");
    };
    assert_eq!(dropped.file, scene.file(1), "{case}");
    assert_eq!(scene.files(), [""; 0], "{case}");
    dropped.to_string()
}

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

/// A file sealed by hand.
fn sealed(version: u32, program: &str, stem: &str) -> Vec<u8> {
    let kind = SealedKind {
        name: b"olmguard catalog",
        version,
    };
    let mut sealer = Sealer::begin(std::io::Cursor::new(Vec::new()), kind).unwrap();
    framed::write(&(program, stem), 1000, &mut Vec::new(), &mut sealer).unwrap();
    let mut recorder = Recorder::new(sealer).unwrap();
    give(&mut recorder, &["a"]);
    recorder.finish().unwrap().finish().unwrap().into_inner()
}

const PROGRAM: &str = env!("CARGO_PKG_VERSION");

#[test]
fn every_byte_counts() {
    let scene = Scene::new();
    let whole = whole(&scene);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        not_loaded(&scene, &bytes, &format!("byte {at}"));
    }
}

#[test]
fn a_file_that_ends_early_is_refused_at_every_length() {
    let scene = Scene::new();
    let whole = whole(&scene);
    for length in 0..whole.len() {
        refused(&scene, &whole[..length], &format!("length {length}"));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let scene = Scene::new();
    let whole = whole(&scene);
    let stem = digest(1).replace(':', "-");
    let other = digest(2).replace(':', "-");
    let here = scene.file(1).display().to_string();
    let longer = [&whole[..], b"x"].concat();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let held = whole.len() - 60;
    for (bytes, why) in [
        (
            vec![],
            "it does not begin with \"olmguard catalog\": not such a file, or one that was not \
             finished"
                .to_owned(),
        ),
        (
            longer,
            format!("it holds {} bytes: expected {held}", held + 1),
        ),
        (
            sealed(7, PROGRAM, &stem),
            format!("its version is 7: expected {VERSION}, the one that this olmguard writes"),
        ),
        (
            sealed(VERSION, "0.0.0", &stem),
            format!("olmguard \"0.0.0\" made it, and this is {PROGRAM}"),
        ),
        (
            sealed(VERSION, PROGRAM, &other),
            format!("it holds the content of {other:?}"),
        ),
    ] {
        let [dropped, error] = refused(&scene, &bytes, &why);
        assert_eq!(dropped, format!("{here}: removed: {why}"));
        assert_eq!(error, format!("{dropped}, and has to be fetched again"));
    }
    let last = flipped(whole.len() - 1);
    let why = "damaged: its checksum is not that of what it holds";
    let error = not_loaded(&scene, &last, why);
    assert_eq!(
        error,
        format!("{here}: removed: {why}, and has to be fetched again")
    );
    fs::write(scene.file(1), sealed(VERSION, PROGRAM, &stem)).unwrap();
    assert_eq!(load(&scene.open(PLENTY), 1).unwrap().unwrap(), ["a"]);
}

/// A start does not read hundreds of MiB that a load reads anyway.
#[test]
fn what_a_file_holds_is_checked_when_it_is_loaded() {
    let scene = Scene::new();
    let mut bytes = whole(&scene);
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(scene.file(1), bytes).unwrap();
    let cache = scene.open(PLENTY);
    assert_eq!(scene.files(), [file(1)]);
    let error = load(&cache, 1).unwrap_err();
    assert!(matches!(error, CacheError::Damaged(_)), "{error:?}");
    assert_eq!(scene.files(), [""; 0]);
}

/// Its seal is right, so only a load can tell.
#[test]
fn a_record_that_cannot_be_replayed_is_refused() {
    let scene = Scene::new();
    let cache = scene.open(PLENTY);
    let kind = SealedKind {
        name: b"olmguard catalog",
        version: VERSION,
    };
    let stem = digest(1).replace(':', "-");
    let mut sealer = Sealer::begin(std::io::Cursor::new(Vec::new()), kind).unwrap();
    framed::write(&(PROGRAM, stem), 1000, &mut Vec::new(), &mut sealer).unwrap();
    let bytes = sealer.finish().unwrap().into_inner();
    fs::write(scene.file(1), bytes).unwrap();
    let error = load(&cache, 1).unwrap_err();
    assert!(
        matches!(
            &error,
            CacheError::Damaged(DroppedFile {
                reason: Reason::Record(_),
                ..
            })
        ),
        "{error:?}"
    );
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
    let why = "removed: it was not written to its end";
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
                reason: Reason::NotAFile,
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
        "a.catalog",
        "a.partial",
        "sha256-1a2b.0.partial",
        "sha256-1a2b.catalog",
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
