use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;

use super::*;
use crate::source::record::{Recorder, VERSION};
use olmguard_catalog::blob::{self, Key, Sink};
use olmguard_catalog::olm::Gates;
use olmguard_engine::snapshot::{Age, Availability, Currency, Labels, OnOldCatalog, Serving};

fn record(packages: &[&str]) -> Vec<u8> {
    let mut recorder = Recorder::new(Vec::new()).unwrap();
    for package in packages {
        let key = Key {
            package,
            schema: "olm.package",
            name: package,
        };
        recorder.blob(key, Ok(blob::Content::Package(blob::Package::default())));
    }
    recorder.finish().unwrap()
}

/// One that is held, one that is missing, and one that cannot be read.
fn catalogs() -> Vec<(CatalogState, Option<Vec<u8>>)> {
    let labels = BTreeMap::from([("team".to_owned(), "a".to_owned())]);
    let hub = CatalogState {
        name: "hub".to_owned(),
        labels: Labels::with_name("hub", labels),
        priority: -7,
        availability: Availability::Unavailable,
        serving: Serving::KnownNot,
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
        (hub, Some(record(&["lantern", "buoy"]))),
        (CatalogState::named("new", Content::Missing), None),
        (unreadable, None),
    ]
}

fn facts() -> ArchiveFacts {
    let release = "1.11".parse().unwrap();
    let gates = Gates::parse(["BundleReleaseSupport=true"], release).unwrap();
    let olm = OlmFacts::of(release, gates);
    ArchiveFacts::new("2026-11-21T14:30:00Z".to_owned(), Some(olm))
}

fn archive() -> Vec<u8> {
    let catalogs = catalogs();
    let catalogs = catalogs
        .iter()
        .map(|(state, record)| (state, record.as_deref()));
    let to = Cursor::new(Vec::new());
    write(to, &facts(), catalogs).unwrap().into_inner()
}

/// Everything in an archive of these bytes, the error without the file's name.
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

/// Whatever follows the right first bytes, sealed.
fn sealed(held: &[&[u8]]) -> Vec<u8> {
    let mut sealer = Sealer::begin(Cursor::new(Vec::new()), KIND).unwrap();
    framed::write(&facts(), FACTS_LIMIT, &mut Vec::new(), &mut sealer).unwrap();
    sealer.write_all(&held.concat()).unwrap();
    sealer.finish().unwrap().into_inner()
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

#[test]
fn the_same_facts_give_the_same_bytes() {
    assert!(archive() == archive());
}

#[test]
fn every_byte_counts() {
    let whole = archive();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        assert!(read(&bytes).is_err(), "byte {at}");
        assert!(read(&whole[..at]).is_err(), "length {at}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let whole = archive();
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    let length = whole.len() - 60;
    let end: &[u8] = &[0; 4];
    let state = CatalogState::named("hub", Content::Missing);
    let mut hub = Vec::new();
    let recorded = CatalogFacts::of(&state, true);
    framed::write(&recorded, FACTS_LIMIT, &mut Vec::new(), &mut hub).unwrap();
    for (bytes, why) in [
        (
            b"apiVersion: v1".to_vec(),
            "it does not begin with \"olmguard archive\": not such a file, or one that was not \
             finished"
                .to_owned(),
        ),
        (
            with(16, 9),
            format!("its version is 9: expected {VERSION}, the one that this olmguard writes"),
        ),
        (
            whole[..whole.len() - 1].to_vec(),
            format!("it holds {} bytes: expected {length}", length - 1),
        ),
        (
            with(whole.len() - 1, 1),
            "damaged: its checksum is not that of what it holds".to_owned(),
        ),
        (
            sealed(&[end, b"x"]),
            "more bytes after the last catalog".to_owned(),
        ),
        (
            sealed(&[]),
            "not the facts of a cluster and its catalogs: failed to fill whole buffer".to_owned(),
        ),
        (
            sealed(&[&[3, 0, 0, 0], b"abc", end]),
            "not the facts of a cluster and its catalogs: a piece of 3 bytes is not of the form \
             expected"
                .to_owned(),
        ),
        (
            sealed(&[&hub, end]),
            "catalog \"hub\": Unknown frame descriptor".to_owned(),
        ),
    ] {
        assert_eq!(read(&bytes).unwrap_err(), why);
    }
    assert!(read(&sealed(&[&hub, &record(&["p"]), end])).is_ok());
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
