//! Marks of symbols: a few bits that whoever makes a symbol gives it, and that every term has of
//! all the symbols in it. So whether a term speaks of some kind of symbol needs no walk.

use std::ops::BitOr;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks(u16);

impl Marks {
    pub const NONE: Marks = Marks(0);
    /// Of terms in which a value is one of several, not known which.
    pub const ANY: Marks = Marks(1 << 15);

    pub const ALL: Marks = Marks(u16::MAX);

    /// A mark of its own; there are fifteen.
    pub const fn bit(number: u32) -> Self {
        assert!(number < 15);
        Marks(1 << number)
    }

    pub const fn with(self, other: Marks) -> Self {
        Marks(self.0 | other.0)
    }

    pub fn intersects(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there are no others than these.
    pub fn within(self, others: Marks) -> bool {
        self.0 & !others.0 == 0
    }
}

impl BitOr for Marks {
    type Output = Marks;
    fn bitor(self, other: Marks) -> Marks {
        self.with(other)
    }
}
