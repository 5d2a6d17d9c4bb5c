//! Files that are not what they were.

use std::os::unix::fs::symlink;

use super::*;
use crate::source::frame;

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

/// Text in a frame.
fn framed(text: &str) -> Vec<u8> {
    let mut frame = frame::compress(Vec::new()).unwrap();
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

/// A start does not read hundreds of MiB that a load reads anyway.
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
