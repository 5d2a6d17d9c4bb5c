//! A place in the order of versions: the numbers and the prerelease, without build metadata.
//!
//! Semantic precedence, as `Compare` of blang/semver and Masterminds/semver: numbers first; a
//! prerelease lies below its release; identifiers left to right.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::sync::{Arc, LazyLock};

use super::identifier::Identifiers;
use crate::heap::{Heap, allocated};

/// The three numbers, ordered by significance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Core {
    pub(crate) major: u64,
    pub(crate) minor: u64,
    pub(crate) patch: u64,
}

impl Core {
    /// `0.0.0`.
    pub const ZERO: Self = Self::new(0, 0, 0);

    pub(crate) const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// The next numbers; none after the highest.
    pub(crate) fn successor(self) -> Option<Self> {
        match self.patch.checked_add(1) {
            Some(patch) => Some(Self { patch, ..self }),
            None => self.next_minor(),
        }
    }

    /// The first numbers above all of this major.minor.
    pub(crate) fn next_minor(self) -> Option<Self> {
        match self.minor.checked_add(1) {
            Some(minor) => Some(Self::new(self.major, minor, 0)),
            None => self.next_major(),
        }
    }

    /// The first numbers above all of this major.
    pub(crate) fn next_major(self) -> Option<Self> {
        self.major
            .checked_add(1)
            .map(|major| Self::new(major, 0, 0))
    }
}

impl Core {
    /// The length of its text in bytes.
    fn text_len(self) -> usize {
        let numbers = [self.major, self.minor, self.patch];
        numbers.map(digit_count).iter().sum::<usize>() + 2
    }
}

impl fmt::Display for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        number(f, self.major)?;
        f.write_char('.')?;
        number(f, self.minor)?;
        f.write_char('.')?;
        number(f, self.patch)
    }
}

/// Writes a number: versions are in every message many times, and `write!` takes several times longer.
fn number(f: &mut fmt::Formatter<'_>, number: u64) -> fmt::Result {
    let mut digits = [b'0'; MOST_DIGITS];
    let mut rest = number;
    let count = digit_count(number);
    for digit in digits.iter_mut().take(count).rev() {
        let [last, ..] = (rest % 10).to_le_bytes();
        *digit += last;
        rest /= 10;
    }
    let digits = digits.get(..count).unwrap_or_default();
    f.write_str(str::from_utf8(digits).unwrap_or_default())
}

/// How many digits a number has.
fn digit_count(number: u64) -> usize {
    number
        .checked_ilog10()
        .map_or(1, |power| power as usize + 1)
}

/// The digits of the greatest number.
const MOST_DIGITS: usize = 20;

/// The prerelease of a version, perhaps none. None is the highest, since a release ends the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prerelease(Option<Arc<Identifiers>>);

impl Prerelease {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn new(identifiers: Identifiers) -> Self {
        Self(Some(Arc::new(identifiers)))
    }

    fn lowest() -> Self {
        Self(Some(Arc::clone(&LOWEST)))
    }

    /// Whether the version is a release.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// The text, `""` when there is none.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().map_or("", Identifiers::as_str)
    }
}

impl Heap for Prerelease {
    fn heap_bytes(&self) -> usize {
        let counters = 2 * size_of::<usize>();
        let own = self.0.as_ref().filter(|one| !Arc::ptr_eq(one, &LOWEST));
        own.map_or(0, |own| {
            allocated(counters + size_of::<Identifiers>()) + own.heap_bytes()
        })
    }
}

impl Ord for Prerelease {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(one), Some(other)) => one.cmp(other),
        }
    }
}

impl PartialOrd for Prerelease {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Numbers and prerelease. The derived order is semantic precedence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// Major, minor and patch.
    pub core: Core,
    /// The prerelease, if it has one.
    pub prerelease: Prerelease,
}

impl Heap for Point {
    fn heap_bytes(&self) -> usize {
        self.prerelease.heap_bytes()
    }
}

impl Point {
    /// The release with these numbers.
    pub const fn release(core: Core) -> Self {
        Self {
            core,
            prerelease: Prerelease::NONE,
        }
    }

    /// The lowest prerelease with these numbers, e.g. `1.2.3-0`.
    pub fn lowest(core: Core) -> Self {
        Self {
            core,
            prerelease: Prerelease::lowest(),
        }
    }

    /// The length of its text in bytes.
    pub(crate) fn text_len(&self) -> usize {
        let prerelease = match self.prerelease.as_str() {
            "" => 0,
            prerelease => prerelease.len() + 1,
        };
        self.core.text_len() + prerelease
    }

    /// The next place in the order; none after the highest release.
    pub(crate) fn successor(&self) -> Option<Self> {
        match &self.prerelease.0 {
            None => self.core.successor().map(Self::lowest),
            Some(identifiers) => Some(Self {
                core: self.core,
                prerelease: Prerelease::new(identifiers.successor()),
            }),
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)?;
        match self.prerelease.as_str() {
            "" => Ok(()),
            prerelease => {
                f.write_char('-')?;
                f.write_str(prerelease)
            }
        }
    }
}

/// `0`, below which there is none. Each range without a lower end begins there, so all share it.
static LOWEST: LazyLock<Arc<Identifiers>> = LazyLock::new(|| Arc::new(Identifiers::zero()));
