//! The size of the cache folder: counting, clearing, and eviction of what was used longest ago.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub const TEMPORARY: &str = "tmp";
const DEFAULT_LIMIT_MIB: u64 = 4096;
/// Temporary files of processes that were killed hard.
const ABANDONED: Duration = Duration::from_secs(3600);

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub units: u64,
    /// Units of which results of analyses are kept.
    pub analysed: u64,
    pub bytes: u64,
}

struct CacheFile {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// The limit in bytes.
pub fn limit() -> u64 {
    let mib = std::env::var(super::LIMIT_VARIABLE).ok().and_then(|v| v.trim().parse().ok());
    mib.unwrap_or(DEFAULT_LIMIT_MIB).saturating_mul(1 << 20)
}

/// What the cache in `dir` holds.
pub fn usage(dir: &Path) -> Usage {
    let mut usage = Usage::default();
    for file in files(&dir.join(super::FOLDER)) {
        usage.bytes += file.bytes;
        let is = |name: &str| u64::from(file.path.extension() == Some(OsStr::new(name)));
        usage.units += is("unit");
        usage.analysed += is(super::results::PACK);
    }
    usage
}

/// Removes everything that leakproof put into `dir`, and says how much it was.
pub fn clear(dir: &Path) -> io::Result<Usage> {
    let held = usage(dir);
    match std::fs::remove_dir_all(dir.join(super::FOLDER)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(held),
    }
}

/// Removes the files used longest ago until four fifths of `limit` are left.
pub fn trim(root: &Path, limit: u64) {
    let now = SystemTime::now();
    let mut all = files(root);
    all.retain(|file| !remove_abandoned(file, now));
    let mut total: u64 = all.iter().map(|f| f.bytes).sum();
    if total <= limit {
        return;
    }
    all.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
    for file in all {
        if total <= limit / 5 * 4 {
            break;
        }
        // Another process may have removed it first.
        std::fs::remove_file(&file.path).unwrap_or(());
        total -= file.bytes;
    }
}

fn remove_abandoned(file: &CacheFile, now: SystemTime) -> bool {
    let temporary = file.path.extension() == Some(OsStr::new(TEMPORARY));
    let old = now.duration_since(file.used).is_ok_and(|age| age > ABANDONED);
    if temporary && old {
        std::fs::remove_file(&file.path).unwrap_or(());
    }
    temporary
}

fn files(root: &Path) -> Vec<CacheFile> {
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten();
    folders
        .flat_map(|f| std::fs::read_dir(f.path()).into_iter().flatten().flatten())
        .filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            Some(CacheFile { path: entry.path(), bytes: meta.len(), used: meta.modified().ok()? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_files_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(super::super::FOLDER).join("ab");
        std::fs::create_dir_all(&folder).unwrap();
        for (name, age) in [("new.unit", 10), ("old.unit", 1000), ("older.unit", 2000)] {
            std::fs::write(folder.join(name), [0; 100]).unwrap();
            let file = std::fs::File::open(folder.join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        assert_eq!(usage(dir.path()), Usage { units: 3, analysed: 0, bytes: 300 });
        trim(&dir.path().join(super::super::FOLDER), 250);
        assert!(folder.join("new.unit").exists());
        assert!(folder.join("old.unit").exists());
        assert!(!folder.join("older.unit").exists());
        assert_eq!(clear(dir.path()).unwrap().units, 2);
        assert_eq!(usage(dir.path()), Usage::default());
    }
}
