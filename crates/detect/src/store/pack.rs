//! The entries of one module, as one piece of bytes.
//!
//! An entry that is not used goes after some changes of the pack: until then, going back to an
//! earlier state of the sources costs nothing.

use super::digest::Id;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Changes of the pack that an entry survives without being used.
const MAX_AGE: u8 = 4;
/// Key, age, length.
const HEAD: usize = 16 + 1 + 4;

#[derive(Default)]
pub struct Pack {
    entries: FxHashMap<Id, Entry>,
    changed: bool,
}

struct Entry {
    bytes: Arc<[u8]>,
    age: u8,
    used: bool,
}

impl Pack {
    pub fn decode(mut bytes: &[u8]) -> Self {
        let mut pack = Self::default();
        while let Some((key, age, entry, rest)) = split(bytes) {
            pack.entries.insert(key, Entry { bytes: entry.into(), age, used: false });
            bytes = rest;
        }
        pack
    }

    pub fn get(&mut self, key: &Id) -> Option<Arc<[u8]>> {
        let entry = self.entries.get_mut(key)?;
        entry.used = true;
        Some(entry.bytes.clone())
    }

    pub fn put(&mut self, key: Id, bytes: Vec<u8>) {
        self.entries.insert(key, Entry { bytes: bytes.into(), age: 0, used: true });
        self.changed = true;
    }

    /// The pack as it is to be kept, when it is not what it was.
    pub fn encode_changed(&self) -> Option<Vec<u8>> {
        if !self.changed {
            return None;
        }
        let mut entries: Vec<(&Id, &Entry, u8)> = self
            .entries
            .iter()
            .map(|(key, e)| (key, e, if e.used { 0 } else { e.age + 1 }))
            .filter(|(_, _, age)| *age <= MAX_AGE)
            .collect();
        entries.sort_unstable_by_key(|(key, ..)| **key);
        let mut out = Vec::new();
        for (key, entry, age) in entries {
            out.extend(key);
            out.push(age);
            out.extend(u32::try_from(entry.bytes.len()).ok()?.to_le_bytes());
            out.extend(&entry.bytes[..]);
        }
        Some(out)
    }
}

fn split(bytes: &[u8]) -> Option<(Id, u8, &[u8], &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let key: Id = head[..16].try_into().ok()?;
    let len = u32::from_le_bytes(head[17..].try_into().ok()?);
    let (entry, rest) = rest.split_at_checked(len as usize)?;
    Some((key, head[16], entry, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> Id {
        [n; 16]
    }

    #[test]
    fn entries_that_are_not_used_go_after_some_changes() {
        let mut pack = Pack::default();
        pack.put(key(1), vec![1]);
        pack.put(key(2), vec![2, 2]);
        for n in 0..=MAX_AGE {
            let mut next = Pack::decode(&pack.encode_changed().unwrap());
            assert_eq!(next.get(&key(1)).as_deref(), Some(&[1][..]));
            assert!(next.encode_changed().is_none(), "nothing new");
            assert!(next.entries.contains_key(&key(2)), "after {n} changes");
            next.put(key(3), vec![n]);
            pack = next;
        }
        let next = Pack::decode(&pack.encode_changed().unwrap());
        assert!(!next.entries.contains_key(&key(2)));
        assert_eq!(next.entries.len(), 2);
    }

    #[test]
    fn damaged_bytes_end_the_pack() {
        let mut pack = Pack::default();
        pack.put(key(1), vec![7; 100]);
        let bytes = pack.encode_changed().unwrap();
        for cut in 0..bytes.len() {
            assert!(Pack::decode(&bytes[..cut]).entries.is_empty());
        }
    }
}
