//! A catalog as written: every blob in the order of the files, each part with its place.
//!
//! Unlike [`olmguard_catalog::Catalog`], it also keeps what no program would accept, because lint reports exactly
//! that.

mod collect;
mod locate;

use crate::lint::written::locate::Locator;
use olmguard_catalog::blob::{Fault, JsonKind};
use olmguard_catalog::fbc::raw::{self, Raw, RawContent};
use olmguard_catalog::fbc::{FbcErrorKind, NotAFile};
use olmguard_catalog::guardrail::{self, UnreadGuardrails, read_text};
use olmguard_catalog::image_reference::ImageFault;
use olmguard_catalog::{DependencyKind, InstallFacts};

pub use collect::Collector;

/// A place in the files of a catalog.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Spot {
    /// Index of the file.
    pub(crate) file: u32,
    /// Line, counted from 1.
    pub(crate) line: u32,
    /// Column, counted from 1, in characters.
    pub(crate) column: u32,
}

impl Spot {
    /// Returns this place, or the other one if this is the place of an absent part.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::default() { other } else { self }
    }
}

/// A catalog as written.
#[derive(Debug, Default)]
pub struct WrittenCatalog {
    /// Name of the catalog.
    pub(crate) name: Box<str>,
    pub(crate) files: Vec<Box<str>>,
    /// First file with guardrails of an administrator, if any. Lint then reports on nothing else.
    pub(crate) imposed_from: Option<u32>,
    pub(crate) packages: Vec<Package>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) bundles: Vec<Bundle>,
    pub(crate) deprecations: Vec<Deprecations>,
    pub(crate) guardrails: Vec<Guardrails>,
    /// Keys that have no effect.
    pub(crate) unknown_keys: Vec<UnknownKey>,
    /// Blobs of schemas that OLM does not know.
    pub(crate) others: Vec<OtherBlob>,
    /// Blobs that could not be read, although their labels could.
    pub(crate) unread: Vec<UnreadBlob>,
    pub(crate) faults: Vec<LoadFault>,
}

impl WrittenCatalog {
    /// Returns the packages of its blobs, possibly with repetitions.
    pub fn packages(&self) -> impl Iterator<Item = &str> {
        let packages = self.packages.iter().map(|blob| &*blob.name);
        let channels = self.channels.iter().map(|blob| &*blob.package);
        let bundles = self.bundles.iter().map(|blob| &*blob.package);
        packages.chain(channels).chain(bundles)
    }

    /// Whether a place is in the guardrails of an administrator.
    pub(crate) fn is_imposed(&self, spot: Spot) -> bool {
        self.imposed_from.is_some_and(|from| spot.file >= from)
    }

    /// Whether a package, channel or bundle could not be read, and even its package or name is unknown.
    pub(crate) fn has_lost(&self) -> bool {
        let is_lost = |fault: &LoadFault| fault.what.loses() && !self.is_imposed(fault.spot);
        self.unread.iter().any(UnreadBlob::is_nameless) || self.faults.iter().any(is_lost)
    }

    /// Returns the file of a place.
    pub(crate) fn file(&self, spot: Spot) -> &str {
        self.files.get(spot.file as usize).map_or("", |file| file)
    }

    /// Whether the catalog is a directory that contains the file of the place.
    pub(crate) fn is_in_directory(&self, spot: Spot) -> bool {
        *self.file(spot) != *self.name && !self.is_imposed(spot)
    }
}

/// An `olm.package`.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) spot: Spot,
    pub(crate) name: Box<str>,
    pub(crate) default_channel: Text,
}

/// An `olm.channel`.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    pub(crate) name: Box<str>,
    /// Value of a key `channel`.
    pub(crate) stray_key: Option<Text>,
    pub(crate) entries: Vec<Entry>,
}

/// An entry of a channel.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) spot: Spot,
    pub(crate) name: Box<str>,
    pub(crate) replaces: Text,
    pub(crate) skips: Vec<Text>,
    pub(crate) skip_range: Text,
}

/// A string with its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    pub(crate) spot: Spot,
    pub(crate) text: Box<str>,
}

/// An `olm.bundle`.
#[derive(Debug, Default)]
pub(crate) struct Bundle {
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) image: Text,
    /// Images that are not valid references.
    pub(crate) invalid_images: Vec<InvalidImage>,
    /// Properties of type `olm.package`.
    pub(crate) versions: Vec<PackageProperty>,
    /// First property whose value does not have its type.
    pub(crate) property_fault: Option<PropertyFault>,
    /// Whether the bundle contains manifests.
    pub(crate) has_objects: bool,
    pub(crate) dependency: Option<(DependencyKind, Spot)>,
    /// Facts about the installation from its `olm.csv.metadata`.
    pub(crate) install: Option<InstallFacts>,
    pub(crate) min_kube_version: Text,
}

/// An image reference that is not valid.
#[derive(Debug)]
pub(crate) struct InvalidImage {
    /// Index in the related images. `None` for the image of the bundle itself.
    pub(crate) related: Option<usize>,
    pub(crate) image: Text,
    pub(crate) fault: ImageFault,
}

/// A property of type `olm.package`.
#[derive(Debug)]
pub(crate) struct PackageProperty {
    pub(crate) spot: Spot,
    pub(crate) name: Box<str>,
    pub(crate) version: Box<str>,
    pub(crate) release: Box<str>,
}

/// A property whose value does not have its type.
#[derive(Debug)]
pub(crate) struct PropertyFault {
    pub(crate) spot: Spot,
    pub(crate) index: usize,
    pub(crate) kind: Box<str>,
    pub(crate) fault: Fault,
}

/// An `olm.deprecations`.
#[derive(Debug)]
pub(crate) struct Deprecations {
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    pub(crate) entries: Vec<Deprecation>,
}

/// An entry of an `olm.deprecations`.
#[derive(Debug)]
pub(crate) struct Deprecation {
    pub(crate) spot: Spot,
    pub(crate) schema: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) message: Box<str>,
}

/// A key that has no effect, or is another spelling of a known one.
#[derive(Debug)]
pub(crate) struct UnknownKey {
    /// Place of the value.
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    /// Schema and name of the blob.
    pub(crate) blob: (Box<str>, Box<str>),
    /// Path of the object inside the blob, such as `entries[2]`. Empty for the blob itself.
    pub(crate) path: Box<str>,
    /// Name of the entry that contains the key, if any.
    pub(crate) entry: Option<Box<str>>,
    pub(crate) key: Box<str>,
    pub(crate) known: &'static [&'static str],
    /// Field that OLM assigns the value to anyway.
    pub(crate) read_as: Option<&'static str>,
}

/// A blob of a schema that OLM does not know.
#[derive(Debug)]
pub(crate) struct OtherBlob {
    /// Place of the schema.
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    pub(crate) schema: Box<str>,
}

/// A blob that could not be read, with its labels as far as they are known.
#[derive(Debug)]
pub(crate) struct UnreadBlob {
    /// Index of the file.
    pub(crate) file: u32,
    pub(crate) schema: Box<str>,
    pub(crate) package: Box<str>,
    pub(crate) name: Box<str>,
}

impl UnreadBlob {
    /// Whether the blob can be any package, channel or bundle.
    fn is_nameless(&self) -> bool {
        match &*self.schema {
            "" => true,
            "olm.package" => self.name.is_empty(),
            "olm.channel" | "olm.bundle" => self.name.is_empty() || self.package.is_empty(),
            _ => false,
        }
    }
}

/// A fault while reading, with its place.
#[derive(Debug)]
pub(crate) struct LoadFault {
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    pub(crate) what: LoadFaultKind,
}

/// Kind of a fault while reading.
#[derive(Debug)]
pub(crate) enum LoadFaultKind {
    /// Invalid syntax. `hint` is the line of YAML in which a value starts with a character that it must not.
    Syntax {
        malformed: FbcErrorKind,
        hint: Option<Box<str>>,
    },
    /// An item in the directory is not a file.
    NotAFile(NotAFile),
    /// A YAML scalar has a tag without a meaning.
    Tag { tag: Box<str>, value: Box<str> },
    /// A document is not a blob.
    NotAnObject(JsonKind),
    /// A label or the keys of a blob are invalid.
    Meta(FbcErrorKind),
    /// OLM v1 cannot store the blob under its name.
    Unfilable(FbcErrorKind),
    /// A blob has no schema.
    MissingSchema,
    /// A field of a blob of this schema has the wrong type.
    WrongType { schema: Box<str>, fault: Fault },
    /// The data of an `olm.bundle.object` is invalid.
    Object {
        bundle: Box<str>,
        index: usize,
        fault: Fault,
    },
}

impl LoadFaultKind {
    /// Whether the fault hides a blob that cannot be identified.
    fn loses(&self) -> bool {
        match self {
            Self::Syntax { .. } => true,
            Self::NotAnObject(found) => *found != JsonKind::Null,
            Self::Meta(FbcErrorKind::DuplicateKeys { folded, .. }) => {
                ["schema", "package", "name"].contains(&&**folded)
            }
            _ => false,
        }
    }
}

// === Invalid image references: found while a blob is read, located when it is kept ===

/// A blob, and its invalid image references if it is a bundle. Checking images is slow enough to run on other cores.
#[derive(Debug)]
pub struct ReadBlob<'a> {
    blob: Raw<'a>,
    images: Vec<ImageAt>,
}

/// An invalid image: its index in the related images, or `None` for the bundle's own.
type ImageAt = (Option<usize>, ImageFault);

impl<'a> ReadBlob<'a> {
    fn of(blob: Raw<'a>) -> Self {
        let images = invalid_images(&blob);
        Self { blob, images }
    }
}

/// Returns the invalid images of a blob, if it is a bundle.
fn invalid_images(blob: &Raw<'_>) -> Vec<ImageAt> {
    let raw::Value::Object(object) = &blob.value else {
        return Vec::new();
    };
    let RawContent::Bundle(bundle) = &object.content else {
        return Vec::new();
    };
    let own = std::iter::once((None, &bundle.image));
    let related = bundle.related_images.iter().enumerate();
    let all = own.chain(related.map(|(index, image)| (Some(index), image)));
    let invalid = all.filter_map(|(related, image)| Some((related, ImageFault::of(&image.text)?)));
    invalid.collect()
}

/// Adds the places to invalid images.
fn located(
    images: Vec<ImageAt>,
    bundle: &raw::RawBundle<'_>,
    locator: &mut Locator<'_>,
) -> Vec<InvalidImage> {
    let invalid = images.into_iter().filter_map(|(related, fault)| {
        let image = match related {
            Some(index) => bundle.related_images.get(index)?,
            None => &bundle.image,
        };
        let image = locator.kept(image);
        Some(InvalidImage {
            related,
            image,
            fault,
        })
    });
    invalid.collect()
}

// === Guardrails as written, with the place of each rule ===

/// A blob or a property that contains guardrails, in the known or in another version of the schema.
#[derive(Debug)]
pub(crate) struct Guardrails {
    pub(crate) carrier: Carrier,
    pub(crate) spot: Spot,
    pub(crate) schema: Box<str>,
    pub(crate) package: Box<str>,
    pub(crate) name: Box<str>,
    /// Contents of the guardrails. `None` in another version of the schema.
    pub(crate) stated: Option<Result<guardrail::Guardrails, UnreadGuardrails>>,
    /// Rules in the order written, if they can be read.
    pub(crate) rules: Vec<RuleSpot>,
    /// Place of the fault, if they cannot be read.
    pub(crate) fault: Spot,
}

/// Location of guardrails in a catalog.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Carrier {
    /// A separate blob.
    Blob,
    /// A property of the `olm.package`.
    Property,
}

/// A rule with its place.
#[derive(Debug)]
pub(crate) struct RuleSpot {
    pub(crate) id: Box<str>,
    pub(crate) spot: Spot,
    /// Whether the rule has a key `bypassable`.
    pub(crate) says_bypassable: bool,
}

impl Guardrails {
    /// Creates guardrails of an unknown version of the schema.
    fn unknown(carrier: Carrier, spot: Spot, schema: &str, (package, name): (&str, &str)) -> Self {
        Self {
            carrier,
            spot,
            schema: schema.into(),
            package: package.into(),
            name: name.into(),
            stated: None,
            rules: Vec::new(),
            fault: spot,
        }
    }

    /// Reads the guardrails of a blob, or of a property of a package.
    fn of(
        carrier: Carrier,
        written: &raw::RawGuardrails<'_>,
        names: (&str, &str),
        locator: &mut Locator<'_>,
    ) -> Self {
        let spot = locator.find(written.at);
        let mut own = Self::unknown(carrier, spot, &written.schema, names);
        if guardrail::is_of_other_version(&written.schema) {
            return own;
        }
        let stated = read_text(&written.text);
        match &stated {
            Ok(_) => own.rules = rules(written, locator),
            Err(unread) => {
                let rule = rule_of(&unread.path).and_then(|index| written.rules.get(index));
                own.fault = rule.map_or(spot, |at| locator.find(*at));
            }
        }
        own.stated = Some(stated);
        own
    }
}

/// Returns the rules of valid guardrails, with their places.
fn rules(written: &raw::RawGuardrails<'_>, locator: &mut Locator<'_>) -> Vec<RuleSpot> {
    let whole: serde_json::Value = serde_json::from_str(&written.text).unwrap_or_default();
    let rules = whole.get("rules").and_then(serde_json::Value::as_array);
    let rules = rules.into_iter().flatten().zip(&written.rules);
    let rules = rules.map(|(rule, at)| RuleSpot {
        id: rule
            .get("id")
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default()
            .into(),
        spot: locator.find(*at),
        says_bypassable: rule.get("bypassable").is_some_and(|said| !said.is_null()),
    });
    rules.collect()
}

/// Returns the index of the rule in a path such as `rules[2].via`.
fn rule_of(path: &str) -> Option<usize> {
    let (index, _) = path.strip_prefix("rules[")?.split_once(']')?;
    index.parse().ok()
}
