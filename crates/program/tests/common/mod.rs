//! Text-IR programs in, readable answers out.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses its own part of this")]

use leakproof_ir::{ValueId, parse_module};
use leakproof_models::Library;
use leakproof_program::{
    Andersen, CallGraph, FuncRef, ObjectKind, Pointee, PointsTo, Program, Target,
};

pub struct World {
    pub program: Program,
    pub andersen: Andersen,
    pub graph: CallGraph,
}

/// Links and solves units given as text.
pub fn world(units: &[&str]) -> World {
    let modules = units.iter().map(|text| parse_module(text).expect("the test's IR parses"));
    let program = Program::link(modules.collect());
    let andersen = Andersen::solve(&program, Library::shipped());
    let graph = CallGraph::build(&program, &andersen, Library::shipped());
    World { program, andersen, graph }
}

impl World {
    /// The first definition of this name, `unit:name` for one of a certain unit.
    pub fn func(&self, name: &str) -> FuncRef {
        let (unit, name) = name.split_once(':').map_or((None, name), |(u, n)| (Some(u), n));
        self.program
            .definitions()
            .find(|f| {
                self.program.function(*f).name == name
                    && unit.is_none_or(|u| self.program.module(f.module).name == u)
            })
            .unwrap_or_else(|| panic!("no definition of {name}"))
    }

    /// What `vN` of a function may point to, as sorted text.
    pub fn pts(&self, func: &str, value: u32) -> Vec<String> {
        let set = self.andersen.points_to(self.func(func), ValueId(value));
        let mut out: Vec<String> = set.pointees.iter().map(|p| self.describe(*p)).collect();
        out.extend(set.unknown.then(|| "unknown".to_owned()));
        out.sort();
        out
    }

    fn describe(&self, p: Pointee) -> String {
        let name = |f: FuncRef| self.program.function(f).name.clone();
        let base = match self.andersen.object(p.object) {
            ObjectKind::Stack { func, slot } => format!("stack {} {slot}", name(func)),
            ObjectKind::Global(g) => self.program.global(g).name.clone(),
            ObjectKind::Heap { func, call } => format!("heap {} {call}", name(func)),
            ObjectKind::Function(t) => return name(t.func()),
            ObjectKind::Literals => return "literal".to_owned(),
            ObjectKind::Library => return "library".to_owned(),
            ObjectKind::VarArgs(f) => return format!("varargs {}", name(f)),
        };
        match p.offset {
            Some(0) => base,
            Some(n) => format!("{base}+{n}"),
            None => format!("{base}+*"),
        }
    }

    pub fn may_alias(&self, func: &str, a: u32, b: u32) -> bool {
        let f = self.func(func);
        self.andersen.may_alias((f, ValueId(a)), (f, ValueId(b)))
    }

    pub fn must_alias(&self, func: &str, a: u32, b: u32) -> bool {
        self.andersen.must_alias(&self.program, self.func(func), ValueId(a), ValueId(b))
    }

    /// Names of targets, `unit:` in front of each when there are several units.
    pub fn names(&self, targets: &[Target]) -> Vec<String> {
        let name = |t: &Target| {
            let f = t.func();
            let plain = self.program.function(f).name.clone();
            let unit = &self.program.module(f.module).name;
            let kind = if t.defined().is_some() { "" } else { "extern " };
            if self.program.modules().len() > 1 && t.defined().is_some() {
                format!("{unit}:{plain}")
            } else {
                format!("{kind}{plain}")
            }
        };
        targets.iter().map(name).collect()
    }

    /// Targets of the calls of a function in order.
    pub fn calls(&self, func: &str) -> Vec<Vec<String>> {
        let f = self.func(func);
        self.graph.calls_of(f).map(|(_, t)| self.names(&t.list)).collect()
    }
}
