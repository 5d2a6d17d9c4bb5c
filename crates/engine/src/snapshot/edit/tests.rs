use serde_json::{Value, json};

use super::*;
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::olm::Rules;

const REF: &str = "example.com/hub:v1";
const ONE: &str = "sha256:11111111111111111111111111111111";
const TWO: &str = "sha256:22222222222222222222222222222222";

fn object(image: &str, more: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": "hub", "labels": {"tier": "a"}},
        "spec": {"source": {"type": "Image", "image": {"ref": image}}, "priority": 1},
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    object
}

fn loaded(name: &str, digest: &str) -> CatalogState {
    let empty = CatalogBuilder::new(&Rules::default()).finish();
    let content = Content::Loaded(Arc::new(empty.expect("no bound")));
    CatalogState {
        image_ref: Some(format!("example.com/{name}@{digest}")),
        ..CatalogState::named(name, content)
    }
}

fn now() -> Snapshot {
    let catalogs = [loaded("hub", ONE), loaded("mirror", TWO)];
    Snapshot::new(Rules::default(), catalogs)
}

fn edit(old: Option<&Value>, new: Option<&Value>) -> CatalogEdit {
    CatalogEdit::read(old, new).expect("objects of this kind")
}

fn update(new: &Value) -> CatalogEdit {
    edit(Some(&object(REF, &json!({}))), Some(new))
}

fn content(catalog: &CatalogState) -> Option<&Arc<Catalog>> {
    match &catalog.content {
        Content::Loaded(content) => Some(content),
        _ => None,
    }
}

#[track_caller]
fn after(edit: &CatalogEdit, expected: &EditedContent) -> Option<CatalogState> {
    let edited = edit.after(&now());
    assert_eq!(&edited.content, expected, "{edited:?}");
    edited.snapshot?.catalog("hub").cloned()
}

#[test]
fn labels_priority_and_availability_change_with_the_same_content() {
    let now = now();
    for spec in [
        json!({"priority": 7}),
        json!({"availabilityMode": "Unavailable"}),
        json!({"priority": 7, "availabilityMode": "Unavailable"}),
    ] {
        let new = object(REF, &spec);
        let edited = update(&new).after(&now);
        assert_eq!(edited.content, EditedContent::Same);
        let snapshot = edited.snapshot.expect("all is known");
        let hub = snapshot.catalog("hub").expect("it is there");
        let read = CatalogState::read(&new).expect("a catalog");
        assert_eq!(
            (&hub.labels, hub.priority, hub.availability),
            (&read.labels, read.priority, read.availability)
        );
        let before = now.catalog("hub").and_then(content).expect("it is loaded");
        assert!(content(hub).is_some_and(|after| Arc::ptr_eq(after, before)));
        assert_eq!(snapshot.catalogs().len(), 2);
    }
}

#[test]
fn what_a_watch_has_missed_is_not_of_the_edit() {
    let now = now();
    let new = object(REF, &json!({"priority": 7}));
    let missed = update(&new).before(&now).expect("its labels are missed");
    let hub = missed.catalog("hub").expect("it is there");
    assert_eq!(hub.priority, 1);
    assert!(content(hub).is_some());
    assert!(update(&new).before(&missed).is_none());
    assert!(edit(None, Some(&new)).before(&now).is_none());
}

#[test]
fn the_content_of_another_image_is_found_by_its_digest_alone() {
    let now = now();
    let pinned = object(&format!("example.com/other@{TWO}"), &json!({"priority": 3}));
    let edited = update(&pinned).after(&now);
    assert_eq!(edited.content, EditedContent::LoadedAs("mirror".to_owned()));
    let snapshot = edited.snapshot.expect("all is known");
    let [hub, mirror] = ["hub", "mirror"].map(|name| snapshot.catalog(name).expect("it is there"));
    assert_eq!((hub.digest(), hub.priority), (Some(TWO), 3));
    let (Some(hub), Some(mirror)) = (content(hub), content(mirror)) else {
        panic!("{snapshot:?}")
    };
    assert!(Arc::ptr_eq(hub, mirror));
    let tag = object("example.com/hub:v2", &json!({}));
    assert!(after(&update(&tag), &EditedContent::Unknown).is_none());
}

#[test]
fn what_is_known_of_an_edit_with_an_unknown_image_is_answered() {
    let both = object("example.com/hub:v2", &json!({"priority": 9}));
    let hub = after(&update(&both), &EditedContent::Unknown).expect("the priority is known");
    assert_eq!((hub.priority, hub.digest()), (9, Some(ONE)));
}

#[test]
fn a_catalog_that_becomes_available_has_no_content_yet() {
    let away = |image: &str| object(image, &json!({"availabilityMode": "Unavailable"}));
    let back = edit(Some(&away(REF)), Some(&object(REF, &json!({}))));
    assert!(after(&back, &EditedContent::Unknown).is_none());
    let image = format!("example.com/hub@{TWO}");
    let back = edit(Some(&away(&image)), Some(&object(&image, &json!({}))));
    let hub = after(&back, &EditedContent::LoadedAs("mirror".to_owned()));
    assert_eq!(hub.map(|hub| hub.serving), Some(ServingState::Presumed));
}

#[test]
fn creations_and_deletions_are_edits() {
    let new = object(&format!("example.com/hub@{TWO}"), &json!({}));
    let created = after(
        &edit(None, Some(&new)),
        &EditedContent::LoadedAs("mirror".to_owned()),
    );
    assert!(created.is_some());
    let tag = object(REF, &json!({}));
    assert!(after(&edit(None, Some(&tag)), &EditedContent::Unknown).is_none());
    let deleted = edit(Some(&tag), None).after(&now());
    assert_eq!(deleted.content, EditedContent::Same);
    let left = deleted.snapshot.expect("all is known");
    let names: Vec<_> = left.catalogs().iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["mirror"]);
    let unknown = edit(Some(&tag), None).after(&Snapshot::default());
    assert_eq!(unknown.content, EditedContent::Unknown);
}

#[test]
fn a_catalog_can_be_taken_away_and_is_judged_by_known_content() {
    let same = object(REF, &json!({}));
    let away = object(REF, &json!({"availabilityMode": "Unavailable"}));
    for (old, new, expected) in [
        (Some(&same), None, false),
        (Some(&same), Some(&away), false),
        (Some(&away), Some(&same), true),
        (None, Some(&same), true),
    ] {
        let edit = edit(old, new);
        let can_be = edit.can_be_denied(&EditedContent::Same);
        assert_eq!(can_be, expected, "{old:?} {new:?}");
        assert!(!edit.can_be_denied(&EditedContent::Unknown));
    }
}

#[test]
fn an_edit_without_an_effect_is_idle() {
    let same = object(REF, &json!({}));
    let polled = object(
        REF,
        &json!({"source": {"image": {"ref": REF, "pollIntervalMinutes": 5}}}),
    );
    let away = object(REF, &json!({"availabilityMode": "Unavailable"}));
    for (old, new, expected) in [
        (Some(&same), Some(&same), true),
        (Some(&same), Some(&polled), true),
        (None, Some(&away), true),
        (Some(&away), None, true),
        (Some(&same), Some(&away), false),
        (None, Some(&same), false),
        (Some(&same), None, false),
    ] {
        assert_eq!(edit(old, new).is_idle(), expected, "{old:?} {new:?}");
    }
    let mut labelled = same.clone();
    labelled["metadata"]["labels"]["tier"] = json!("b");
    assert!(!update(&labelled).is_idle());
}

#[test]
fn an_object_that_cannot_be_read_names_the_field() {
    let bad = object(REF, &json!({"priority": "high"}));
    let error = CatalogEdit::read(None, Some(&bad)).expect_err("no number");
    assert_eq!(
        error.to_string(),
        "ClusterCatalog \"hub\": spec.priority is \"high\": expected a whole number of 32 bits"
    );
    assert!(CatalogEdit::read(None, None).is_err());
}
