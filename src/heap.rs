//! How much memory a value holds besides itself, as it asks an allocator for it.
//!
//! What the allocator rounds up and keeps for itself is not in it. Hash maps are counted as
//! hashbrown lays them out, B-trees with their nodes full.

use std::collections::{BTreeMap, HashMap};

/// A value that may hold memory besides itself.
pub(crate) trait Heap: Sized {
    /// The bytes of it.
    fn heap_bytes(&self) -> usize;
}

/// The bytes of items that stand side by side, and of what they hold.
fn side_by_side<T: Heap>(room: usize, items: &[T]) -> usize {
    room * size_of::<T>() + items.iter().map(Heap::heap_bytes).sum::<usize>()
}

impl Heap for Box<str> {
    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

impl<T: Heap> Heap for Box<T> {
    fn heap_bytes(&self) -> usize {
        size_of::<T>() + T::heap_bytes(self)
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

impl<K: Heap, V: Heap> Heap for HashMap<K, V> {
    /// One byte of control and room for one pair a bucket, and one group of control bytes more.
    fn heap_bytes(&self) -> usize {
        let room = match self.capacity() {
            0 => 0,
            held => (held * 8).div_ceil(7).next_power_of_two() * (size_of::<(K, V)>() + 1) + 16,
        };
        let pairs = self.iter().map(|(k, v)| k.heap_bytes() + v.heap_bytes());
        room + pairs.sum::<usize>()
    }
}

impl<K: Heap, V: Heap> Heap for BTreeMap<K, V> {
    /// A node has room for eleven pairs, and a pointer for each.
    fn heap_bytes(&self) -> usize {
        let room = self.len() * (size_of::<K>() + size_of::<V>() + size_of::<usize>());
        let pairs = self.iter().map(|(k, v)| k.heap_bytes() + v.heap_bytes());
        room + pairs.sum::<usize>()
    }
}
