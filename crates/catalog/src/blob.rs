//! Blobs of a catalog, reduced to the path they are filed under and to the facts that decide.
//!
//! This module is the interface between the reader of file-based catalogs and the index built from
//! it. A reader passes blobs one by one, in the order of the catalog, and keeps none.
//!
//! The types can be serialised, so reduced blobs can be stored and passed again (the module
//! `source` does this). Stored blobs outlive a program. A change to a type here, or to the facts
//! taken from a blob, requires a new version of the record.
//!
//! Invariants: two blobs with equal [`BlobKey`]s are one file of operator-controller's cache, and
//! the later one replaces the earlier. A blob that cannot be decoded fails its whole package,
//! unless a later one replaces it.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/cache/cache.go`]
//! (the path of a blob) and operator-registry, [`alpha/declcfg/declcfg.go`] and
//! [`alpha/declcfg/load.go`] (the fields that are decoded).
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
/// The names are those of the file, not always those in the blob. An `olm.package` is filed under
/// its own name, a blob without a name under the name of its schema, and a blob without a package
/// at the top level (`package` is empty).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlobKey<'a> {
    /// The package that the blob belongs to; empty for a blob at the top level.
    pub package: &'a str,
    /// Schema, such as `olm.bundle`; empty if the blob has none.
    pub schema: &'a str,
    /// Name of the blob, or its schema if it has no name.
    pub name: &'a str,
}

impl<'a> BlobKey<'a> {
    /// The directory of the cache with the blob. OLM reads the blob when it reads the package with
    /// this name.
    ///
    /// A blob without a package is in the directory of its schema. So only an extension whose
    /// package is named like the schema reads it.
    pub fn folder(&self) -> &'a str {
        if self.package.is_empty() {
            self.schema
        } else {
            self.package
        }
    }
}

/// The facts of a blob that decide.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BlobContent<'a> {
    /// An `olm.package` blob. Only its existence matters for resolution.
    Package(PackageBlob<'a>),
    /// An `olm.channel` blob.
    Channel(ChannelBlob<'a>),
    /// An `olm.bundle` blob.
    Bundle(BundleBlob<'a>),
    /// The entries of an `olm.deprecations` blob.
    Deprecations(Vec<DeprecationEntry<'a>>),
    /// An [`olmguard.guardrails`](crate::guardrail) blob, complete, as catalogd re-encodes it. OLM
    /// ignores it like any other unknown schema.
    Guardrails(Cow<'a, str>),
    /// A blob of any other schema. It makes its package exist and has no other effect.
    Other,
}

/// The facts of a package that are shown to users.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackageBlob<'a> {
    /// The `defaultChannel`; empty if absent. OLM v1 ignores it.
    pub default_channel: Cow<'a, str>,
    /// The values of the properties of type [`olmguard.guardrails`](crate::guardrail), as catalogd
    /// re-encodes them.
    pub guardrails: Vec<Cow<'a, str>>,
    /// The types of properties with guardrails of an unknown version.
    pub other_guardrails: Vec<Cow<'a, str>>,
}

/// The upgrade edges of one channel, with strings as written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChannelBlob<'a> {
    /// Name of the channel; empty if the blob has none, although the blob is then filed under its
    /// schema.
    pub name: Cow<'a, str>,
    /// Entries, in the order of the blob.
    pub entries: Vec<ChannelEntry<'a>>,
}

/// One entry of a channel. An absent or null field is empty.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChannelEntry<'a> {
    /// The bundle that the entry's edges end at.
    pub name: Cow<'a, str>,
    /// The bundle that the entry replaces.
    pub replaces: Cow<'a, str>,
    /// The bundles that the entry skips.
    pub skips: Vec<Cow<'a, str>>,
    /// The version range that the entry skips, not parsed.
    pub skip_range: Cow<'a, str>,
}

/// The facts of a bundle that decide.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct BundleBlob<'a> {
    /// Name of the bundle; empty if the blob has none, although the blob is then filed under its
    /// schema.
    pub name: Cow<'a, str>,
    /// Reference of the bundle image; empty if absent.
    pub image: Cow<'a, str>,
    /// The first property of type `olm.package`, which has the version.
    pub package_property: PackageProperty<'a>,
    /// The first property that declares a dependency.
    pub dependency: Option<DependencyKind>,
    /// The facts about its installation, from its `olm.csv.metadata` or otherwise from the CSV in
    /// its `olm.bundle.object`s; `None` if it has neither, or if they cannot be read.
    pub install: Option<InstallFacts>,
}

/// The first property of type `olm.package` of a bundle.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum PackageProperty<'a> {
    /// The bundle has no such property.
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
    /// The field is absent or null.
    #[default]
    Absent,
    /// The field is a string, which may be empty.
    Text(Cow<'a, str>),
    /// The field is not a string. OLM 1.8 and later cannot decode the property; older releases
    /// ignore the field.
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
    /// Returns the kind with exactly this property type.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// One entry of an `olm.deprecations`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DeprecationEntry<'a> {
    /// The schema of the deprecated item, such as `olm.bundle`.
    pub schema: Cow<'a, str>,
    /// Name of the deprecated item; empty for the package itself.
    pub name: Cow<'a, str>,
    /// The author's message, which may be empty.
    pub message: Cow<'a, str>,
}

/// Receives the blobs of a catalog, in order.
pub trait Sink {
    /// The account that reading these blobs is charged to. The default account has no limit. A
    /// reader stops when the account refuses memory.
    fn memory(&self) -> Account {
        Account::default()
    }

    /// Receives one blob. If two blobs have one key, the later one counts.
    fn blob(&mut self, key: BlobKey<'_>, content: Result<BlobContent<'_>, BlobFault>);

    /// Receives an object that is in no package's directory. OLM never reads such an object. But a
    /// file that starts with one without a schema is hardly a catalog.
    fn unfiled(&mut self, _object: UnfiledObject) {}
}

/// An object that is in no package's directory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnfiledObject {
    /// The object has a schema.
    Blob,
    /// The object has no schema, but has the fields of every Kubernetes object.
    Kubernetes,
    /// The object has no schema.
    Other,
}

/// A blob that cannot be decoded, and its location.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}: {}: {fault}", position.in_file(file), title(.package, .schema, .name))]
pub struct BlobFault {
    /// The file, by the name that the reader was given.
    pub file: Box<str>,
    /// Position in the file.
    pub position: Position,
    /// The package that fails because of the blob.
    pub package: Box<str>,
    /// The schema of the blob; empty if it has none.
    pub schema: Box<str>,
    /// The name that the blob is filed under.
    pub name: Box<str>,
    /// The fault.
    pub fault: Fault,
}

/// A blob's schema, name and package, in words.
fn title(package: &str, schema: &str, name: &str) -> String {
    let schema = if schema.is_empty() { "blob" } else { schema };
    format!("{schema} {name:?} of package {package:?}")
}

/// A position in a file of a catalog.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Position {
    /// In JSON: the number of bytes before it, after decompression.
    Byte(u64),
    /// In YAML: line and column, both counted from 1. Columns are characters.
    Line {
        /// The line.
        line: u64,
        /// The column.
        column: u64,
    },
}

impl Position {
    /// Formats the position with its file, as editors and compilers do: `catalog.yaml:3:4`.
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

/// A fault in a well-formed blob that does not conform to its schema.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The blob has no schema.
    #[error("missing schema: expected a string such as \"olm.bundle\"")]
    MissingSchema,
    /// A field has a value of the wrong type.
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
    /// A field of binary data is not base64.
    #[error("{path}: not base64 (standard alphabet, padded)")]
    Base64 {
        /// The field.
        path: Box<str>,
    },
    /// The data of an `olm.bundle.object` decodes to neither a JSON object nor YAML.
    #[error("{path}: decoded data is neither a JSON object nor YAML: {reason}")]
    ObjectData {
        /// The field.
        path: Box<str>,
        /// Error of the YAML reader.
        reason: Box<str>,
    },
}

word_set! {
    /// The type of a JSON value, in words.
    pub enum JsonKind {
        /// `null`
        Null => "null",
        /// `true` or `false`
        Boolean => "a boolean",
        /// A number.
        Number => "a number",
        /// A string.
        String => "a string",
        /// A list.
        List => "a list",
        /// An object.
        Object => "an object",
    }
}

impl fmt::Display for JsonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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
