//! Marks on the source lines that a warning names: allocation calls and points passed.
//!
//! Done before locals become SSA values, while every line still has its instructions.

use crate::builder::Builder;
use crate::llvm::{Block, Module, Value};
use crate::survey::Survey;
use leakproof_rt::map::{BlockMap, WatchedLine};
use std::collections::{BTreeMap, HashSet};

/// What stays to be done when branches are instrumented.
#[derive(Default)]
pub struct Marks {
    /// Branches on watched lines and right before them: told about even when their condition is not symbolic.
    pub branches: HashSet<Value>,
}

/// Watched lines of this unit: (file number, line) to point.
type Lines = BTreeMap<(u32, u32), u32>;

pub fn place(module: Module, survey: &Survey, watch: &[WatchedLine]) -> Marks {
    let mut marks = Marks::default();
    let lines = lines_of(survey, watch);
    if lines.is_empty() {
        return marks;
    }
    let mut builder = Builder::new(module);
    let functions: Vec<Value> = module
        .functions()
        .into_iter()
        .filter(|f| !f.is_declaration() && !f.is_available_externally())
        .collect();
    for (function, drawn) in functions.iter().zip(&survey.map.functions) {
        let mut marked = false;
        let is_watched =
            |map: &BlockMap| map.lines.iter().any(|l| lines.contains_key(&(l.file, l.line)));
        for (block, map) in function.blocks().into_iter().zip(&drawn.blocks) {
            if is_watched(map) {
                mark_block(&mut builder, survey, block, &lines, &mut marks);
                marked = true;
            }
            let next = map.successors.iter().filter_map(|n| drawn.blocks.get(*n as usize));
            if map.branch.is_some() && next.into_iter().any(is_watched) {
                marks.branches.extend(block.terminator());
            }
        }
        if marked {
            function.forbid_inlining(module);
        }
    }
    marks
}

fn lines_of(survey: &Survey, watch: &[WatchedLine]) -> Lines {
    let mut lines = Lines::new();
    for (number, file) in survey.map.files.iter().enumerate() {
        for watched in watch.iter().filter(|w| w.file == *file) {
            lines.insert((number as u32, watched.line), watched.point);
        }
    }
    lines
}

fn mark_block(
    builder: &mut Builder,
    survey: &Survey,
    block: Block,
    lines: &Lines,
    marks: &mut Marks,
) {
    let instructions = block.instructions();
    // The watched line that the walk is in, and the instruction after which it may end.
    let mut current: Option<u32> = None;
    for &instruction in &instructions {
        let point = point_of(survey, instruction, lines);
        let has_line = instruction.line() != 0;
        if has_line && current.is_some() && point != current {
            builder.before(instruction);
            tell(builder, current);
            current = None;
        }
        if point.is_some() {
            current = point;
            if instruction.is_call() {
                enclose(builder, survey, instruction);
            }
        }
    }
    let Some(end) = block.terminator() else { return };
    if current.is_some() {
        builder.before(end);
        tell(builder, current);
    }
    if point_of(survey, end, lines).is_some() {
        marks.branches.insert(end);
    }
}

fn point_of(survey: &Survey, instruction: Value, lines: &Lines) -> Option<u32> {
    let line = instruction.line();
    if line == 0 || !lines.keys().any(|(_, l)| *l == line) {
        return None;
    }
    let file = survey.file_number(instruction)?;
    lines.get(&(file, line)).copied()
}

fn tell(builder: &mut Builder, point: Option<u32>) {
    if let Some(point) = point {
        let number = builder.word(point);
        builder.call("lp_point", &[number]);
    }
}

/// Tells when a call on a watched line begins and ends.
fn enclose(builder: &mut Builder, survey: &Survey, call: Value) {
    let Some(&id) = survey.ids.calls.get(&call) else { return };
    if call.is_must_tail() {
        return;
    }
    let number = builder.word(id);
    builder.before(call);
    builder.call("lp_rt_enter", &[number]);
    match call.next() {
        Some(next) => builder.before(next),
        // An invoke: where it goes on to when nothing is thrown.
        None => match call.successors().first() {
            Some(normal) => builder.at_start(*normal),
            None => return,
        },
    }
    builder.call("lp_rt_leave", &[number]);
}
