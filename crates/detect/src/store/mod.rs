//! Results of earlier analyses, by what they were made of.
//!
//! The run of a function is found again when everything that it looked at is the same: the
//! function, what it refers to, whom it calls, and what the summaries of those say (`reuse` makes
//! the key of all that). An edit that does not change a function's summary therefore goes no
//! further than that function. No input or output: a store is filled from packs of bytes, one per
//! module, and gives back those that changed.

mod deep;
mod digest;
mod names;
mod pack;
mod result;
mod reuse;
mod wire;

pub use digest::Id;
pub use result::{Circumstances, fetch_report, keep_report, report_key};
pub use reuse::Reuse;

use pack::Pack;
use std::sync::{Mutex, PoisonError};

/// What is known, one pack per module of the program.
#[derive(Default)]
pub struct Store {
    packs: Vec<Mutex<Pack>>,
}

impl Store {
    /// From the packs of an earlier run, one per module; what cannot be read is empty.
    pub fn from_packs(packs: Vec<Vec<u8>>) -> Self {
        Self { packs: packs.iter().map(|bytes| Mutex::new(Pack::decode(bytes))).collect() }
    }

    pub fn empty(modules: usize) -> Self {
        Self { packs: (0..modules).map(|_| Mutex::default()).collect() }
    }

    /// The packs with new entries, by module.
    pub fn changed(&self) -> Vec<(usize, Vec<u8>)> {
        let packs = self.packs.iter().enumerate();
        packs.filter_map(|(i, p)| Some((i, lock(p).encode_changed()?))).collect()
    }

    fn get(&self, module: u32, key: &Id) -> Option<std::sync::Arc<[u8]>> {
        lock(self.packs.get(module as usize)?).get(key)
    }

    fn put(&self, module: u32, key: Id, entry: Vec<u8>) {
        if let Some(pack) = self.packs.get(module as usize) {
            lock(pack).put(key, entry);
        }
    }
}

fn lock(pack: &Mutex<Pack>) -> std::sync::MutexGuard<'_, Pack> {
    pack.lock().unwrap_or_else(PoisonError::into_inner)
}
