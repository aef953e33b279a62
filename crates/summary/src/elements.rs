//! The elements of an array as one cell, and which other cells they may be.

use crate::vocabulary::Slot;
use leakproof_guard::Area;
use serde::{Deserialize, Serialize};

/// The cells at `rem` modulo `stride`, within an area of the object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Elements {
    pub stride: u32,
    pub rem: u32,
    pub area: Area,
}

impl Elements {
    /// The elements of which one is `offset` bytes into the object.
    pub fn around(offset: i64, stride: u32, area: Area) -> Self {
        let stride = stride.max(1);
        Self { stride, rem: offset.rem_euclid(i64::from(stride)) as u32, area }
    }

    /// The first of them, or the first behind the object's start when their area is unknown.
    pub fn first(self) -> i64 {
        let (stride, rem) = (i64::from(self.stride.max(1)), i64::from(self.rem));
        match self.area {
            Area::WHOLE => rem,
            Area { lo, .. } => lo + (rem - lo).rem_euclid(stride),
        }
    }

    /// So many bytes further on. Where they are in an unknown area, they are there now as well.
    pub fn moved(self, by: i64) -> Self {
        match self.area {
            Area::WHOLE => self,
            Area { lo, hi } => {
                let area = Area { lo: lo.saturating_add(by), hi: hi.saturating_add(by) };
                Self::around(i64::from(self.rem).wrapping_add(by), self.stride, area)
            }
        }
    }

    /// Another field of the same elements, so many bytes further on.
    pub fn moved_within(self, by: i64) -> Self {
        Self::around(i64::from(self.rem).wrapping_add(by), self.stride, self.area)
    }

    /// Whether one of them may be at an offset.
    pub fn covers(self, offset: i64) -> bool {
        let stride = i64::from(self.stride.max(1));
        self.area.contains(offset) && (offset - i64::from(self.rem)).rem_euclid(stride) == 0
    }

    /// Whether a cell may be one of them.
    pub fn meets(self, slot: Slot) -> bool {
        match slot {
            Slot::At(offset) => self.covers(offset),
            Slot::Every(other) => {
                let g = gcd(self.stride.max(1), other.stride.max(1));
                self.area.meets(other.area) && other.rem % g == self.rem % g
            }
            _ => false,
        }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(lo: i64, hi: i64) -> Elements {
        Elements::around(lo, 8, Area { lo, hi })
    }

    #[test]
    fn elements_stay_in_their_array() {
        let array = within(8, 24);
        assert!(array.meets(Slot::At(8)) && array.meets(Slot::At(16)));
        assert!(!array.meets(Slot::At(0)) && !array.meets(Slot::At(24)));
        assert!(!array.meets(Slot::Every(within(24, 40))));
    }

    #[test]
    fn elements_of_an_unknown_array_may_be_anything_in_step() {
        let all = Elements::around(0, 8, Area::WHOLE);
        assert!(all.meets(Slot::At(64)) && all.meets(Slot::Every(within(24, 40))));
        assert!(!all.meets(Slot::At(4)));
    }

    #[test]
    fn a_moved_array_takes_its_area_along() {
        let moved = within(8, 24).moved(16);
        assert_eq!((moved.area, moved.first()), (Area { lo: 24, hi: 40 }, 24));
    }
}
