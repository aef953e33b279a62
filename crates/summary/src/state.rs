//! The state at a program point: a path condition and what every touched cell holds.
//!
//! States are persistent maps, so that branching is free and joining costs what differs. Path
//! conditions form a tree; the join of two states hangs below their common ancestor, with the
//! disjunction of what led to each. A diamond's disjunction is true and vanishes.

use crate::vocabulary::Slot;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use leakproof_guard::{Base, Cmp, Node, Term, Terms};
use rustc_hash::FxHashMap;

pub type Cell = (Base, Slot);
pub type Cells = OrdMap<Cell, Term>;

#[derive(Clone)]
pub struct State {
    pub pc: Pc,
    pub mem: Cells,
}

impl State {
    pub fn cells_of(&self, base: Base) -> impl Iterator<Item = (Slot, Term)> + '_ {
        self.mem.range((base, Slot::FIRST)..(Base(base.0 + 1), Slot::FIRST)).map(|(k, v)| (k.1, *v))
    }
    pub fn contents_of(&self, base: Base) -> impl Iterator<Item = (Slot, Term)> + '_ {
        self.cells_of(base).filter(|(slot, _)| slot.is_contents())
    }
    /// A fact cell (`Live`, `Freed`, `Escaped`, `Star`): false unless set.
    pub fn fact(&self, base: Base, slot: Slot) -> Term {
        self.mem.get(&(base, slot)).copied().unwrap_or(Terms::FALSE)
    }
}

/// A node of the path-condition tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pc(u32);

struct PcNode {
    parent: Pc,
    literal: Term,
    depth: u32,
}

/// The tree of path conditions of one function.
pub struct PathConditions {
    nodes: Vec<PcNode>,
    children: FxHashMap<(Pc, Term), Pc>,
    terms: FxHashMap<Pc, Term>,
}

impl Default for PathConditions {
    fn default() -> Self {
        Self::new()
    }
}

impl PathConditions {
    pub const ROOT: Pc = Pc(0);

    pub fn new() -> Self {
        let root = PcNode { parent: Pc(0), literal: Terms::TRUE, depth: 0 };
        Self { nodes: vec![root], children: FxHashMap::default(), terms: FxHashMap::default() }
    }

    fn node(&self, pc: Pc) -> &PcNode {
        &self.nodes[pc.0 as usize]
    }

    /// The literals from `pc` up to (not including) `ancestor`.
    fn literals(&self, pc: Pc, ancestor: Pc) -> Vec<Term> {
        let mut list = Vec::new();
        let mut at = pc;
        while at != ancestor && at != Self::ROOT {
            list.push(self.node(at).literal);
            at = self.node(at).parent;
        }
        list
    }

    /// `pc` strengthened by `literal`; `None` when that contradicts it.
    pub fn extend(&mut self, terms: &mut Terms, pc: Pc, literal: Term) -> Option<Pc> {
        let simpler = self.simplify(terms, pc, literal);
        match terms.node(simpler).clone() {
            Node::Bool(true) => Some(pc),
            Node::Bool(false) => None,
            Node::And(parts) => {
                let mut at = pc;
                for part in parts {
                    at = self.extend(terms, at, part)?;
                }
                Some(at)
            }
            Node::Not(inner) if matches!(terms.node(inner), Node::Or(_)) => {
                let Node::Or(parts) = terms.node(inner).clone() else { return Some(pc) };
                let mut at = pc;
                for part in parts {
                    let excluded = terms.not(part);
                    at = self.extend(terms, at, excluded)?;
                }
                Some(at)
            }
            _ => Some(self.child(pc, simpler)),
        }
    }

    fn child(&mut self, parent: Pc, literal: Term) -> Pc {
        if let Some(&pc) = self.children.get(&(parent, literal)) {
            return pc;
        }
        let pc = Pc(self.nodes.len() as u32);
        let depth = self.node(parent).depth + 1;
        self.nodes.push(PcNode { parent, literal, depth });
        self.children.insert((parent, literal), pc);
        pc
    }

    /// `t` with what the path already says about it and its direct parts put in.
    pub fn simplify(&self, terms: &mut Terms, pc: Pc, t: Term) -> Term {
        match terms.node(t).clone() {
            Node::Bool(_) => t,
            Node::And(parts) => {
                let parts: Vec<Term> = parts.iter().map(|&p| self.decide(terms, pc, p)).collect();
                let whole = terms.and(parts);
                self.decide(terms, pc, whole)
            }
            Node::Or(parts) => {
                let parts: Vec<Term> = parts.iter().map(|&p| self.decide(terms, pc, p)).collect();
                let whole = terms.or(parts);
                self.decide(terms, pc, whole)
            }
            _ => self.decide(terms, pc, t),
        }
    }

    /// True or false when the path says so, else `t` itself.
    fn decide(&self, terms: &Terms, pc: Pc, t: Term) -> Term {
        let mut at = pc;
        while at != Self::ROOT {
            let node = self.node(at);
            if node.literal == t {
                return Terms::TRUE;
            }
            if terms.complementary(node.literal, t) {
                return Terms::FALSE;
            }
            if let Some(known) = decided_by_equality(terms, node.literal, t) {
                return Terms::bool(known);
            }
            at = node.parent;
        }
        t
    }

    /// The whole path as one formula.
    pub fn formula(&mut self, terms: &mut Terms, pc: Pc) -> Term {
        if let Some(&t) = self.terms.get(&pc) {
            return t;
        }
        let literals = self.literals(pc, Self::ROOT);
        let t = terms.and(literals);
        self.terms.insert(pc, t);
        t
    }

    /// The literals of the path, entry first.
    pub fn path(&self, pc: Pc) -> Vec<Term> {
        let mut list = self.literals(pc, Self::ROOT);
        list.reverse();
        list
    }

    fn common_ancestor(&self, mut a: Pc, mut b: Pc) -> Pc {
        while a != b {
            if self.node(a).depth >= self.node(b).depth {
                a = self.node(a).parent;
            } else {
                b = self.node(b).parent;
            }
        }
        a
    }

    pub fn depth_of_join(&self, a: Pc, b: Pc) -> u32 {
        self.node(self.common_ancestor(a, b)).depth
    }

    /// The path condition of "a or b", and the condition that tells that it was `a`.
    pub fn join(&mut self, terms: &mut Terms, a: Pc, b: Pc) -> (Pc, Term) {
        let top = self.common_ancestor(a, b);
        let (from_a, from_b) = (self.literals(a, top), self.literals(b, top));
        let (ca, cb) = (terms.and(from_a), terms.and(from_b));
        let either = terms.or2(ca, cb);
        let pc = self.extend(terms, top, either).unwrap_or(top);
        let chooser = if terms.size(cb) < terms.size(ca) { terms.not(cb) } else { ca };
        (pc, chooser)
    }
}

/// `x == c` on the path decides `x == d` for another constant.
fn decided_by_equality(terms: &Terms, literal: Term, t: Term) -> Option<bool> {
    let (x, c) = equality_with_constant(terms, literal)?;
    let (positive, inner) = match terms.node(t) {
        Node::Not(inner) => (false, *inner),
        _ => (true, t),
    };
    let (y, d) = equality_with_constant(terms, inner)?;
    (x == y && c != d).then_some(!positive)
}

fn equality_with_constant(terms: &Terms, t: Term) -> Option<(Term, u64)> {
    match *terms.node(t) {
        Node::Cmp { cmp: Cmp::Eq, lhs, rhs } => match (terms.as_int(lhs), terms.as_int(rhs)) {
            (Some(c), None) => Some((rhs, c)),
            (None, Some(c)) => Some((lhs, c)),
            _ => None,
        },
        _ => None,
    }
}

/// Cells that differ, with what each side holds (`None`: untouched).
pub fn differences(a: &State, b: &State) -> Vec<(Cell, Option<Term>, Option<Term>)> {
    if a.mem.ptr_eq(&b.mem) {
        return Vec::new();
    }
    a.mem
        .diff(&b.mem)
        .map(|item| match item {
            DiffItem::Add(k, v) => (*k, None, Some(*v)),
            DiffItem::Remove(k, v) => (*k, Some(*v), None),
            DiffItem::Update { old: (k, v), new: (_, w) } => (*k, Some(*v), Some(*w)),
        })
        .collect()
}
