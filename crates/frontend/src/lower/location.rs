//! Source positions: from metadata scopes to the unit's file table.
//!
//! A file is named once, as the user would write it from the current directory.

use crate::PathStyle;
use crate::llvm::{DebugLoc, MdId, MdNode, MetadataTable, md_code};
use leakproof_ir::{Arena, FileId, Loc};
use rustc_hash::FxHashMap;

pub struct Locations {
    style: PathStyle,
    files: Arena<FileId, String>,
    by_name: FxHashMap<String, FileId>,
    /// File of a scope or file node, by metadata id; `None` where nobody asked yet.
    by_node: Vec<Option<Option<FileId>>>,
    /// The scope asked for last: neighbouring instructions share it.
    last: Option<(MdId, Option<FileId>)>,
}

impl Locations {
    pub fn new(style: &PathStyle) -> Self {
        Self {
            style: style.clone(),
            files: Arena::new(),
            by_name: FxHashMap::default(),
            by_node: Vec::new(),
            last: None,
        }
    }

    pub fn into_files(self) -> Arena<FileId, String> {
        self.files
    }

    /// Drops what is known about metadata of the function that was left.
    pub fn forget_from(&mut self, first: MdId) {
        self.by_node.truncate(first.0 as usize);
        self.last = None;
    }

    /// The position of an instruction.
    pub fn instruction(&mut self, md: &MetadataTable, loc: DebugLoc) -> Loc {
        match loc.scope.checked_sub(1) {
            Some(scope) if loc.line != 0 => self.at(md, MdId(scope), loc.line, loc.column),
            _ => Loc::default(),
        }
    }

    /// The position that a location node describes.
    pub fn node(&mut self, md: &MetadataTable, id: MdId) -> Loc {
        let node = md.node(id);
        if node.code != md_code::LOCATION || node.number(1) == 0 {
            return Loc::default();
        }
        self.at(md, node.id(3), node.number(1) as u32, node.number(2) as u32)
    }

    /// A line in the file of a scope or file node.
    pub fn at(&mut self, md: &MetadataTable, scope: MdId, line: u32, column: u32) -> Loc {
        match self.file(md, scope) {
            Some(file) if line != 0 => Loc::new(file, line, column),
            _ => Loc::default(),
        }
    }

    fn file(&mut self, md: &MetadataTable, id: MdId) -> Option<FileId> {
        if let Some((last, file)) = self.last
            && last == id
        {
            return file;
        }
        let index = id.0 as usize;
        if index >= md.len() {
            return None;
        }
        if index >= self.by_node.len() {
            self.by_node.resize(md.len(), None);
        }
        let file = match self.by_node[index] {
            Some(file) => file,
            None => {
                let file = self.find_file(md, id);
                self.by_node[index] = Some(file);
                file
            }
        };
        self.last = Some((id, file));
        file
    }

    fn find_file(&mut self, md: &MetadataTable, id: MdId) -> Option<FileId> {
        let node = md.node(id);
        let file = match node.code {
            md_code::FILE => return Some(self.name_file(md, node)),
            md_code::SUBPROGRAM => node.reference(4),
            md_code::LEXICAL_BLOCK | md_code::LEXICAL_BLOCK_FILE => node.reference(2),
            md_code::COMPOSITE_TYPE => node.reference(3),
            md_code::COMPILE_UNIT => node.reference(2),
            _ => None,
        };
        // Only files are looked up further, so this goes one level deep.
        file.filter(|f| md.node(*f).code == md_code::FILE).and_then(|f| self.file(md, f))
    }

    fn name_file(&mut self, md: &MetadataTable, node: MdNode<'_>) -> FileId {
        let name = String::from_utf8_lossy(md.text(node.reference(1))).into_owned();
        let directory = String::from_utf8_lossy(md.text(node.reference(2))).into_owned();
        self.intern(&name, &directory)
    }

    fn intern(&mut self, name: &str, directory: &str) -> FileId {
        let shown = self.style.name(directory, name);
        if let Some(id) = self.by_name.get(&shown) {
            return *id;
        }
        let id = self.files.push(shown.clone());
        self.by_name.insert(shown, id);
        id
    }
}
