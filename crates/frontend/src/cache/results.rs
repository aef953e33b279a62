//! What analyses made of units: bytes that mean nothing here.
//!
//! A *report* is the result for a whole program under a key that its maker chose. A *pack* holds what
//! is known about the functions of one unit, under the unit's key: there is one, and it is
//! replaced as a whole.

use super::{Cache, UnitKey};
use std::sync::atomic::Ordering;

const REPORT: &str = "report";
pub(super) const PACK: &str = "pack";

/// Results of the units of a project.
#[derive(Debug)]
pub struct Results {
    cache: Cache,
    /// One per module.
    units: Vec<UnitKey>,
}

impl Results {
    pub(crate) fn new(cache: Cache, units: Vec<UnitKey>) -> Self {
        Self { cache, units }
    }

    pub fn keep_report(&self, key: &[u8], bytes: &[u8]) {
        self.cache.keep_report(key, bytes);
    }

    /// One per module, in their order; empty where there is none.
    pub fn packs(&self) -> Vec<Vec<u8>> {
        let read = |unit: &UnitKey| self.cache.read(&unit.0, PACK).unwrap_or_default();
        self.units.iter().map(read).collect()
    }

    /// Replaces the packs of these modules.
    pub fn keep_packs(&self, packs: &[(usize, Vec<u8>)]) {
        for (module, bytes) in packs {
            if let Some(unit) = self.units.get(*module) {
                self.cache.keep(&unit.0, PACK, bytes);
                self.cache.wrote.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Keeps the folder below its limit.
    pub fn trim(&self) {
        self.cache.trim();
    }
}

impl Cache {
    pub fn report(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.read(key, REPORT)
    }

    fn keep_report(&self, key: &[u8], bytes: &[u8]) {
        self.keep(key, REPORT, bytes);
        self.wrote.store(true, Ordering::Relaxed);
    }
}
