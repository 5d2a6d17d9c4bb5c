//! Blobs of a catalog, reduced to where each is filed and to the facts that decide.
//!
//! This is the seam between the reader of file-based catalogs and the index built from it. A
//! reader hands over one blob after another, in the order of the catalog, and keeps none.
//!
//! The types serialise, so that what was reduced once can be kept and handed over again (the
//! module `source` does). What is kept that way outlives a program: whoever changes a type here, or what of
//! a blob gets into it, changes the version of the record as well.
//!
//! Invariants: two blobs with equal [`BlobKey`]s are one file of operator-controller's cache, where
//! the later one replaces the earlier; a blob that does not decode fails its whole package unless
//! a later one replaces it.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/cache/cache.go`]
//! (where a blob is filed) and operator-registry, [`alpha/declcfg/declcfg.go`] and [`alpha/declcfg/load.go`] (what of it
//! is decoded).
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`internal/operator-controller/catalogmetadata/cache/cache.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/cache/cache.go

use std::borrow::Cow;
use std::fmt;

use super::memory::Account;
use crate::install_facts::InstallFacts;
use crate::memory::{Heap, heap_of};

/// Path of a blob in operator-controller's cache: `package/schema/name.json`.
///
/// The names are those of the file, not always those in the blob: an `olm.package` is filed under
/// its own name, a blob without a name under that of its schema, and a blob without a package at
/// the top level (`package` is empty).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlobKey<'a> {
    /// The package it belongs to, or empty for a blob filed at the top level.
    pub package: &'a str,
    /// Schema, such as `olm.bundle`; empty if the blob has none.
    pub schema: &'a str,
    /// Name of the blob, or its schema if it has no name.
    pub name: &'a str,
}

impl<'a> BlobKey<'a> {
    /// The folder of the cache that holds the blob: reading the package of this name reads it.
    ///
    /// A blob without a package lies in the folder of its schema, so only an extension whose
    /// package is named like the schema sees it.
    pub fn folder(&self) -> &'a str {
        if self.package.is_empty() {
            self.schema
        } else {
            self.package
        }
    }
}

/// Facts of a blob that decide.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BlobContent<'a> {
    /// An `olm.package`. To resolution only that it is there counts.
    Package(PackageBlob<'a>),
    /// An `olm.channel`.
    Channel(ChannelBlob<'a>),
    /// An `olm.bundle`.
    Bundle(BundleBlob<'a>),
    /// The entries of an `olm.deprecations`.
    Deprecations(Vec<DeprecationEntry<'a>>),
    /// An [`olmguard.guardrails`](crate::guardrail): the whole blob as catalogd writes it anew. OLM
    /// knows it as little as any other schema.
    Guardrails(Cow<'a, str>),
    /// Any other schema: it makes its package exist, nothing else.
    Other,
}

/// Facts of a package that are shown to people.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackageBlob<'a> {
    /// The `defaultChannel`; empty if absent. OLM v1 ignores it.
    pub default_channel: Cow<'a, str>,
    /// The values of its properties of type [`olmguard.guardrails`](crate::guardrail), as catalogd
    /// writes them anew.
    pub guardrails: Vec<Cow<'a, str>>,
    /// The types of its properties that hold guardrails in a version which is not known here.
    pub other_guardrails: Vec<Cow<'a, str>>,
}

/// The upgrade edges of one channel, strings as written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChannelBlob<'a> {
    /// Own name: empty if the blob has none, although the blob is then filed under its schema.
    pub name: Cow<'a, str>,
    /// In the order of the blob.
    pub entries: Vec<ChannelEntry<'a>>,
}

/// One entry of a channel. A field that is absent or null is empty.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChannelEntry<'a> {
    /// The bundle that the entry's edges lead to.
    pub name: Cow<'a, str>,
    /// The bundle it replaces.
    pub replaces: Cow<'a, str>,
    /// The bundles it skips.
    pub skips: Vec<Cow<'a, str>>,
    /// The range of versions it skips, not parsed.
    pub skip_range: Cow<'a, str>,
}

/// Facts of a bundle that decide.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct BundleBlob<'a> {
    /// Own name: empty if the blob has none, although the blob is then filed under its schema.
    pub name: Cow<'a, str>,
    /// Image reference of its content; empty if absent.
    pub image: Cow<'a, str>,
    /// The first property of type `olm.package`, from which its version comes.
    pub package_property: PackageProperty<'a>,
    /// The first property that declares a dependency.
    pub dependency: Option<DependencyKind>,
    /// The facts of its installation in its `olm.csv.metadata`, otherwise in the CSV among its `olm.bundle.object`s; `None`
    /// if it has neither, or if they cannot be read.
    pub install: Option<InstallFacts>,
}

/// The first property of type `olm.package` of a bundle.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum PackageProperty<'a> {
    /// The bundle has none.
    #[default]
    Absent,
    /// The value is missing, is not an object, or has a field of the wrong type.
    Undecodable(Fault),
    /// The value was decoded.
    Present {
        /// The version, not parsed; empty if absent.
        version: Cow<'a, str>,
        /// The release, not parsed.
        release: ReleaseField<'a>,
    },
}

/// The `release` of an `olm.package` property.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum ReleaseField<'a> {
    /// Not there, or null.
    #[default]
    Absent,
    /// There, perhaps empty.
    Text(Cow<'a, str>),
    /// There, but no string: OLM from 1.8 on cannot decode the property, older ones ignore it.
    NotAString,
}

word_set! {
    /// A kind of dependency that a bundle can declare, named as its property type.
    pub enum DependencyKind {
        /// `olm.package.required`
        Package => "olm.package.required",
        /// `olm.gvk.required`
        Gvk => "olm.gvk.required",
        /// `olm.constraint`
        Constraint => "olm.constraint",
    }
}

impl DependencyKind {
    /// The kind whose property type is `name`, spelled exactly so.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// One entry of an `olm.deprecations`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DeprecationEntry<'a> {
    /// The schema of what is deprecated, such as `olm.bundle`.
    pub schema: Cow<'a, str>,
    /// Name of the deprecated part; empty for the package itself.
    pub name: Cow<'a, str>,
    /// Message of the author, perhaps empty.
    pub message: Cow<'a, str>,
}

/// Takes the blobs of a catalog, one after another.
pub trait Sink {
    /// The account that the reading of these blobs is counted in; one without a bound unless there is
    /// one. A reader stops when it is refused.
    fn memory(&self) -> Account {
        Account::default()
    }

    /// Takes one blob; of two with one key the later counts.
    fn blob(&mut self, key: BlobKey<'_>, content: Result<BlobContent<'_>, BlobFault>);

    /// Takes an object that no package's folder holds. OLM never reads it, but a text that begins with
    /// one without a schema is hardly a catalog.
    fn unfiled(&mut self, _object: UnfiledObject) {}
}

/// An object that no package's folder holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnfiledObject {
    /// The object has a schema.
    Blob,
    /// The object has no schema, but the fields that every object of Kubernetes has.
    Kubernetes,
    /// The object has no schema.
    Other,
}

/// Fault of one blob that does not decode, and its place.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}: {}: {fault}", position.in_file(file), BlobName(.package, .schema, .name))]
pub struct BlobFault {
    /// The file, as it was named to the reader.
    pub file: Box<str>,
    /// Place in the file.
    pub position: Position,
    /// The package that fails with it.
    pub package: Box<str>,
    /// The schema of the blob; empty if it has none.
    pub schema: Box<str>,
    /// The name under which the blob is filed.
    pub name: Box<str>,
    /// The fault.
    pub fault: Fault,
}

/// A blob's schema, name and package, in words.
struct BlobName<'a>(&'a str, &'a str, &'a str);

impl fmt::Display for BlobName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(package, schema, name) = self;
        let schema = if schema.is_empty() { "blob" } else { schema };
        write!(f, "{schema} {name:?} of package {package:?}")
    }
}

/// A place in a file of a catalog.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Position {
    /// In JSON: how many bytes come before it, after decompression.
    Byte(u64),
    /// In YAML: line and column, both counted from 1, the column in characters.
    Line {
        /// The line.
        line: u64,
        /// The column.
        column: u64,
    },
}

impl Position {
    /// The place with its file, as editors and compilers write it: `catalog.yaml:3:4`.
    pub fn in_file(self, file: &str) -> String {
        match self {
            Self::Byte(_) => format!("{file}: {self}"),
            Self::Line { .. } => format!("{file}:{self}"),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(at) => write!(f, "byte {at}"),
            Self::Line { line, column } => write!(f, "{line}:{column}"),
        }
    }
}

/// Fault in a blob that is well-formed, but does not follow its schema.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The blob has no schema.
    #[error("missing schema: expected a string such as \"olm.bundle\"")]
    MissingSchema,
    /// A field holds a value of another type.
    #[error("{path}: expected {expected}, found {found}")]
    WrongType {
        /// The field, such as `entries[2].replaces`.
        path: Box<str>,
        /// Type that the schema requires.
        expected: Cow<'static, str>,
        /// Type that was found.
        found: JsonKind,
    },
    /// A property that must have a value has none.
    #[error("{path}: missing: expected {expected}")]
    Missing {
        /// The field.
        path: Box<str>,
        /// Type that the schema requires.
        expected: Cow<'static, str>,
    },
    /// Binary data that is not base64.
    #[error("{path}: not base64 (standard alphabet, padded)")]
    Base64 {
        /// The field.
        path: Box<str>,
    },
    /// An `olm.bundle.object` that decodes to neither a JSON object nor YAML.
    #[error("{path}: decoded data is neither a JSON object nor YAML: {reason}")]
    ObjectData {
        /// The field.
        path: Box<str>,
        /// Error of the YAML reader.
        reason: Box<str>,
    },
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// A list.
    List,
    /// An object.
    Object,
}

impl fmt::Display for JsonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::List => "a list",
            Self::Object => "an object",
        })
    }
}

heap_of!(enum BlobContent<'_>:
    Package(blob), Channel(blob), Bundle(blob), Deprecations(entries), Guardrails(text); Other
);

heap_of!(PackageBlob<'_>: default_channel, guardrails, other_guardrails);

heap_of!(ChannelBlob<'_>: name, entries);

heap_of!(ChannelEntry<'_>: name, replaces, skips, skip_range);

heap_of!(
    BundleBlob<'_>: name, image, package_property, install;
    dependency
);

impl Heap for PackageProperty<'_> {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Undecodable(fault) => fault.heap_bytes(),
            Self::Present { version, release } => match release {
                ReleaseField::Text(text) => version.heap_bytes() + text.heap_bytes(),
                ReleaseField::Absent | ReleaseField::NotAString => version.heap_bytes(),
            },
        }
    }
}

heap_of!(DeprecationEntry<'_>: schema, name, message);

heap_of!(BlobFault: file, package, schema, name, fault; position);

impl Heap for Fault {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::MissingSchema => 0,
            Self::WrongType { path, expected, .. } | Self::Missing { path, expected } => {
                path.heap_bytes() + expected.heap_bytes()
            }
            Self::Base64 { path } => path.heap_bytes(),
            Self::ObjectData { path, reason } => path.heap_bytes() + reason.heap_bytes(),
        }
    }
}
