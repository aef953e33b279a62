//! The state of source files: a cheap stamp and a content hash, each taken once per run.
//!
//! Invariant: a stamp is only trusted when the file had been left alone for a while at the time
//! of hashing; a file that changes twice within one tick of the clock keeps its stamp.

use super::Hash;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// What tells that a file was touched, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    size: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A file that a unit was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    pub path: Vec<u8>,
    /// `None` when it must be read to know whether it is still the same.
    pub stamp: Option<Stamp>,
    pub hash: Hash,
}

/// Clocks of file systems tick in steps of up to this.
const TICK: Duration = Duration::from_millis(10);
/// A file younger than this may change again without changing its stamp.
const SETTLED: Duration = Duration::from_secs(2);

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        Some(Self {
            size: meta.len(),
            inode: meta.ino(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }

    /// Whether the file was last touched at least `age` before `moment`.
    fn settled(&self, moment: SystemTime, age: Duration) -> bool {
        let limit = moment
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok()
            .and_then(|d| d.checked_sub(age))
            .unwrap_or_default();
        let limit =
            (i64::try_from(limit.as_secs()).unwrap_or(i64::MAX), i64::from(limit.subsec_nanos()));
        self.modified < limit && self.changed < limit
    }
}

#[derive(Clone, Copy, Debug)]
struct Known {
    stamp: Stamp,
    hash: Option<Hash>,
}

/// Files seen in this run.
#[derive(Debug, Default)]
pub struct FileTable {
    known: Mutex<FxHashMap<PathBuf, Option<Known>>>,
}

/// How a recorded file compares to the one on disk.
pub enum Check {
    Same,
    /// Same content under another stamp, which can be trusted from now on.
    Restamped(Stamp),
    /// Same content, but too fresh to trust its stamp.
    Fresh,
    Changed,
}

impl FileTable {
    pub fn check(&self, record: &FileRecord) -> Check {
        let path = Path::new(std::ffi::OsStr::from_bytes(&record.path));
        let Some(known) = self.stamp(path) else { return Check::Changed };
        if record.stamp == Some(known.stamp) {
            return Check::Same;
        }
        if self.hash(path, known) != Some(record.hash) {
            Check::Changed
        } else if known.stamp.settled(SystemTime::now(), SETTLED) {
            Check::Restamped(known.stamp)
        } else {
            Check::Fresh
        }
    }

    fn stamp(&self, path: &Path) -> Option<Known> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        known.unwrap_or_else(|| {
            let fresh = Stamp::of(path).map(|stamp| Known { stamp, hash: None });
            self.remember(path, fresh);
            fresh
        })
    }

    fn hash(&self, path: &Path, known: Known) -> Option<Hash> {
        if known.hash.is_some() {
            return known.hash;
        }
        let hash = *blake3::hash(&std::fs::read(path).ok()?).as_bytes();
        self.remember(path, Some(Known { hash: Some(hash), ..known }));
        Some(hash)
    }

    fn remember(&self, path: &Path, known: Option<Known>) {
        let mut table = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        table.insert(path.to_owned(), known);
    }

    /// Records of files that a compiler read after `started`. `None` when one of them was touched
    /// since: nobody knows which state the compiler saw.
    pub fn record(&self, paths: &[PathBuf], started: SystemTime) -> Option<Vec<FileRecord>> {
        paths.iter().map(|path| self.record_one(path, started)).collect()
    }

    fn record_one(&self, path: &Path, started: SystemTime) -> Option<FileRecord> {
        let stamp = Stamp::of(path)?;
        if !stamp.settled(started, TICK) {
            return None;
        }
        let known = self.stamp(path).filter(|k| k.stamp == stamp);
        let hash = self.hash(path, known.unwrap_or(Known { stamp, hash: None }))?;
        let stamp = stamp.settled(SystemTime::now(), SETTLED).then_some(stamp);
        Some(FileRecord { path: path.as_os_str().as_bytes().to_vec(), stamp, hash })
    }
}
