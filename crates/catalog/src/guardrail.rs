//! Guardrails: rules about the safe upgrade steps of a package, by its author or an administrator.
//!
//! ```text
//! blob of a catalog, property of its olm.package, file or object of an administrator
//!        \--read--> Guardrails { graph, rules }   or   UnreadGuardrails, which forbids every upgrade
//! ```
//!
//! OLM ignores guardrails. A catalog has them in a blob with its own schema, which every tool that
//! keeps unknown blobs keeps. Ranges have the grammar of `skipRange`, because authors write both in
//! the same file. This module only reads guardrails; `olmguard_engine::resolve::Guards` checks
//! steps against them.
//!
//! Invariant: invalid guardrails forbid every upgrade. Downgrades are left to the catalog. Among
//! valid guardrails, only the graph `Semver` forbids them, and whether that was intended is
//! unknown.

mod read;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use crate::memory::{Heap, heap_of};
use crate::version::comparator::VersionCut;
use crate::version::meaning::{self, Class};
use crate::version::{Extent, Membership, SkipRange, Version};

pub(crate) use crate::guardrail::read::VALUE_PER_BYTE;

pub use crate::guardrail::read::{
    API_VERSION, GuardrailProblem, GuardrailsObject, UnreadGuardrails, read, read_text,
};

/// The schema of a blob, or the type of a property, with guardrails.
pub const SCHEMA: &str = "olmguard.guardrails.v1alpha1";

/// Whether a schema is for guardrails of an unknown version.
pub fn is_of_other_version(schema: &str) -> bool {
    schema.starts_with("olmguard.guardrails.") && schema != SCHEMA
}

/// Rules about the upgrade steps of one package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Guardrails {
    /// The upgrade edges that exist before any rule removes some.
    pub graph: BaseGraph,
    /// The rules, in byte order of their ids. Their order has no meaning.
    pub rules: Box<[Rule]>,
}

word_set! {
    /// The upgrade edges that exist before any rule removes some.
    #[derive(Default)]
    pub enum BaseGraph {
        /// The edges of the catalog.
        #[default]
        Catalog => "Catalog",
        /// The edges of the semver rules.
        Semver => "Semver",
        /// The edges of both.
        CatalogOrSemver => "CatalogOrSemver",
    }
}

/// A rule, which forbids some steps and allows none.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// Unique id within the guardrails.
    pub id: Box<str>,
    /// Reason for the rule; empty if not set.
    pub reason: Box<str>,
    /// Whether the override lifts an administrator's rule. It lifts every rule of an author.
    pub bypassable: bool,
    /// The steps that the rule forbids.
    pub kind: RuleKind,
}

/// The steps that a rule forbids.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RuleKind {
    /// Steps that skip required versions.
    PassThrough(Box<Passage>),
    /// Steps that leave a minor version before its last patch.
    LatestPatchFirst {
        /// Versions that the rule applies to; `None` means every version.
        from: Option<Range>,
    },
    /// Steps that skip this many minor versions or more.
    MaxMinorStep(NonZeroU32),
    /// Steps that skip one of several waypoints.
    Waypoints(Box<[Passage]>),
    /// Steps from a release to a prerelease.
    Prerelease(Action),
}

/// Treatment of steps to prereleases.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Action {
    /// The steps are forbidden.
    Deny,
    /// The steps are allowed, even if the base graph is that of semver.
    Allow,
}

/// Versions of which at least one must be installed on the upgrade path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Passage {
    /// The required versions: one of them is enough.
    pub via: Range,
    /// Versions that the path starts from; `None` means all versions lower than `via`.
    pub from: Option<Range>,
    /// Versions that the path ends at; `None` means all versions higher than `via`.
    pub to: Option<Range>,
}

impl Passage {
    /// Whether a step skips the passage.
    pub fn is_passed_by(&self, from: &Version, to: &Version) -> bool {
        self.is_left_by(from) && self.is_overtaken_by(to)
    }

    /// Whether a step from this version can skip the passage, depending on its end.
    pub fn is_left_by(&self, from: &Version) -> bool {
        let starts = match &self.from {
            Some(range) => range.holds(from),
            None => self.via.is_above(from),
        };
        starts && !self.via.holds(from)
    }

    /// Whether a step to this version can skip the passage, depending on its start.
    pub fn is_overtaken_by(&self, to: &Version) -> bool {
        let ends = match &self.to {
            Some(range) => range.holds(to),
            None => self.via.is_below(to),
        };
        ends && !self.via.holds(to)
    }

    /// The ranges of the passage.
    pub fn ranges(&self) -> impl Iterator<Item = &Range> {
        [Some(&self.via), self.from.as_ref(), self.to.as_ref()]
            .into_iter()
            .flatten()
    }
}

impl RuleKind {
    /// The name of the kind in a file.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::PassThrough(_) => "PassThrough",
            Self::LatestPatchFirst { .. } => "LatestPatchFirst",
            Self::MaxMinorStep(_) => "MaxMinorStep",
            Self::Waypoints(_) => "Waypoints",
            Self::Prerelease(_) => "Prerelease",
        }
    }

    /// The passages that must not be skipped: none, one, or several in sequence.
    pub fn passages(&self) -> &[Passage] {
        match self {
            Self::PassThrough(passage) => std::slice::from_ref(passage),
            Self::Waypoints(passages) => passages,
            Self::LatestPatchFirst { .. } | Self::MaxMinorStep(_) | Self::Prerelease(_) => &[],
        }
    }

    /// The ranges that a step is compared with.
    fn ranges(&self) -> impl Iterator<Item = &Range> {
        let from = match self {
            Self::LatestPatchFirst { from } => from.as_ref(),
            _ => None,
        };
        let passages = self.passages().iter();
        passages.flat_map(Passage::ranges).chain(from)
    }
}

impl Guardrails {
    /// Maximum number of comparators that a step is compared with.
    pub fn comparators(&self) -> usize {
        let ranges = self.rules.iter().flat_map(|rule| rule.kind.ranges());
        ranges.map(Range::comparators).sum::<usize>() + self.rules.len()
    }
}

heap_of!(Guardrails: rules; graph);

impl Heap for Rule {
    fn heap_bytes(&self) -> usize {
        let own = match &self.kind {
            RuleKind::PassThrough(passage) => passage.heap_bytes(),
            RuleKind::Waypoints(passages) => passages.heap_bytes(),
            RuleKind::LatestPatchFirst { from } => from.heap_bytes(),
            RuleKind::MaxMinorStep(_) | RuleKind::Prerelease(_) => 0,
        };
        self.id.heap_bytes() + self.reason.heap_bytes() + own
    }
}

heap_of!(Passage: via, from, to);

// === A range of versions in a rule, with its lowest and highest version ===

/// A range in the grammar of `skipRange`. Two ranges are equal if their texts are.
#[derive(Clone, Debug)]
pub struct Range {
    versions: SkipRange,
    extent: Extent,
}

impl Range {
    /// Parses a range.
    ///
    /// # Errors
    /// The text is not a range, is too long, or is a range on which OLM would crash.
    pub fn parse(text: &str) -> Result<Self, GuardrailProblem> {
        let too_long = GuardrailProblem::RangeTooLong;
        if text.len() > MOST_BYTES {
            return Err(too_long);
        }
        let versions = SkipRange::parse(text)?;
        if versions.otherwise() == Membership::Crashes {
            return Err(GuardrailProblem::EmptyGroup);
        }
        match versions.extent() {
            Some(extent) => Ok(Self { versions, extent }),
            None => Err(too_long),
        }
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        self.versions.as_str()
    }

    /// Whether a version is in the range.
    pub fn holds(&self, version: &Version) -> bool {
        self.versions.takes(version) == Membership::Holds
    }

    /// Whether the whole range is higher than a version. A range without versions is.
    pub fn is_above(&self, version: &Version) -> bool {
        self.extent.is_above(version)
    }

    /// Whether the whole range is lower than a version. A range without versions is.
    pub fn is_below(&self, version: &Version) -> bool {
        self.extent.is_below(version)
    }

    /// The parsed range.
    fn versions(&self) -> &SkipRange {
        &self.versions
    }

    /// Number of comparators.
    pub(crate) fn comparators(&self) -> usize {
        self.versions.groups().iter().map(|group| group.len()).sum()
    }
}

impl PartialEq for Range {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Range {}

heap_of!(Range: versions, extent);

/// Maximum length of a range, in bytes. Every step of a search is compared with it.
const MOST_BYTES: usize = 512;

// === The guardrails of administrators, of any number of packages ===

/// Guardrails by administrators, in addition to the guardrails by the authors of packages.
#[derive(Clone, Debug, Default)]
pub struct AdministratorGuardrails {
    by_package: BTreeMap<Box<str>, Vec<ImposedBy>>,
    /// Guardrails that are so invalid that their package is unknown.
    on_all: Vec<ImposedBy>,
}

/// The guardrails of one document in an administrator's file, or of one object.
#[derive(Clone, Debug)]
pub struct ImposedBy {
    /// Location as shown in messages, such as `guardrails.yaml:3`. It has no directory, because a
    /// server has the file in another directory than a pipeline. An object is shown as
    /// `UpgradeGuardrails NAME`.
    pub place: Box<str>,
    /// The guardrails, or the reason why they are invalid.
    pub stated: Result<Guardrails, UnreadGuardrails>,
}

impl AdministratorGuardrails {
    /// Adds guardrails of a package. If the package is not known, they apply to every package.
    pub fn add(&mut self, package: Option<&str>, by: ImposedBy) {
        match package {
            Some(package) => self.by_package.entry(package.into()).or_default().push(by),
            None => self.on_all.push(by),
        }
    }

    /// Adds the guardrails of an object. Its kind and name are the location.
    pub fn add_object(&mut self, object: GuardrailsObject) {
        let place = format!("{} {}", GuardrailsObject::KIND, object.name).into();
        let stated = object.stated;
        self.add(object.package.as_deref(), ImposedBy { place, stated });
    }

    /// Appends all guardrails of another set.
    pub fn extend(&mut self, other: &Self) {
        for (package, said) in &other.by_package {
            let own = self.by_package.entry(package.clone()).or_default();
            own.extend(said.iter().cloned());
        }
        self.on_all.extend(other.on_all.iter().cloned());
    }

    /// The guardrails that apply to a package, in the order of the documents.
    pub fn on(&self, package: &str) -> impl Iterator<Item = &ImposedBy> + Clone {
        let own = self.by_package.get(package).map_or(&[][..], Vec::as_slice);
        self.on_all.iter().chain(own)
    }

    /// All guardrails, in byte order of the packages.
    pub fn iter(&self) -> impl Iterator<Item = &ImposedBy> {
        let packages = self.by_package.values().flatten();
        self.on_all.iter().chain(packages)
    }

    /// The packages with guardrails, in byte order.
    pub fn packages(&self) -> impl Iterator<Item = &str> {
        self.by_package.keys().map(|package| &**package)
    }

    /// Whether there are no guardrails.
    pub fn is_empty(&self) -> bool {
        self.by_package.is_empty() && self.on_all.is_empty()
    }
}

// === The guardrails of a package in its catalog, from all places that can have them ===

/// The guardrails of a package in its catalog.
#[derive(Clone, Debug, Default)]
pub struct AuthorGuardrails {
    stated: Option<Result<Guardrails, UnreadGuardrails>>,
    /// The schemas of blobs and the types of properties of an unknown version, which are ignored;
    /// in byte order, each once.
    of_other_versions: Box<[Box<str>]>,
}

impl AuthorGuardrails {
    /// Combines the guardrails of the package's blobs and of the properties of its `olm.package`.
    /// One blob is enough. One property is enough too, for tools that drop unknown blobs. If there
    /// are both, they must be equal.
    pub fn new(
        blobs: Vec<Result<Guardrails, UnreadGuardrails>>,
        properties: Vec<Result<Guardrails, UnreadGuardrails>>,
        mut of_other_versions: Vec<Box<str>>,
    ) -> Self {
        of_other_versions.sort_unstable();
        of_other_versions.dedup();
        let stated = match (single(blobs), single(properties)) {
            (Some(Ok(blob)), Some(Ok(property))) if blob != property => {
                Some(Err(UnreadGuardrails::whole(GuardrailProblem::Differ)))
            }
            (Some(Ok(_)), Some(Err(unread))) => Some(Err(unread)),
            (blob, property) => blob.or(property),
        };
        Self {
            stated,
            of_other_versions: of_other_versions.into(),
        }
    }

    /// The guardrails, or the reason why they are invalid; `None` if there are none.
    pub fn stated(&self) -> Option<Result<&Guardrails, &UnreadGuardrails>> {
        self.stated.as_ref().map(Result::as_ref)
    }

    /// The schemas of blobs and the types of properties of an unknown version.
    pub fn of_other_versions(&self) -> impl Iterator<Item = &str> {
        self.of_other_versions.iter().map(|schema| &**schema)
    }
}

heap_of!(AuthorGuardrails: stated, of_other_versions);

fn single(
    mut stated: Vec<Result<Guardrails, UnreadGuardrails>>,
) -> Option<Result<Guardrails, UnreadGuardrails>> {
    let first = stated.pop()?;
    if stated.is_empty() {
        Some(first)
    } else {
        Some(Err(UnreadGuardrails::whole(GuardrailProblem::Twice)))
    }
}

// === Ranges that are probably a mistake ===
//
// Between two neighbouring ends of its ranges, a rule treats all versions alike. So it is enough to
// test the lowest version above each end.

impl Passage {
    /// Whether any step can skip the passage.
    pub fn can_be_passed_by(&self) -> bool {
        let ends = self.ranges().flat_map(Range::ends);
        let ends: Vec<_> = ends.chain([VersionCut::bottom()]).collect();
        let versions: Vec<_> = ends.iter().filter_map(least_above).collect();
        self.can_be_passed_by_among(&versions, &versions)
    }

    /// Whether a step from one of the first versions to one of the second can skip the passage. A
    /// step from a version to itself counts, because each version may represent others.
    pub fn can_be_passed_by_among<'v>(
        &self,
        from: impl IntoIterator<Item = &'v Version>,
        to: impl IntoIterator<Item = &'v Version>,
    ) -> bool {
        let starts = from.into_iter().filter(|from| self.is_left_by(from));
        let ends = to.into_iter().filter(|to| self.is_overtaken_by(to));
        let lowest = starts.min_by(|a, b| a.cmp_precedence(b));
        let highest = ends.max_by(|a, b| a.cmp_precedence(b));
        let (Some(lowest), Some(highest)) = (lowest, highest) else {
            return false;
        };
        lowest.cmp_precedence(highest).is_le()
    }
}

impl Guardrails {
    /// Number of comparisons by [`Passage::can_be_passed_by`] for all passages. Each comparator has
    /// at most two ends. Each end is tested as the start and as the end of a step, against two
    /// ranges each.
    pub fn hint_comparisons(&self) -> usize {
        let passages = self.rules.iter().flat_map(|rule| rule.kind.passages());
        let work = passages.map(|passage| {
            let comparators: usize = passage.ranges().map(Range::comparators).sum();
            8_usize.saturating_mul(comparators.saturating_mul(comparators))
        });
        work.fold(0, usize::saturating_add)
    }
}

impl Range {
    /// Whether no version is in the range.
    pub fn is_empty(&self) -> bool {
        self.least().is_none()
    }

    /// Whether no version is higher than the whole range.
    pub fn is_open_above(&self) -> bool {
        let ends = self.ends();
        ends.last().is_some_and(|end| least_above(end).is_none())
    }

    /// Whether no version is lower than the whole range.
    pub fn is_open_below(&self) -> bool {
        let ends = self.ends();
        ends.first()
            .is_some_and(|begin| *begin <= VersionCut::bottom())
    }

    /// Whether the range unintentionally matches this prerelease: it starts at lower versions and
    /// ends below the prerelease's own release. For example, `>=1.3.0 <1.4.0` matches `1.4.0-rc.1`.
    pub fn ends_among_prereleases_like(&self, version: &Version) -> bool {
        let begins_before = || {
            let least = self.least();
            least.is_some_and(|least| core(&least) < core(version))
        };
        let ends_below = || {
            let release = release_of(version);
            release.is_some_and(|release| self.is_below(&release))
        };
        version.is_prerelease() && self.holds(version) && ends_below() && begins_before()
    }

    /// The lowest version in the range.
    fn least(&self) -> Option<Version> {
        let ends = self.ends();
        ends.first().and_then(least_above)
    }

    /// The ends of the range and of its gaps, in ascending order.
    fn ends(&self) -> Vec<VersionCut> {
        let intervals = meaning::skip_range(self.versions()).unwrap_or_default();
        let ends = intervals.into_iter();
        let ends = ends.flat_map(|interval| [interval.span.lower, interval.span.upper]);
        ends.collect()
    }
}

fn least_above(cut: &VersionCut) -> Option<Version> {
    let point = Class::All.least_above(cut)?;
    Version::parse(&point.to_string()).ok()
}

/// The release of a prerelease, with the same numbers.
fn release_of(version: &Version) -> Option<Version> {
    let (major, minor, patch) = core(version);
    Version::parse(&format!("{major}.{minor}.{patch}")).ok()
}

fn core(version: &Version) -> (u64, u64, u64) {
    (version.major(), version.minor(), version.patch())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Range {
        Range::parse(text).expect("a range")
    }

    #[test]
    fn a_rule_that_nothing_can_pass_by_is_known() {
        for (via, from, to, can) in [
            (">=1.3.0 <1.4.0", None, None, true),
            (">=1.3.0", None, None, false),
            ("<1.4.0", None, None, false),
            (">=1.3.0", None, Some(">=1.4.0"), false),
            (">=1.3.0 !=1.5.0", None, Some(">=1.4.0"), true),
            ("1.3.0", Some(">=2.0.0"), None, true),
            ("1.3.0", Some(">=2.0.0"), Some("<2.0.0"), false),
            ("1.3.0", Some(">2.0.0 <1.0.0"), None, false),
            ("1.3.0", Some("1.3.0"), None, false),
            (">2.0.0 <1.0.0", None, None, true),
            ("1.3.0", Some(">1.0.0-a <1.0.0-b"), None, true),
        ] {
            let passage = Passage {
                via: range(via),
                from: from.map(range),
                to: to.map(range),
            };
            assert_eq!(passage.can_be_passed_by(), can, "{via} {from:?} {to:?}");
        }
    }

    #[test]
    fn a_range_that_takes_prereleases_of_the_version_that_it_ends_below() {
        for (text, version, is) in [
            (">=1.3.0 <1.4.0", "1.4.0-rc.1", true),
            (">=1.3.0 <1.4.0-0", "1.4.0-rc.1", false),
            (">=1.3.0 <1.4.0", "1.3.5-rc.1", false),
            (">=1.3.0 <1.4.0", "1.4.0", false),
            (">=1.3.0 <=1.4.0", "1.4.0-rc.1", false),
            (">=1.4.0-0 <1.4.0", "1.4.0-rc.1", false),
            ("1.4.0-rc.1", "1.4.0-rc.1", false),
            (">2.0.0 <1.0.0", "1.0.0-rc.1", false),
        ] {
            let version = Version::parse(version).expect("a version");
            let range = range(text);
            assert_eq!(
                range.ends_among_prereleases_like(&version),
                is,
                "{text} {version}"
            );
        }
    }

    #[test]
    fn a_range_is_open_on_either_side() {
        for (text, below, above) in [
            (">=1.3.0 <1.4.0", false, false),
            (">=1.3.0", false, true),
            ("<1.4.0 || >=2.0.0", true, true),
            (">=0.0.0", false, true),
            (">2.0.0 <1.0.0", false, false),
        ] {
            let range = range(text);
            let found = (range.is_open_below(), range.is_open_above());
            assert_eq!(found, (below, above), "{text}");
        }
    }

    #[test]
    fn a_range_without_versions_is_empty() {
        assert!(range(">2.0.0 <1.0.0").is_empty());
        assert!(!range("1.0.0").is_empty());
    }
}
