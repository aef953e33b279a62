//! Source variables: which slot or value stands for which, and since when.

use super::function::FunctionLowering;
use super::intrinsic::Intrinsic;
use super::promote::intrinsic;
use super::unit::Unit;
use crate::llvm::{Body, DebugLoc, DebugRecord, MdId, Op, Value, md_code};
use leakproof_ir::{InstKind, Loc, ValueKind, Var, VarId};

/// Where a declaration says that it stands.
#[derive(Clone, Copy)]
pub enum Position {
    Node(MdId),
    Instruction(DebugLoc),
}

/// A value that is the address of a variable.
#[derive(Clone, Copy)]
pub struct Declaration {
    pub value: u32,
    variable: MdId,
    expression: MdId,
    position: Position,
}

/// Calls `f` with each declaration, whether it is a record or, as before LLVM 19, a call.
pub fn for_each_declaration(unit: &Unit, body: &Body, mut f: impl FnMut(Declaration)) {
    for record in body.records.iter().filter(|r| r.declare) {
        let &DebugRecord { value, variable, expression, loc, .. } = record;
        f(Declaration { value, variable, expression, position: Position::Node(loc) });
    }
    if !unit.has_debug_calls {
        return;
    }
    for inst in &body.insts {
        let Op::Call { callee, args, .. } = inst.op else { continue };
        if intrinsic(unit, callee) != Some(Intrinsic::DebugDeclare) {
            continue;
        }
        let &[value, variable, expression] = args.of(&body.pool) else { continue };
        let node = unit.raw.metadata.node(MdId(value as u32));
        if node.code == md_code::VALUE {
            f(Declaration {
                value: node.number(1) as u32,
                variable: MdId(variable as u32),
                expression: MdId(expression as u32),
                position: Position::Instruction(inst.loc),
            });
        }
    }
}

impl FunctionLowering<'_> {
    /// Learns from debug info which slots are variables, and names the parameters.
    pub fn declare_variables(&mut self) {
        let mut declarations = Vec::new();
        for_each_declaration(self.unit, self.body, |d| declarations.push(d));
        for d in declarations {
            let md = &self.unit.raw.metadata;
            let loc = match d.position {
                Position::Node(node) => self.unit.locations.node(md, node),
                Position::Instruction(loc) => self.unit.locations.instruction(md, loc),
            };
            self.declare_variable(d.value, d.variable, d.expression, loc);
        }
        self.name_parameters();
    }

    fn declare_variable(&mut self, value: u32, variable: MdId, expression: MdId, loc: Loc) {
        let Some(var) = self.var(variable, loc) else { return };
        match self.unit.raw.values.get(value as usize).map(|v| v.0) {
            // A struct passed by pointer: the parameter is the address of the variable.
            Some(Value::Arg(position)) => self.name_parameter(position, var),
            Some(Value::Inst(_)) if self.is_plain(expression) => {
                self.slot_vars.entry(value).or_insert(var);
            }
            _ => {}
        }
    }

    /// Whether a debug expression adds nothing to the address or value.
    fn is_plain(&self, expression: MdId) -> bool {
        let node = self.unit.raw.metadata.node(expression);
        node.code == md_code::EXPRESSION && node.len() == 1
    }

    /// The id of the variable at a debug node.
    fn var(&mut self, node_id: MdId, loc: Loc) -> Option<VarId> {
        if let Some(var) = self.var_ids.get(&node_id.0) {
            return Some(*var);
        }
        let md = &self.unit.raw.metadata;
        let node = md.node(node_id);
        if node.code != md_code::LOCAL_VAR {
            return None;
        }
        let name = String::from_utf8_lossy(md.text(node.reference(2))).into_owned();
        let line = node.number(4) as u32;
        let file = node.reference(3);
        let loc = if loc.is_known() {
            loc
        } else {
            file.map(|f| self.unit.locations.at(md, f, line, 0)).unwrap_or_default()
        };
        let (ty, param) = (node.reference(5), node.number(6) as u32);
        let ty = self.unit.types.convert(&self.unit.raw, ty);
        let var = Var { name, ty: Some(ty), loc, param: (param != 0).then_some(param) };
        let id = self.vars.push(var);
        self.var_ids.insert(node_id.0, id);
        Some(id)
    }

    /// A parameter is stored to the slot of its variable before anything else happens.
    fn name_parameters(&mut self) {
        let Some(entry) = self.body.blocks.first() else { return };
        for inst in entry.of(&self.body.insts) {
            let Op::Store { ptr, value, .. } = inst.op else { continue };
            let Some(&var) = self.slot_vars.get(&ptr) else { continue };
            let arg = self.unit.raw.values.get(value as usize).map(|v| v.0);
            if let Some(Value::Arg(position)) = arg
                && self.vars[var].param.is_some()
            {
                self.name_parameter(position, var);
            }
        }
    }

    fn name_parameter(&mut self, position: u32, var: VarId) {
        let var = &self.vars[var];
        if let Some(param) = self.params.get_mut(position as usize)
            && param.name.is_empty()
            && !param.sret
        {
            param.name.clone_from(&var.name);
            param.ty = var.ty.or(param.ty);
        }
    }

    /// A promoted slot got a new content: so did the variable that it is.
    pub fn assigned(&mut self, slot: u32, value: u32) {
        let Some(&var) = self.slot_vars.get(&slot) else { return };
        let value = self.value(value);
        if self.values[value].kind == ValueKind::Undef {
            return;
        }
        let here = self.loc;
        if !here.is_known() {
            // The store of a parameter has no position of its own.
            self.loc = self.vars[var].loc;
        }
        self.emit(InstKind::VarSet { var, value });
        self.loc = here;
    }

    /// The debug records that stand before an instruction and give values to variables, which
    /// only optimised bitcode has.
    pub fn records_before(&mut self, inst: u32) {
        let records = &self.body.records;
        let start = records.partition_point(|r| r.before < inst);
        for index in start..records.len() {
            let record = self.body.records[index];
            if record.before != inst {
                break;
            }
            if !record.declare {
                self.variable_value(record.variable, record.expression, record.value);
            }
        }
    }

    pub fn variable_value(&mut self, variable: MdId, expression: MdId, value: u32) {
        if !self.is_plain(expression) || self.slots.promoted(value).is_some() {
            return;
        }
        let Some(var) = self.var(variable, Loc::default()) else { return };
        let arg = self.unit.raw.values.get(value as usize).map(|v| v.0);
        if let Some(Value::Arg(position)) = arg
            && self.vars[var].param.is_some()
        {
            self.name_parameter(position, var);
        }
        let value = self.value(value);
        if self.values[value].kind != ValueKind::Undef {
            self.emit(InstKind::VarSet { var, value });
        }
    }
}
