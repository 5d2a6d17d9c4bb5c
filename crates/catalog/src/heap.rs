//! Memory that a value takes besides itself, as an allocator rounds it.
//!
//! Hash maps are counted as hashbrown lays them out, and maps of JSON as the standard library does.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use smallvec::SmallVec;

/// A value that may hold memory besides itself.
pub trait Heap: Sized {
    /// Bytes of that memory.
    fn heap_bytes(&self) -> usize;
}

/// Implements [`Heap`] for a struct or an enum: the fields or variants before the semicolon can hold memory, the others
/// cannot. Each is named, so a new one is not forgotten.
macro_rules! heap_of {
    (enum $type:ty: $($holds:ident($($held:ident),+)),+; $($flat:ident),+) => {
        impl $crate::heap::Heap for $type {
            fn heap_bytes(&self) -> usize {
                match self {
                    $(Self::$holds($($held),+) => 0 $(+ $crate::heap::Heap::heap_bytes($held))+,)+
                    $(Self::$flat { .. } => 0,)+
                }
            }
        }
    };
    ($type:ty: $($holds:ident),+ $(; $($flat:ident),+)?) => {
        impl $crate::heap::Heap for $type {
            fn heap_bytes(&self) -> usize {
                let Self { $($holds,)+ $($($flat: _,)+)? } = self;
                0 $(+ $crate::heap::Heap::heap_bytes($holds))+
            }
        }
    };
}

/// Implements [`Heap`] for types that hold no memory besides themselves.
macro_rules! flat {
    ($($type:ty),+) => {
        $(impl $crate::heap::Heap for $type {
            fn heap_bytes(&self) -> usize {
                0
            }
        })+
    };
}

pub(crate) use {flat, heap_of};

flat!(u16, u32, u64, usize);

/// Memory that an allocator takes for so many bytes.
///
/// glibc adds 8, rounds up to 16 and takes 32 at least; the classes of mimalloc are an eighth apart.
pub const fn allocated(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    let classed = bytes.saturating_add(bytes / 8);
    let rounded = bytes.saturating_add(23) & !15;
    let larger = if classed > rounded { classed } else { rounded };
    if larger < 32 { 32 } else { larger }
}

/// Memory of a hash map with room for so many pairs, without the pairs' own memory: one byte of control
/// and room for one pair a bucket, and one group of control bytes more.
pub(crate) const fn table_bytes<K, V>(capacity: usize) -> usize {
    if capacity == 0 {
        return 0;
    }
    let buckets = capacity.saturating_mul(8).div_ceil(7).next_power_of_two();
    allocated(buckets * (size_of::<(K, V)>() + 1) + 16)
}

/// The bytes of items that stand side by side, and of what they hold.
fn side_by_side<T: Heap>(room: usize, items: &[T]) -> usize {
    allocated(room * size_of::<T>()) + items.iter().map(Heap::heap_bytes).sum::<usize>()
}

impl Heap for Box<str> {
    fn heap_bytes(&self) -> usize {
        allocated(self.len())
    }
}

impl Heap for Cow<'_, str> {
    /// A borrowed text is counted as it is once it is owned.
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
    /// A map is a tree whose nodes have room for eleven members each, and are half full at least.
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
    fn bytes_are_rounded_as_the_coarser_of_two_allocators_does() {
        for (bytes, taken) in [(0, 0), (1, 32), (24, 32), (25, 48), (40, 48), (800, 900)] {
            assert_eq!(allocated(bytes), taken, "{bytes}");
        }
        assert_eq!(allocated(usize::MAX), usize::MAX);
    }
}
