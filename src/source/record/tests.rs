use std::borrow::Cow;
use std::io;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use olmguard_catalog::blob::{
    Bundle, Channel, DependencyKind, Deprecation, Entry, Fault, JsonKind, Package, PackageProperty,
    Position, ReleaseField,
};

/// Blobs to record.
#[derive(Debug)]
struct Blobs(Vec<([String; 3], Result<Content<'static>, BlobFault>)>);

impl Blobs {
    fn give(&self, sink: &mut dyn Sink) {
        for ([package, schema, name], content) in &self.0 {
            let key = Key {
                package,
                schema,
                name,
            };
            sink.blob(key, content.clone());
        }
    }

    fn seen(&self) -> Seen {
        let mut seen = Seen::default();
        self.give(&mut seen);
        seen
    }
}

/// What a sink was given, as text.
#[derive(Debug, Default, PartialEq)]
struct Seen(Vec<String>);

impl Sink for Seen {
    fn blob(&mut self, key: Key<'_>, content: Result<Content<'_>, BlobFault>) {
        self.0.push(format!("{key:?} {content:?}"));
    }
}

fn record(blobs: &Blobs) -> Vec<u8> {
    let mut recorder = Recorder::new(Vec::new()).unwrap();
    blobs.give(&mut recorder);
    recorder.finish().unwrap()
}

fn replayed(record: &[u8]) -> Result<Seen, RecordError> {
    let mut seen = Seen::default();
    replay(record, &mut seen).map(|()| seen)
}

fn text() -> impl Strategy<Value = Cow<'static, str>> {
    ".{0,12}".prop_map(Cow::Owned)
}

fn entry() -> impl Strategy<Value = Entry<'static>> {
    (text(), text(), vec(text(), 0..3), text()).prop_map(|(name, replaces, skips, skip_range)| {
        Entry {
            name,
            replaces,
            skips,
            skip_range,
        }
    })
}

fn fault() -> impl Strategy<Value = Fault> {
    let path = || ".{0,9}".prop_map(Box::from);
    let kinds = [
        JsonKind::Null,
        JsonKind::Boolean,
        JsonKind::Number,
        JsonKind::String,
        JsonKind::List,
        JsonKind::Object,
    ];
    prop_oneof![
        Just(Fault::MissingSchema),
        (path(), text(), prop::sample::select(kinds.to_vec())).prop_map(
            |(path, expected, found)| Fault::WrongType {
                path,
                expected,
                found
            }
        ),
        (path(), text()).prop_map(|(path, expected)| Fault::Missing { path, expected }),
        path().prop_map(|path| Fault::Base64 { path }),
        (path(), path()).prop_map(|(path, reason)| Fault::ObjectData { path, reason }),
    ]
}

fn package_property() -> impl Strategy<Value = PackageProperty<'static>> {
    let release = prop_oneof![
        Just(ReleaseField::Absent),
        text().prop_map(ReleaseField::Text),
        Just(ReleaseField::NotAString),
    ];
    prop_oneof![
        Just(PackageProperty::Absent),
        fault().prop_map(PackageProperty::Undecodable),
        (text(), release)
            .prop_map(|(version, release)| PackageProperty::Present { version, release }),
    ]
}

fn bundle() -> impl Strategy<Value = Bundle<'static>> {
    let dependency = prop::sample::select(vec![
        DependencyKind::Package,
        DependencyKind::Gvk,
        DependencyKind::Constraint,
    ]);
    (
        text(),
        package_property(),
        option::of(dependency),
        option::of(any::<bool>()),
        text(),
        text(),
    )
        .prop_map(
            |(name, package_property, dependency, all_namespaces, min_kube_version, image)| {
                Bundle {
                    name,
                    image,
                    package_property,
                    dependency,
                    all_namespaces,
                    min_kube_version,
                }
            },
        )
}

fn content() -> impl Strategy<Value = Content<'static>> {
    let channel = (text(), vec(entry(), 0..4));
    let deprecation = (text(), text(), text()).prop_map(|(schema, name, message)| Deprecation {
        schema,
        name,
        message,
    });
    prop_oneof![
        (text(), vec(text(), 0..2), vec(text(), 0..2)).prop_map(
            |(default_channel, guardrails, other_guardrails)| {
                Content::Package(Package {
                    default_channel,
                    guardrails,
                    other_guardrails,
                })
            }
        ),
        text().prop_map(Content::Guardrails),
        channel.prop_map(|(name, entries)| Content::Channel(Channel { name, entries })),
        bundle().prop_map(Content::Bundle),
        vec(deprecation, 0..3).prop_map(Content::Deprecations),
        Just(Content::Other),
    ]
}

fn blob_fault() -> impl Strategy<Value = BlobFault> {
    let name = || ".{0,9}".prop_map(Box::from);
    let position = prop_oneof![
        any::<u64>().prop_map(Position::Byte),
        any::<(u64, u64)>().prop_map(|(line, column)| Position::Line { line, column }),
    ];
    (name(), position, name(), name(), name(), fault()).prop_map(
        |(file, position, package, schema, name, fault)| BlobFault {
            file,
            position,
            package,
            schema,
            name,
            fault,
        },
    )
}

fn blobs() -> impl Strategy<Value = Blobs> {
    let key = prop::array::uniform3(".{0,9}");
    let content = prop_oneof![4 => content().prop_map(Ok), 1 => blob_fault().prop_map(Err)];
    vec((key, content), 0..8).prop_map(Blobs)
}

fn sample() -> Blobs {
    let name = "lantern.v1".into();
    let channel = Channel {
        name: "stable".into(),
        entries: vec![Entry {
            name: "lantern.v2".into(),
            replaces: name,
            skips: vec!["lantern.v0".into()],
            skip_range: "<2.0.0".into(),
        }],
    };
    let keys = ["olm.package", "olm.channel"]
        .map(|schema| ["lantern", schema, "stable"].map(str::to_owned));
    let [package, stable] = keys;
    let about = Package {
        default_channel: "stable".into(),
        guardrails: Vec::new(),
        other_guardrails: Vec::new(),
    };
    Blobs(vec![
        (package, Ok(Content::Package(about))),
        (stable, Ok(Content::Channel(channel))),
    ])
}

proptest! {
    #[test]
    fn what_is_recorded_is_replayed(blobs in blobs()) {
        prop_assert_eq!(replayed(&record(&blobs)).unwrap(), blobs.seen());
    }

    #[test]
    fn the_same_blobs_give_the_same_bytes(blobs in blobs()) {
        prop_assert_eq!(record(&blobs), record(&blobs));
    }

    #[test]
    fn a_changed_byte_is_never_taken_for_what_was_recorded(
        blobs in blobs(), at: prop::sample::Index, by in 1..=u8::MAX,
    ) {
        let mut bytes = record(&blobs);
        let at = at.index(bytes.len());
        bytes[at] ^= by;
        let unharmed = |seen| seen == blobs.seen();
        prop_assert!(replayed(&bytes).map_or(true, unharmed));
    }
}

/// A frame of a window that a replay accepts.
fn frame(pieces: &[u8]) -> Vec<u8> {
    let mut frame = write::Encoder::new(Vec::new(), 1).unwrap();
    frame.window_log(WINDOW_LOG).unwrap();
    frame.write_all(pieces).unwrap();
    frame.finish().unwrap()
}

#[test]
fn a_record_that_ends_early_is_refused_at_every_length() {
    let whole = record(&sample());
    for length in 0..whole.len() {
        let cut = replayed(&whole[..length]);
        assert!(cut.is_err(), "{length} of {}", whole.len());
    }
}

#[test]
fn a_frame_that_lacks_the_end_mark_is_refused() {
    let error = replayed(&frame(&[])).unwrap_err();
    assert!(
        matches!(&error, RecordError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof),
        "{error:?}"
    );
}

#[test]
fn a_frame_of_a_larger_window_is_refused() {
    let large = zstd::encode_all(io::repeat(0).take(4 << 20), 3).unwrap();
    let error = replayed(&large).unwrap_err().to_string();
    assert!(error.contains("too much memory"), "{error}");
}

#[test]
fn nothing_may_follow_the_end() {
    let whole = record(&sample());
    let twice = [&whole[..], &whole[..]].concat();
    assert!(matches!(replayed(&twice), Err(RecordError::Trailing)));
    let pieces = zstd::decode_all(&whole[..]).unwrap();
    let inside = frame(&[&pieces[..], b"x"].concat());
    assert!(matches!(replayed(&inside), Err(RecordError::Trailing)));
}

#[test]
fn records_follow_one_another() {
    let whole = record(&sample());
    let both = [&whole[..], &whole[..]].concat();
    let mut input = &both[..];
    for _ in 0..2 {
        let mut seen = Seen::default();
        replay_next(&mut input, &mut seen).unwrap();
        assert_eq!(seen, sample().seen());
    }
    assert!(input.is_empty());
}

#[test]
fn both_sinks_are_given_everything() {
    let (mut one, mut other) = (Seen::default(), Seen::default());
    sample().give(&mut Both(&mut one, &mut other));
    assert_eq!([one, other], [sample().seen(), sample().seen()]);
}

#[test]
fn a_blob_too_large_to_be_replayed_is_not_recorded() {
    let mut recorder = Recorder::new(Vec::new()).unwrap();
    let name = "a".repeat(BLOB_LIMIT + 1);
    let key = Key {
        package: "p",
        schema: "s",
        name: &name,
    };
    recorder.blob(key, Ok(Content::Other));
    sample().give(&mut recorder);
    let error = recorder.finish().unwrap_err().to_string();
    assert!(
        error.starts_with("blob 1 of the record: a piece of 8388")
            && error.ends_with("at most 8388608"),
        "{error}"
    );
}

#[test]
fn more_than_is_read_is_neither_recorded_nor_replayed() {
    let name = "a".repeat(BLOB_LIMIT - 100);
    let key = Key {
        package: "p",
        schema: "s",
        name: &name,
    };
    let mut recorder = Recorder::new(Vec::new()).unwrap();
    let mut pieces = Vec::new();
    for _ in 0..9 {
        recorder.blob(key, Ok(Content::Other));
        let blob = RecordedBlob {
            key,
            content: Ok(Content::Other),
        };
        framed::write(&blob, BLOB_LIMIT, &mut Vec::new(), &mut pieces).unwrap();
    }
    framed::write_end(&mut pieces).unwrap();
    let expected = "larger than 67108864 bytes, decompressed: expected the record of a catalog";
    assert_eq!(recorder.finish().unwrap_err().to_string(), expected);
    let error = replayed(&frame(&pieces)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_failed_write_is_told_at_the_end() {
    #[derive(Debug)]
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut recorder = Recorder::new(Full).unwrap();
    sample().give(&mut recorder);
    assert_eq!(
        recorder.finish().unwrap_err().kind(),
        io::ErrorKind::StorageFull
    );
}

/// Files written by an earlier program are read by a later one, or refused by their version. Who
/// changes these bytes changes [`VERSION`] too.
#[test]
fn the_form_of_version_4() {
    let pieces = zstd::decode_all(&record(&sample())[..]).unwrap();
    assert_eq!(VERSION, 4);
    assert_eq!(pieces.escape_ascii().to_string(), FORM);
}

const FORM: &str = r"&\x00\x00\x00\x07lantern\x0bolm.package\x06stable\x00\x00\x06stable\x00\x00N\x00\x00\x00\x07lantern\x0bolm.channel\x06stable\x00\x01\x06stable\x01\nlantern.v2\nlantern.v1\x01\nlantern.v0\x06<2.0.0\x00\x00\x00\x00";
