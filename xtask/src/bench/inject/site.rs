//! Releases that can be deleted: calls of a library's deallocator or of one of the program's own.

use leakproof_ir::{BlockId, Body, Callee, InstId, InstKind, Loc, Module, ValueId};
use leakproof_models::{Library, Root};
use leakproof_program::{FuncRef, Program, Target};
use std::collections::BTreeMap;

/// Which functions release an argument, by name: the argument's position.
pub type Deallocators = BTreeMap<String, usize>;

/// One release in the source. Cleanup code stands several times in our IR, once for each way into
/// it: all of its copies go together.
#[derive(Clone, Debug)]
pub struct Site {
    pub function: FuncRef,
    pub calls: Vec<(BlockId, InstId)>,
    pub callee: String,
    pub file: String,
    pub loc: Loc,
    /// Which argument of the callee is released.
    pub argument: usize,
}

impl Site {
    /// The pointer that is released, at each of the copies.
    pub fn pointers<'a>(&'a self, body: &'a Body) -> impl Iterator<Item = ValueId> + 'a {
        self.calls.iter().filter_map(|(_, call)| match &body.insts[*call].kind {
            InstKind::Call { args, .. } => args.get(self.argument).copied(),
            _ => None,
        })
    }

    /// Takes the release out of its module.
    pub fn delete(&self, module: &mut Module) {
        let Some((_, function)) =
            module.functions.iter_mut().find(|(id, _)| *id == self.function.func)
        else {
            return;
        };
        let Some(body) = &mut function.body else { return };
        for (id, block) in body.blocks.iter_mut() {
            block.insts.retain(|inst| !self.calls.contains(&(id, *inst)));
        }
        for (id, inst) in body.insts.iter_mut() {
            // Not every reader of a body goes by its blocks.
            if self.calls.iter().any(|(_, call)| *call == id) {
                inst.kind = InstKind::Opaque { operands: Default::default() };
            }
        }
    }
}

/// The library's functions that do nothing but release memory.
pub fn of_library(models: &Library) -> Deallocators {
    let families = models.families().filter(|f| f.is_memory());
    let released = families.flat_map(|f| models.deallocators(&f.name));
    released
        .filter_map(|(model, place)| match (place.root, place.derefs.is_empty()) {
            (Root::Arg(n), true) => Some((model.name.clone(), n)),
            _ => None,
        })
        .collect()
}

/// All releases of a program whose result nobody uses, in a fixed order.
pub fn find(program: &Program, deallocators: &Deallocators) -> Vec<Site> {
    program.definitions().flat_map(|f| in_function(program, f, deallocators)).collect()
}

fn in_function(program: &Program, f: FuncRef, deallocators: &Deallocators) -> Vec<Site> {
    let Some(body) = &program.function(f).body else { return Vec::new() };
    let mut sites: BTreeMap<(Loc, String, usize), Site> = BTreeMap::new();
    for (block, content) in body.blocks.iter() {
        // A macro can release several times at one position: the n-th of a block is one site.
        let mut seen: BTreeMap<(Loc, &str), usize> = BTreeMap::new();
        for &call in &content.insts {
            let Some((name, argument)) = release(program, f, body, call, deallocators) else {
                continue;
            };
            let loc = body.insts[call].loc;
            let turn = seen.entry((loc, name)).or_default();
            let site = sites.entry((loc, name.to_owned(), *turn)).or_insert_with(|| Site {
                function: f,
                calls: Vec::new(),
                callee: name.to_owned(),
                file: program.module(f.module).file_name(loc).to_owned(),
                loc,
                argument,
            });
            site.calls.push((block, call));
            *turn += 1;
        }
    }
    sites.into_values().filter(|s| s.loc.is_known()).collect()
}

/// The deallocator that an instruction calls, and the argument that it releases.
pub fn release<'a>(
    program: &'a Program,
    f: FuncRef,
    body: &Body,
    call: InstId,
    deallocators: &Deallocators,
) -> Option<(&'a str, usize)> {
    let inst = &body.insts[call];
    let InstKind::Call { callee: Callee::Direct(callee), .. } = inst.kind else { return None };
    let (Target::Defined(target) | Target::External(target)) = program.resolve(f.module, callee);
    let name = program.function(target).name.as_str();
    let argument = *deallocators.get(name)?;
    inst.result.is_none().then_some((name, argument))
}
