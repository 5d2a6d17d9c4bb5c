//! The properties of a bundle, each as opm parses it.
//!
//! Upstream: `Parse` of operator-registry, [`alpha/property/property.go`]; `readBundleObjects`,
//! [`alpha/declcfg/load.go`].
//!
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go

use std::borrow::Cow;

use super::types::{self, GoType};
use crate::blob::{DependencyKind, Fault};
use crate::fbc::csv::CsvMetadata;
use crate::fbc::json::{Cursor, CursorResult, Record};
use crate::fbc::shape::BundleObject;

/// One property.
#[derive(Debug)]
pub struct Property<'a> {
    /// Where it begins, in bytes.
    pub at: usize,
    /// `type`.
    pub kind: Cow<'a, str>,
    /// `value`, as far as its type is known.
    pub value: PropertyValue<'a>,
    /// Why its value is not one of its type.
    pub fault: Option<Fault>,
}

/// What the value of a property says.
#[derive(Debug)]
pub enum PropertyValue<'a> {
    /// `olm.package`.
    Package(PackageValue<'a>),
    /// An `olm.bundle.object`: it counts as content of the bundle.
    Object,
    /// A dependency of one of the known kinds.
    Dependency(DependencyKind),
    /// `olm.csv.metadata`.
    Csv(CsvMetadata<'a>),
    /// A type that decides nothing.
    Other,
}

/// The value of an `olm.package`.
#[derive(Debug, Default)]
pub struct PackageValue<'a> {
    pub name: Cow<'a, str>,
    pub version: Cow<'a, str>,
    pub release: Cow<'a, str>,
}

/// Reads the properties of a bundle.
pub(crate) fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Vec<Property<'a>>> {
    cursor.list(|cursor| {
        cursor.kind()?;
        let at = cursor.at();
        let TypedProperty { item, read } = cursor.record()?;
        let Item { kind, value } = item;
        let (value, fault) = match read {
            Some(read) if read.kind == kind => (read.value, read.fault),
            _ => cursor.isolated(|cursor| read_value(&kind, value, cursor))?,
        };
        Ok(Property {
            at,
            kind,
            value,
            fault,
        })
    })
}

/// Reads properties of which only the form counts.
pub(super) fn types_only(cursor: &mut Cursor<'_>) -> CursorResult<()> {
    cursor.conform(&types::PROPERTIES)
}

/// A property, its value not yet read.
#[derive(Default)]
pub(super) struct Item<'a> {
    pub(super) kind: Cow<'a, str>,
    /// Where its value begins.
    pub(super) value: Option<usize>,
}

impl<'a> Record<'a> for Item<'a> {
    const FIELDS: &'static [&'static str] = &["type", "value"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index == 0 {
            self.kind = cursor.text()?;
        } else {
            cursor.kind()?;
            self.value = Some(cursor.at());
            cursor.skip()?;
        }
        Ok(())
    }

    fn takes_null(index: usize) -> bool {
        index == 1
    }
}

/// A property whose value is read in the same walk if its type comes first.
#[derive(Default)]
struct TypedProperty<'a> {
    item: Item<'a>,
    read: Option<ReadValue<'a>>,
}

/// A value, read as one of this type.
struct ReadValue<'a> {
    kind: Cow<'a, str>,
    value: PropertyValue<'a>,
    fault: Option<Fault>,
}

impl<'a> Record<'a> for TypedProperty<'a> {
    const FIELDS: &'static [&'static str] = Item::FIELDS;
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index == 0 || self.item.kind.is_empty() {
            return self.item.read(index, cursor);
        }
        cursor.kind()?;
        self.item.value = Some(cursor.at());
        let kind = self.item.kind.clone();
        let (value, fault) = cursor.isolated(|cursor| PropertyValue::read(&kind, cursor))?;
        self.read = Some(ReadValue { kind, value, fault });
        Ok(())
    }

    fn takes_null(index: usize) -> bool {
        Item::takes_null(index)
    }
}

fn read_value<'a>(
    kind: &str,
    value: Option<usize>,
    cursor: &mut Cursor<'a>,
) -> CursorResult<PropertyValue<'a>> {
    cursor.within("value", |cursor| {
        let Some(at) = value else {
            let (path, expected) = (cursor.path(), "a value".into());
            cursor.note(Fault::Missing { path, expected });
            return Ok(PropertyValue::none(kind));
        };
        cursor.revisit(at, |cursor| PropertyValue::read(kind, cursor))
    })
}

impl<'a> PropertyValue<'a> {
    fn read(kind: &str, cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let check = |shape: &'static GoType, cursor: &mut Cursor<'a>| cursor.conform(shape);
        match kind {
            "olm.package" => return Ok(Self::Package(cursor.record()?)),
            "olm.bundle.object" => {
                let BundleObject = cursor.record()?;
            }
            "olm.csv.metadata" => {
                cursor.kind()?;
                let at = cursor.at();
                let noted = cursor.conform_noting(&types::CSV_METADATA, CsvMetadata::FIELDS)?;
                let csv = match noted {
                    Some(noted) => CsvMetadata::read_noted(&noted, cursor)?,
                    None => cursor.revisit(at, CsvMetadata::read_lenient)?,
                };
                return Ok(Self::Csv(csv));
            }
            "olm.gvk" | "olm.gvk.required" => check(&types::GVK, cursor)?,
            "olm.package.required" => check(&types::PACKAGE_REQUIRED, cursor)?,
            "olm.channel" => check(&types::CHANNEL_PROPERTY, cursor)?,
            _ => cursor.skip()?,
        }
        Ok(Self::none(kind))
    }

    /// What a property of a type is without its value.
    fn none(kind: &str) -> Self {
        match (kind, DependencyKind::of(kind)) {
            (_, Some(dependency)) => Self::Dependency(dependency),
            ("olm.package", _) => Self::Package(PackageValue::default()),
            ("olm.bundle.object", _) => Self::Object,
            _ => Self::Other,
        }
    }
}

impl<'a> Record<'a> for PackageValue<'a> {
    const FIELDS: &'static [&'static str] = &["packageName", "version", "release"];
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => self.name = cursor.text()?,
            1 => self.version = cursor.text()?,
            _ => self.release = cursor.text()?,
        }
        Ok(())
    }
}
