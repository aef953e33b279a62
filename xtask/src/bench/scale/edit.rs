//! One-function edits of a tree, made and taken back.

use anyhow::{Context, Result};
use leakproof_ir::Module;
use std::path::{Path, PathBuf};

/// Behind the brace that opens the body. It stays on its line, so that no position moves.
const STATEMENT: &str = " volatile int leakproof_edit = 0; (void)leakproof_edit;";

/// A function of the tree that can be edited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    instructions: usize,
    file: String,
    line: u32,
}

/// Functions of small, middle and large size, from files that no generator writes.
pub fn places(modules: &[Module]) -> Vec<Place> {
    let mut all: Vec<Place> = modules.iter().flat_map(in_module).collect();
    all.sort();
    all.dedup();
    let at = |part: usize| all.get(all.len() * part / 8).cloned();
    [2, 4, 6, 3, 5, 1, 7].into_iter().filter_map(at).collect()
}

fn in_module(module: &Module) -> impl Iterator<Item = Place> + '_ {
    module.functions.values().filter_map(|function| {
        let body = function.body.as_ref()?;
        let file = module.files.get(function.loc.file()?)?;
        let source = [".c", ".cc", ".cpp"].iter().any(|e| file.ends_with(e));
        let inside = !Path::new(file).is_absolute() && !file.starts_with("..");
        (source && inside).then(|| Place {
            instructions: body.insts.len(),
            file: file.clone(),
            line: function.loc.line,
        })
    })
}

/// An edit that lasts until this is dropped.
pub struct Edited {
    path: PathBuf,
    before: Vec<u8>,
}

impl Edited {
    /// `None` when the function's opening brace cannot be found.
    pub fn new(folder: &Path, place: &Place) -> Result<Option<Self>> {
        let path = folder.join(&place.file);
        let before = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let Some(at) = brace(&before, place.line) else { return Ok(None) };
        let (head, tail) = before.split_at(at + 1);
        std::fs::write(&path, [head, STATEMENT.as_bytes(), tail].concat())?;
        Ok(Some(Self { path, before }))
    }
}

impl Drop for Edited {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(&self.path, &self.before) {
            eprintln!("{}: the edit could not be taken back: {error}", self.path.display());
        }
    }
}

/// The first opening brace from this line on.
fn brace(text: &[u8], line: u32) -> Option<usize> {
    let mut lines = 1;
    text.iter().enumerate().find_map(|(i, &byte)| {
        lines += u32::from(byte == b'\n');
        (byte == b'{' && lines >= line).then_some(i)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_opens_at_or_after_the_line() {
        let text = b"struct s { int x; };\nint f(void)\n{\n}\n";
        assert_eq!(brace(text, 2), Some(33));
        assert_eq!(brace(text, 4), None);
    }
}
