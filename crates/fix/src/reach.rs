//! Which functions a function may come to, by the calls in the code.
//!
//! In: the units as they were compiled. Out: the names of all functions that one may call, over any
//! number of calls. Who calls through a pointer may come to every function whose address is taken.

use leakproof_ir::{Callee, Function, InitValue, InstKind, Module, ValueKind};
use std::collections::{BTreeMap, BTreeSet};

/// Who calls whom, by the names in the source.
pub struct Reach<'r> {
    calls: BTreeMap<&'r str, BTreeSet<&'r str>>,
    /// Functions that call through a pointer.
    open: BTreeSet<&'r str>,
    taken: BTreeSet<&'r str>,
}

impl<'r> Reach<'r> {
    pub fn new(modules: &'r [Module]) -> Self {
        let mut reach =
            Reach { calls: BTreeMap::new(), open: BTreeSet::new(), taken: BTreeSet::new() };
        for module in modules {
            let entries = module.globals.values().filter_map(|g| g.init.as_ref()).flatten();
            reach.taken.extend(entries.filter_map(|e| match e.value {
                InitValue::Function(f) => Some(module.functions[f].source_name.as_str()),
                _ => None,
            }));
            module.functions.values().for_each(|f| reach.add(module, f));
        }
        reach
    }

    fn add(&mut self, module: &'r Module, function: &'r Function) {
        let name = |f| module.functions[f].source_name.as_str();
        let taken = function.values.values().filter_map(|v| match v.kind {
            ValueKind::Function(f) => Some(name(f)),
            _ => None,
        });
        self.taken.extend(taken);
        let own = function.source_name.as_str();
        for inst in function.body.iter().flat_map(|b| b.insts.values()) {
            match &inst.kind {
                InstKind::Call { callee: Callee::Direct(f), .. } => {
                    self.calls.entry(own).or_default().insert(name(*f));
                }
                InstKind::Call { .. } => drop(self.open.insert(own)),
                _ => {}
            }
        }
    }

    /// All functions that `start` may come to, itself included.
    pub fn from<'s>(&'s self, start: &'s str) -> BTreeSet<&'s str> {
        let mut found: BTreeSet<&str> = [start].into();
        let mut work = vec![start];
        while let Some(name) = work.pop() {
            let direct = self.calls.get(name).into_iter().flatten();
            let open = self.open.contains(name).then_some(&self.taken).into_iter().flatten();
            work.extend(direct.chain(open).copied().filter(|callee| found.insert(callee)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: &str = r#"
unit "r.c"
file file0 "r.c"
func f0 "top" () @0:1:0 {
bb0:
  call f1() @0:1:1
  ret @0:1:2
}
func f1 "middle" () @0:2:0 {
bb0:
  call f2() @0:2:1
  ret @0:2:2
}
func f2 "bottom" () @0:3:0 {
bb0:
  ret @0:3:1
}
func f3 "apart" (v0: ptr "f") @0:4:0 {
bb0:
  call v0() @0:4:1
  ret @0:4:2
}
global g0 "table" size 8 init { 0: @f2 }
"#;

    #[test]
    fn calls_lead_down_and_never_up() {
        let modules = [leakproof_ir::parse_module(UNIT).unwrap()];
        let reach = Reach::new(&modules);
        assert_eq!(reach.from("top"), ["bottom", "middle", "top"].into());
        assert_eq!(reach.from("bottom"), ["bottom"].into());
        assert_eq!(reach.from("apart"), ["apart", "bottom"].into(), "its address is taken");
    }
}
