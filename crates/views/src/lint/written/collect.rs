//! Collects the blobs of the reader into a catalog as written.

use std::collections::BTreeMap;

use super::locate::{Locator, narrow};
use super::{
    Bundle, Carrier, Channel, Deprecation, Deprecations, Entry, Guardrails, ImageAt, LoadFault,
    LoadFaultKind, OtherBlob, Package, PackageProperty, PropertyFault, ReadBlob, Spot, Text,
    UnknownKey, UnreadBlob, WrittenCatalog, located,
};
use olmguard_catalog::blob::{Fault, Position};
use olmguard_catalog::fbc::json::{Cursor, CursorResult};
use olmguard_catalog::fbc::raw::{self, BlobLabel, PropertyValue, RawContent, RawObject, Value};
use olmguard_catalog::fbc::{
    BlobPlace, FbcError, FbcErrorKind, Intake, NotAFile, Places, TextOrigin,
};
use olmguard_catalog::guardrail;
use olmguard_catalog::yaml_scalar::unquoted;

/// Collects the blobs of one catalog.
#[derive(Debug, Default)]
pub struct Collector {
    written: WrittenCatalog,
    files: BTreeMap<Box<str>, u32>,
}

impl Collector {
    /// Creates an empty catalog of this name.
    pub fn new(name: &str) -> Self {
        let mut collector = Self::default();
        collector.written.name = name.into();
        collector
    }

    /// Starts the guardrails of an administrator, which replace the guardrails of the author. Lint then only reports
    /// on these.
    pub fn begin_imposed(&mut self) {
        self.written.guardrails.clear();
        // A file with a name that was used before is another file.
        self.files.clear();
        self.written.imposed_from = u32::try_from(self.written.files.len()).ok();
    }

    /// Returns the collected catalog.
    pub fn finish(self) -> WrittenCatalog {
        self.written
    }

    fn file(&mut self, name: &str) -> u32 {
        if let Some(file) = self.files.get(name) {
            return *file;
        }
        let file = u32::try_from(self.written.files.len()).unwrap_or(u32::MAX);
        self.written.files.push(name.into());
        self.files.insert(name.into(), file);
        file
    }

    fn note(&mut self, spot: Spot, package: &str, what: LoadFaultKind) {
        self.written.faults.push(LoadFault {
            spot,
            package: package.into(),
            what,
        });
    }
}

impl Intake for Collector {
    type Blob<'a> = ReadBlob<'a>;

    const PLACES: Places = Places::Wanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<ReadBlob<'a>> {
        raw::read(cursor).map(ReadBlob::of)
    }

    fn take(&mut self, ReadBlob { blob, images }: ReadBlob<'_>, place: &BlobPlace<'_>) {
        let file = self.file(place.file);
        let mut locator = Locator::of(place, file);
        let begin = match place.position {
            Position::Byte(_) => locator.find(blob.at),
            Position::Line { line, column } => locator.spot(narrow(line), narrow(column)),
        };
        for tagged in place.marks.iter().flat_map(|marks| marks.tags()) {
            let line = narrow(place.origin.lines).saturating_add(tagged.line);
            let (tag, value) = (tagged.tag.clone(), tagged.value.clone());
            let spot = locator.spot(line, tagged.column);
            let what = LoadFaultKind::Tag { tag, value };
            self.note(spot, package_of(&blob.value), what);
        }
        match blob.value {
            Value::Other(found) => {
                // A document can be a comment only, so report the start of the document.
                let first = narrow(place.origin.lines).saturating_add(1);
                let spot = match place.marks {
                    Some(_) => locator.spot(first, 1),
                    None => begin,
                };
                self.note(spot, "", LoadFaultKind::NotAnObject(found));
            }
            Value::Object(object) => self.object(*object, images, begin, &mut locator),
        }
    }

    fn fault(
        &mut self,
        file: &str,
        fault: FbcError,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), FbcError> {
        let file = self.file(file);
        let mut locator = Locator::new(text, origin, file);
        let spot = match fault.position {
            Position::Byte(at) => {
                let at = usize::try_from(at.saturating_sub(origin.bytes)).unwrap_or_default();
                locator.find(at.min(text.len()))
            }
            Position::Line { line, column } => locator.spot(narrow(line), narrow(column)),
        };
        let hint = match &fault.malformed {
            FbcErrorKind::Yaml { .. } => unquoted(text),
            _ => None,
        };
        let malformed = fault.malformed;
        self.note(spot, "", LoadFaultKind::Syntax { malformed, hint });
        Ok(())
    }

    fn not_a_file(&mut self, path: &str, fault: NotAFile) -> Result<(), NotAFile> {
        let spot = Spot {
            file: self.file(path),
            line: 1,
            column: 1,
        };
        self.note(spot, "", LoadFaultKind::NotAFile(fault));
        Ok(())
    }
}

impl Collector {
    fn object(
        &mut self,
        mut object: RawObject<'_>,
        images: Vec<ImageAt>,
        begin: Spot,
        locator: &mut Locator<'_>,
    ) {
        let package = owner(&object.schema, &object.package, &object.name);
        if !self.labels(&object, package, begin, locator) {
            self.unread(&object, begin);
            return;
        }
        if let Some(unfilable) = object.unfilable.take() {
            self.note(begin, package, LoadFaultKind::Unfilable(unfilable));
        }
        self.unknown_keys(&object, package, locator);
        if let Some(fault) = object.fault.take() {
            self.unread(&object, begin);
            let spot = part_of(&object.content, &fault).map_or(begin, |at| locator.find(at));
            let schema = object.schema.text().into();
            self.note(spot, package, LoadFaultKind::WrongType { schema, fault });
            return;
        }
        self.content(object, images, begin, locator);
    }

    /// Keeps the contents of a blob, according to its schema.
    fn content(
        &mut self,
        object: RawObject<'_>,
        images: Vec<ImageAt>,
        begin: Spot,
        locator: &mut Locator<'_>,
    ) {
        let names = (object.package.text(), object.name.text());
        let (package, name) = names;
        match object.content {
            RawContent::Package {
                default_channel,
                guardrails,
            } => {
                let of = |said| Guardrails::of(Carrier::Property, said, (name, ""), locator);
                self.written.guardrails.extend(guardrails.iter().map(of));
                self.written.packages.push(Package {
                    spot: begin,
                    name: name.into(),
                    default_channel: locator.kept(&default_channel),
                });
            }
            RawContent::Channel(entries) => self.written.channels.push(Channel {
                spot: begin,
                package: package.into(),
                name: name.into(),
                stray_key: object.channel_key.map(|key| locator.kept(&key)),
                entries: entries
                    .iter()
                    .map(|entry| kept_entry(entry, locator))
                    .collect(),
            }),
            RawContent::Bundle(bundle) => self.bundle(&bundle, images, names, begin, locator),
            RawContent::Deprecations(entries) => self.written.deprecations.push(Deprecations {
                spot: begin,
                package: package.into(),
                entries: entries
                    .iter()
                    .map(|entry| deprecation(entry, locator))
                    .collect(),
            }),
            RawContent::Guardrails(said) => {
                let said = Guardrails::of(Carrier::Blob, &said, names, locator);
                self.written.guardrails.push(said);
            }
            RawContent::Other if guardrail::is_of_other_version(object.schema.text()) => {
                let schema = object.schema.text();
                let said = Guardrails::unknown(Carrier::Blob, begin, schema, names);
                self.written.guardrails.push(said);
            }
            RawContent::Other => {
                if let BlobLabel::Text(schema) = &object.schema {
                    self.written.others.push(OtherBlob {
                        spot: locator.find(schema.at),
                        package: package.into(),
                        schema: schema.text.as_ref().into(),
                    });
                }
            }
        }
    }

    fn unknown_keys(&mut self, object: &RawObject<'_>, package: &str, locator: &mut Locator<'_>) {
        let keys = object.unknown.iter().map(|unknown| UnknownKey {
            spot: locator.find(unknown.at),
            package: package.into(),
            blob: (object.schema.text().into(), object.name.text().into()),
            path: unknown.path.clone(),
            entry: entry_at(&object.content, &unknown.path),
            key: unknown.key.as_ref().into(),
            known: unknown.known,
            read_as: unknown.read_as,
        });
        self.written.unknown_keys.extend(keys);
    }

    /// Records a blob that could not be read.
    fn unread(&mut self, object: &RawObject<'_>, begin: Spot) {
        self.written.unread.push(UnreadBlob {
            file: begin.file,
            schema: object.schema.text().into(),
            package: object.package.text().into(),
            name: object.name.text().into(),
        });
    }

    /// Records the faults of the keys and labels of a blob. Returns true if there are none.
    fn labels(
        &mut self,
        object: &RawObject<'_>,
        package: &str,
        begin: Spot,
        locator: &mut Locator<'_>,
    ) -> bool {
        let before = self.written.faults.len();
        for duplicates in &object.duplicates {
            self.note(begin, package, LoadFaultKind::Meta(duplicates.clone()));
        }
        for label in [&object.schema, &object.package, &object.name] {
            if let BlobLabel::Other { key, at, found } = label {
                let (key, found) = (key.as_ref().into(), *found);
                let what = LoadFaultKind::Meta(FbcErrorKind::NotAString { key, found });
                self.note(locator.find(*at), package, what);
            }
        }
        let is_missing = !matches!(object.schema, BlobLabel::Other { .. });
        if is_missing && object.schema.text().is_empty() {
            self.note(begin, package, LoadFaultKind::MissingSchema);
        }
        self.written.faults.len() == before
    }

    fn bundle(
        &mut self,
        bundle: &raw::RawBundle<'_>,
        images: Vec<ImageAt>,
        (package, name): (&str, &str),
        begin: Spot,
        locator: &mut Locator<'_>,
    ) {
        let mut kept = Bundle {
            spot: begin,
            package: package.into(),
            name: name.into(),
            image: locator.kept(&bundle.image),
            invalid_images: located(images, bundle, locator),
            ..Bundle::default()
        };
        for (index, property) in bundle.properties.iter().enumerate() {
            if let Some(fault) = &property.fault {
                let spot = locator.find(property.at);
                if *property.kind == *"olm.bundle.object" {
                    let what = LoadFaultKind::Object {
                        bundle: name.into(),
                        index,
                        fault: fault.clone(),
                    };
                    self.note(spot, package, what);
                    self.written.unread.push(UnreadBlob {
                        file: begin.file,
                        schema: "olm.bundle".into(),
                        package: kept.package,
                        name: kept.name,
                    });
                    return;
                }
                kept.property_fault.get_or_insert_with(|| PropertyFault {
                    spot,
                    index,
                    kind: property.kind.as_ref().into(),
                    fault: fault.clone(),
                });
            }
            keep_property(property, &mut kept, locator);
        }
        self.written.bundles.push(kept);
    }
}

fn keep_property(property: &raw::Property<'_>, kept: &mut Bundle, locator: &mut Locator<'_>) {
    match &property.value {
        PropertyValue::Package(value) => kept.versions.push(PackageProperty {
            spot: locator.find(property.at),
            name: value.name.as_ref().into(),
            version: value.version.as_ref().into(),
            release: value.release.as_ref().into(),
        }),
        PropertyValue::Object => kept.has_objects = true,
        PropertyValue::Dependency(kind) => {
            kept.dependency
                .get_or_insert_with(|| (*kind, locator.find(property.at)));
        }
        PropertyValue::Csv(csv) => {
            kept.install = kept.install.take().or_else(|| csv.install.clone());
            if kept.min_kube_version.text.is_empty() && !csv.min_kube_version.is_empty() {
                kept.min_kube_version = Text {
                    spot: locator.find(property.at),
                    text: csv.min_kube_version.as_ref().into(),
                };
            }
        }
        PropertyValue::Other => {}
    }
}

fn deprecation(entry: &raw::RawDeprecation<'_>, locator: &mut Locator<'_>) -> Deprecation {
    let written = &entry.written;
    Deprecation {
        spot: locator.find(entry.at),
        schema: written.schema.as_ref().into(),
        name: written.name.as_ref().into(),
        message: written.message.as_ref().into(),
    }
}

fn kept_entry(entry: &raw::RawEntry<'_>, locator: &mut Locator<'_>) -> Entry {
    Entry {
        spot: locator.find(entry.at),
        name: entry.name.text.as_ref().into(),
        replaces: locator.kept(&entry.replaces),
        skips: entry.skips.iter().map(|skip| locator.kept(skip)).collect(),
        skip_range: locator.kept(&entry.skip_range),
    }
}

/// Returns the package of a blob.
fn package_of<'b>(value: &'b Value<'_>) -> &'b str {
    match value {
        Value::Object(object) => owner(&object.schema, &object.package, &object.name),
        Value::Other(_) => "",
    }
}

fn owner<'b>(
    schema: &BlobLabel<'_>,
    package: &'b BlobLabel<'_>,
    name: &'b BlobLabel<'_>,
) -> &'b str {
    match schema.text() {
        "olm.package" => name.text(),
        _ => package.text(),
    }
}

/// Returns the name of the channel entry at a path.
fn entry_at(content: &RawContent<'_>, path: &str) -> Option<Box<str>> {
    match (item_of(path)?, content) {
        (("entries", index), RawContent::Channel(entries)) => entries
            .get(index)
            .map(|entry| entry.name.text.as_ref().into()),
        _ => None,
    }
}

/// Splits the first list of a path, and the index in it.
fn item_of(path: &str) -> Option<(&str, usize)> {
    let (list, rest) = path.split_once('[')?;
    let index = rest.split_once(']')?.0.parse().ok()?;
    Some((list, index))
}

/// Returns the byte of the list item that contains a fault.
fn part_of(content: &RawContent<'_>, fault: &Fault) -> Option<usize> {
    let (Fault::WrongType { path, .. }
    | Fault::Missing { path, .. }
    | Fault::Base64 { path }
    | Fault::ObjectData { path, .. }) = fault
    else {
        return None;
    };
    let (list, index) = item_of(path)?;
    match (list, content) {
        ("entries", RawContent::Channel(entries)) => entries.get(index).map(|entry| entry.at),
        ("entries", RawContent::Deprecations(entries)) => entries.get(index).map(|entry| entry.at),
        ("properties", RawContent::Bundle(bundle)) => {
            bundle.properties.get(index).map(|property| property.at)
        }
        _ => None,
    }
}
