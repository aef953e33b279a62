//! The states of its sources in which a unit was seen, latest first.

use super::Hash;
use super::files::{Check, FileRecord, FileTable};
use serde::{Deserialize, Serialize};

/// More states than this are not worth their space: branches one switches between.
const MAX_VARIANTS: usize = 4;
const MAGIC: &[u8; 8] = b"lkpman02";

/// One state of the sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    pub files: Vec<FileRecord>,
    /// The hash of what was made of them, which names the cache entry.
    pub entry: Hash,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub variants: Vec<Variant>,
}

impl Manifest {
    /// `None` when the bytes are not what `encode` wrote.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let payload = bytes.strip_prefix(MAGIC)?;
        let (checksum, payload) = payload.split_at_checked(32)?;
        let sound = checksum == blake3::hash(payload).as_bytes();
        sound.then(|| postcard::from_bytes(payload).ok()).flatten()
    }

    pub fn encode(&self) -> Vec<u8> {
        let payload = postcard::to_stdvec(self).unwrap_or_default();
        [&MAGIC[..], blake3::hash(&payload).as_bytes(), &payload].concat()
    }

    /// The variant whose files are as they are on disk now, and whether stamps in it were renewed.
    pub fn find(&mut self, files: &FileTable) -> Option<(usize, bool)> {
        self.variants.iter_mut().enumerate().find_map(|(i, v)| Some((i, v.matches(files)?)))
    }

    pub fn move_to_front(&mut self, index: usize) {
        self.variants[..=index].rotate_right(1);
    }

    pub fn add(&mut self, variant: Variant) {
        self.variants.retain(|v| v.entry != variant.entry);
        self.variants.insert(0, variant);
        self.variants.truncate(MAX_VARIANTS);
    }
}

impl Variant {
    fn matches(&mut self, files: &FileTable) -> Option<bool> {
        let mut renewed = false;
        for record in &mut self.files {
            match files.check(record) {
                Check::Same | Check::Fresh => {}
                Check::Restamped(stamp) => {
                    record.stamp = Some(stamp);
                    renewed = true;
                }
                Check::Changed => return None,
            }
        }
        Some(renewed)
    }
}
