//! Parses the words of a range, without access to the range.

use std::cmp::Ordering;

use olmguard_catalog::version::{Masterminds, MastermindsVersion, Membership, Version};

/// Meaning of a sentence.
pub(crate) struct Meaning {
    releases: Vec<Stretch>,
    prereleases: Vec<Stretch>,
    otherwise: Membership,
}

struct Stretch {
    lower: Option<(MastermindsVersion, Bound)>,
    upper: Option<(MastermindsVersion, Bound)>,
    missing: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Bound {
    Included,
    Excluded,
}

impl Meaning {
    pub(crate) fn read(words: &str) -> Self {
        let panics = "; on every other version the controller panics";
        let (words, otherwise) = match words.strip_suffix(panics) {
            Some(words) => (words, Membership::Crashes),
            None => (words, Membership::HoldsNot),
        };
        let (releases, prereleases) = if let Some(list) = words.strip_suffix("; releases only") {
            (list, "nothing")
        } else if let Some(list) = words.strip_suffix("; prereleases only") {
            ("nothing", list)
        } else if let Some(list) = words.strip_suffix("; prereleases included") {
            (list, list)
        } else if let Some(both) = words.strip_prefix("releases: ") {
            both.split_once("; prereleases: ").expect("both classes")
        } else {
            (words, words)
        };
        Self {
            releases: list(releases),
            prereleases: list(prereleases),
            otherwise,
        }
    }

    pub(crate) fn takes(&self, version: &Version) -> Membership {
        let list = if version.is_prerelease() {
            &self.prereleases
        } else {
            &self.releases
        };
        if list.iter().any(|stretch| stretch.contains(version)) {
            Membership::Holds
        } else {
            self.otherwise
        }
    }

    pub(crate) fn is_open_above(&self) -> bool {
        self.releases
            .iter()
            .chain(&self.prereleases)
            .any(|stretch| stretch.upper.is_none())
    }
}

impl Stretch {
    fn contains(&self, version: &Version) -> bool {
        let place = point(&version.to_string());
        let is_in = |bound: &Option<(MastermindsVersion, Bound)>, inside: Ordering| match bound {
            None => true,
            Some((end, bound)) => match place.cmp_precedence(end) {
                Ordering::Equal => *bound == Bound::Included,
                other => other == inside,
            },
        };
        let minor = format!("{}.{}", version.major(), version.minor());
        let is_missing = |(line, prerelease): &(String, String)| {
            *line == minor && prerelease == version.prerelease()
        };
        is_in(&self.lower, Ordering::Greater)
            && is_in(&self.upper, Ordering::Less)
            && !self.missing.iter().any(is_missing)
    }
}

fn list(words: &str) -> Vec<Stretch> {
    match words {
        "nothing" => Vec::new(),
        _ => words.split(" or ").map(stretch).collect(),
    }
}

fn stretch(words: &str) -> Stretch {
    let (words, missing) = match words.split_once(" except ") {
        Some((words, missing)) => (words, missing.split(" and ").map(line).collect()),
        None => (words, Vec::new()),
    };
    let (lower, upper) = bounds(words);
    Stretch {
        lower,
        upper,
        missing,
    }
}

type End = Option<(MastermindsVersion, Bound)>;

fn bounds(words: &str) -> (End, End) {
    use Bound::{Excluded, Included};
    let some = |text, bound| Some((point(text), bound));
    if words == "any version" {
        (None, None)
    } else if let Some(only) = words.strip_prefix("exactly ") {
        (some(only, Included), some(only, Included))
    } else if let Some(end) = words.strip_prefix("below ") {
        (None, some(end, Excluded))
    } else if let Some(end) = words.strip_prefix("up to ") {
        (None, some(end, Included))
    } else if let Some((from, end)) = words.split_once(" up to, but without, ") {
        (start(from), some(end, Excluded))
    } else if let Some((from, end)) = words.split_once(" up to ") {
        (start(from), some(end, Included))
    } else {
        (start(words), None)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "an end like the others")]
fn start(words: &str) -> End {
    if let Some(version) = words.strip_prefix("from ") {
        return Some((point(version), Bound::Included));
    }
    let version = words.strip_prefix("above ").expect(words);
    Some((point(version), Bound::Excluded))
}

fn line(words: &str) -> (String, String) {
    let (minor, prerelease) = words.split_once(".*-").expect("a patch line");
    (minor.to_owned(), prerelease.to_owned())
}

/// Parses a bound, which can have numeric identifiers beyond 64 bits. Only Masterminds reads these.
fn point(text: &str) -> MastermindsVersion {
    MastermindsVersion::parse(text, Masterminds::V3_4).expect("a version in the words")
}
