//! Typed `u32` ids that print as they stand in the text form (`v12`, `bb3`), and the arena they index.
//!
//! Invariant: an id is only meaningful in the arena of the module or function that issued it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A typed index.
pub trait Entity: Copy + Eq {
    fn new(index: usize) -> Self;
    fn index(self) -> usize;
}

macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl Entity for $name {
            fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 entities"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

entities! {
    /// A function of a module: declaration or definition.
    FuncId "f";
    /// A global variable of a module.
    GlobalId "g";
    /// A basic block of a function.
    BlockId "bb";
    /// An instruction of a function.
    InstId "i";
    /// An SSA value of a function: parameter, constant or instruction result.
    ValueId "v";
    /// A source variable (local or parameter) of a function.
    VarId "var";
    /// A source type of a module.
    TypeId "t";
    /// A source file of a module.
    FileId "file";
}

/// A vector indexed by one kind of id.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arena<K, V> {
    items: Vec<V>,
    key: PhantomData<K>,
}

impl<K: Entity, V> Arena<K, V> {
    pub fn new() -> Self {
        Self { items: Vec::new(), key: PhantomData }
    }
    pub fn push(&mut self, item: V) -> K {
        let id = K::new(self.items.len());
        self.items.push(item);
        id
    }
    /// The id the next `push` returns.
    pub fn next_id(&self) -> K {
        K::new(self.items.len())
    }
    pub fn len(&self) -> usize {
        self.items.len()
    }
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    pub fn get(&self, id: K) -> Option<&V> {
        self.items.get(id.index())
    }
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, V> {
        (0..self.items.len()).map(K::new)
    }
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(i, v)| (K::new(i), v))
    }
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (K, &mut V)> {
        self.items.iter_mut().enumerate().map(|(i, v)| (K::new(i), v))
    }
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.items.iter()
    }
    pub fn shrink_to_fit(&mut self) {
        self.items.shrink_to_fit();
    }
}

impl<K: Entity, V> Default for Arena<K, V> {
    fn default() -> Self {
        Self::new()
    }
}
impl<K: Entity, V> FromIterator<V> for Arena<K, V> {
    fn from_iter<T: IntoIterator<Item = V>>(iter: T) -> Self {
        Self { items: iter.into_iter().collect(), key: PhantomData }
    }
}
impl<K: Entity, V> Index<K> for Arena<K, V> {
    type Output = V;
    fn index(&self, id: K) -> &V {
        &self.items[id.index()]
    }
}
impl<K: Entity, V> IndexMut<K> for Arena<K, V> {
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.items[id.index()]
    }
}
impl<K: Entity, V: fmt::Debug> fmt::Debug for Arena<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}
