//! A table from terms to terms for one walk over many of them.
//!
//! Terms that are looked at together were made together, so their numbers lie close: a table in
//! pages needs no hashing, never moves what it holds, and is as large as what was looked at.

use crate::Term;

const PAGE: usize = 64;
const ABSENT: Term = Term(u32::MAX);

#[derive(Default)]
pub(crate) struct Pages {
    pages: Vec<Option<Box<[Term; PAGE]>>>,
}

impl Pages {
    pub fn get(&self, t: Term) -> Option<Term> {
        let page = self.pages.get(t.0 as usize / PAGE)?.as_ref()?;
        Some(page[t.0 as usize % PAGE]).filter(|&found| found != ABSENT)
    }

    pub fn insert(&mut self, t: Term, found: Term) {
        let number = t.0 as usize / PAGE;
        if number >= self.pages.len() {
            self.pages.resize_with(number + 1, || None);
        }
        let page = self.pages[number].get_or_insert_with(|| Box::new([ABSENT; PAGE]));
        page[t.0 as usize % PAGE] = found;
    }
}
