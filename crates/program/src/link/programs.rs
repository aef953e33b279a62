//! Several programs in one compile database: which definition each of them means.
//!
//! Units carry no link line, so the programs are reconstructed. A program is a unit with `main`
//! plus the units it reaches, first through symbols that only one unit defines, then through the
//! choices below. For a symbol with several definitions, a program chooses, best first: its main
//! unit; a unit it already contains; the unit nearest to the main unit by directory; the unit with
//! the same position among units of equal name (a tree compiled twice); the first. A unit with the
//! `main` of another program is never chosen. A unit in several programs gets all their choices; a
//! unit in none takes the definitions nearest to itself.
//! A note is written when one program contains two definitions of the same symbol.

use super::MAX_ALTERNATIVES;
use super::symbols::{Definition, SymbolId, SymbolTable};
use leakproof_ir::Module;
use rustc_hash::FxHashMap;

/// Chosen definitions of symbols that have several, per referring unit.
#[derive(Default)]
pub(super) struct Choices {
    chosen: FxHashMap<(u32, SymbolId), Vec<Definition>>,
    /// Units that some program contains.
    pub in_program: Vec<bool>,
}

impl Choices {
    pub fn get(&self, module: u32, symbol: SymbolId) -> Option<&[Definition]> {
        self.chosen.get(&(module, symbol)).map(Vec::as_slice)
    }

    fn add(&mut self, module: u32, symbol: SymbolId, definition: Definition) {
        let list = self.chosen.entry((module, symbol)).or_default();
        if !list.contains(&definition) && list.len() < MAX_ALTERNATIVES {
            list.push(definition);
        }
    }
}

pub(super) fn choose(modules: &[Module], table: &SymbolTable, notes: &mut Vec<String>) -> Choices {
    let in_program = vec![false; modules.len()];
    let mut choices = Choices { chosen: FxHashMap::default(), in_program };
    let units = Units::new(modules, table);
    let mut conflicts = Conflicts::default();
    for &main in table.mains() {
        let program = Reached::from_main(&units, table, main);
        for unit in program.units() {
            choices.in_program[unit as usize] = true;
            for &symbol in &units.ambiguous[unit as usize] {
                if let Some(&d) = program.choice.get(&symbol) {
                    choices.add(unit, symbol, d);
                }
            }
        }
        conflicts.look(&units, table, &program);
    }
    for unit in 0..modules.len() as u32 {
        if choices.in_program[unit as usize] {
            continue;
        }
        for &symbol in &units.ambiguous[unit as usize] {
            for d in nearest(&units, table, unit, symbol) {
                choices.add(unit, symbol, d);
            }
        }
    }
    if table.mains().is_empty() {
        conflicts.look_everywhere(table);
    }
    conflicts.write(&units, table, notes);
    choices
}

/// The reference graph between units.
struct Units<'a> {
    modules: &'a [Module],
    /// Units reached through symbols with one definition.
    edges: Vec<Vec<u32>>,
    /// Mentioned symbols with several.
    ambiguous: Vec<Vec<SymbolId>>,
    /// Position among the units of the same name.
    variant: Vec<u32>,
    has_main: Vec<bool>,
}

impl<'a> Units<'a> {
    fn new(modules: &'a [Module], table: &SymbolTable) -> Self {
        let mut edges = Vec::with_capacity(modules.len());
        let mut ambiguous = Vec::with_capacity(modules.len());
        for m in 0..modules.len() as u32 {
            let (mut to, mut open) = (Vec::new(), Vec::new());
            for symbol in table.mentioned(m) {
                match table.candidates(symbol) {
                    [] => {}
                    [one] => to.push(one.module),
                    _ if table.name(symbol) == "main" => {}
                    _ => open.push(symbol),
                }
            }
            to.sort_unstable();
            to.dedup();
            open.sort_unstable();
            open.dedup();
            edges.push(to);
            ambiguous.push(open);
        }
        let mut has_main = vec![false; modules.len()];
        table.mains().iter().for_each(|&m| has_main[m as usize] = true);
        Units { modules, edges, ambiguous, variant: variants(modules), has_main }
    }

    fn name(&self, unit: u32) -> &str {
        &self.modules[unit as usize].name
    }

    /// How far apart two units are: directories to leave and enter.
    fn distance(&self, a: u32, b: u32) -> usize {
        let (a, b) = (directories(self.name(a)), directories(self.name(b)));
        let shared = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
        a.len() + b.len() - 2 * shared
    }
}

fn variants(modules: &[Module]) -> Vec<u32> {
    let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
    modules
        .iter()
        .map(|m| {
            let n = seen.entry(&m.name).or_insert(0);
            *n += 1;
            *n - 1
        })
        .collect()
}

fn directories(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
    parts.pop();
    parts
}

/// One program while it grows.
struct Reached {
    main: u32,
    member: Vec<bool>,
    order: Vec<u32>,
    choice: FxHashMap<SymbolId, Definition>,
}

impl Reached {
    fn from_main(units: &Units, table: &SymbolTable, main: u32) -> Self {
        let count = units.modules.len();
        let mut program = Reached {
            main,
            member: vec![false; count],
            order: Vec::new(),
            choice: FxHashMap::default(),
        };
        program.close(units, main);
        let mut next = 0;
        while next < program.order.len() {
            let unit = program.order[next];
            next += 1;
            for &symbol in &units.ambiguous[unit as usize] {
                program.decide(units, table, symbol);
            }
        }
        program
    }

    fn units(&self) -> impl Iterator<Item = u32> + '_ {
        self.order.iter().copied()
    }

    /// Adds `unit` and all that it reaches through unique symbols.
    fn close(&mut self, units: &Units, unit: u32) {
        let mut stack = vec![unit];
        while let Some(u) = stack.pop() {
            if self.is_foreign(units, u) || std::mem::replace(&mut self.member[u as usize], true) {
                continue;
            }
            self.order.push(u);
            stack.extend(units.edges[u as usize].iter().rev());
        }
    }

    fn is_foreign(&self, units: &Units, unit: u32) -> bool {
        units.has_main[unit as usize] && unit != self.main
    }

    fn decide(&mut self, units: &Units, table: &SymbolTable, symbol: SymbolId) {
        if self.choice.contains_key(&symbol) {
            return;
        }
        let best = table
            .candidates(symbol)
            .iter()
            .filter(|d| !self.is_foreign(units, d.module))
            .min_by_key(|d| self.rank(units, d));
        if let Some(&best) = best {
            self.choice.insert(symbol, best);
            self.close(units, best.module);
        }
    }

    fn rank(&self, units: &Units, d: &Definition) -> (bool, bool, usize, bool, u32) {
        let (u, main) = (d.module, self.main);
        (
            u != main,
            !self.member[u as usize],
            units.distance(u, main),
            units.variant[u as usize] != units.variant[main as usize],
            u,
        )
    }
}

/// For a unit in no program: the definitions in the nearest directory, other programs' last.
fn nearest(units: &Units, table: &SymbolTable, unit: u32, symbol: SymbolId) -> Vec<Definition> {
    let key = |d: &Definition| {
        let apart = units.variant[d.module as usize] != units.variant[unit as usize];
        (units.has_main[d.module as usize], units.distance(d.module, unit), apart)
    };
    let candidates = table.candidates(symbol);
    let Some(best) = candidates.iter().map(key).min() else { return Vec::new() };
    candidates.iter().filter(|d| key(d) == best).copied().collect()
}

/// Symbols that one program defines twice.
#[derive(Default)]
struct Conflicts {
    found: std::collections::BTreeSet<SymbolId>,
}

impl Conflicts {
    fn look(&mut self, units: &Units, table: &SymbolTable, program: &Reached) {
        for unit in program.units() {
            for &symbol in &units.ambiguous[unit as usize] {
                let inside = table
                    .candidates(symbol)
                    .iter()
                    .filter(|d| program.member[d.module as usize])
                    .count();
                if inside > 1 {
                    self.found.insert(symbol);
                }
            }
        }
    }

    fn look_everywhere(&mut self, table: &SymbolTable) {
        self.found.extend(table.ids().filter(|&s| table.candidates(s).len() > 1));
    }

    fn write(&self, units: &Units, table: &SymbolTable, notes: &mut Vec<String>) {
        for &symbol in &self.found {
            let name = table.name(symbol);
            let mut places: Vec<&str> =
                table.candidates(symbol).iter().map(|d| units.name(d.module)).collect();
            let more = places.len().saturating_sub(4);
            places.truncate(4);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!(
                "`{name}` is defined more than once: {}{rest}; each reference uses the nearest",
                places.join(", ")
            ));
        }
    }
}
