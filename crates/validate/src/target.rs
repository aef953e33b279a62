//! A warning in terms of the instrumented program: ids of branches, points and calls.
//!
//! What cannot be found is a reason to reject the warning, with the nearest thing that could be meant.

use crate::map::{Block, ProgramMap};
use crate::warning::{Direction, Spot, Step, Warning};
use leakproof_rt::abi::MODELLED;
use leakproof_rt::map::CallMap;
use std::path::Path;
use thiserror::Error;

/// What a run is aimed at.
#[derive(Clone, Debug, Default)]
pub struct Target {
    pub path: Vec<PathElement>,
    /// Numbers of the watched points that stand for the leak.
    pub points: Vec<u32>,
    /// The blocks with these points.
    pub point_blocks: Vec<Block>,
    /// For each call of the allocation's trace, the calls that may stand for it.
    pub sites: Vec<Vec<u32>>,
    /// Blocks with the outermost of these calls.
    pub site_blocks: Vec<Block>,
}

/// One branch of the path: the edges that count as taking it.
#[derive(Clone, Debug, Default)]
pub struct PathElement {
    /// Branch and successor.
    pub edges: Vec<(u32, u32)>,
    /// For messages: `file:line`, and which side of the condition.
    pub place: String,
    pub side: String,
}

impl PathElement {
    /// `file:line (true)`.
    pub fn named(&self) -> String {
        format!("{} ({})", self.place, self.side)
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum Rejection {
    #[error("{0}: no such file in the program")]
    NoFile(String),
    #[error("{place}: no allocation call on this line{hint}")]
    NoAllocation { place: String, hint: String },
    #[error("{place}: no code on this line{hint}")]
    NoCode { place: String, hint: String },
    #[error("{place}: no branch on this line{hint}")]
    NoBranch { place: String, hint: String },
}

/// Looks a warning up; `point` gives the number of a watched line.
pub fn resolve(
    map: &ProgramMap,
    warning: &Warning,
    point: impl Fn(&Path, u32) -> Option<u32>,
) -> Result<Target, Rejection> {
    let mut target = Target::default();
    for (i, spot) in warning.allocation.iter().enumerate() {
        let calls = calls_at(map, spot);
        if calls.is_empty() {
            // Inner calls of the trace may lie in code that we do not have; the outermost must not.
            if i > 0 {
                continue;
            }
            return Err(no_allocation(map, spot));
        }
        if i == 0 {
            target.site_blocks = calls.iter().map(|(b, _)| *b).collect();
        }
        target.sites.push(calls.iter().map(|(_, id)| *id).collect());
    }
    for step in &warning.branches {
        match element(map, step) {
            Ok(element) => target.path.push(element),
            // Both sides may lie on the line; then the step says nothing.
            Err(_) if step.direction == Direction::SameLine => {}
            Err(rejection) => return Err(rejection),
        }
    }
    let leak = &warning.leak;
    let blocks = |line: u32| (line, blocks_on(map, &leak.file, line));
    let found = warning.leak_lines().into_iter().map(blocks).find(|(_, b)| !b.is_empty());
    let Some((line, blocks)) = found else { return Err(no_code(map, leak)) };
    target.point_blocks = blocks;
    target.points.extend(point(&leak.file, line));
    if target.points.is_empty() {
        return Err(no_code(map, leak));
    }
    Ok(target)
}

fn place(spot: &Spot) -> String {
    format!("{}:{}", spot.file.display(), spot.line)
}

fn is_file(map: &ProgramMap, block: Block, file: &Path) -> bool {
    map.block(block).lines.iter().any(|l| Path::new(map.file(block, *l)) == file)
}

fn blocks_on(map: &ProgramMap, file: &Path, line: u32) -> Vec<Block> {
    let on = |b: &Block| {
        let hit =
            |l: &leakproof_rt::map::Position| l.line == line && Path::new(map.file(*b, *l)) == file;
        map.block(*b).lines.iter().any(hit)
    };
    map.blocks().filter(on).collect()
}

/// Of the library functions that we understand, those that give something that can leak.
const GIVERS: &[&str] = &[
    "strdup",
    "strndup",
    "getline",
    "getdelim",
    "__getdelim",
    "open",
    "open64",
    "openat",
    "openat64",
    "fopen",
    "fopen64",
    "fdopen",
    "freopen",
];

/// Whether something can leak that the call gives, as far as its name tells.
fn may_allocate(call: &CallMap) -> bool {
    call.callee.as_deref().is_none_or(|name| !MODELLED.contains(&name) || GIVERS.contains(&name))
}

/// Calls on the spot's line; those of the right name or column if any are.
fn calls_at(map: &ProgramMap, spot: &Spot) -> Vec<(Block, u32)> {
    let mut all: Vec<(Block, &CallMap)> = Vec::new();
    for block in map.blocks() {
        let here =
            |c: &&CallMap| c.at.line == spot.line && Path::new(map.file(block, c.at)) == spot.file;
        let calls = map.block(block).calls.iter().filter(|c| may_allocate(c));
        all.extend(calls.filter(here).map(|c| (block, c)));
    }
    let narrowed = |keep: &dyn Fn(&CallMap) -> bool| -> Vec<(Block, u32)> {
        all.iter().filter(|(_, c)| keep(c)).map(|(b, c)| (*b, c.id)).collect()
    };
    let named = narrowed(&|c| !spot.callee.is_empty() && c.callee.as_deref() == Some(&spot.callee));
    let exact = narrowed(&|c| spot.column != 0 && c.at.column == spot.column);
    let any = narrowed(&|_| true);
    [exact, named, any].into_iter().find(|l| !l.is_empty()).unwrap_or_default()
}

/// The nearest line of the file for which `has` holds.
fn nearest(map: &ProgramMap, spot: &Spot, lines: impl Fn(Block) -> Vec<u32>) -> String {
    let mut best: Option<u32> = None;
    for block in map.blocks().filter(|b| is_file(map, *b, &spot.file)) {
        for line in lines(block) {
            if best.is_none_or(|b| line.abs_diff(spot.line) < b.abs_diff(spot.line)) {
                best = Some(line);
            }
        }
    }
    best.map(|line| format!("; the nearest is line {line}")).unwrap_or_default()
}

fn check_file(map: &ProgramMap, spot: &Spot) -> Result<(), Rejection> {
    if map.blocks().any(|b| is_file(map, b, &spot.file)) {
        Ok(())
    } else {
        Err(Rejection::NoFile(spot.file.display().to_string()))
    }
}

fn no_allocation(map: &ProgramMap, spot: &Spot) -> Rejection {
    let lines = |b: Block| {
        let calls = map.block(b).calls.iter().filter(|c| may_allocate(c));
        calls.map(|c| c.at.line).collect()
    };
    let hint = nearest(map, spot, lines);
    check_file(map, spot).err().unwrap_or(Rejection::NoAllocation { place: place(spot), hint })
}

fn no_code(map: &ProgramMap, spot: &Spot) -> Rejection {
    let lines = |b: Block| map.block(b).lines.iter().map(|l| l.line).collect();
    let hint = nearest(map, spot, lines);
    check_file(map, spot).err().unwrap_or(Rejection::NoCode { place: place(spot), hint })
}

fn no_branch(map: &ProgramMap, spot: &Spot) -> Rejection {
    let lines = |b: Block| map.block(b).branch.iter().map(|c| c.at.line).collect();
    let hint = nearest(map, spot, lines);
    check_file(map, spot).err().unwrap_or(Rejection::NoBranch { place: place(spot), hint })
}

/// The edges that stand for a step of the path.
fn element(map: &ProgramMap, step: &Step) -> Result<PathElement, Rejection> {
    let here = |b: &Block| {
        map.block(*b).branch.as_ref().is_some_and(|branch| {
            branch.at.line == step.at.line && Path::new(map.file(*b, branch.at)) == step.at.file
        })
    };
    let mut group: Vec<Block> = map.blocks().filter(here).collect();
    if step.at.column != 0 {
        group = condition_at(map, &group, step.at.column);
    }
    let edges = match step.direction {
        Direction::Line(line) => edges_to_line(map, &group, line),
        Direction::SameLine => edges_that_stay(map, &group, step.at.line),
        Direction::Condition(side) => edges_of_condition(map, &group, side),
    };
    if edges.is_empty() {
        return Err(no_branch(map, &step.at));
    }
    let side = match step.direction {
        Direction::Condition(side) => side.to_string(),
        Direction::Line(line) => format!("to line {line}"),
        Direction::SameLine => "on the same line".to_owned(),
    };
    Ok(PathElement { edges, place: place(&step.at), side })
}

/// Of the branches on a line those of the condition at a column, or behind the word there (`if`, say): the
/// first from it on, and the parts that `&&` and `||` join to it.
fn condition_at(map: &ProgramMap, line: &[Block], column: u32) -> Vec<Block> {
    let column_of = |b: &Block| map.block(*b).branch.as_ref().map_or(0, |x| x.at.column);
    let exact: Vec<Block> = line.iter().filter(|b| column_of(b) == column).copied().collect();
    if !exact.is_empty() {
        return exact;
    }
    let behind = line.iter().filter(|b| column_of(b) > column);
    let Some(first) = behind.min_by_key(|b| column_of(b)) else { return line.to_vec() };
    let mut group = vec![*first];
    let mut next = 0;
    while let Some(&block) = group.get(next) {
        for number in &map.block(block).successors {
            let part = map.sibling(block, *number);
            let name = &map.block(part).name;
            let is_part = name.starts_with("land.") || name.starts_with("lor.");
            if is_part && line.contains(&part) && !group.contains(&part) {
                group.push(part);
            }
        }
        next += 1;
    }
    group
}

fn edges(map: &ProgramMap, group: &[Block]) -> Vec<(u32, u32, Block)> {
    let mut all = Vec::new();
    for block in group {
        let Some(branch) = &map.block(*block).branch else { continue };
        for taken in 0..map.block(*block).successors.len() as u32 {
            if let Some(to) = map.successor(branch.id, taken) {
                all.push((branch.id, taken, to));
            }
        }
    }
    all
}

/// Edges whose goal starts on the line, looking through blocks that have no line of their own.
fn edges_to_line(map: &ProgramMap, group: &[Block], line: u32) -> Vec<(u32, u32)> {
    let hits = |e: &&(u32, u32, Block)| first_line(map, e.2) == Some(line);
    edges(map, group).iter().filter(hits).map(|(id, taken, _)| (*id, *taken)).collect()
}

/// Edges to the line itself; none when no edge leads away from it.
fn edges_that_stay(map: &ProgramMap, group: &[Block], line: u32) -> Vec<(u32, u32)> {
    let stay = edges_to_line(map, group, line);
    if stay.len() < edges(map, group).len() { stay } else { Vec::new() }
}

/// The line where a block starts; one without any is passed through.
pub fn first_line(map: &ProgramMap, mut block: Block) -> Option<u32> {
    for _ in 0..4 {
        let here = map.block(block);
        if let Some(position) = here.lines.first() {
            return Some(position.line);
        }
        let [next] = here.successors.as_slice() else { return None };
        block = map.sibling(block, *next);
    }
    None
}

/// Names that the compiler gives to the block where a true condition goes.
const TRUE_BLOCKS: &[&str] =
    &["if.then", "for.body", "while.body", "do.body", "cond.true", "land.rhs", "land.lhs.true"];

/// Edges out of a condition (one or several branches on a line) to its true or false side.
fn edges_of_condition(map: &ProgramMap, group: &[Block], side: bool) -> Vec<(u32, u32)> {
    let inside = |b: Block| group.contains(&b);
    let leaving: Vec<(u32, u32, Block)> =
        edges(map, group).into_iter().filter(|(_, _, to)| !inside(*to)).collect();
    let named_true = |to: Block| {
        let name = &map.block(to).name;
        TRUE_BLOCKS.iter().any(|t| name.starts_with(t))
    };
    // Without names the true side is where the last test goes first.
    let fallback = group
        .last()
        .and_then(|b| map.block(*b).branch.as_ref().and_then(|branch| map.successor(branch.id, 0)));
    let any_named = leaving.iter().any(|(_, _, to)| named_true(*to));
    let is_true = |to: Block| if any_named { named_true(to) } else { Some(to) == fallback };
    let wanted = leaving.iter().filter(|(_, _, to)| is_true(*to) == side);
    wanted.map(|(id, taken, _)| (*id, *taken)).collect()
}
