//! The solved inclusion-based analysis, and its answers.
//!
//! Invariant: read only; every answer is a function of the solution, so it does not depend on the
//! order of questions.

use super::generate::{Generator, ValueTable};
use super::object::{ANYWHERE, Loc, Location, UNKNOWN};
use super::solver::{Solver, SolverStats, Val};
use super::{FunctionSet, ObjectId, ObjectKind, Pointee, PointsTo, PtsSet};
use crate::{FuncRef, Program};
use leakproof_ir::{InstKind, ValueId, ValueKind};
use leakproof_models::Library;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Whole-program, field-sensitive, inclusion-based points-to sets.
pub struct Andersen {
    solver: Solver,
    table: ValueTable,
    /// Functions that execution never gets to: of what they compute nothing is known.
    unreached: FxHashSet<FuncRef>,
}

impl Andersen {
    pub fn solve(program: &Program, models: &Library) -> Andersen {
        let mut generator = Generator::new(program, models);
        generator.generate();
        generator.solve();
        let unreached = generator.unreached();
        Andersen { solver: generator.solver, table: generator.table, unreached }
    }

    pub fn stats(&self) -> SolverStats {
        self.solver.stats
    }

    fn locations(&self, f: FuncRef, v: ValueId) -> SmallVec<[Loc; 4]> {
        match self.table.get(f, v) {
            Some(Val::Addr(loc)) => SmallVec::from_slice(&[loc]),
            Some(Val::Var(node)) => {
                let mut all: SmallVec<[Loc; 4]> = self.solver.locations(node).collect();
                if self.unreached.contains(&f) && !all.contains(&UNKNOWN) {
                    all.push(UNKNOWN);
                }
                all
            }
            Some(Val::Nothing) => SmallVec::new(),
            // An integer that nothing made a pointer of.
            None => SmallVec::from_slice(&[UNKNOWN]),
        }
    }

    fn location(&self, loc: Loc) -> &Location {
        &self.solver.mem.locs[loc as usize]
    }
}

#[derive(PartialEq, Eq)]
enum Base {
    Value(ValueId),
    Global(crate::GlobalRef),
}

impl PointsTo for Andersen {
    fn points_to(&self, f: FuncRef, v: ValueId) -> PtsSet {
        let mut set = PtsSet::default();
        let mut seen = false;
        for loc in self.locations(f, v) {
            if loc == UNKNOWN {
                set.unknown = true;
                continue;
            }
            let Location { object, offset, .. } = *self.location(loc);
            if self.solver.mem.objects[object as usize].view {
                seen = true;
                continue;
            }
            let root = self.solver.mem.objects[object as usize].root;
            let offset = (offset != ANYWHERE && root == object).then_some(offset);
            set.pointees.push(Pointee { object: ObjectId(root), offset });
        }
        // Memory of another type, looked at as this one. Beside memory of the right type it is there
        // by imprecision only; alone it is a cast that is meant, and which object it is is not known.
        set.unknown |= seen && set.pointees.is_empty();
        set.pointees.sort_unstable();
        set.pointees.dedup();
        set
    }

    fn functions(&self, f: FuncRef, v: ValueId) -> FunctionSet {
        let mut set = FunctionSet::default();
        for loc in self.locations(f, v) {
            let object = &self.solver.mem.objects[self.location(loc).object as usize];
            match object.kind {
                _ if loc == UNKNOWN => set.unknown = true,
                ObjectKind::Function(target) => set.list.push(target),
                _ => {}
            }
        }
        set.list.sort_unstable();
        set
    }

    fn may_alias(&self, a: (FuncRef, ValueId), b: (FuncRef, ValueId)) -> bool {
        let (a, b) = (self.points_to(a.0, a.1), self.points_to(b.0, b.1));
        let escaped = |set: &PtsSet| set.pointees.iter().any(|p| self.escapes(p.object));
        if a.unknown && (b.unknown || escaped(&b)) || b.unknown && escaped(&a) {
            return true;
        }
        a.pointees.iter().any(|p| {
            let from = b.pointees.partition_point(|q| q.object < p.object);
            b.pointees[from..]
                .iter()
                .take_while(|q| q.object == p.object)
                .any(|q| p.offset.is_none() || q.offset.is_none() || p.offset == q.offset)
        })
    }

    fn must_alias(&self, program: &Program, f: FuncRef, a: ValueId, b: ValueId) -> bool {
        a == b || base_and_offset(program, f, a) == base_and_offset(program, f, b)
    }

    fn object(&self, object: ObjectId) -> ObjectKind {
        self.solver.mem.objects[object.0 as usize].kind
    }

    fn escapes(&self, object: ObjectId) -> bool {
        self.solver.mem.objects[object.0 as usize].escaped
    }
}

/// The address of `v` as a base value and a constant.
fn base_and_offset(program: &Program, f: FuncRef, v: ValueId) -> (Base, i64) {
    let function = program.function(f);
    let (mut v, mut offset) = (v, 0i64);
    // A malformed function might define a value by itself.
    for _ in 0..function.values.len() {
        match function.values[v].kind {
            ValueKind::Global(g, delta) => {
                let g = program.resolve_global(f.module, g);
                return (Base::Global(g), offset.wrapping_add(delta));
            }
            ValueKind::Inst(inst) => match function.body.as_ref().map(|b| &b.insts[inst].kind) {
                Some(InstKind::Offset { base, offset: delta, indices, .. })
                    if indices.is_empty() =>
                {
                    (v, offset) = (*base, offset.wrapping_add(*delta));
                }
                _ => break,
            },
            _ => break,
        }
    }
    (Base::Value(v), offset)
}
