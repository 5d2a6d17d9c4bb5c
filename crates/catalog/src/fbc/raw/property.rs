//! The properties of a bundle, each parsed as opm does, and the Go types that opm decodes them
//! into.
//!
//! Upstream: `Parse` of operator-registry, [`alpha/property/property.go`]; `readBundleObjects`,
//! [`alpha/declcfg/load.go`].
//!
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go

use std::borrow::Cow;

use crate::blob::{DependencyKind, Fault, JsonKind};
use crate::fbc::json::{Cursor, CursorResult, Fold, JsonKey, JsonRecord};
use crate::fbc::shape::BundleObject;
use crate::fbc::shape::csv::CsvMetadata;

/// One property.
#[derive(Debug)]
pub struct Property<'a> {
    /// Start of the property, in bytes.
    pub at: usize,
    /// `type`.
    pub kind: Cow<'a, str>,
    /// `value`, if its type is known.
    pub value: PropertyValue<'a>,
    /// The reason why the value does not conform to its type, if so.
    pub fault: Option<Fault>,
}

/// The value of a property.
#[derive(Debug)]
pub enum PropertyValue<'a> {
    /// `olm.package`.
    Package(PackageValue<'a>),
    /// `olm.bundle.object`, which counts as content of the bundle.
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
        let at = cursor.start()?;
        let TypedProperty { item, read } = cursor.record()?;
        let RawProperty { kind, value } = item;
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

/// Checks the types of properties whose content does not matter.
pub(super) fn types_only(cursor: &mut Cursor<'_>) -> CursorResult<()> {
    cursor.conform(&PROPERTIES)
}

/// A property whose value was not read yet.
#[derive(Default)]
pub(super) struct RawProperty<'a> {
    pub(super) kind: Cow<'a, str>,
    /// Start of the value.
    pub(super) value: Option<usize>,
}

impl<'a> JsonRecord<'a> for RawProperty<'a> {
    const FIELDS: &'static [&'static str] = &["type", "value"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index == 0 {
            self.kind = cursor.text()?;
        } else {
            self.value = Some(cursor.start()?);
            cursor.skip()?;
        }
        Ok(())
    }

    fn takes_null(index: usize) -> bool {
        index == 1
    }
}

/// A property. Its value is read in the same pass if its type comes first.
#[derive(Default)]
struct TypedProperty<'a> {
    item: RawProperty<'a>,
    read: Option<ReadValue<'a>>,
}

/// A value that was read as one of type `kind`.
struct ReadValue<'a> {
    kind: Cow<'a, str>,
    value: PropertyValue<'a>,
    fault: Option<Fault>,
}

impl<'a> JsonRecord<'a> for TypedProperty<'a> {
    const FIELDS: &'static [&'static str] = RawProperty::FIELDS;
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index == 0 || self.item.kind.is_empty() {
            return self.item.read(index, cursor);
        }
        self.item.value = Some(cursor.start()?);
        let kind = self.item.kind.clone();
        let (value, fault) = cursor.isolated(|cursor| PropertyValue::read(&kind, cursor))?;
        self.read = Some(ReadValue { kind, value, fault });
        Ok(())
    }

    fn takes_null(index: usize) -> bool {
        RawProperty::takes_null(index)
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
                let _: BundleObject = cursor.record()?;
            }
            "olm.csv.metadata" => {
                let at = cursor.start()?;
                let noted = cursor.conform_noting(&CSV_METADATA, CsvMetadata::FIELDS)?;
                let csv = match noted {
                    Some(noted) => CsvMetadata::read_noted(&noted, cursor)?,
                    None => cursor.revisit(at, CsvMetadata::read_lenient)?,
                };
                return Ok(Self::Csv(csv));
            }
            "olm.gvk" | "olm.gvk.required" => check(&GVK, cursor)?,
            "olm.package.required" => check(&PACKAGE_REQUIRED, cursor)?,
            "olm.channel" => check(&CHANNEL_PROPERTY, cursor)?,
            _ => cursor.skip()?,
        }
        Ok(Self::none(kind))
    }

    /// Returns the value of a property of this type without a value.
    fn none(kind: &str) -> Self {
        match (kind, DependencyKind::of(kind)) {
            (_, Some(dependency)) => Self::Dependency(dependency),
            ("olm.package", _) => Self::Package(PackageValue::default()),
            ("olm.bundle.object", _) => Self::Object,
            _ => Self::Other,
        }
    }
}

impl<'a> JsonRecord<'a> for PackageValue<'a> {
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

// === The Go types that opm decodes the values of properties into, where a value can fail to
// conform ===
//
// Upstream: operator-registry, [`alpha/property/property.go`]; operator-framework/api,
// [`pkg/operators/v1alpha1/clusterserviceversion_types.go`] (v0.45.0). Not mirrored: if two keys
// are equal, Go drops the first before it checks types; here both are checked.
//
// [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go
// [`pkg/operators/v1alpha1/clusterserviceversion_types.go`]: https://github.com/operator-framework/api/blob/v0.45.0/pkg/operators/v1alpha1/clusterserviceversion_types.go

/// A Go type that JSON can conform to.
#[derive(Debug)]
pub(super) enum GoType {
    /// `json.RawMessage`
    Any,
    /// `string`
    Text,
    /// `bool`
    Bool,
    /// `int`, which has 64 bits
    Int,
    /// `int32`
    Int32,
    /// `map[string]T`
    Map(&'static Self),
    /// `[]T`
    List(&'static Self),
    /// A struct. Fields are sorted by name, as catalogd sorts keys. Other keys are ignored.
    Struct(&'static [(&'static str, Self)]),
}

impl Cursor<'_> {
    /// Skips a value, and notes the first part that does not conform to its type. Null conforms to
    /// every type.
    pub(super) fn conform(&mut self, shape: &'static GoType) -> CursorResult<()> {
        match (shape, self.kind()?) {
            (GoType::Any, _) | (GoType::Bool, JsonKind::Boolean) => self.skip(),
            (GoType::Text, JsonKind::String) => self.string().map(drop),
            (GoType::Int, JsonKind::Number) => self.whole_number(INT),
            (GoType::Int32, JsonKind::Number) => self.whole_number(INT32),
            (GoType::List(item), JsonKind::List) => {
                self.list(|cursor| cursor.conform(item))?;
                Ok(())
            }
            (GoType::Map(value), JsonKind::Object) => {
                self.each_member(|cursor, _| cursor.conform(value))
            }
            (GoType::Struct(fields), JsonKind::Object) => {
                let mut next = 0;
                self.each_member(|cursor, key| cursor.conform_member(fields, &mut next, &key))
            }
            (_, found) => self.skip_instead(found, shape.expected()),
        }
    }

    /// Checks a member. Keys are usually in the order of the fields, so the search starts at the
    /// next one.
    fn conform_member(
        &mut self,
        fields: &'static [(&'static str, GoType)],
        next: &mut usize,
        key: &JsonKey<'_>,
    ) -> CursorResult<()> {
        let (before, after) = fields.split_at_checked(*next).unwrap_or_default();
        let is_own = |(name, _): &(&str, GoType)| key.fold(name).is_some();
        let found = after.iter().position(is_own).map(|n| n + *next);
        let found = found.or_else(|| before.iter().position(is_own));
        let Some((index, (name, shape))) = found.and_then(|n| Some((n, fields.get(n)?))) else {
            return self.skip();
        };
        *next = index + 1;
        self.within(name, |cursor| cursor.conform(shape))
    }

    /// Checks a struct, and returns the start of the value of each field in `noted`. Returns `None`
    /// if one of these fields has another spelling or occurs twice, or if the value is not an
    /// object.
    pub(super) fn conform_noting(
        &mut self,
        shape: &'static GoType,
        noted: &[&str],
    ) -> CursorResult<Option<Vec<Option<usize>>>> {
        let (GoType::Struct(fields), JsonKind::Object) = (shape, self.kind()?) else {
            self.conform(shape)?;
            return Ok(None);
        };
        let mut places = vec![None; noted.len()];
        let (mut is_plain, mut next) = (true, 0);
        self.each_member(|cursor, key| {
            let at = cursor.start()?;
            for (place, name) in places.iter_mut().zip(noted) {
                if let Some(fold) = key.fold(name) {
                    is_plain &= fold == Fold::Exact && place.is_none();
                    *place = Some(at);
                }
            }
            cursor.conform_member(fields, &mut next, &key)
        })?;
        Ok(is_plain.then_some(places))
    }

    /// Skips a whole number. `1e2` is one, because opm re-encodes numbers before it checks types.
    fn whole_number(&mut self, limit: f64) -> CursorResult<()> {
        let number = self.number()?.parse::<f64>();
        if number.is_ok_and(|number| number.fract() == 0.0 && (-limit..limit).contains(&number)) {
            return Ok(());
        }
        let (path, expected) = (self.path(), GoType::Int.expected().into());
        self.note(Fault::WrongType {
            path,
            expected,
            found: JsonKind::Number,
        });
        Ok(())
    }
}

impl GoType {
    fn expected(&self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Text => "a string",
            Self::Bool => "a boolean",
            Self::Int | Self::Int32 => "a whole number",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Struct(_) => "an object",
        }
    }
}

/// Numbers below this fit `int`.
const INT: f64 = 9_223_372_036_854_775_808.0;

/// Numbers below this fit `int32`.
const INT32: f64 = 2_147_483_648.0;

pub(super) static PROPERTIES: GoType = GoType::List(&GoType::Struct(&[
    ("type", GoType::Text),
    ("value", GoType::Any),
]));

pub(super) static GVK: GoType = GoType::Struct(&[
    ("group", GoType::Text),
    ("kind", GoType::Text),
    ("version", GoType::Text),
]);

pub(super) static PACKAGE_REQUIRED: GoType = GoType::Struct(&[
    ("packageName", GoType::Text),
    ("versionRange", GoType::Text),
]);

pub(super) static CHANNEL_PROPERTY: GoType =
    GoType::Struct(&[("channelName", GoType::Text), ("priority", GoType::Int)]);

pub(super) static CSV_METADATA: GoType = GoType::Struct(&[
    ("annotations", TEXTS),
    (
        "apiServiceDefinitions",
        GoType::Struct(&[
            ("owned", GoType::List(&API_SERVICE)),
            ("required", GoType::List(&API_SERVICE)),
        ]),
    ),
    (
        "crdDescriptions",
        GoType::Struct(&[
            ("owned", GoType::List(&CRD)),
            ("required", GoType::List(&CRD)),
        ]),
    ),
    ("description", GoType::Text),
    ("displayName", GoType::Text),
    (
        "installModes",
        GoType::List(&GoType::Struct(&[
            ("supported", GoType::Bool),
            ("type", GoType::Text),
        ])),
    ),
    ("keywords", GoType::List(&GoType::Text)),
    ("labels", TEXTS),
    ("links", GoType::List(&LINK)),
    (
        "maintainers",
        GoType::List(&GoType::Struct(&[
            ("email", GoType::Text),
            ("name", GoType::Text),
        ])),
    ),
    ("maturity", GoType::Text),
    ("minKubeVersion", GoType::Text),
    ("nativeAPIs", GoType::List(&GVK)),
    ("provider", LINK),
]);

const TEXTS: GoType = GoType::Map(&GoType::Text);

const LINK: GoType = GoType::Struct(&[("name", GoType::Text), ("url", GoType::Text)]);

const CRD: GoType = GoType::Struct(&[
    ("actionDescriptors", GoType::List(&DESCRIPTOR)),
    ("description", GoType::Text),
    ("displayName", GoType::Text),
    ("kind", GoType::Text),
    ("name", GoType::Text),
    ("resources", GoType::List(&RESOURCE)),
    ("specDescriptors", GoType::List(&DESCRIPTOR)),
    ("statusDescriptors", GoType::List(&DESCRIPTOR)),
    ("version", GoType::Text),
]);

const API_SERVICE: GoType = GoType::Struct(&[
    ("actionDescriptors", GoType::List(&DESCRIPTOR)),
    ("containerPort", GoType::Int32),
    ("deploymentName", GoType::Text),
    ("description", GoType::Text),
    ("displayName", GoType::Text),
    ("group", GoType::Text),
    ("kind", GoType::Text),
    ("name", GoType::Text),
    ("resources", GoType::List(&RESOURCE)),
    ("specDescriptors", GoType::List(&DESCRIPTOR)),
    ("statusDescriptors", GoType::List(&DESCRIPTOR)),
    ("version", GoType::Text),
]);

const RESOURCE: GoType = GoType::Struct(&[
    ("kind", GoType::Text),
    ("name", GoType::Text),
    ("version", GoType::Text),
]);

const DESCRIPTOR: GoType = GoType::Struct(&[
    ("description", GoType::Text),
    ("displayName", GoType::Text),
    ("path", GoType::Text),
    ("value", GoType::Any),
    ("x-descriptors", GoType::List(&GoType::Text)),
]);
