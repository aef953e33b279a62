//! Summaries in a form that outlives the program they were made for: entities by name, lines from
//! the first line of their function on.
//!
//! A stored summary is a `Summary` whose function and global numbers, and files, are positions in tables that
//! go with it. Invariant: storing and fetching in the same program gives an equal summary; the hash of a
//! stored one covers everything that a caller can see of it.

use super::digest::{Id, hash};
use super::names::Names;
use leakproof_ir::{FileId, FuncId, GlobalId, Loc};
use leakproof_program::{FuncRef, GlobalRef};
use leakproof_summary::{Effect, Expr, NewObject, Origin, Place, PrivateInfo, Root, Site, Summary};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A summary with the names that it uses.
#[derive(Serialize, Deserialize)]
pub struct Wire {
    functions: Vec<Id>,
    globals: Vec<Id>,
    files: Vec<String>,
    summary: Summary,
}

impl Wire {
    /// `None` when it speaks of something without a name.
    pub fn store(names: &Names<'_>, summary: &Summary) -> Option<Self> {
        let mut writer = Writer {
            names,
            functions: Table::default(),
            globals: Table::default(),
            files: Table::default(),
        };
        let summary = translated(summary, &mut writer)?;
        let functions = writer.functions.list.into_iter().map(|f| names.function(f));
        let globals = writer.globals.list.into_iter().map(|g| names.global(g));
        Some(Self {
            functions: functions.collect::<Option<_>>()?,
            globals: globals.collect::<Option<_>>()?,
            files: writer.files.list,
            summary,
        })
    }

    /// The summary in this program; `None` when something that it speaks of is gone.
    pub fn fetch(&self, names: &Names<'_>) -> Option<Summary> {
        let functions = self.functions.iter().map(|id| names.find_function(id));
        let globals = self.globals.iter().map(|id| names.find_global(id));
        let mut reader = Reader {
            names,
            functions: functions.collect::<Option<_>>()?,
            globals: globals.collect::<Option<_>>()?,
            files: &self.files,
        };
        translated(&self.summary, &mut reader)
    }

    /// Stands for all that callers see.
    pub fn hash(&self) -> Option<Id> {
        Some(hash(&postcard::to_stdvec(self).ok()?))
    }
}

/// One numbering into another.
trait Translate {
    fn function(&mut self, f: FuncRef) -> Option<FuncRef>;
    fn global(&mut self, g: GlobalRef) -> Option<GlobalRef>;
    fn place(&mut self, at: Place) -> Option<Place>;
}

struct Table<T> {
    list: Vec<T>,
    index: FxHashMap<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { list: Vec::new(), index: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    fn number(&mut self, item: T) -> u32 {
        let next = self.list.len() as u32;
        *self.index.entry(item.clone()).or_insert_with(|| {
            self.list.push(item);
            next
        })
    }
}

/// From a program's numbers to positions in tables.
struct Writer<'n> {
    names: &'n Names<'n>,
    functions: Table<FuncRef>,
    globals: Table<GlobalRef>,
    files: Table<String>,
}

impl Translate for Writer<'_> {
    fn function(&mut self, f: FuncRef) -> Option<FuncRef> {
        Some(FuncRef { module: 0, func: FuncId(self.functions.number(f)) })
    }
    fn global(&mut self, g: GlobalRef) -> Option<GlobalRef> {
        Some(GlobalRef { module: 0, global: GlobalId(self.globals.number(g)) })
    }
    /// File 0 is the function's own, where lines count from its first one (which is 1).
    fn place(&mut self, at: Place) -> Option<Place> {
        let first = self.names.program.function(at.func).loc;
        let module = self.names.program.module(at.func.module);
        let Loc { file, line, column } = at.loc;
        let loc = if file != first.file {
            let name = module.files.get(FileId(file))?.clone();
            Loc { file: self.files.number(name) + 1, line, column }
        } else if line == 0 {
            Loc { file: 0, line: 0, column }
        } else {
            Loc { file: 0, line: zigzag(line.wrapping_sub(first.line)).wrapping_add(1), column }
        };
        Some(Place { func: self.function(at.func)?, loc })
    }
}

/// Back to the numbers of a program.
struct Reader<'n> {
    names: &'n Names<'n>,
    functions: Vec<FuncRef>,
    globals: Vec<GlobalRef>,
    files: &'n [String],
}

impl Translate for Reader<'_> {
    fn function(&mut self, f: FuncRef) -> Option<FuncRef> {
        self.functions.get(f.func.0 as usize).copied()
    }
    fn global(&mut self, g: GlobalRef) -> Option<GlobalRef> {
        self.globals.get(g.global.0 as usize).copied()
    }
    fn place(&mut self, at: Place) -> Option<Place> {
        let func = self.function(at.func)?;
        let first = self.names.program.function(func).loc;
        let Loc { file, line, column } = at.loc;
        let loc = if file > 0 {
            let name = self.files.get(file as usize - 1)?;
            Loc { file: self.names.file(func.module, name)?, line, column }
        } else if line == 0 {
            Loc { file: first.file, line: 0, column }
        } else {
            let line = unzigzag(line.wrapping_sub(1)).wrapping_add(first.line);
            Loc { file: first.file, line, column }
        };
        Some(Place { func, loc })
    }
}

/// Small numbers for small distances in either direction.
fn zigzag(distance: u32) -> u32 {
    (distance << 1) ^ (((distance as i32) >> 31) as u32)
}

fn unzigzag(code: u32) -> u32 {
    (code >> 1) ^ (code & 1).wrapping_neg()
}

fn translated(summary: &Summary, t: &mut impl Translate) -> Option<Summary> {
    let Summary { pool, value, returns, throws, returns_deeper, .. } = summary;
    let Summary {
        objects,
        effects,
        opaque,
        never_returns,
        releases_untold,
        used,
        expected,
        sizes,
        calls_through,
        ..
    } = summary;
    Some(Summary {
        pool: pool.iter().map(|e| expr(e, t)).collect::<Option<_>>()?,
        value: *value,
        returns: *returns,
        throws: *throws,
        objects: objects.iter().map(|o| object(o, t)).collect::<Option<_>>()?,
        effects: effects.iter().map(|e| effect(e, t)).collect::<Option<_>>()?,
        opaque: *opaque,
        never_returns: *never_returns,
        returns_deeper: *returns_deeper,
        releases_untold: *releases_untold,
        used: used.clone(),
        expected: expected.clone(),
        sizes: sizes.clone(),
        calls_through: calls_through.clone(),
    })
}

fn root(root: Root, t: &mut impl Translate) -> Option<Root> {
    Some(match root {
        Root::Global(g) => Root::Global(t.global(g)?),
        Root::Func(f) => Root::Func(t.function(f)?),
        Root::Object(_) | Root::VarArgs | Root::Errno | Root::Pointee(_) => root,
    })
}

fn expr(e: &Expr, t: &mut impl Translate) -> Option<Expr> {
    Some(match e {
        Expr::Init { root: r, slot, bits } => {
            Expr::Init { root: root(*r, t)?, slot: *slot, bits: *bits }
        }
        Expr::Addr { root: r, offset } => Expr::Addr { root: root(*r, t)?, offset: *offset },
        Expr::Elem { root: r, offset, stride, index, area } => Expr::Elem {
            root: root(*r, t)?,
            offset: *offset,
            stride: *stride,
            index: *index,
            area: *area,
        },
        Expr::Private { number, info } => {
            let PrivateInfo { bits, range, nonzero, origin } = info;
            let Origin { what, name, at } = origin;
            let origin = Origin { what: *what, name: name.clone(), at: t.place(*at)? };
            let info = PrivateInfo { bits: *bits, range: *range, nonzero: *nonzero, origin };
            Expr::Private { number: *number, info }
        }
        Expr::Bool(_)
        | Expr::Int { .. }
        | Expr::Arg { .. }
        | Expr::Not(_)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Ite { .. }
        | Expr::Cmp { .. }
        | Expr::Bin { .. }
        | Expr::Cast { .. }
        | Expr::Any(_)
        | Expr::Tuple(_) => e.clone(),
    })
}

fn object(o: &NewObject, t: &mut impl Translate) -> Option<NewObject> {
    let NewObject { family, trace, assumed } = o;
    let trace = trace.iter().map(|s| site(s, t)).collect::<Option<Arc<[Site]>>>()?;
    Some(NewObject { family: family.clone(), trace, assumed: *assumed })
}

fn site(s: &Site, t: &mut impl Translate) -> Option<Site> {
    let Site { at, callee } = s;
    Some(Site { at: t.place(*at)?, callee: callee.clone() })
}

fn effect(e: &Effect, t: &mut impl Translate) -> Option<Effect> {
    let Effect { root: r, slot, value, only, at } = e;
    let (root, at) = (root(*r, t)?, t.place(*at)?);
    Some(Effect { root, slot: *slot, value: *value, only: *only, at })
}

/// The functions in whose text positions of a summary lie.
pub fn for_each_function(summary: &Summary, mut f: impl FnMut(FuncRef)) {
    for e in &summary.pool {
        if let Expr::Private { info, .. } = e {
            f(info.origin.at.func);
        }
    }
    summary.objects.iter().flat_map(|o| o.trace.iter()).for_each(|s| f(s.at.func));
    summary.effects.iter().for_each(|e| f(e.at.func));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_survive() {
        for d in [0u32, 1, 2, u32::MAX, u32::MAX - 5, 1 << 20] {
            assert_eq!(unzigzag(zigzag(d)), d);
        }
        assert_eq!(zigzag(1u32.wrapping_neg()), 1);
    }
}
