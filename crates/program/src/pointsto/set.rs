//! The points-to set of one node: a log in insertion order, with a bitmap once it is large.
//!
//! The log is what difference propagation needs: cursors into it say how far a consumer has read.
//! Invariant: no location is in the log twice.

/// Above this size membership is answered by the bitmap.
const LINEAR: usize = 12;
/// Words per page of the bitmap: 512 locations.
const PAGE: usize = 8;

type Page = [u64; PAGE];

/// Pages that hold at least one location.
#[derive(Default)]
struct Bitmap {
    /// Per page of the location space: position in `pages` plus one, 0 when empty.
    index: Vec<u32>,
    pages: Vec<Page>,
}

impl Bitmap {
    fn insert(&mut self, loc: u32) -> bool {
        let (page, word, bit) = split(loc);
        if page >= self.index.len() {
            self.index.resize(page + 1, 0);
        }
        if self.index[page] == 0 {
            self.pages.push([0; PAGE]);
            self.index[page] = self.pages.len() as u32;
        }
        let word = &mut self.pages[self.index[page] as usize - 1][word];
        let added = *word & bit == 0;
        *word |= bit;
        added
    }

    /// The words of a page of the location space.
    fn page(&self, page: usize) -> &Page {
        match self.index.get(page) {
            Some(&at) if at != 0 => &self.pages[at as usize - 1],
            _ => &[0; PAGE],
        }
    }

    fn is_subset(&self, other: &Bitmap) -> bool {
        let used = self.index.iter().enumerate().filter(|(_, at)| **at != 0);
        used.into_iter().all(|(page, &at)| {
            let own = &self.pages[at as usize - 1];
            own.iter().zip(other.page(page)).all(|(a, b)| a & !b == 0)
        })
    }

    fn remove(&mut self, loc: u32) {
        let (page, word, bit) = split(loc);
        if let Some(at) = self.index.get(page).filter(|at| **at != 0) {
            self.pages[*at as usize - 1][word] &= !bit;
        }
    }
}

fn split(loc: u32) -> (usize, usize, u64) {
    let loc = loc as usize;
    (loc / (PAGE * 64), loc / 64 % PAGE, 1 << (loc % 64))
}

#[derive(Default)]
pub(super) struct LocSet {
    log: Vec<u32>,
    bitmap: Option<Box<Bitmap>>,
}

impl LocSet {
    /// True when it was not there.
    pub fn insert(&mut self, loc: u32) -> bool {
        let added = match &mut self.bitmap {
            Some(bitmap) => bitmap.insert(loc),
            None => !self.log.contains(&loc),
        };
        if added {
            self.log.push(loc);
            if self.bitmap.is_none() && self.log.len() > LINEAR {
                self.build_bitmap();
            }
        }
        added
    }

    fn build_bitmap(&mut self) {
        let mut bitmap = Box::<Bitmap>::default();
        for &loc in &self.log {
            bitmap.insert(loc);
        }
        self.bitmap = Some(bitmap);
    }

    /// Drops locations; the cursors move with what stays before them.
    pub fn retain(&mut self, mut cursors: [&mut u32; 2], keep: impl Fn(u32) -> bool) {
        let Some(first) = self.log.iter().position(|&loc| !keep(loc)) else { return };
        let ends = cursors.each_ref().map(|c| **c as usize);
        let mut to = first;
        for from in first..self.log.len() {
            let loc = self.log[from];
            if keep(loc) {
                self.log[to] = loc;
                to += 1;
                continue;
            }
            if let Some(bitmap) = &mut self.bitmap {
                bitmap.remove(loc);
            }
            for (cursor, _) in cursors.iter_mut().zip(ends).filter(|(_, end)| from < *end) {
                **cursor -= 1;
            }
        }
        self.log.truncate(to);
        if to <= LINEAR {
            self.bitmap = None;
        }
    }

    /// Whether all of it is certainly in `other`; told without looking at each when both are large.
    pub fn is_known_subset(&self, other: &LocSet) -> bool {
        match (&self.bitmap, &other.bitmap) {
            (Some(own), Some(other)) => own.is_subset(other),
            _ => false,
        }
    }

    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// All locations in insertion order.
    pub fn as_slice(&self) -> &[u32] {
        &self.log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_stay_where_they_were() {
        let mut set = LocSet::default();
        (0..40).for_each(|loc| assert!(set.insert(loc)));
        let (mut a, mut b) = (10, 40);
        set.retain([&mut a, &mut b], |loc| loc % 2 == 1);
        assert_eq!((a, b, set.len()), (5, 20, 20));
        assert!(!set.insert(39) && set.insert(38));
    }

    #[test]
    fn keeps_order_and_refuses_duplicates_on_both_sides_of_the_bitmap() {
        let mut set = LocSet::default();
        let locs: Vec<u32> = (0..100).map(|i| i * 37 % 4001).collect();
        for &loc in &locs {
            assert!(set.insert(loc));
            assert!(!set.insert(loc));
        }
        assert_eq!(set.as_slice(), locs);
        assert!(!set.insert(37) && set.insert(38) && set.insert(1 << 20));
    }

    #[test]
    fn large_subsets_are_known() {
        let of = |locs: std::ops::Range<u32>| {
            let mut set = LocSet::default();
            locs.for_each(|loc| assert!(set.insert(loc * 100)));
            set
        };
        assert!(of(3..40).is_known_subset(&of(0..50)));
        assert!(!of(3..60).is_known_subset(&of(0..50)));
        assert!(!of(0..50).is_known_subset(&of(3..40)));
    }
}
