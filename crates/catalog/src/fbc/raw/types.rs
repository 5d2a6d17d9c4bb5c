//! The Go types that opm decodes the values of properties into, as far as a value can miss them.
//!
//! Upstream: operator-registry, [`alpha/property/property.go`]; operator-framework/api,
//! [`pkg/operators/v1alpha1/clusterserviceversion_types.go`] (v0.45.0). Not followed: of two equal
//! keys Go drops the first before it looks at types; here both are looked at.
//!
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go
//! [`pkg/operators/v1alpha1/clusterserviceversion_types.go`]: https://github.com/operator-framework/api/blob/v0.45.0/pkg/operators/v1alpha1/clusterserviceversion_types.go

use crate::blob::{Fault, JsonKind};
use crate::fbc::json::{Cursor, CursorResult, Fold, Key};

/// A type of Go's as JSON fits it.
#[derive(Debug)]
pub(super) enum GoType {
    /// `json.RawMessage`
    Any,
    /// `string`
    Text,
    /// `bool`
    Bool,
    /// `int`, of 64 bits
    Int,
    /// `int32`
    Int32,
    /// `map[string]T`
    Map(&'static Self),
    /// `[]T`
    List(&'static Self),
    /// A struct, its fields sorted by name, as catalogd writes keys. What it does not name is not looked at.
    Struct(&'static [(&'static str, Self)]),
}

impl Cursor<'_> {
    /// Steps over a value, and notes the first part of it that is not of its type. Null fits all.
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

    /// Keys mostly come in the order of the fields: the search begins at the next one.
    fn conform_member(
        &mut self,
        fields: &'static [(&'static str, GoType)],
        next: &mut usize,
        key: &Key<'_>,
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

    /// The same for a struct, noting where the value of each of these fields begins; `None` where one of
    /// them is spelled otherwise or twice, or there is no object.
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
            cursor.kind()?;
            for (place, name) in places.iter_mut().zip(noted) {
                if let Some(fold) = key.fold(name) {
                    is_plain &= fold == Fold::Exact && place.is_none();
                    *place = Some(cursor.at());
                }
            }
            cursor.conform_member(fields, &mut next, &key)
        })?;
        Ok(is_plain.then_some(places))
    }

    /// `1e2` is one: opm writes numbers anew before it looks at types.
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

/// Below this a number fits `int`.
const INT: f64 = 9_223_372_036_854_775_808.0;

/// Below this a number fits `int32`.
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
