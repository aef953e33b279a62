//! Globals: their objects, their initial pointers, and those that other code defines.

use super::Generator;
use crate::pointsto::ObjectKind;
use crate::pointsto::object::{Obj, Shape};
use crate::pointsto::solver::Val;
use crate::{GlobalRef, Program};
use leakproof_ir::{Global, GlobalId, InitValue, Linkage};

/// Data that the C library defines: it points to the library's own memory.
const LIBRARY_DATA: [&str; 12] = [
    "stdin",
    "stdout",
    "stderr",
    "environ",
    "__environ",
    "optarg",
    "tzname",
    "sys_errlist",
    "program_invocation_name",
    "program_invocation_short_name",
    "__progname",
    "signgam",
];

impl Generator<'_> {
    /// The address of a global as a module refers to it.
    pub fn global_address(&mut self, module: u32, global: GlobalId, offset: i64) -> Val {
        let program = self.program;
        let all = program.resolve_global_all(module, global);
        if let [one] = all {
            return self.address_in(*one, offset);
        }
        let node = self.solver.fresh();
        for &g in all {
            let address = self.address_in(g, offset);
            self.solver.flow(address, node);
        }
        Val::Var(node)
    }

    fn address_in(&mut self, global: GlobalRef, offset: i64) -> Val {
        if is_literal(self.program.global(global)) {
            return Val::Addr(self.literals);
        }
        let obj = self.global_object(global);
        Val::Addr(self.solver.mem.at(obj, offset))
    }

    fn global_object(&mut self, global: GlobalRef) -> Obj {
        if let Some(&obj) = self.globals.get(&global) {
            return obj;
        }
        let data = self.program.global(global);
        let module = self.program.module(global.module);
        let layout = data.ty.map(|ty| self.solver.mem.layouts.of(global.module, module, ty));
        let size = if data.init.is_some() { data.size } else { u64::MAX };
        let shape = Shape { size, layout, repeats: false };
        let obj = self.solver.mem.add(ObjectKind::Global(global), shape);
        self.solver.mem.objects[obj as usize].constant = data.constant && data.init.is_some();
        self.globals.insert(global, obj);
        self.new_globals.push(global);
        obj
    }

    /// Puts initial pointers into the globals that were reached.
    pub fn initialise_globals(&mut self) {
        while let Some(global) = self.new_globals.pop() {
            let program = self.program;
            let obj = self.globals[&global];
            let data = program.global(global);
            match &data.init {
                Some(entries) => {
                    for entry in entries {
                        self.initialise(global, obj, entry.offset, &entry.value);
                    }
                }
                None => self.defined_elsewhere(data, obj),
            }
        }
    }

    fn initialise(&mut self, global: GlobalRef, obj: Obj, offset: u64, value: &InitValue) {
        let address = match *value {
            InitValue::Function(func) => self.function_address(global.module, func),
            InitValue::Global(g, delta) => self.global_address(global.module, g, delta),
            // Relocation arithmetic: differences of addresses, not addresses.
            InitValue::Int { .. } | InitValue::Bytes(_) | InitValue::Opaque(_) => return,
        };
        let cell = self.solver.mem.at(obj, offset.min(1 << 40) as i64);
        self.solver.store(Val::Addr(cell), address);
    }

    fn defined_elsewhere(&mut self, data: &Global, obj: Obj) {
        let whole = self.solver.mem.anywhere(obj);
        if LIBRARY_DATA.contains(&data.name.as_str()) {
            self.solver.store(Val::Addr(whole), Val::Addr(self.library));
        } else {
            self.escapes(Val::Addr(whole));
        }
    }

    /// Of a library, other code sees every global that has a name for the linker.
    pub fn export_globals(&mut self) {
        let program = self.program;
        for global in exported(program) {
            let address = self.address_in(global, 0);
            self.escapes(address);
        }
        self.initialise_globals();
    }
}

fn exported(program: &Program) -> Vec<GlobalRef> {
    let mut out = Vec::new();
    for (m, module) in program.modules().iter().enumerate() {
        for (global, data) in module.globals.iter() {
            let g = GlobalRef { module: m as u32, global };
            let open = data.linkage != Linkage::Internal && !program.is_closed(g.module);
            if open && program.resolve_global(g.module, global) == g {
                out.push(g);
            }
        }
    }
    out
}

/// An unnamed constant without pointers: all of these are one object.
fn is_literal(data: &Global) -> bool {
    let plain = |v: &InitValue| !matches!(v, InitValue::Function(_) | InitValue::Global(..));
    data.constant
        && data.source_name.is_empty()
        && data.init.as_ref().is_some_and(|entries| entries.iter().all(|e| plain(&e.value)))
}
