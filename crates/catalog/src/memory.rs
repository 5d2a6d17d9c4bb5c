//! Memory accounting of catalogs while they are built, and the heap memory of values.
//!
//! ```text
//! Pool (all catalogs) <-- Account (one catalog) <-- Loan (temporary memory for reading it)
//! ```
//!
//! Bytes are counted before they are allocated, rounded as an allocator does. An account that was
//! refused memory once stays refused. So every later step of the same reading stops, whichever step
//! noticed first. A [`Catalog`](super::Catalog) keeps its account: its bytes return to the pool
//! when the last user of the catalog drops it. A reading whose result is no longer needed keeps its
//! account until it ends, because its memory is still in use.
//!
//! Invariant: the bytes taken from a pool are the sum of the bytes taken from its accounts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use smallvec::SmallVec;

/// Memory for all catalogs of a process.
#[derive(Clone, Debug)]
pub struct Pool(Arc<PoolBounds>);

#[derive(Debug)]
struct PoolBounds {
    each: usize,
    all: usize,
    taken: AtomicUsize,
}

/// The part of a pool that one catalog uses. Clones are the same account.
#[derive(Clone, Debug)]
pub struct Account(Arc<TakenMemory>);

#[derive(Debug)]
struct TakenMemory {
    pool: Pool,
    bytes: AtomicUsize,
    refused: OnceLock<TooLarge>,
}

/// Bytes of an account that are returned when this is dropped.
#[derive(Debug, Default)]
pub struct Loan {
    account: Account,
    bytes: usize,
    /// The maximum of `bytes` so far.
    most: usize,
}

/// The reason why a catalog is not loaded: it needs more memory than it can use.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TooLarge {
    /// The catalog needs more than one catalog can use.
    #[error(
        "the catalog needs more than {} of memory, the most that one catalog can use; make it \
         smaller, or raise the memory limit", mebibytes(*.limit)
    )]
    Each {
        /// Bytes that one catalog can use.
        limit: usize,
    },
    /// The catalog needs more than the other catalogs leave.
    #[error(
        "with this catalog all catalogs need more than {} of memory, the most that they can use \
         together; remove catalogs, or raise the memory limit", mebibytes(*.limit)
    )]
    All {
        /// Bytes that all catalogs can use.
        limit: usize,
    },
}

impl Pool {
    /// Creates a pool in which one catalog can use `each` bytes, and all catalogs together `all`.
    pub fn new(each: usize, all: usize) -> Self {
        let taken = AtomicUsize::new(0);
        Self(Arc::new(PoolBounds { each, all, taken }))
    }

    /// Creates a pool without a limit, for content that is limited elsewhere.
    pub fn unbounded() -> Self {
        Self::new(usize::MAX, usize::MAX)
    }

    /// Opens an account for another catalog.
    pub fn account(&self) -> Account {
        Account(Arc::new(TakenMemory {
            pool: self.clone(),
            bytes: AtomicUsize::new(0),
            refused: OnceLock::new(),
        }))
    }

    /// Bytes that one catalog can use, and bytes that all catalogs can use.
    pub fn limits(&self) -> (usize, usize) {
        (self.0.each, self.0.all)
    }

    /// Bytes that the accounts of the pool have taken.
    pub fn taken(&self) -> usize {
        self.0.taken.load(Ordering::Relaxed)
    }
}

impl Default for Account {
    /// Opens an account without a limit.
    fn default() -> Self {
        Pool::unbounded().account()
    }
}

impl Account {
    /// Bytes that the account has taken.
    pub fn taken(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Returns an error if the account was refused memory.
    ///
    /// # Errors
    /// The reason of the first refusal.
    pub fn check(&self) -> Result<(), TooLarge> {
        self.0.refused.get().map_or(Ok(()), |refused| Err(*refused))
    }

    /// Takes bytes permanently.
    ///
    /// # Errors
    /// If the catalog, or all catalogs, would then use more than they can. In this case nothing is
    /// taken.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), TooLarge> {
        self.check()?;
        if bytes == 0 {
            return Ok(());
        }
        let PoolBounds { each, all, taken } = &*self.0.pool.0;
        let refused = if !add(&self.0.bytes, bytes, *each) {
            TooLarge::Each { limit: *each }
        } else if !add(taken, bytes, *all) {
            self.0.bytes.fetch_sub(bytes, Ordering::Relaxed);
            TooLarge::All { limit: *all }
        } else {
            return Ok(());
        };
        Err(*self.0.refused.get_or_init(|| refused))
    }

    /// Returns bytes that were taken.
    pub(crate) fn give_back(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.0.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.0.pool.0.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes bytes temporarily.
    ///
    /// # Errors
    /// The errors of `Self::take`.
    pub fn lend(&self, bytes: usize) -> Result<Loan, TooLarge> {
        let mut loan = self.loan();
        loan.more(bytes)?;
        Ok(loan)
    }

    /// Creates an empty loan.
    pub fn loan(&self) -> Loan {
        Loan {
            account: self.clone(),
            bytes: 0,
            most: 0,
        }
    }
}

impl Loan {
    /// The account that the bytes are taken from.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Bytes of the loan.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The maximum of the bytes so far.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Takes more bytes.
    pub fn more(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.account.take(bytes)?;
        self.bytes += bytes;
        self.most = self.most.max(self.bytes);
        Ok(())
    }

    /// Returns some of the bytes.
    pub fn less(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.account.give_back(bytes);
        self.bytes -= bytes;
    }

    /// Keeps this many bytes permanently, and returns the rest.
    pub(crate) fn keep(mut self, bytes: usize) -> Result<(), TooLarge> {
        self.more(bytes.saturating_sub(self.bytes))?;
        self.bytes -= bytes;
        Ok(())
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.account.give_back(self.bytes);
    }
}

impl Drop for TakenMemory {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        self.pool.0.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Adds to a sum unless it would exceed the limit. A refused addition is never visible to other threads, which would be
/// refused because of it.
fn add(sum: &AtomicUsize, bytes: usize, limit: usize) -> bool {
    let more = |before: usize| before.checked_add(bytes).filter(|sum| *sum <= limit);
    let added = sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    added.is_ok()
}

/// A number of bytes in a message.
fn mebibytes(bytes: usize) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{bytes} bytes")
    }
}

// === Heap memory of values, rounded as an allocator does ===
//
// Hash maps are counted by the layout of hashbrown, and JSON maps by the layout of the standard
// library.

/// A value that can own heap memory.
pub trait Heap: Sized {
    /// Bytes of heap memory, without the value itself.
    fn heap_bytes(&self) -> usize;
}

/// Implements [`Heap`] for a struct or an enum. The fields or variants before the semicolon can own
/// heap memory, the others cannot. All are named, so a new one cannot be forgotten.
macro_rules! heap_of {
    (enum $type:ty: $($holds:ident($($held:ident),+)),+ $(; $($flat:ident),+)?) => {
        impl $crate::memory::Heap for $type {
            fn heap_bytes(&self) -> usize {
                match self {
                    $(Self::$holds($($held),+) => 0 $(+ $crate::memory::Heap::heap_bytes($held))+,)+
                    $($(Self::$flat { .. } => 0,)+)?
                }
            }
        }
    };
    ($type:ty: $($holds:ident),+ $(; $($flat:ident),+)?) => {
        impl $crate::memory::Heap for $type {
            fn heap_bytes(&self) -> usize {
                let Self { $($holds,)+ $($($flat: _,)+)? } = self;
                0 $(+ $crate::memory::Heap::heap_bytes($holds))+
            }
        }
    };
}

/// Implements [`Heap`] for types without heap memory.
macro_rules! flat {
    ($($type:ty),+) => {
        $(impl $crate::memory::Heap for $type {
            fn heap_bytes(&self) -> usize {
                0
            }
        })+
    };
}

pub(crate) use {flat, heap_of};

flat!(u16, u32, u64, usize);

/// Memory that an allocator uses for an allocation of this size.
///
/// glibc adds 8 bytes, rounds up to a multiple of 16 and uses at least 32. The size classes of
/// mimalloc are an eighth apart.
pub const fn allocated(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    let classed = bytes.saturating_add(bytes / 8);
    let rounded = bytes.saturating_add(23) & !15;
    let larger = if classed > rounded { classed } else { rounded };
    if larger < 32 { 32 } else { larger }
}

/// Memory of a hash map with room for `capacity` pairs, without the pairs' own heap memory. Each
/// bucket has one control byte and room for one pair; one further group of control bytes follows.
pub(crate) const fn table_bytes<K, V>(capacity: usize) -> usize {
    if capacity == 0 {
        return 0;
    }
    let buckets = capacity.saturating_mul(8).div_ceil(7).next_power_of_two();
    allocated(buckets * (size_of::<(K, V)>() + 1) + 16)
}

/// Bytes of a contiguous list with room for `room` items, including the items' heap memory.
fn side_by_side<T: Heap>(room: usize, items: &[T]) -> usize {
    allocated(room * size_of::<T>()) + items.iter().map(Heap::heap_bytes).sum::<usize>()
}

impl Heap for Box<str> {
    fn heap_bytes(&self) -> usize {
        allocated(self.len())
    }
}

impl Heap for Cow<'_, str> {
    /// Counts a borrowed text like an owned one, because it becomes owned.
    fn heap_bytes(&self) -> usize {
        allocated(self.len())
    }
}

impl<A: smallvec::Array> Heap for SmallVec<A>
where
    A::Item: Heap,
{
    fn heap_bytes(&self) -> usize {
        let room = if self.spilled() { self.capacity() } else { 0 };
        side_by_side(room, self)
    }
}

impl<T: Heap> Heap for Box<T> {
    fn heap_bytes(&self) -> usize {
        allocated(size_of::<T>()) + T::heap_bytes(self)
    }
}

impl<T: Heap> Heap for Box<[T]> {
    fn heap_bytes(&self) -> usize {
        side_by_side(self.len(), self)
    }
}

impl<T: Heap> Heap for Vec<T> {
    fn heap_bytes(&self) -> usize {
        side_by_side(self.capacity(), self)
    }
}

impl<T: Heap> Heap for Option<T> {
    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, Heap::heap_bytes)
    }
}

impl<T: Heap, E: Heap> Heap for Result<T, E> {
    fn heap_bytes(&self) -> usize {
        match self {
            Ok(value) => value.heap_bytes(),
            Err(error) => error.heap_bytes(),
        }
    }
}

impl<K: Heap, V: Heap, S> Heap for HashMap<K, V, S> {
    fn heap_bytes(&self) -> usize {
        let pairs = self.iter().map(|(k, v)| k.heap_bytes() + v.heap_bytes());
        table_bytes::<K, V>(self.capacity()) + pairs.sum::<usize>()
    }
}

impl<A: Heap, B: Heap> Heap for (A, B) {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.1.heap_bytes()
    }
}

impl Heap for Value {
    /// Counts a map as a tree whose nodes have room for eleven members and are at least half full.
    fn heap_bytes(&self) -> usize {
        match self {
            Self::String(text) => allocated(text.capacity()),
            Self::Array(items) => items.heap_bytes(),
            Self::Object(members) => {
                let node = allocated(11 * size_of::<(String, Self)>() + 13 * size_of::<usize>());
                let pairs = members
                    .iter()
                    .map(|(key, value)| allocated(key.capacity()) + value.heap_bytes());
                members.len().div_ceil(6) * node + pairs.sum::<usize>()
            }
            Self::Null | Self::Bool(_) | Self::Number(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn one_catalog_can_use_no_more_than_its_bound() {
        let pool = Pool::new(100, 1000);
        let account = pool.account();
        account.take(60).unwrap();
        let refused = TooLarge::Each { limit: 100 };
        assert_eq!(account.take(41), Err(refused));
        assert_eq!((account.taken(), pool.taken()), (60, 60));
        assert_eq!(
            account.take(1),
            Err(refused),
            "refused once, refused for good"
        );
        assert_eq!(account.check(), Err(refused));
    }

    #[test]
    fn all_catalogs_can_use_no_more_than_theirs() {
        let pool = Pool::new(100, 150);
        let (first, second) = (pool.account(), pool.account());
        first.take(90).unwrap();
        assert_eq!(second.take(61), Err(TooLarge::All { limit: 150 }));
        assert_eq!((second.taken(), pool.taken()), (0, 90));
        let third = pool.account();
        third.take(60).unwrap();
        drop(first);
        assert_eq!(pool.taken(), 60, "what is dropped returns its bytes");
        third.take(40).unwrap();
    }

    #[test]
    fn a_loan_is_returned_but_for_what_is_kept() {
        let pool = Pool::new(100, 100);
        let account = pool.account();
        drop(account.lend(100).unwrap());
        assert_eq!(pool.taken(), 0);
        let mut loan = account.lend(50).unwrap();
        loan.more(30).unwrap();
        loan.less(10);
        assert_eq!(account.taken(), 70);
        loan.keep(20).unwrap();
        assert_eq!((account.taken(), pool.taken()), (20, 20));
        account.lend(0).unwrap().keep(30).unwrap();
        assert_eq!(account.taken(), 50, "more is kept than was lent");
    }

    #[test]
    fn sums_that_overflow_are_refused() {
        let account = Account::default();
        account.take(usize::MAX).unwrap();
        assert!(account.take(1).is_err());
        assert_eq!(account.taken(), usize::MAX);
    }

    #[test]
    fn the_reason_has_the_bound_and_what_to_do() {
        let each = TooLarge::Each { limit: 96 << 20 };
        assert_eq!(
            each.to_string(),
            "the catalog needs more than 96 MiB of memory, the most that one catalog can use; make \
             it smaller, or raise the memory limit"
        );
        let all = TooLarge::All { limit: 1000 };
        assert_eq!(
            all.to_string(),
            "with this catalog all catalogs need more than 1000 bytes of memory, the most that they \
             can use together; remove catalogs, or raise the memory limit"
        );
    }

    #[test]
    fn bytes_are_rounded_as_the_coarser_of_two_allocators_does() {
        for (bytes, taken) in [(0, 0), (1, 32), (24, 32), (25, 48), (40, 48), (800, 900)] {
            assert_eq!(allocated(bytes), taken, "{bytes}");
        }
        assert_eq!(allocated(usize::MAX), usize::MAX);
    }
}
