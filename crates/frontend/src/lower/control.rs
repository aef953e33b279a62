//! Terminators.

use super::constant::Static;
use super::function::FunctionLowering;
use crate::llvm::{Inst, Op, Range};
use leakproof_ir::{BlockId, Terminator, Ty};

impl FunctionLowering<'_> {
    pub fn terminator(&mut self, _block: u32, inst: &Inst) -> Terminator {
        let result = inst.value.map(|number| (number, inst.ty));
        match inst.op {
            Op::Return { value } => Terminator::Return(value.map(|v| self.value(v))),
            Op::Jump { target } => Terminator::Jump(self.block_id(target)),
            Op::Branch { cond, then, otherwise } => Terminator::Branch {
                cond: self.value(cond),
                then: self.block_id(then),
                otherwise: self.block_id(otherwise),
            },
            Op::Switch { value, default, cases } => self.switch(value, default, cases),
            Op::Indirect { targets } => Terminator::Indirect { targets: self.targets(targets) },
            Op::Invoke { callee, args, attributes, normal, unwind } => {
                let call = self.real_call(result, callee, args, attributes);
                let (normal, unwind) = (self.block_id(normal), self.block_id(unwind));
                Terminator::Invoke { call, normal, unwind }
            }
            Op::CallBr { callee, args, attributes, targets } => {
                self.real_call(result, callee, args, attributes);
                Terminator::Indirect { targets: self.targets(targets) }
            }
            Op::Resume => Terminator::Resume,
            _ => Terminator::Unreachable,
        }
    }

    fn targets(&self, targets: Range) -> Vec<BlockId> {
        targets.of(&self.body.pool).iter().map(|b| self.block_id(*b as u32)).collect()
    }

    fn switch(&mut self, value: u32, default: u32, cases: Range) -> Terminator {
        let value = self.value(value);
        let default = self.block_id(default);
        let pairs = cases.of(&self.body.pool).chunks_exact(2);
        let wide = !matches!(self.values[value].ty, Ty::Int(0..=64));
        if wide {
            // Case numbers beyond 64 bits cannot be told apart.
            let targets = pairs.map(|p| self.block_id(p[1] as u32)).chain([default]).collect();
            return Terminator::Indirect { targets };
        }
        let cases = pairs.map(|pair| {
            let number = match self.unit.evaluate(pair[0] as u32, 0) {
                Static::Int(number) => number,
                _ => 0,
            };
            (number, self.block_id(pair[1] as u32))
        });
        Terminator::Switch { value, cases: cases.collect(), default }
    }
}
