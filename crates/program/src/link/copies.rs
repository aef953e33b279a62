//! Units that are there twice.
//!
//! A library is often built as a static and as a shared one: every unit is compiled twice, with flags
//! that make no difference to the analysis. What is said of one copy holds for the other, so one is enough.

use leakproof_ir::Module;
use rustc_hash::FxHashMap;

/// Empties all but the first of equal modules; every module keeps its place.
pub fn empty_copies(modules: &mut [Module]) {
    let mut firsts: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for i in 0..modules.len() {
        let name = modules[i].name.clone();
        let known = firsts.entry(name.clone()).or_default();
        if known.iter().any(|&first| modules[first] == modules[i]) {
            modules[i] = Module { name, ..Module::default() };
        } else {
            known.push(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_ir::parse_module;

    #[test]
    fn only_equal_units_are_copies() {
        let text = |size: u32| format!("unit \"a.c\"\nglobal g0 \"x\" size {size} init {{ }}\n");
        let mut modules = [8, 8, 16, 8].map(|size| parse_module(&text(size)).unwrap());
        empty_copies(&mut modules);
        assert_eq!(modules.each_ref().map(|m| m.globals.len()), [1, 0, 1, 0]);
        assert!(modules.iter().all(|m| m.name == "a.c"));
    }
}
