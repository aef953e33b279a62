//! Lowered units on disk, so that an unchanged unit costs a file read, and what analyses made of
//! them (`results`).
//!
//! Two levels. The unit's key (clang, flags, folder, file name, our own version) names a manifest:
//! for each state of the sources seen so far, the files that were read with their hashes, and the
//! hash of the module made of them, which names the entry. Invariants: files appear under their
//! final names only complete, so processes may share the folder; whatever does not check out
//! (damaged, half deleted, written by another version) counts as absent; no failure to read or write the
//! cache is ever an error of the run.

mod files;
mod manifest;
mod results;
mod trim;

use crate::cancel::Temporary;
use crate::clang::Clang;
use crate::unit::Unit;
use files::FileTable;
use leakproof_ir::Module;
use manifest::{Manifest, Variant};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

pub use results::Results;
pub use trim::{Usage, clear, usage};

/// Names the cache folder.
pub const DIR_VARIABLE: &str = "LEAKPROOF_CACHE_DIR";
/// Limits the cache's size, in MiB.
pub const LIMIT_VARIABLE: &str = "LEAKPROOF_CACHE_LIMIT";

/// Everything we write lies in this sub-folder, and `clear` removes nothing else.
const FOLDER: &str = "units";
const ENTRY_MAGIC: &[u8; 8] = b"lkproof1";
/// Magic and checksum.
const HEAD: usize = 8 + 32;
/// Variables that change what clang includes.
const CLANG_VARIABLES: &[&str] =
    &["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS"];

/// Stands for the content of something.
pub type Hash = [u8; 32];

/// Where the cache is, unless told otherwise: `$LEAKPROOF_CACHE_DIR`, else below the user's cache
/// folder. `None` when there is no such place.
pub fn default_dir() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    variable(DIR_VARIABLE)
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("leakproof")))
        .or_else(|| Some(variable("HOME")?.join(".cache").join("leakproof")))
}

/// What a unit is before any file is read.
#[derive(Debug)]
pub struct UnitKey(Hash);

impl UnitKey {
    pub fn new(clang: &Clang, unit: &Unit, cwd: &Path) -> Self {
        let mut hasher = KeyHasher::default();
        hasher.add(OsStr::new(env!("LEAKPROOF_LOWERING_ID")));
        hasher.add(OsStr::new(&clang.identity));
        for name in CLANG_VARIABLES {
            hasher.add(&std::env::var_os(name).unwrap_or_default());
        }
        hasher.add(OsStr::new(&format!("{:?}", unit.kind)));
        for path in [cwd, &unit.directory, &unit.source] {
            hasher.add(path.as_os_str());
        }
        for flag in &unit.flags {
            hasher.add(flag);
        }
        Self(hasher.finish())
    }
}

/// Hashes a list of strings so that different lists differ.
#[derive(Default)]
struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    fn add(&mut self, text: &OsStr) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }
    fn finish(&self) -> Hash {
        *self.0.finalize().as_bytes()
    }
}

/// An open cache folder.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    files: FileTable,
    wrote: AtomicBool,
}

impl Cache {
    pub fn open(dir: PathBuf) -> Self {
        Self { root: dir.join(FOLDER), files: FileTable::default(), wrote: AtomicBool::new(false) }
    }

    /// Whether this very clang was found fit before.
    pub fn knows_clang(&self, clang: &Clang) -> bool {
        self.clang_path(clang).is_file()
    }

    pub fn remember_clang(&self, clang: &Clang, version: &str) {
        self.write(&self.clang_path(clang), &[version.as_bytes()]).unwrap_or(());
    }

    fn clang_path(&self, clang: &Clang) -> PathBuf {
        let mut hasher = KeyHasher::default();
        hasher.add(OsStr::new(&clang.identity));
        self.path(&hasher.finish(), "clang")
    }

    /// The hash of the unit's module, if every file it was made of is unchanged.
    pub fn lookup(&self, key: &UnitKey) -> Option<Hash> {
        let path = self.path(&key.0, "manifest");
        let mut manifest = Manifest::decode(&read_touched(&path).ok()?)?;
        let (index, refreshed) = manifest.find(&self.files)?;
        let content = manifest.variants[index].entry;
        if refreshed || index > 0 {
            manifest.move_to_front(index);
            self.write(&path, &[&manifest.encode()]).unwrap_or(());
        }
        Some(content)
    }

    /// The module with this hash.
    pub fn module(&self, content: &Hash) -> Option<Module> {
        postcard::from_bytes(&self.read(content, "unit")?).ok()
    }

    /// Keeps the module that was made of `files` by a clang started at `started`; its hash.
    pub fn store(
        &self,
        key: &UnitKey,
        files: &[PathBuf],
        started: SystemTime,
        module: &Module,
    ) -> Option<Hash> {
        let payload = postcard::to_stdvec(module).ok()?;
        let content = *blake3::hash(&payload).as_bytes();
        if self.try_store(key, files, started, &content, &payload).is_some() {
            self.wrote.store(true, Ordering::Relaxed);
        }
        Some(content)
    }

    fn try_store(
        &self,
        key: &UnitKey,
        files: &[PathBuf],
        started: SystemTime,
        content: &Hash,
        payload: &[u8],
    ) -> Option<()> {
        let records = self.files.record(files, started)?;
        self.keep(content, "unit", payload)?;
        let path = self.path(&key.0, "manifest");
        let old = std::fs::read(&path).ok().and_then(|b| Manifest::decode(&b));
        let mut manifest = old.unwrap_or_default();
        manifest.add(Variant { files: records, entry: *content });
        self.write(&path, &[&manifest.encode()]).ok()
    }

    /// The bytes that were kept under this name, when they are whole.
    fn read(&self, name: &[u8], extension: &str) -> Option<Vec<u8>> {
        let mut bytes = read_touched(&self.path(name, extension)).ok()?;
        let (head, payload) = bytes.split_at_checked(HEAD)?;
        let (magic, checksum) = head.split_at(ENTRY_MAGIC.len());
        let sound = magic == ENTRY_MAGIC && checksum == blake3::hash(payload).as_bytes();
        sound.then(|| bytes.split_off(HEAD))
    }

    fn keep(&self, name: &[u8], extension: &str, payload: &[u8]) -> Option<()> {
        let checksum = blake3::hash(payload);
        let parts: [&[u8]; 3] = [ENTRY_MAGIC, checksum.as_bytes(), payload];
        self.write(&self.path(name, extension), &parts).ok()
    }

    /// Keeps the folder below its limit, when something was added.
    pub fn trim(&self) {
        if self.wrote.load(Ordering::Relaxed) {
            trim::trim(&self.root, trim::limit());
        }
    }

    fn path(&self, hash: &[u8], extension: &str) -> PathBuf {
        let name: String = hash.iter().take(20).map(|b| format!("{b:02x}")).collect();
        self.root.join(&name[..2]).join(format!("{}.{extension}", &name[2..]))
    }

    /// Writes under a temporary name first, so that nobody sees half a file.
    fn write(&self, path: &Path, parts: &[&[u8]]) -> io::Result<()> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let folder = path.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(folder)?;
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}.{}", std::process::id(), trim::TEMPORARY);
        let (temporary, mut file) = Temporary::file(folder.join(name))?;
        for part in parts {
            file.write_all(part)?;
        }
        temporary.rename(path)
    }
}

/// Reads a file and marks it as used, at most once an hour.
fn read_touched(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    let meta = file.metadata()?;
    let now = SystemTime::now();
    let age = meta.modified().ok().and_then(|m| now.duration_since(m).ok());
    if age.is_some_and(|a| a > Duration::from_secs(3600)) {
        // A shared cache may belong to another user: then it is merely evicted earlier.
        file.set_modified(now).unwrap_or(());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
