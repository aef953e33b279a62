//! The stretch of an object that the elements of an array lie in.

use serde::{Deserialize, Serialize};

/// Bytes from the start of the object: from `lo` on, and before `hi`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Area {
    pub lo: i64,
    pub hi: i64,
}

impl Area {
    /// Nothing is known: the elements may lie anywhere in the object.
    pub const WHOLE: Area = Area { lo: i64::MIN, hi: i64::MAX };

    pub fn contains(self, offset: i64) -> bool {
        (self.lo..self.hi).contains(&offset)
    }

    pub fn meets(self, other: Area) -> bool {
        self.lo < other.hi && other.lo < self.hi
    }

    /// How many bytes it goes on from an offset in it; `None` when nobody knows.
    pub fn rest_from(self, offset: i64) -> Option<i64> {
        (self.hi != i64::MAX).then(|| self.hi.saturating_sub(offset))
    }

    /// So many bytes from an offset on.
    pub fn from(offset: i64, length: Option<i64>) -> Area {
        match length {
            Some(length) => Area { lo: offset, hi: offset.saturating_add(length) },
            None => Area::WHOLE,
        }
    }
}
