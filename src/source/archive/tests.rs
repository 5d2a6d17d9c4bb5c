use std::collections::BTreeMap;
use std::fs;

use serde_json::json;

use super::super::decompress::compress;
use super::*;
use olmguard_catalog::olm::Gates;
use olmguard_engine::snapshot::{Age, Availability, Currency, Labels, OnOldCatalog, ServingState};

/// Returns a catalog of these packages, each with a bundle.
fn fetched(packages: &[&str]) -> FetchedContent {
    let package = |name: &&str| {
        format!(
            "{{\"schema\":\"olm.package\",\"name\":\"{name}\"}}\n\
             {{\"schema\":\"olm.bundle\",\"package\":\"{name}\",\"name\":\"b\"}}\n"
        )
    };
    let text: String = packages.iter().map(package).collect();
    FetchedContent::read_from("hub", &mut text.as_bytes(), &Progress::default()).unwrap()
}

/// Returns one catalog with content, one without, and one that cannot be read.
fn catalogs() -> Vec<(CatalogState, Option<FetchedContent>)> {
    let labels = BTreeMap::from([("team".to_owned(), "a".to_owned())]);
    let hub = CatalogState {
        name: "hub".to_owned(),
        labels: Labels::with_name("hub", labels),
        priority: -7,
        availability: Availability::Unavailable,
        serving: ServingState::KnownNot,
        image_ref: Some("example.com/hub@sha256:1a2b".to_owned()),
        last_unpacked: Some("2026-08-21T10:03:00Z".to_owned()),
        currency: Currency::Superseded,
        age: Age::Old(OnOldCatalog::Undecided),
        content: Content::Missing,
    };
    let unreadable = CatalogState {
        labels: Labels::Unknown,
        ..CatalogState::named("far", Content::Unreadable("no route".to_owned()))
    };
    vec![
        (hub, Some(fetched(&["lantern", "buoy"]))),
        (CatalogState::named("new", Content::Missing), None),
        (unreadable, None),
    ]
}

fn facts() -> ArchiveFacts {
    let release = "1.11".parse().unwrap();
    let gates = Gates::parse(["BundleReleaseSupport=true"], release).unwrap();
    let olm = OlmFacts::of(release, gates);
    let policy = json!({"kind": "UpgradePolicy", "metadata": {"name": "patches"}});
    let policies = SavedPolicies::Objects(vec![policy]);
    let extension = json!({"kind": "ClusterExtension", "metadata": {"name": "lantern"}});
    ArchiveFacts {
        extensions: SavedExtensions::of(vec![extension]),
        ..ArchiveFacts::new("2026-11-21T14:30:00Z".to_owned(), Some(olm), policies)
    }
}

fn archive() -> Vec<u8> {
    let catalogs = catalogs();
    let catalogs = catalogs.iter();
    let catalogs = catalogs.map(|(state, content)| (state, content.as_ref()));
    write(Vec::new(), &facts(), catalogs).unwrap()
}

/// Reads an archive of these bytes. An error is without the name of the file.
fn read(bytes: &[u8]) -> Result<(ArchiveFacts, Vec<CatalogState>), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    fs::write(&path, bytes).unwrap();
    let states = Archive::open(&path).and_then(|archive| {
        let facts = archive.facts().clone();
        Ok((facts, archive.load(&Rules::default(), &Pool::unbounded())?))
    });
    states.map_err(|error| {
        let text = error.to_string();
        let start = format!("{}: ", path.display());
        let end = "; save it again with olmguard snapshot save";
        let why = text
            .strip_prefix(&start)
            .and_then(|why| why.strip_suffix(end));
        why.unwrap_or_else(|| panic!("{text}")).to_owned()
    })
}

/// Returns an archive of these members, followed by these bytes.
fn packed(members: &[(&str, &str)], after: &[u8]) -> Vec<u8> {
    let mut tar = Builder::new(compress(Vec::new()).unwrap());
    for (name, text) in members {
        append(&mut tar, name, text.len() as u64, text.as_bytes()).unwrap();
    }
    let mut frame = tar.into_inner().unwrap();
    frame.write_all(after).unwrap();
    frame.finish().unwrap()
}

/// Returns the facts of one catalog with this content.
fn one(content: &str) -> String {
    format!(
        r#"{{"schema":"olmguard.snapshot/v1","saved":"","program":"","olm":null,"catalogs":[
        {{"name":"hub","labels":{{}},"priority":0,"availability":"available","serving":"presumed",
        "imageRef":null,"lastUnpacked":null,"currency":"current","content":{content}}}]}}"#
    )
}

#[test]
fn what_was_written_is_read() {
    let (found, states) = read(&archive()).unwrap();
    assert_eq!(found, facts());
    let written = catalogs();
    for (state, (expected, _)) in states.iter().zip(&written) {
        let text = |state: &CatalogState| {
            let (age, content) = (Age::Allowed, Content::Missing);
            let state = CatalogState {
                age,
                content,
                ..state.clone()
            };
            format!("{state:?}")
        };
        assert_eq!(text(state), text(expected));
    }
    let [hub, new, far] = &states[..] else {
        panic!("{states:?}");
    };
    let Content::Loaded(catalog) = &hub.content else {
        panic!("{hub:?}");
    };
    assert_eq!(
        catalog.package_names().collect::<Vec<_>>(),
        ["buoy", "lantern"]
    );
    assert_eq!(hub.age, Age::Allowed, "it is a matter of who asks");
    assert!(matches!(new.content, Content::Missing));
    assert!(matches!(&far.content, Content::Unreadable(why) if why == "no route"));
}

#[test]
fn the_olm_is_known_by_its_names() {
    for (release, gates) in [
        ("1.11", &[][..]),
        ("1.9", &["BundleReleaseSupport=true"]),
        ("1.0", &["ForceSemverUpgradeConstraints=true"]),
        ("openshift-4.18", &[]),
    ] {
        let release = release.parse().unwrap();
        let gates = Gates::parse(gates.iter().copied(), release).unwrap();
        assert_eq!(OlmFacts::of(release, gates).read(), Ok((release, gates)));
    }
    let olm = |release: &str, gate: &str| OlmFacts {
        release: release.to_owned(),
        gates: vec![gate.to_owned()],
    };
    assert!(matches!(olm("9.0", "").read(), Err(UnknownOlm::Release(_))));
    assert!(matches!(
        olm("1.11", "Nope").read(),
        Err(UnknownOlm::Gate(_))
    ));
}

/// A program of an earlier version wrote neither policies nor extensions.
#[test]
fn a_snapshot_without_extensions_says_nothing_of_them() {
    let missing = one(r#""missing""#);
    let (facts, _) = read(&packed(&[("snapshot.json", &missing)], b"")).unwrap();
    assert_eq!(facts.extensions, SavedExtensions::NotSaved);
}

#[test]
fn extensions_have_a_limit() {
    let large = json!({"metadata": {"name": "x".repeat(1 << 20)}});
    let few = SavedExtensions::of(vec![large.clone(); 3]);
    assert!(matches!(few, SavedExtensions::Objects(objects) if objects.len() == 3));
    let SavedExtensions::Unfetched(why) = SavedExtensions::of(vec![large; 4]) else {
        panic!("too many");
    };
    assert_eq!(
        why,
        "the extensions have 4194400 bytes: expected at most 4194304 in a snapshot"
    );
}

/// Each of these archives has only a few KiB.
#[test]
fn facts_have_a_limit_before_they_are_read() {
    let objects = |item: &str, count: usize| {
        let items = vec![item; count].join(",");
        one(r#""missing""#).replace(
            "\"catalogs\"",
            &format!("\"policies\":{{\"objects\":[{items}]}},\"catalogs\""),
        )
    };
    let why = |facts: &str| read(&packed(&[("snapshot.json", facts)], b"")).unwrap_err();
    for item in ["{}", "0", "[]", "\"\"", r#"{"a":{}}"#, "[[0]]"] {
        let why = why(&objects(item, 400_000));
        assert!(why.starts_with("snapshot.json:1:"), "{why}");
        assert!(why.ends_with(": more than 400000 values"), "{why}");
    }
    let large = objects(&format!("\"{}\"", "x".repeat(1 << 20)), 17);
    assert_eq!(why(&large), "snapshot.json is larger than 16 MiB");
    assert!(read(&packed(&[("snapshot.json", &objects("0", 399_000))], b"")).is_ok());
}

#[test]
fn what_no_one_could_read_is_not_written() {
    let policies = SavedPolicies::Objects(vec![json!({}); 400_000]);
    let facts = ArchiveFacts::new(String::new(), None, policies);
    let error = write(Vec::new(), &facts, []).unwrap_err().to_string();
    assert!(error.ends_with(": more than 400000 values"), "{error}");
}

#[test]
fn the_same_facts_give_the_same_bytes() {
    assert!(archive() == archive());
}

#[test]
fn a_cut_archive_is_refused_at_every_length() {
    let whole = archive();
    for length in 0..whole.len() {
        let error = read(&whole[..length]).unwrap_err();
        // Fewer bytes than the magic number of zstd could be of any file.
        let is_cut = error.contains("cannot be read: ") || error.contains(": expected ");
        assert!(
            is_cut && (length < 4 || !error.contains("not a snapshot")),
            "{length}: {error}"
        );
    }
}

#[test]
fn a_changed_byte_is_refused_or_changes_nothing() {
    let whole = archive();
    let expected = format!("{:?}", read(&whole).unwrap());
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        if let Ok(found) = read(&bytes) {
            assert_eq!(format!("{found:?}"), expected, "{at}");
        }
    }
}

#[test]
fn an_archive_with_a_larger_window_is_told_from_other_files() {
    let tar = zstd::decode_all(&*archive()).unwrap();
    let compressed = |window| {
        let mut frame = Encoder::new(Vec::new(), 3).unwrap();
        frame.window_log(window).unwrap();
        frame.write_all(&tar).unwrap();
        frame.finish().unwrap()
    };
    assert!(read(&compressed(WINDOW_LOG)).is_ok());
    let why = "another program compressed it with a larger window: expected the file as it was written, or compressed \
               with zstd --zstd=wlog=20";
    assert_eq!(read(&compressed(WINDOW_LOG + 1)).unwrap_err(), why);
}

#[test]
fn what_is_wrong_is_said() {
    const HUB: &str = "catalogs/hub.jsonl";
    let held = one(r#"{"file":"catalogs/hub.jsonl"}"#);
    let missing = one(r#""missing""#);
    let form = "not a snapshot: expected a tar archive, compressed with zstd, that starts with \
                snapshot.json";
    let longer = [&archive()[..], b"x"].concat();
    for (bytes, why) in [
        (b"apiVersion: v1".to_vec(), form),
        (b"olmguard archive".to_vec(), form),
        (packed(&[], b""), form),
        (packed(&[(HUB, "")], b""), form),
        (longer, "cannot be read: more bytes after its end"),
        (
            packed(&[("snapshot.json", "{}")], b""),
            "snapshot.json: its schema is \"\": expected \"olmguard.snapshot/v1\", which this olmguard \
             writes",
        ),
        (
            packed(
                &[("snapshot.json", r#"{"schema":"olmguard.snapshot/v1"}"#)],
                b"",
            ),
            "snapshot.json:1:33: missing field `catalogs`",
        ),
        (
            packed(&[("snapshot.json", &held)], b""),
            "the end: expected catalogs/hub.jsonl",
        ),
        (
            packed(
                &[("snapshot.json", &held), ("catalogs/other.jsonl", "")],
                b"",
            ),
            "catalogs/other.jsonl: expected catalogs/hub.jsonl",
        ),
        (
            packed(&[("snapshot.json", &missing), (HUB, "")], b""),
            "catalogs/hub.jsonl: expected the end",
        ),
        (
            packed(&[("snapshot.json", &missing)], &vec![0; 2 << 20]),
            "more bytes: expected the end",
        ),
        (
            packed(&[("snapshot.json", &held), (HUB, "{\"schema\":")], b""),
            "catalog hub: byte 10: incomplete JSON: the catalog ends within a value",
        ),
    ] {
        assert_eq!(read(&bytes).unwrap_err(), why);
    }
    assert!(read(&packed(&[("snapshot.json", &missing)], b"")).is_ok());
    assert!(read(&packed(&[("snapshot.json", &held), (HUB, "")], b"")).is_ok());
}

#[test]
fn each_catalog_has_a_file_of_its_own() {
    let long = "a".repeat(81);
    for (name, expected) in [
        ("hub", "catalogs/hub.jsonl"),
        ("snapshot.json", "catalogs/snapshot.json.jsonl"),
        (&long[1..], &format!("catalogs/{}.jsonl", "a".repeat(80))),
        (&long, "catalogs/by-number/7.jsonl"),
        ("../up", "catalogs/by-number/7.jsonl"),
    ] {
        assert_eq!(facts::member(7, name), expected);
    }
}

/// The names are ones that could not be unpacked safely as paths.
#[test]
fn a_catalog_of_any_name_is_read() {
    for name in ["../up", &"a".repeat(253)] {
        let state = CatalogState::named(name, Content::Missing);
        let content = fetched(&["p"]);
        let bytes = write(Vec::new(), &facts(), [(&state, Some(&content))]).unwrap();
        let (_, states) = read(&bytes).unwrap();
        assert!(matches!(states[0].content, Content::Loaded(_)), "{name}");
    }
}

#[test]
fn a_file_that_is_not_there_says_so() {
    let error = Archive::open(Path::new("no/such/file"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("no/such/file: cannot be read: No such file"),
        "{error}"
    );
}
