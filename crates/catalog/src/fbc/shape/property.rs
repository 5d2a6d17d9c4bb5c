//! The properties of a blob: a list of types and values.
//!
//! The schema of a blob usually comes after its properties, because catalogd sorts keys, and
//! properties are nearly all of its bytes. So they are read as the properties of a bundle, in the
//! single pass over the blob, before the schema is known.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::mem;

use crate::blob::{BundleBlob, DependencyKind, Fault, JsonKind, PackageProperty, ReleaseField};
use crate::fbc::json::{Cursor, CursorResult, JsonRecord};
use crate::fbc::shape::BundleObject;
use crate::fbc::shape::csv::CsvMetadata;
use crate::guardrail;
use crate::install_facts::InstallFacts;
use crate::memory::Heap;

/// The meaning of a blob's properties.
#[derive(Debug, Default)]
pub(crate) struct BundleProperties<'a> {
    /// The facts about a bundle.
    pub(crate) facts: BundleBlob<'a>,
    /// The first fault in the properties.
    fault: Option<Fault>,
    /// The index of each `olm.bundle.object`, and the start of its value.
    objects: Vec<(usize, Option<usize>)>,
    /// Start of the value of each property with guardrails.
    pub(crate) guardrails: Vec<Option<usize>>,
    /// Types of properties with guardrails of an unknown version.
    pub(crate) other_guardrails: BTreeSet<Cow<'a, str>>,
    csv: CsvSeen,
}

/// Whether an `olm.csv.metadata` was read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum CsvSeen {
    #[default]
    No,
    Yes,
}

impl<'a> BundleProperties<'a> {
    /// Reads the value of `properties`.
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let mut properties = Self::default();
        let mut index = 0;
        let ((), fault) = cursor.isolated(|cursor| {
            cursor.within("properties", |cursor| {
                cursor.list(|cursor| {
                    let property = cursor.record()?;
                    properties.take(index, property, cursor)?;
                    index += 1;
                    Ok(())
                })
            })?;
            Ok(())
        })?;
        properties.fault = fault;
        Ok(properties)
    }

    /// Takes the first fault that matters for every blob with properties.
    pub(crate) fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Reads the properties that matter only in a bundle: each `olm.bundle.object`. A CSV among
    /// them has the facts of an `olm.csv.metadata`. If there are several, OLM uses the last one by
    /// the path of its file, which is not in the catalog. So they count only if all have the same
    /// facts.
    pub(crate) fn take_objects(&mut self, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        let mut csvs: Vec<InstallFacts> = Vec::new();
        cursor.within("properties", |cursor| {
            for (index, value) in mem::take(&mut self.objects) {
                let object = cursor.within_item(index, |cursor| bundle_object(value, cursor))?;
                let new = object
                    .csv
                    .filter(|csv| csvs.len() < 2 && !csvs.contains(csv));
                if let Some(csv) = new {
                    cursor.hold(csv.heap_bytes())?;
                    csvs.push(csv);
                }
            }
            Ok(())
        })?;
        if let (CsvSeen::No, [_]) = (self.csv, csvs.as_slice()) {
            self.facts.install = csvs.pop();
        }
        Ok(())
    }

    fn take(
        &mut self,
        index: usize,
        property: PropertyItem<'a>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<()> {
        match property.kind.as_ref() {
            "olm.package" if self.facts.package_property == PackageProperty::Absent => {
                let value = property.value.at();
                self.facts.package_property =
                    cursor.within("value", |cursor| package_property(value, cursor))?;
            }
            "olm.bundle.object" => {
                cursor.keep()?;
                cursor.hold(PLACE)?;
                self.objects.push((index, property.value.at()));
            }
            guardrail::SCHEMA => {
                cursor.keep()?;
                cursor.hold(PLACE)?;
                self.guardrails.push(property.value.at());
            }
            kind if guardrail::is_of_other_version(kind) => {
                cursor.hold(PLACE + KIND)?;
                self.other_guardrails.insert(property.kind);
            }
            CSV_METADATA if self.csv == CsvSeen::No => {
                self.csv = CsvSeen::Yes;
                self.take_csv(property.value, cursor)?;
            }
            kind if self.facts.dependency.is_none() => {
                self.facts.dependency = DependencyKind::of(kind);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_csv(&mut self, value: PropertyPlace<'a>, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        let csv = match value {
            PropertyPlace::Csv(csv) => csv,
            PropertyPlace::At(at) => cursor.revisit(at, CsvMetadata::read_lenient)?,
            PropertyPlace::Absent => return Ok(()),
        };
        self.facts.install = csv.install;
        Ok(())
    }
}

fn bundle_object(value: Option<usize>, cursor: &mut Cursor<'_>) -> CursorResult<BundleObject> {
    cursor.within("value", |cursor| {
        let Some(at) = value else {
            let (path, expected) = (cursor.path(), "an object with data".into());
            cursor.note(Fault::Missing { path, expected });
            return Ok(BundleObject::default());
        };
        cursor.revisit(at, Cursor::record)
    })
}

/// Reads the value of an `olm.package` property.
fn package_property<'a>(
    value: Option<usize>,
    cursor: &mut Cursor<'a>,
) -> CursorResult<PackageProperty<'a>> {
    let Some(at) = value else {
        let (path, expected) = (cursor.path(), "an object with a version".into());
        return Ok(PackageProperty::Undecodable(Fault::Missing {
            path,
            expected,
        }));
    };
    let (package, fault) =
        cursor.isolated(|cursor| cursor.revisit(at, Cursor::record::<PackagePropertyValue<'a>>))?;
    Ok(match fault {
        Some(fault) => PackageProperty::Undecodable(fault),
        None => PackageProperty::Present {
            version: package.version,
            release: package.release,
        },
    })
}

#[derive(Default)]
struct PropertyItem<'a> {
    kind: Cow<'a, str>,
    value: PropertyPlace<'a>,
}

/// The value of a property.
#[derive(Default)]
enum PropertyPlace<'a> {
    /// No value.
    #[default]
    Absent,
    /// A value that starts at this byte.
    At(usize),
    /// A value that was read as one of an `olm.csv.metadata`.
    Csv(CsvMetadata<'a>),
}

impl PropertyPlace<'_> {
    fn at(&self) -> Option<usize> {
        match self {
            Self::At(at) => Some(*at),
            Self::Absent | Self::Csv(_) => None,
        }
    }
}

impl<'a> JsonRecord<'a> for PropertyItem<'a> {
    const FIELDS: &'static [&'static str] = &["type", "value"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index == 0 {
            self.kind = cursor.text()?;
        } else if self.kind == CSV_METADATA {
            self.value = PropertyPlace::Csv(CsvMetadata::read_lenient(cursor)?);
        } else {
            self.value = PropertyPlace::At(cursor.start()?);
            cursor.skip()?;
        }
        Ok(())
    }

    fn takes_null(index: usize) -> bool {
        index == 1
    }
}

/// The value of an `olm.package` property. Its `packageName` must be a string, but is not used.
#[derive(Default)]
struct PackagePropertyValue<'a> {
    version: Cow<'a, str>,
    release: ReleaseField<'a>,
}

impl<'a> JsonRecord<'a> for PackagePropertyValue<'a> {
    const FIELDS: &'static [&'static str] = &["packageName", "version", "release"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => cursor.skip_text()?,
            1 => self.version = cursor.text()?,
            _ if self.release == ReleaseField::NotAString => cursor.skip()?,
            _ => self.release = release_field(cursor)?,
        }
        Ok(())
    }
}

fn release_field<'a>(cursor: &mut Cursor<'a>) -> CursorResult<ReleaseField<'a>> {
    Ok(match cursor.kind()? {
        JsonKind::String => ReleaseField::Text(cursor.decoded()?),
        found => {
            cursor.skip()?;
            match found {
                JsonKind::Null => ReleaseField::Absent,
                _ => ReleaseField::NotAString,
            }
        }
    })
}

/// Memory of a property's position in a list that may be growing.
const PLACE: usize = 4 * size_of::<(usize, Option<usize>)>();

/// Memory of a node in the set of types; most sets have one.
const KIND: usize = 12 * size_of::<Cow<'static, str>>();

const CSV_METADATA: &str = "olm.csv.metadata";
