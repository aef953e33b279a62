//! Inclusion-based points-to analysis (first step: function constants only).

use super::{FunctionSet, ObjectId, ObjectKind, PointsTo, PtsSet};
use crate::{FuncRef, Program};
use leakproof_ir::{InitValue, InstKind, ValueId, ValueKind};
use leakproof_models::Library;
use rustc_hash::FxHashMap;

/// The solved analysis.
#[derive(Default)]
pub struct Andersen {
    functions: FxHashMap<(FuncRef, ValueId), FunctionSet>,
}

impl Andersen {
    pub fn solve(program: &Program, _models: &Library) -> Andersen {
        let mut out = Andersen::default();
        for &f in program.definition_list() {
            out.collect(program, f);
        }
        out
    }

    fn collect(&mut self, program: &Program, f: FuncRef) {
        let function = program.function(f);
        for (v, value) in function.values.iter() {
            if let ValueKind::Function(func) = value.kind {
                let list = program.resolve_all(f.module, func).iter().copied().collect();
                self.functions.insert((f, v), FunctionSet { list, unknown: false });
            }
        }
        for inst in function.body.iter().flat_map(|b| b.insts.values()) {
            let (InstKind::Load { ptr }, Some(result)) = (&inst.kind, inst.result) else {
                continue;
            };
            let ValueKind::Global(g, offset) = function.values[*ptr].kind else { continue };
            let g = program.resolve_global(f.module, g);
            let list = program
                .global(g)
                .init
                .iter()
                .flatten()
                .filter(|e| e.offset as i64 == offset)
                .filter_map(|e| match e.value {
                    InitValue::Function(func) => Some(program.resolve(g.module, func)),
                    _ => None,
                })
                .collect();
            let unknown = !program.global(g).constant;
            self.functions.insert((f, result), FunctionSet { list, unknown });
        }
    }
}

impl PointsTo for Andersen {
    fn points_to(&self, _: FuncRef, _: ValueId) -> PtsSet {
        PtsSet { unknown: true, ..PtsSet::default() }
    }
    fn functions(&self, f: FuncRef, v: ValueId) -> FunctionSet {
        let unknown = || FunctionSet { unknown: true, ..FunctionSet::default() };
        self.functions.get(&(f, v)).cloned().unwrap_or_else(unknown)
    }
    fn may_alias(&self, _: (FuncRef, ValueId), _: (FuncRef, ValueId)) -> bool {
        true
    }
    fn must_alias(&self, _: FuncRef, a: ValueId, b: ValueId) -> bool {
        a == b
    }
    fn object(&self, _: ObjectId) -> ObjectKind {
        ObjectKind::Library
    }
    fn escapes(&self, _: ObjectId) -> bool {
        true
    }
}
