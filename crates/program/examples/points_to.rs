//! Times the points-to analysis: `points_to FILES...` links units given as text IR, solves, and
//! prints the time and the solver's counts. Not part of the product; for measuring it.

use leakproof_ir::{Callee, InstKind, Module, parse_module};
use leakproof_models::Library;
use leakproof_program::{Andersen, CallGraph, PointsTo, Program};
use std::time::Instant;

fn main() {
    let mut modules = Vec::new();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        modules.push(parse_module(&text).unwrap_or_else(|e| panic!("{path}: {e}")));
    }
    measure(modules);
}

/// Links, solves and tells how long it took.
pub fn measure(modules: Vec<Module>) {
    let program = Program::link(modules);
    let models = Library::shipped();
    let (start, before) = (Instant::now(), cpu_seconds());
    let solved = Andersen::solve(&program, models);
    let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - before);
    println!("cpu {cpu:.3} s, wall {wall:.3} s, {:?}", solved.stats());
    describe(&program, &solved);
}

/// How much the answers say: dereferences of unknown pointers, targets of calls through pointers.
fn describe(program: &Program, solved: &Andersen) {
    let graph = CallGraph::build(program, solved, Library::shipped());
    let (mut dereferences, mut unknown, mut pointees) = (0, 0, 0);
    let (mut calls, mut complete, mut named, mut targets) = (0, 0, 0, 0);
    for &f in program.definition_list() {
        let Some(body) = &program.function(f).body else { continue };
        for (inst, data) in body.insts.iter() {
            match &data.kind {
                InstKind::Load { ptr, .. } | InstKind::Store { ptr, .. } => {
                    let set = solved.points_to(f, *ptr);
                    dereferences += 1;
                    unknown += usize::from(set.unknown);
                    pointees += set.pointees.len();
                }
                InstKind::Call { callee: Callee::Indirect(_), .. } => {
                    let found = graph.targets(f, inst);
                    calls += 1;
                    complete += usize::from(found.complete);
                    named += usize::from(!found.fallback && !found.list.is_empty());
                    targets += found.list.len();
                }
                _ => {}
            }
        }
    }
    println!("  {dereferences} dereferences: {unknown} unknown, {pointees} pointees");
    println!("  {calls} calls: {complete} complete, {named} named, {targets} targets");
}

/// What this process has used of a processor; 0 where the system does not say.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
