//! From instructions to constraints.
//!
//! In: the program and models. Out: a `Solver` with all constraints of all kept definitions, and for
//! every SSA value what stands for it. Loads and address computations are value-numbered within a
//! function: the analysis is flow-insensitive, so equal expressions are equal nodes. Addresses known
//! at once (globals, stack slots) never become nodes: loads and stores through them are plain edges.

mod globals;
mod instructions;
mod integers;

use super::calls::CallSite;
use super::heap_type::HeapTypes;
use super::layout::LayoutId;
use super::object::{Loc, NONE, Shape};
use super::solver::{NodeId, Solver, Step, Val};
use super::wrappers::Wrappers;
use super::{ObjectKind, object};
use crate::{FuncRef, GlobalRef, Program, Target};
use leakproof_ir::{FuncId, InstId, Ty, ValueId, ValueKind};
use leakproof_models::Library;
use rustc_hash::FxHashMap;

/// Where the values of each function sit in `Generator::values`.
pub(super) struct ValueTable {
    starts: Vec<Vec<u32>>,
    pub values: Vec<Option<Val>>,
}

impl ValueTable {
    fn new(program: &Program) -> Self {
        let mut next = 0;
        let mut starts = Vec::with_capacity(program.modules().len());
        for (m, module) in program.modules().iter().enumerate() {
            let per_module = module.functions.iter().map(|(func, function)| {
                let own = Target::Defined(FuncRef { module: m as u32, func });
                let kept = function.is_definition() && program.resolve(m as u32, func) == own;
                let start = next;
                next += if kept { function.values.len() as u32 } else { 0 };
                if kept { start } else { NONE }
            });
            starts.push(per_module.collect());
        }
        ValueTable { starts, values: vec![None; next as usize] }
    }

    /// Position of a value; `None` for functions that are not kept.
    pub fn position(&self, f: FuncRef, v: ValueId) -> Option<usize> {
        let start = *self.starts.get(f.module as usize)?.get(f.func.0 as usize)?;
        (start != NONE).then_some(start as usize + v.0 as usize)
    }

    pub fn get(&self, f: FuncRef, v: ValueId) -> Option<Val> {
        self.values[self.position(f, v)?]
    }
}

pub(super) struct Generator<'a> {
    pub program: &'a Program,
    pub models: &'a Library,
    pub solver: Solver,
    pub table: ValueTable,
    pub wrappers: Wrappers,
    pub heap_types: HeapTypes,
    /// Per function: node of its result, node of its variadic arguments.
    pub results: FxHashMap<FuncRef, NodeId>,
    pub variadics: FxHashMap<FuncRef, Loc>,
    pub heap: FxHashMap<(FuncRef, InstId, u32), Loc>,
    pub functions: FxHashMap<Target, Loc>,
    pub globals: FxHashMap<GlobalRef, object::Obj>,
    pub new_globals: Vec<GlobalRef>,
    /// Calls through pointers.
    pub calls: Vec<CallSite>,
    /// Caller and callee of every call that was connected.
    pub call_edges: Vec<(FuncRef, FuncRef)>,
    /// Functions that are called from outside.
    pub entered: Vec<FuncRef>,
    pub literals: Loc,
    /// The C library's own memory.
    pub library: Loc,
    /// The same per model file: what was handed to a library is held in it.
    pub libraries: FxHashMap<&'a str, Loc>,
    /// Value numbering of the function at hand.
    loads: FxHashMap<NodeId, NodeId>,
    steps: FxHashMap<(NodeId, Step), NodeId>,
    /// Integer values whose constraints are still to be written.
    pending: Vec<(FuncRef, ValueId)>,
}

impl<'a> Generator<'a> {
    pub fn new(program: &'a Program, models: &'a Library) -> Self {
        let mut solver = Solver::new();
        let literals = solver.mem.add(ObjectKind::Literals, Shape::UNTYPED);
        solver.mem.objects[literals as usize].opaque = true;
        let literals = solver.mem.base(literals);
        let library = solver.add_library();
        Generator {
            program,
            models,
            solver,
            table: ValueTable::new(program),
            wrappers: Wrappers::find(program, models),
            heap_types: HeapTypes::default(),
            results: FxHashMap::default(),
            variadics: FxHashMap::default(),
            heap: FxHashMap::default(),
            functions: FxHashMap::default(),
            globals: FxHashMap::default(),
            new_globals: Vec::new(),
            calls: Vec::new(),
            call_edges: Vec::new(),
            entered: Vec::new(),
            literals,
            library,
            libraries: FxHashMap::default(),
            loads: FxHashMap::default(),
            steps: FxHashMap::default(),
            pending: Vec::new(),
        }
    }

    /// What a library may hand out: its own memory, and what it was given. Libraries are told
    /// apart by the file of their models.
    pub fn library_value(&mut self, file: &'a str) -> Val {
        let users = self.users_of(file);
        self.solver.read_node(users).map_or(Val::Nothing, Val::Var)
    }

    /// The place of what was handed to a library.
    pub fn users_of(&mut self, file: &'a str) -> Loc {
        let loc = self.library_of(file);
        let object = self.solver.mem.locs[loc as usize].object;
        self.solver.mem.objects[object as usize].users
    }

    pub fn library_of(&mut self, file: &'a str) -> Loc {
        if let Some(&loc) = self.libraries.get(file) {
            return loc;
        }
        let loc = self.solver.add_library();
        self.libraries.insert(file, loc);
        let users = self.users_of(file);
        self.solver.store(Val::Addr(users), Val::Addr(loc));
        loc
    }

    /// Writes all constraints.
    pub fn generate(&mut self) {
        for &f in self.program.definition_list() {
            self.function(f);
            self.initialise_globals();
        }
        self.outside_world();
    }

    /// What stands for a value, if it can hold an address.
    pub fn operand(&mut self, f: FuncRef, v: ValueId) -> Val {
        let Some(at) = self.table.position(f, v) else { return Val::Nothing };
        if let Some(val) = self.table.values[at] {
            return val;
        }
        let value = self.program.function(f).values[v];
        let val = match value.kind {
            ValueKind::Int(_) | ValueKind::Null | ValueKind::Undef => Val::Nothing,
            ValueKind::Global(g, offset) => self.global_address(f.module, g, offset),
            ValueKind::Function(func) => self.function_address(f.module, func),
            _ if !holds_address(value.ty) => Val::Nothing,
            ValueKind::Inst(inst) if is_integer(value.ty) => return self.integer(f, v, inst),
            ValueKind::Param(_) | ValueKind::Inst(_) => Val::Var(self.solver.fresh()),
        };
        self.table.values[at] = Some(val);
        val
    }

    /// Says what stands for the result `v`; it may have been used before.
    pub fn define(&mut self, f: FuncRef, v: ValueId, val: Val) {
        let Some(at) = self.table.position(f, v) else { return };
        match self.table.values[at] {
            Some(Val::Var(node)) => self.solver.flow(val, node),
            _ => self.table.values[at] = Some(val),
        }
    }

    /// The node of a result, made now if need be.
    pub fn result_node(&mut self, f: FuncRef, v: ValueId) -> NodeId {
        let Some(at) = self.table.position(f, v) else { return self.solver.fresh() };
        match self.table.values[at] {
            Some(Val::Var(node)) => node,
            _ => {
                let node = self.solver.fresh();
                self.table.values[at] = Some(Val::Var(node));
                node
            }
        }
    }

    /// The node of what `f` returns.
    pub fn returned(&mut self, f: FuncRef) -> NodeId {
        if let Some(&node) = self.results.get(&f) {
            return node;
        }
        let node = self.solver.fresh();
        self.results.insert(f, node);
        node
    }

    /// The memory where `f` finds its variadic arguments.
    pub fn variadic_area(&mut self, f: FuncRef) -> Loc {
        if let Some(&loc) = self.variadics.get(&f) {
            return loc;
        }
        let obj = self.solver.mem.add(ObjectKind::VarArgs(f), Shape::UNTYPED);
        self.solver.mem.objects[obj as usize].single = true;
        let loc = self.solver.mem.base(obj);
        self.variadics.insert(f, loc);
        loc
    }

    pub fn function_address(&mut self, module: u32, func: FuncId) -> Val {
        let program = self.program;
        let targets = program.resolve_all(module, func);
        if let [one] = targets {
            return Val::Addr(self.function_loc(*one));
        }
        let node = self.solver.fresh();
        for &target in targets {
            let loc = self.function_loc(target);
            self.solver.insert(node, loc);
        }
        Val::Var(node)
    }

    pub fn function_loc(&mut self, target: Target) -> Loc {
        if let Some(&loc) = self.functions.get(&target) {
            return loc;
        }
        let obj = self.solver.mem.add(ObjectKind::Function(target), Shape::UNTYPED);
        self.solver.mem.objects[obj as usize].opaque = true;
        let loc = self.solver.mem.base(obj);
        self.solver.functions.add(loc);
        self.functions.insert(target, loc);
        loc
    }

    /// The type of what a call returns, by where its result goes.
    pub fn result_layout(&mut self, func: FuncRef, call: InstId) -> Option<LayoutId> {
        let ty = self.heap_types.of(self.program, func, call)?;
        let module = self.program.module(func.module);
        Some(self.solver.mem.layouts.of(func.module, module, ty))
    }

    /// The object that a call allocates; `which` tells several of one call apart.
    pub fn heap_object(
        &mut self,
        func: FuncRef,
        call: InstId,
        which: u32,
        layout: Option<LayoutId>,
    ) -> Loc {
        if let Some(&loc) = self.heap.get(&(func, call, which)) {
            return loc;
        }
        let shape = Shape { size: u64::MAX, layout, repeats: true };
        let obj = self.solver.mem.add(ObjectKind::Heap { func, call }, shape);
        let loc = self.solver.mem.base(obj);
        self.heap.insert((func, call, which), loc);
        loc
    }

    /// `base + step`, the same node for the same question within a function.
    pub fn stepped(&mut self, base: Val, step: Step) -> Val {
        match base {
            Val::Nothing => Val::Nothing,
            Val::Addr(loc) => Val::Addr(self.solver.moved(loc, step)),
            Val::Var(_) if step == Step::constant(0) => base,
            Val::Var(node) => {
                if let Some(&known) = self.steps.get(&(node, step)) {
                    return Val::Var(known);
                }
                let dst = self.solver.fresh();
                self.solver.step(base, step, dst);
                self.steps.insert((node, step), dst);
                Val::Var(dst)
            }
        }
    }

    /// What a load through `ptr` yields.
    pub fn loaded(&mut self, ptr: Val) -> Val {
        match ptr {
            Val::Nothing => Val::Nothing,
            Val::Addr(object::UNKNOWN) => Val::Addr(object::UNKNOWN),
            Val::Addr(loc) => self.solver.read_node(loc).map_or(Val::Nothing, Val::Var),
            Val::Var(node) => {
                if let Some(&known) = self.loads.get(&node) {
                    return Val::Var(known);
                }
                let dst = self.solver.fresh();
                self.solver.load(ptr, dst);
                self.loads.insert(node, dst);
                Val::Var(dst)
            }
        }
    }

    /// What `val` points to is out of sight from now on.
    pub fn escapes(&mut self, val: Val) {
        let sink = self.solver.escape;
        self.solver.flow(val, sink);
    }

    /// Entry points: what the outside passes in is not known.
    fn outside_world(&mut self) {
        let program = self.program;
        for &f in program.definition_list() {
            let function = program.function(f);
            let exported = function.linkage != leakproof_ir::Linkage::Internal;
            if function.name == "main" && exported {
                self.enter_with(f, Val::Addr(self.library));
            } else if function.attrs.constructor || function.attrs.destructor {
                self.enter_with(f, Val::Nothing);
            } else if exported && !program.is_closed(f.module) {
                self.enter_from_outside(f);
            }
        }
        self.export_globals();
    }

    /// Callers that are not seen may pass anything and keep the result.
    pub fn enter_from_outside(&mut self, f: FuncRef) {
        self.enter_with(f, Val::Addr(object::UNKNOWN));
        let result = self.returned(f);
        self.solver.edge(result, self.solver.escape);
    }

    /// Something calls `f` and passes `val` for every parameter.
    pub fn enter_with(&mut self, f: FuncRef, val: Val) {
        self.entered.push(f);
        let program = self.program;
        let function = program.function(f);
        for param in &function.params {
            if let Val::Var(node) = self.operand(f, param.value) {
                self.solver.flow(val, node);
            }
        }
        if function.variadic {
            let area = self.variadic_area(f);
            self.solver.store(Val::Addr(area), val);
        }
    }
}

/// Values of this type may hold an address.
pub(super) fn holds_address(ty: Ty) -> bool {
    match ty {
        Ty::Ptr | Ty::Tuple(_) => true,
        Ty::Int(bits) => bits >= 64,
        Ty::Opaque(bytes) => bytes >= 16,
        Ty::Void => false,
    }
}

fn is_integer(ty: Ty) -> bool {
    matches!(ty, Ty::Int(_))
}
