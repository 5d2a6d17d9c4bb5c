//! From blobs to the index.
//!
//! Upstream: operator-controller, `internal/operator-controller/catalogmetadata/cache/cache.go`: of
//! two blobs of one key the last one counts, and a package is what lies in its directory. OLM reads
//! the files of a directory at the same time, and nearly always gets them in the order in which it
//! walks them: that of their names, `NAME.json`, byte by byte. So `x-1.json` precedes `x.json`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use crate::catalog::blob::{self, BlobFault, Content, Key, Sink};
use crate::catalog::index::{Parts, index};
use crate::catalog::{Bundle, Catalog, Counts, PackageFault};
use crate::guardrail::{self, Guardrails, Unread};
use crate::olm::Rules;

/// Collects the blobs of one catalog.
#[derive(Debug)]
pub struct CatalogBuilder<'r> {
    rules: &'r Rules,
    folders: HashMap<Box<str>, Folder>,
    /// Whether the first value has no schema; absent before there is one.
    is_foreign: Option<bool>,
}

/// The blobs of one package. `top_level` tells a blob without a package from one of a package that
/// is named like its schema: both lie in one folder, in different places.
type Folder = BTreeMap<Place, Result<Filed, BlobFault>>;

#[derive(Debug, Eq, PartialEq)]
struct Place {
    top_level: bool,
    /// The directory; a blob with `/` in its name is in a further one.
    schema: Box<str>,
    /// `NAME.json`.
    file: Box<str>,
}

/// The order in which a walk comes to the files.
impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        let same_directory = || self.schema == other.schema;
        self.top_level.cmp(&other.top_level).then_with(|| {
            if same_directory() {
                self.file.cmp(&other.file)
            } else {
                self.path().cmp(other.path())
            }
        })
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Place {
    /// The path in bytes that order as a walk does: it compares the names of one directory, so a
    /// separator orders before any byte of a name.
    fn path(&self) -> impl Iterator<Item = u8> {
        let path = self.schema.bytes().chain([b'/']).chain(self.file.bytes());
        path.map(|byte| if byte == b'/' { 0 } else { byte })
    }
}

/// A blob as it waits for its package to be complete.
#[derive(Debug)]
enum Filed {
    Package(blob::Package<'static>),
    Channel(blob::Channel<'static>),
    Bundle(Bundle),
    Deprecations(Vec<blob::Deprecation<'static>>),
    Guardrails(Result<Guardrails, Unread>),
    Other,
}

impl<'r> CatalogBuilder<'r> {
    /// An empty catalog, to be read by the rules of one OLM.
    pub fn new(rules: &'r Rules) -> Self {
        Self {
            rules,
            folders: HashMap::new(),
            is_foreign: None,
        }
    }

    /// The index of all blobs taken.
    pub fn finish(self) -> Catalog {
        let folders: BTreeMap<_, _> = self.folders.into_iter().collect();
        let mut counts = Counts::default();
        let packages = folders.into_iter().map(|(name, folder)| {
            counts.add(&folder);
            let package = unpack(folder).map(index);
            (name, package)
        });
        Catalog {
            packages: packages.collect(),
            counts,
            is_foreign: self.is_foreign.unwrap_or(false),
        }
    }

    fn filed(&self, content: Content<'_>) -> Filed {
        match content {
            Content::Package(package) => Filed::Package(package.into_owned()),
            Content::Channel(channel) => Filed::Channel(channel.into_owned()),
            Content::Bundle(bundle) => Filed::Bundle(Bundle::read(bundle, self.rules)),
            Content::Deprecations(entries) => {
                let entries = entries.into_iter().map(blob::Deprecation::into_owned);
                Filed::Deprecations(entries.collect())
            }
            Content::Guardrails(text) => Filed::Guardrails(guardrails(&text)),
            Content::Other => Filed::Other,
        }
    }
}

impl Sink for CatalogBuilder<'_> {
    fn blob(&mut self, key: Key<'_>, content: Result<Content<'_>, BlobFault>) {
        self.is_foreign.get_or_insert(key.schema.is_empty());
        let folder = key.folder();
        if folder.is_empty() {
            return;
        }
        let filed = content.map(|content| self.filed(content));
        let place = Place {
            top_level: key.package.is_empty(),
            schema: key.schema.into(),
            file: format!("{}.json", key.name).into(),
        };
        match self.folders.get_mut(folder) {
            Some(blobs) => file(blobs, place, filed),
            None => {
                self.folders
                    .insert(folder.into(), Folder::from([(place, filed)]));
            }
        }
    }

    fn unfiled(&mut self, has_schema: bool) {
        self.is_foreign.get_or_insert(!has_schema);
    }
}

/// Files a blob where another may be: to OLM the later one counts, but of two guardrails nobody knows
/// which is meant.
fn file(blobs: &mut Folder, place: Place, filed: Result<Filed, BlobFault>) {
    let filed = match blobs.get(&place) {
        Some(Ok(Filed::Guardrails(_))) => {
            let twice = Unread::whole(guardrail::Problem::Twice);
            Ok(Filed::Guardrails(Err(twice)))
        }
        _ => filed,
    };
    blobs.insert(place, filed);
}

/// From the JSON that a blob or property was rewritten to.
pub(crate) fn guardrails(text: &str) -> Result<Guardrails, Unread> {
    let value = serde_json::from_str(text).unwrap_or_default();
    guardrail::read(&value)
}

impl Counts {
    fn add(&mut self, folder: &Folder) {
        let packaged = || folder.iter().filter(|(place, _)| !place.top_level);
        let of = |schema: &str| {
            packaged()
                .filter(|(place, _)| *place.schema == *schema)
                .count()
        };
        let other =
            |blob: &Result<Filed, _>| matches!(blob, Ok(Filed::Guardrails(_) | Filed::Other));
        self.packages += usize::from(packaged().next().is_some());
        self.channels += of("olm.channel");
        self.bundles += of("olm.bundle");
        self.others += packaged().filter(|(_, blob)| other(blob)).count();
    }
}

/// Sorts the blobs of a folder by what they are, unless one of them does not decode.
fn unpack(folder: Folder) -> Result<Parts, PackageFault> {
    let mut parts = Parts::default();
    let mut faults = Vec::new();
    for (place, blob) in folder {
        match blob {
            Ok(Filed::Channel(channel)) => parts.channels.push(channel),
            Ok(Filed::Bundle(bundle)) => parts.bundles.push(bundle),
            Ok(Filed::Deprecations(entries)) => {
                parts.deprecations.get_or_insert(entries);
            }
            Ok(Filed::Package(package)) => {
                parts.package.get_or_insert(package);
            }
            Ok(Filed::Guardrails(stated)) if !place.top_level => parts.guardrails.push(stated),
            Ok(Filed::Other) if guardrail::is_of_other_version(&place.schema) => {
                parts.other_guardrails.push(place.schema);
            }
            Ok(Filed::Guardrails(_) | Filed::Other) => {}
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() {
        Ok(parts)
    } else {
        Err(PackageFault { faults })
    }
}
