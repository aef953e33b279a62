//! The whole program as the instrumenter saw it: blocks, branches and calls of all units in one graph.
//!
//! Blocks are numbered through; edges go along branches, into called functions, and back to where they
//! were called. Calls through pointers may go to every function whose address is taken and that has
//! as many parameters.

use leakproof_rt::map::{BlockMap, BranchMap, CallMap, Position, UnitMap};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A block of the program.
pub type Block = u32;

pub struct ProgramMap {
    pub units: Vec<UnitMap>,
    /// (unit, function, block) of each block.
    places: Vec<(u32, u32, u32)>,
    /// First block of each function, in the order of units.
    first: Vec<Vec<Block>>,
    /// Edges against the direction of control.
    predecessors: Vec<Vec<Block>>,
    branches: FxHashMap<u32, Block>,
    calls: FxHashMap<u32, Block>,
}

impl ProgramMap {
    pub fn new(units: Vec<UnitMap>) -> Self {
        let mut places = Vec::new();
        let mut first = Vec::new();
        for (u, unit) in units.iter().enumerate() {
            let mut starts = Vec::new();
            for (f, function) in unit.functions.iter().enumerate() {
                starts.push(places.len() as Block);
                let count = function.blocks.len() as u32;
                places.extend((0..count).map(|b| (u as u32, f as u32, b)));
            }
            first.push(starts);
        }
        let predecessors = vec![Vec::new(); places.len()];
        let (branches, calls) = (FxHashMap::default(), FxHashMap::default());
        let mut map = Self { units, places, first, predecessors, branches, calls };
        map.connect();
        map
    }

    pub fn block(&self, block: Block) -> &BlockMap {
        let (u, f, b) = self.places[block as usize];
        &self.units[u as usize].functions[f as usize].blocks[b as usize]
    }

    pub fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        0..self.places.len() as Block
    }

    /// Every function with a body: its unit, its number there, its first block.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, Block)> {
        let units = self.first.iter().enumerate();
        let all =
            units.flat_map(|(u, starts)| starts.iter().enumerate().map(move |(f, b)| (u, f, *b)));
        all.filter(|(u, f, _)| !self.units[*u].functions[*f].blocks.is_empty())
    }

    /// The file of a position in the unit of `block`.
    pub fn file(&self, block: Block, at: Position) -> &str {
        let (u, _, _) = self.places[block as usize];
        self.units[u as usize].files.get(at.file as usize).map_or("", String::as_str)
    }

    /// The block that a branch ends.
    pub fn branch_block(&self, id: u32) -> Option<Block> {
        self.branches.get(&id).copied()
    }

    pub fn branch(&self, id: u32) -> Option<&BranchMap> {
        self.block(self.branch_block(id)?).branch.as_ref()
    }

    /// The values that a switch tells apart.
    pub fn cases(&self, id: u32) -> Vec<u64> {
        let cases = self.branch(id).and_then(|b| b.cases.as_ref());
        cases.into_iter().flatten().flatten().copied().collect()
    }

    /// Whether the program calls a function of this name.
    pub fn calls_any(&self, name: &str) -> bool {
        let calls = self.blocks().flat_map(|b| &self.block(b).calls);
        calls.into_iter().any(|c| c.callee.as_deref() == Some(name))
    }

    /// The block that a call is in.
    pub fn call_block(&self, id: u32) -> Option<Block> {
        self.calls.get(&id).copied()
    }

    /// Where a branch goes on to when it takes successor `taken`.
    pub fn successor(&self, id: u32, taken: u32) -> Option<Block> {
        let block = self.branch_block(id)?;
        let number = *self.block(block).successors.get(taken as usize)?;
        Some(self.sibling(block, number))
    }

    /// Whether two blocks belong to one function.
    pub fn in_one_function(&self, a: Block, b: Block) -> bool {
        self.sibling(a, 0) == self.sibling(b, 0)
    }

    /// The block with this number in the function of `block`.
    pub fn sibling(&self, block: Block, number: u32) -> Block {
        let (u, f, _) = self.places[block as usize];
        self.first[u as usize][f as usize] + number
    }

    fn connect(&mut self) {
        let symbols = Symbols::new(&self.units);
        for block in self.blocks() {
            let (u, f, _) = self.places[block as usize];
            let start = self.first[u as usize][f as usize];
            let drawn = self.block(block).clone();
            for next in &drawn.successors {
                self.predecessors[(start + next) as usize].push(block);
            }
            if let Some(branch) = &drawn.branch {
                self.branches.insert(branch.id, block);
            }
            for call in &drawn.calls {
                self.calls.insert(call.id, block);
                for (unit, function) in symbols.targets(u, call) {
                    self.connect_call(block, unit, function);
                }
            }
        }
    }

    /// A call leads into the function, and every return of that back into the calling block.
    fn connect_call(&mut self, block: Block, unit: u32, function: u32) {
        let entry = self.first[unit as usize][function as usize];
        let callee = &self.units[unit as usize].functions[function as usize];
        if callee.blocks.is_empty() {
            return;
        }
        let returns: Vec<Block> = (0..callee.blocks.len())
            .filter(|b| callee.blocks[*b].returns)
            .map(|b| entry + b as Block)
            .collect();
        self.predecessors[entry as usize].push(block);
        self.predecessors[block as usize].extend(returns);
    }

    /// For every block, how many steps control needs from there to one of `goals`; `None` when it
    /// cannot get there.
    pub fn distances(&self, goals: &[Block]) -> Vec<Option<u32>> {
        let mut distance = vec![None; self.places.len()];
        let mut queue: VecDeque<Block> = goals.iter().copied().collect();
        goals.iter().for_each(|g| distance[*g as usize] = Some(0));
        while let Some(block) = queue.pop_front() {
            let next = distance[block as usize].map(|d: u32| d + 1);
            for &p in &self.predecessors[block as usize] {
                if distance[p as usize].is_none() {
                    distance[p as usize] = next;
                    queue.push_back(p);
                }
            }
        }
        distance
    }
}

/// Which function a call may mean.
struct Symbols {
    external: FxHashMap<String, (u32, u32)>,
    internal: FxHashMap<(u32, String), (u32, u32)>,
    /// Functions with their address taken, by number of parameters.
    indirect: FxHashMap<u32, Vec<(u32, u32)>>,
}

impl Symbols {
    fn new(units: &[UnitMap]) -> Self {
        let mut symbols = Self {
            external: FxHashMap::default(),
            internal: FxHashMap::default(),
            indirect: FxHashMap::default(),
        };
        for (u, unit) in units.iter().enumerate() {
            for (f, function) in unit.functions.iter().enumerate() {
                let at = (u as u32, f as u32);
                if function.internal {
                    symbols.internal.insert((u as u32, function.name.clone()), at);
                } else {
                    symbols.external.entry(function.name.clone()).or_insert(at);
                }
                if function.address_taken {
                    symbols.indirect.entry(function.parameters).or_default().push(at);
                }
            }
        }
        symbols
    }

    fn targets(&self, unit: u32, call: &CallMap) -> Vec<(u32, u32)> {
        match &call.callee {
            Some(name) => {
                let own = self.internal.get(&(unit, name.clone()));
                own.or_else(|| self.external.get(name)).copied().into_iter().collect()
            }
            None => self.indirect.get(&call.arguments).cloned().unwrap_or_default(),
        }
    }
}
