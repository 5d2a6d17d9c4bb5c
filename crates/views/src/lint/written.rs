//! A catalog as it is written: every blob in the order of the files, each part with its place.
//!
//! Unlike [`olmguard_catalog::Catalog`] it keeps what no program would accept, for that is what is
//! looked for.

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
    /// Which file.
    pub(crate) file: u32,
    /// Counted from 1.
    pub(crate) line: u32,
    /// Counted from 1, in characters.
    pub(crate) column: u32,
}

impl Spot {
    /// This place, or the other one if a part is absent and has none.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::default() { other } else { self }
    }
}

/// One catalog.
#[derive(Debug, Default)]
pub struct WrittenCatalog {
    /// What it is called.
    pub(crate) name: Box<str>,
    pub(crate) files: Vec<Box<str>>,
    /// The first file with guardrails of an administrator, if there are any; then nothing else is reported on.
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
    /// Blobs that could not be read: what names them is right.
    pub(crate) unread: Vec<UnreadBlob>,
    pub(crate) faults: Vec<LoadFault>,
}

impl WrittenCatalog {
    /// The packages that its blobs are about, perhaps several times.
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

    /// Whether a package, a channel or a bundle could not be read of which not even package and name are known.
    pub(crate) fn has_lost(&self) -> bool {
        let is_lost = |fault: &LoadFault| fault.what.loses() && !self.is_imposed(fault.spot);
        self.unread.iter().any(UnreadBlob::is_nameless) || self.faults.iter().any(is_lost)
    }

    /// The file of a place.
    pub(crate) fn file(&self, spot: Spot) -> &str {
        self.files.get(spot.file as usize).map_or("", |file| file)
    }

    /// Whether the catalog is a directory, and the place is in a file of it.
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
    /// What a key `channel` says.
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

/// A string and its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    pub(crate) spot: Spot,
    pub(crate) text: Box<str>,
}

/// An `olm.bundle`.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) image: Text,
    /// The images that are no valid references.
    pub(crate) invalid_images: Vec<InvalidImage>,
    /// Its properties of type `olm.package`.
    pub(crate) versions: Vec<PackageProperty>,
    /// The first property whose value is not of its type.
    pub(crate) property_fault: Option<PropertyFault>,
    /// Whether manifests stand in it.
    pub(crate) has_objects: bool,
    pub(crate) dependency: Option<(DependencyKind, Spot)>,
    /// What its `olm.csv.metadata` says about the installation.
    pub(crate) install: Option<InstallFacts>,
    pub(crate) min_kube_version: Text,
}

/// An image that cannot be read.
#[derive(Debug)]
pub(crate) struct InvalidImage {
    /// Which of the related images; none for the bundle's own.
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

/// A property whose value is not of its type.
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

/// An entry of it.
#[derive(Debug)]
pub(crate) struct Deprecation {
    pub(crate) spot: Spot,
    pub(crate) schema: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) message: Box<str>,
}

/// A key that has no effect, or is another spelling of one that has.
#[derive(Debug)]
pub(crate) struct UnknownKey {
    /// Where the value stands.
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    /// The blob that has it: schema and name.
    pub(crate) blob: (Box<str>, Box<str>),
    /// The object inside the blob, such as `entries[2]`; empty for the blob itself.
    pub(crate) path: Box<str>,
    /// The name of the entry that has it, if one has.
    pub(crate) entry: Option<Box<str>>,
    pub(crate) key: Box<str>,
    pub(crate) known: &'static [&'static str],
    /// The field that OLM reads it as anyway.
    pub(crate) read_as: Option<&'static str>,
}

/// A blob of a schema that OLM does not know.
#[derive(Debug)]
pub(crate) struct OtherBlob {
    /// Where the schema stands.
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    pub(crate) schema: Box<str>,
}

/// A blob that could not be read, as far as it says what it is.
#[derive(Debug)]
pub(crate) struct UnreadBlob {
    /// The file that it stands in.
    pub(crate) file: u32,
    pub(crate) schema: Box<str>,
    pub(crate) package: Box<str>,
    pub(crate) name: Box<str>,
}

impl UnreadBlob {
    /// Whether it can be any package, channel or bundle.
    fn is_nameless(&self) -> bool {
        match &*self.schema {
            "" => true,
            "olm.package" => self.name.is_empty(),
            "olm.channel" | "olm.bundle" => self.name.is_empty() || self.package.is_empty(),
            _ => false,
        }
    }
}

/// Something that could not be read.
#[derive(Debug)]
pub(crate) struct LoadFault {
    pub(crate) spot: Spot,
    pub(crate) package: Box<str>,
    pub(crate) what: LoadFaultKind,
}

/// What is wrong with it.
#[derive(Debug)]
pub(crate) enum LoadFaultKind {
    /// The text; `hint` is the line of YAML that begins a value with a character that it must not.
    Syntax {
        malformed: FbcErrorKind,
        hint: Option<Box<str>>,
    },
    /// It stands in the folder and is no file.
    NotAFile(NotAFile),
    /// A scalar of YAML stands behind a tag that means nothing.
    Tag { tag: Box<str>, value: Box<str> },
    /// A document is no blob.
    NotAnObject(JsonKind),
    /// A label of a blob, or its keys.
    Meta(FbcErrorKind),
    /// OLM v1 cannot file it.
    Unfilable(FbcErrorKind),
    /// It has no schema.
    MissingSchema,
    /// A field of a blob of this schema.
    WrongType { schema: Box<str>, fault: Fault },
    /// The data of an `olm.bundle.object`.
    Object {
        bundle: Box<str>,
        index: usize,
        fault: Fault,
    },
}

impl LoadFaultKind {
    /// Whether it is not known which blob it loses.
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

// === Images that are no valid references: found where a blob is read, located where it is kept ===

/// A blob, and what is wrong with the images of a bundle: finding that is worth another core.
#[derive(Debug)]
pub struct ReadBlob<'a> {
    blob: Raw<'a>,
    images: Vec<ImageAt>,
}

/// An invalid image: which of the related ones, none for the bundle's own.
type ImageAt = (Option<usize>, ImageFault);

impl<'a> ReadBlob<'a> {
    fn of(blob: Raw<'a>) -> Self {
        let images = invalid_images(&blob);
        Self { blob, images }
    }
}

/// The invalid images of a blob, if it is a bundle.
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

/// Those images with their places.
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

// === What is written of upgrade steps, with the place of each rule ===

/// A blob or a property that holds guardrails, or would in another version of the schema.
#[derive(Debug)]
pub(crate) struct Guardrails {
    pub(crate) carrier: Carrier,
    pub(crate) spot: Spot,
    pub(crate) schema: Box<str>,
    pub(crate) package: Box<str>,
    pub(crate) name: Box<str>,
    /// What they say; none in another version of the schema.
    pub(crate) stated: Option<Result<guardrail::Guardrails, UnreadGuardrails>>,
    /// The rules in the order written, if they can be read.
    pub(crate) rules: Vec<RuleSpot>,
    /// Where they cannot be read.
    pub(crate) fault: Spot,
}

/// What holds guardrails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Carrier {
    /// A blob of its own.
    Blob,
    /// A property of the `olm.package`.
    Property,
}

/// Where a rule stands.
#[derive(Debug)]
pub(crate) struct RuleSpot {
    pub(crate) id: Box<str>,
    pub(crate) spot: Spot,
    /// Whether it has a key `bypassable`.
    pub(crate) says_bypassable: bool,
}

impl Guardrails {
    /// Of a version of the schema that is not known here.
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

    /// What is written in a blob, or in a property of a package.
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

/// The rules of guardrails that can be read.
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

/// Which rule a field such as `rules[2].via` is of.
fn rule_of(path: &str) -> Option<usize> {
    let (index, _) = path.strip_prefix("rules[")?.split_once(']')?;
    index.parse().ok()
}
