//! Builds the index of a catalog from its blobs.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/cache/cache.go`].
//! If two blobs have one key, the last one counts. A package consists of the files in its
//! directory. OLM reads the files of a directory concurrently, but nearly always receives them in
//! the order of the directory walk: the order of their names, `NAME.json`, byte by byte. So
//! `x-1.json` precedes `x.json`.
//!
//! [`internal/operator-controller/catalogmetadata/cache/cache.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/cache/cache.go

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::blob::{self, BlobContent, BlobFault, BlobKey, Sink, UnfiledObject};
use crate::guardrail::{self, Guardrails, UnreadGuardrails};
use crate::index::{PackageParts, index};
use crate::memory::{Account, Heap, Loan, TooLarge, allocated, heap_of, table_bytes};
use crate::olm::Rules;
use crate::owned::OwnedChannel;
use crate::{BlobCounts, Bundle, Catalog, Package, PackageFault};

/// Collects the blobs of one catalog.
#[derive(Debug)]
pub struct CatalogBuilder<'r> {
    rules: &'r Rules,
    account: Account,
    folders: HashMap<Box<str>, PackageFolder>,
    /// Whether the first value has no schema; `None` before the first value.
    is_foreign: Option<bool>,
}

/// The blobs of one package. `top_level` distinguishes a blob without a package from a blob of a
/// package that is named like its schema: both are in one directory, at different levels.
#[derive(Debug, Default)]
struct PackageFolder {
    blobs: BTreeMap<BlobFolder, Result<PendingBlob, BlobFault>>,
    /// Bytes taken from the account.
    taken: usize,
}

#[derive(Debug, Eq)]
struct BlobFolder {
    top_level: bool,
    /// The directory. A blob with `/` in its name is in a subdirectory.
    schema: Cow<'static, str>,
    /// `NAME.json`.
    file: Box<str>,
}

/// The order in which a directory walk visits the files.
impl Ord for BlobFolder {
    fn cmp(&self, other: &Self) -> Ordering {
        let is_nested = |one: &Self| one.file.contains('/');
        let same_directory =
            || self.schema == other.schema && !is_nested(self) && !is_nested(other);
        self.top_level.cmp(&other.top_level).then_with(|| {
            if same_directory() {
                self.file.cmp(&other.file)
            } else {
                self.path().cmp(other.path())
            }
        })
    }
}

/// Equal paths are the same file, wherever the directory part ends.
impl PartialEq for BlobFolder {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl PartialOrd for BlobFolder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl BlobFolder {
    /// The path as bytes that sort in the order of a directory walk. The walk compares the names in
    /// one directory, so a separator sorts before any byte of a name.
    fn path(&self) -> impl Iterator<Item = u8> {
        let path = self.schema.bytes().chain([b'/']).chain(self.file.bytes());
        path.map(|byte| if byte == b'/' { 0 } else { byte })
    }
}

/// A blob that waits until its package is complete.
#[derive(Debug)]
enum PendingBlob {
    Package(blob::PackageBlob<'static>),
    Channel(OwnedChannel),
    Bundle(Bundle),
    Deprecations(Vec<blob::DeprecationEntry<'static>>),
    Guardrails(Result<Guardrails, UnreadGuardrails>),
    Other,
}

impl<'r> CatalogBuilder<'r> {
    /// Creates a builder without a memory limit, for the rules of one OLM release.
    pub fn new(rules: &'r Rules) -> Self {
        Self::within(rules, Account::default())
    }

    /// Creates a builder that can use as much memory as its account allows.
    pub fn within(rules: &'r Rules, account: Account) -> Self {
        Self {
            rules,
            account,
            folders: HashMap::new(),
            is_foreign: None,
        }
    }

    /// Builds the index of all blobs that were received.
    ///
    /// # Errors
    /// If the index needs more memory than the account allows.
    pub fn finish(self) -> Result<Catalog, TooLarge> {
        let Self {
            account,
            folders,
            is_foreign,
            ..
        } = self;
        account.check()?;
        let table = table_bytes::<Box<str>, PackageFolder>(folders.capacity());
        let list = allocated(folders.len() * size_of::<(Box<str>, PackageFolder)>());
        let sorting = account.lend(list)?;
        let mut folders: Vec<_> = folders.into_iter().collect();
        account.give_back(table);
        folders.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let mut counts = BlobCounts::default();
        account.take(allocated(folders.len() * PACKAGE))?;
        let mut packages = Vec::with_capacity(folders.len());
        for (name, folder) in folders {
            counts.add(&folder);
            packages.push((name, indexed(folder, &account)?));
        }
        drop(sorting);
        Ok(Catalog {
            packages,
            counts,
            is_foreign: is_foreign.unwrap_or(false),
            account,
        })
    }

    fn filed(&self, content: BlobContent<'_>) -> PendingBlob {
        match content {
            BlobContent::Package(package) => PendingBlob::Package(package.into_owned()),
            BlobContent::Channel(channel) => PendingBlob::Channel(OwnedChannel::of(&channel)),
            BlobContent::Bundle(bundle) => PendingBlob::Bundle(Bundle::read(bundle, self.rules)),
            BlobContent::Deprecations(entries) => {
                let entries = entries.into_iter().map(blob::DeprecationEntry::into_owned);
                PendingBlob::Deprecations(entries.collect())
            }
            BlobContent::Guardrails(text) => PendingBlob::Guardrails(guardrail::read_text(&text)),
            BlobContent::Other => PendingBlob::Other,
        }
    }
}

impl Sink for CatalogBuilder<'_> {
    fn memory(&self) -> Account {
        self.account.clone()
    }

    fn blob(&mut self, key: BlobKey<'_>, content: Result<BlobContent<'_>, BlobFault>) {
        self.is_foreign.get_or_insert(key.schema.is_empty());
        if !key.folder().is_empty() {
            // The account records a refusal. The reader then stops, and `finish` fails.
            self.file(key, content).unwrap_or_default();
        }
    }

    fn unfiled(&mut self, object: UnfiledObject) {
        self.is_foreign.get_or_insert(object != UnfiledObject::Blob);
    }
}

impl CatalogBuilder<'_> {
    fn file(
        &mut self,
        key: BlobKey<'_>,
        content: Result<BlobContent<'_>, BlobFault>,
    ) -> Result<(), TooLarge> {
        let place = allocated(key.schema.len()) + 2 * allocated(key.name.len() + ".json".len());
        let loan = self
            .account
            .lend(place + content.heap_bytes() + working(&content))?;
        let filed = content.map(|content| self.filed(content));
        let place = BlobFolder {
            top_level: key.package.is_empty(),
            schema: schema(key.schema),
            file: [key.name, ".json"].concat().into(),
        };
        if let Some(folder) = self.folders.get_mut(key.folder()) {
            return folder.file(place, filed, loan);
        }
        self.make_room()?;
        self.account.take(allocated(key.folder().len()))?;
        let mut folder = PackageFolder::default();
        let is_filed = folder.file(place, filed, loan);
        self.folders.insert(key.folder().into(), folder);
        is_filed
    }

    /// Makes room for one more directory.
    fn make_room(&mut self) -> Result<(), TooLarge> {
        let (held, room) = (self.folders.len(), self.folders.capacity());
        if held == room {
            // While the pairs move, there are two tables.
            self.account
                .take(table_bytes::<Box<str>, PackageFolder>(room + 1))?;
            self.folders.reserve(1);
            self.account
                .give_back(table_bytes::<Box<str>, PackageFolder>(room));
        }
        Ok(())
    }
}

impl PackageFolder {
    /// Files a blob, perhaps in the place of an earlier one. For OLM the later blob counts. If two
    /// guardrails have the same key, the intended one is unknown, so neither counts. The rest of
    /// the loan is returned.
    fn file(
        &mut self,
        place: BlobFolder,
        filed: Result<PendingBlob, BlobFault>,
        mut loan: Loan,
    ) -> Result<(), TooLarge> {
        let node = if self.blobs.len().is_multiple_of(NODE_AT_LEAST) {
            NODE
        } else {
            0
        };
        loan.more(node)?;
        let mut kept = node + place.heap_bytes();
        let filed = match self.blobs.entry(place) {
            Entry::Vacant(vacant) => vacant.insert(filed),
            Entry::Occupied(earlier) => {
                let earlier = earlier.into_mut();
                loan.less(kept);
                kept = 0;
                self.taken -= earlier.heap_bytes();
                loan.account().give_back(earlier.heap_bytes());
                let twice = matches!(earlier, Ok(PendingBlob::Guardrails(_)));
                *earlier = if twice {
                    let twice = UnreadGuardrails::whole(guardrail::GuardrailProblem::Twice);
                    Ok(PendingBlob::Guardrails(Err(twice)))
                } else {
                    filed
                };
                earlier
            }
        };
        kept += filed.heap_bytes();
        self.taken += kept;
        loan.keep(kept)
    }
}

/// Returns a schema, without an allocation for the known ones.
fn schema(name: &str) -> Cow<'static, str> {
    let known = SCHEMAS.iter().find(|known| **known == name);
    known.map_or_else(
        || Cow::Owned(name.to_owned()),
        |known| Cow::Borrowed(*known),
    )
}

/// Memory for decoding a blob, without the memory of the result.
fn working(content: &Result<BlobContent<'_>, BlobFault>) -> usize {
    match content {
        Ok(BlobContent::Bundle(bundle)) => {
            let parsed = bundle.package_property.heap_bytes();
            parsed.saturating_mul(VERSION_PER_BYTE)
        }
        Ok(BlobContent::Guardrails(text)) => text.len().saturating_mul(guardrail::VALUE_PER_BYTE),
        Ok(BlobContent::Channel(channel)) => channel.entries.len() * OwnedChannel::PER_ENTRY,
        _ => 0,
    }
}

heap_of!(BlobFolder: schema, file; top_level);

heap_of!(enum PendingBlob:
    Package(blob), Channel(blob), Bundle(blob), Deprecations(entries), Guardrails(stated); Other
);

impl BlobCounts {
    fn add(&mut self, folder: &PackageFolder) {
        let blobs = folder.blobs.iter();
        let mut packaged = blobs.filter(|(place, _)| !place.top_level).peekable();
        self.packages += usize::from(packaged.peek().is_some());
        for (place, blob) in packaged {
            // A blob with a `/` in its name is filed under another schema.
            match (&*place.schema, blob) {
                ("olm.channel", _) | (_, Ok(PendingBlob::Channel(_))) => self.channels += 1,
                ("olm.bundle", _) | (_, Ok(PendingBlob::Bundle(_))) => self.bundles += 1,
                _ => {}
            }
            let is_other = matches!(blob, Ok(PendingBlob::Guardrails(_) | PendingBlob::Other));
            self.others += usize::from(is_other);
        }
    }
}

/// Indexes the blobs of a directory, or returns why that fails. The memory of the directory is
/// returned to the account.
fn indexed(
    folder: PackageFolder,
    account: &Account,
) -> Result<Result<Package, PackageFault>, TooLarge> {
    let PackageFolder { blobs, taken } = folder;
    // Lists that grow exist twice while they move, and are up to half empty.
    let lists = account.lend(allocated(3 * blobs.len().max(FEW) * PART))?;
    let indexed = match unpack(blobs) {
        Ok(parts) => Ok(index(parts, account)?),
        Err(fault) => {
            account.take(fault.heap_bytes())?;
            Err(fault)
        }
    };
    drop(lists);
    account.give_back(taken);
    Ok(indexed)
}

/// Sorts the blobs of a directory by kind, unless one of them cannot be decoded.
fn unpack(
    blobs: BTreeMap<BlobFolder, Result<PendingBlob, BlobFault>>,
) -> Result<PackageParts, PackageFault> {
    let is_bundle = |blob: &&Result<_, _>| matches!(blob, Ok(PendingBlob::Bundle(_)));
    let mut parts = PackageParts {
        bundles: Vec::with_capacity(blobs.values().filter(is_bundle).count()),
        ..PackageParts::default()
    };
    let mut faults = Vec::new();
    for (place, blob) in blobs {
        match blob {
            Ok(PendingBlob::Channel(channel)) => parts.channels.push(channel),
            Ok(PendingBlob::Bundle(bundle)) => parts.bundles.push(bundle),
            Ok(PendingBlob::Deprecations(entries)) => {
                parts.deprecations.get_or_insert(entries);
            }
            Ok(PendingBlob::Package(package)) => {
                parts.package.get_or_insert(package);
            }
            Ok(PendingBlob::Guardrails(stated)) if !place.top_level => {
                parts.guardrails.push(stated);
            }
            Ok(PendingBlob::Other) if guardrail::is_of_other_version(&place.schema) => {
                parts.other_guardrails.push(place.schema.into());
            }
            Ok(PendingBlob::Guardrails(_) | PendingBlob::Other) => {}
            Err(fault) => faults.push(fault),
        }
    }
    faults.shrink_to_fit();
    if faults.is_empty() {
        Ok(parts)
    } else {
        Err(PackageFault { faults })
    }
}

/// Known schemas, the most frequent first.
const SCHEMAS: [&str; 4] = [
    "olm.bundle",
    "olm.channel",
    "olm.package",
    "olm.deprecations",
];

/// Memory per package in the list of a catalog.
const PACKAGE: usize = size_of::<(Box<str>, Result<Package, PackageFault>)>();

/// The largest part that [`unpack`] sorts into a list.
const PART: usize = {
    let (bundle, fault) = (size_of::<Bundle>(), size_of::<BlobFault>());
    if bundle > fault { bundle } else { fault }
};

/// Capacity of a list after its first allocation.
const FEW: usize = 4;

/// A node of a B-tree of blobs: eleven of them, and up to twelve pointers.
const NODE: usize =
    allocated(11 * size_of::<(BlobFolder, Result<PendingBlob, BlobFault>)>() + 12 * 8 + 16);

/// A B-tree splits a full node into halves of five and six, so one node per five blobs is never too
/// few.
const NODE_AT_LEAST: usize = 5;

/// Memory to parse a version, per byte of its text: an identifier of one letter and a dot is 24
/// bytes in a list that may be growing, and an allocation.
const VERSION_PER_BYTE: usize = 64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn files() -> impl Strategy<Value = BlobFolder> {
        let names = ("a(/b)?", "[/.0ab]{1,4}", any::<bool>());
        names.prop_map(|(schema, file, top_level)| BlobFolder {
            top_level,
            schema: schema.into(),
            file: file.into(),
        })
    }

    proptest! {
        #[test]
        fn files_are_equal_and_ordered_by_their_paths(one in files(), other in files()) {
            let path = |file: &BlobFolder| (file.top_level, file.path().collect::<Vec<_>>());
            prop_assert_eq!(one.cmp(&other), path(&one).cmp(&path(&other)));
            prop_assert_eq!(one == other, one.cmp(&other).is_eq());
        }
    }
}
