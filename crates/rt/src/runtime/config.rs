//! The configuration of a run: which inputs are symbolic, which calls fail, what is looked for.
//!
//! Read once, before the program starts, from a file of 32-bit words; texts are a length and then bytes,
//! padded to words. Everything stays in the buffer it was read into.

use super::cell::Global;
use super::libc;
use crate::abi::{MAGIC, VERSION, switch};

/// A list of words inside the buffer.
pub type Words = &'static [u32];

pub struct Config {
    pub switches: u32,
    pub cpu_seconds: u32,
    pub memory_mib: u32,
    pub file_mib: u32,
    /// The scratch folder, terminated.
    pub scratch: &'static [u8],
    /// For each element of the path, pairs of branch and direction.
    pub path: List,
    /// Numbers of the points that stand for the leak.
    pub points: Words,
    /// For each call of the allocation's trace, the calls that may stand for it.
    pub sites: List,
    pub argc: u32,
    pub has_arguments: bool,
    /// The program's name, one text.
    pub name: Texts,
    pub arguments: Texts,
    pub environment: Texts,
    pub files: Texts,
    /// Functions that fail: number in `abi::FAULTS`, which call of it.
    pub faults: Words,
}

#[derive(Clone, Copy)]
pub struct List {
    words: Words,
    count: u32,
}

impl List {
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The words of one element.
    pub fn get(&self, index: u32) -> Words {
        let mut at = 0;
        for _ in 0..index {
            at += 1 + self.words.get(at).map_or(0, |n| *n as usize);
        }
        let length = self.words.get(at).map_or(0, |n| *n as usize);
        self.words.get(at + 1..at + 1 + length).unwrap_or(&[])
    }
}

/// Named texts with room to grow: `name` and `bytes` end in a zero that is not counted.
#[derive(Clone, Copy)]
pub struct Texts {
    words: Words,
    count: u32,
}

#[derive(Clone, Copy)]
pub struct Text {
    pub name: &'static [u8],
    pub bytes: &'static [u8],
    pub capacity: u32,
}

impl Texts {
    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn get(&self, index: u32) -> Option<Text> {
        if index >= self.count {
            return None;
        }
        let mut reader = Reader { words: self.words, at: 0 };
        let mut text = reader.text();
        for _ in 0..index {
            text = reader.text();
        }
        Some(text)
    }
}

struct Reader {
    words: Words,
    at: usize,
}

impl Reader {
    fn word(&mut self) -> u32 {
        let word = self.words.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        word
    }

    fn take(&mut self, count: usize) -> Words {
        let part = self.words.get(self.at..self.at + count).unwrap_or(&[]);
        self.at += count;
        part
    }

    fn bytes(&mut self) -> &'static [u8] {
        let length = self.word() as usize;
        let words = self.take(length / 4 + 1);
        if words.len() * 4 < length {
            return &[];
        }
        // SAFETY: within the words just taken.
        unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), length) }
    }

    fn text(&mut self) -> Text {
        let name = self.bytes();
        let bytes = self.bytes();
        Text { name, bytes, capacity: self.word() }
    }

    fn list(&mut self) -> List {
        let count = self.word();
        let start = self.at;
        for _ in 0..count {
            let n = self.word() as usize;
            self.take(n);
        }
        List { words: self.words.get(start..self.at).unwrap_or(&[]), count }
    }

    fn texts(&mut self) -> Texts {
        let count = self.word();
        let start = self.at;
        for _ in 0..count {
            self.text();
        }
        Texts { words: self.words.get(start..self.at).unwrap_or(&[]), count }
    }
}

static CONFIG: Global<Config> = Global::new(Config {
    switches: 0,
    cpu_seconds: 0,
    memory_mib: 0,
    file_mib: 0,
    scratch: &[],
    path: List { words: &[], count: 0 },
    points: &[],
    sites: List { words: &[], count: 0 },
    argc: 0,
    has_arguments: false,
    name: Texts { words: &[], count: 0 },
    arguments: Texts { words: &[], count: 0 },
    environment: Texts { words: &[], count: 0 },
    files: Texts { words: &[], count: 0 },
    faults: &[],
});

pub fn get() -> &'static Config {
    CONFIG.get()
}

pub fn is_on(bit: u32) -> bool {
    get().switches & bit != 0
}

pub fn is_symbolic() -> bool {
    is_on(switch::SYMBOLIC)
}

const MAX_SIZE: usize = 16 << 20;

/// Reads the configuration; whether it is one of ours.
pub fn read(fd: i32) -> bool {
    let buffer = libc::map(MAX_SIZE);
    if buffer.is_null() {
        return false;
    }
    let mut size = 0;
    loop {
        // SAFETY: within the mapping.
        let rest = unsafe { core::slice::from_raw_parts_mut(buffer.add(size), MAX_SIZE - size) };
        let n = libc::read_raw(fd, rest);
        if n <= 0 {
            break;
        }
        size += n as usize;
    }
    // SAFETY: `size` bytes were read; the mapping is aligned and never goes away.
    let words = unsafe { core::slice::from_raw_parts(buffer.cast::<u32>(), size / 4) };
    interpret(Reader { words, at: 0 })
}

fn interpret(mut r: Reader) -> bool {
    if r.word() != MAGIC || r.word() != VERSION {
        return false;
    }
    let c = CONFIG.get();
    c.switches = r.word();
    c.cpu_seconds = r.word();
    c.memory_mib = r.word();
    c.file_mib = r.word();
    c.scratch = r.bytes();
    c.path = r.list();
    let n = r.word() as usize;
    c.points = r.take(n);
    c.sites = r.list();
    c.has_arguments = r.word() != 0;
    c.argc = r.word();
    c.name = r.texts();
    c.arguments = r.texts();
    c.environment = r.texts();
    c.files = r.texts();
    let n = r.word() as usize;
    c.faults = r.take(2 * n);
    true
}
