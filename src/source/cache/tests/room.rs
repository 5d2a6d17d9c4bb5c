//! How much a cache takes.

use super::*;

/// How large a small file is.
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

/// Two that are being written take no more than all that are complete.
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
