//! The state at a program point: a path condition and what every touched cell holds.
//!
//! States are persistent maps, so that branching is free and joining costs what differs. Path
//! conditions form a tree; the join of two states hangs below their common ancestor, with the
//! disjunction of what led to each. A diamond's disjunction is true and vanishes.

use crate::marks::{CUT, FAILURE, OPEN, OUTCOME};
use crate::vocabulary::Slot;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use imbl::shared_ptr::DefaultSharedPtr;
use leakproof_guard::{Base, Cmp, Node, Term, Terms};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub type Cell = (Base, Slot);
pub type Cells = OrdMap<Cell, Term>;

/// Conditions inside conditions are looked at this deep when a path is put into them.
const MAX_NESTING: u32 = 6;

/// Of what one of two ways knows, so much is kept where they meet, of ways and facts that are no larger than this.
const MAX_KNOWN: usize = 8;
const MAX_WAY: u32 = 24;
const MAX_FACT: u32 = 40;

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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pc(u32);

struct PcNode {
    parent: Pc,
    literal: Term,
    depth: u32,
    /// The literal is no part of the path: it follows from how the program goes on at all.
    tacit: bool,
    said: Said,
}

/// What the literals of a path say.
#[derive(Clone, Default)]
struct Said {
    literals: HashSet<Term>,
    /// `x == c` decides `x == d` for other constants.
    equal: HashMap<Term, u64>,
}

type HashSet<T> = imbl::GenericHashSet<T, FxBuildHasher, DefaultSharedPtr>;
type HashMap<K, V> = imbl::GenericHashMap<K, V, FxBuildHasher, DefaultSharedPtr>;

/// The tree of path conditions of one function.
pub struct PathConditions {
    nodes: Vec<PcNode>,
    children: FxHashMap<(Pc, Term, bool), Pc>,
    terms: FxHashMap<Pc, Term>,
    /// What paths know besides.
    tacit: FxHashMap<Pc, Term>,
    /// Conjunctions and disjunctions with what a path says put in.
    simplified: FxHashMap<(Pc, Term), Term>,
}

impl Default for PathConditions {
    fn default() -> Self {
        Self::new()
    }
}

impl PathConditions {
    pub const ROOT: Pc = Pc(0);

    pub fn new() -> Self {
        let root = PcNode {
            parent: Pc(0),
            literal: Terms::TRUE,
            depth: 0,
            tacit: false,
            said: Said::default(),
        };
        Self {
            nodes: vec![root],
            children: FxHashMap::default(),
            terms: FxHashMap::default(),
            tacit: FxHashMap::default(),
            simplified: FxHashMap::default(),
        }
    }

    fn node(&self, pc: Pc) -> &PcNode {
        &self.nodes[pc.0 as usize]
    }

    /// The literals from `pc` up to (not including) `ancestor`.
    fn literals(&self, pc: Pc, ancestor: Pc) -> Vec<Term> {
        self.said_since(pc, ancestor, false)
    }

    /// The literals, or the tacit facts, from `pc` up to (not including) `ancestor`.
    fn said_since(&self, pc: Pc, ancestor: Pc, tacit: bool) -> Vec<Term> {
        let mut list = Vec::new();
        let mut at = pc;
        while at != ancestor && at != Self::ROOT {
            let node = self.node(at);
            if node.tacit == tacit {
                list.push(node.literal);
            }
            at = node.parent;
        }
        list
    }

    /// What both ways since `top` know without saying so, below `at`.
    fn known_to_both(&mut self, terms: &Terms, at: Pc, a: Pc, b: Pc, top: Pc) -> Pc {
        let mut known = self.said_since(a, top, true);
        known.retain(|&t| self.node(b).said.literals.contains(&t));
        known.into_iter().rev().fold(at, |at, t| self.know(terms, at, t))
    }

    /// What one way since `top` knows of how calls went, and the other does not, below `at`: it holds for who came that way.
    fn known_to_one(
        &mut self,
        terms: &mut Terms,
        at: Pc,
        (way, came): (Pc, Term),
        other: Pc,
        top: Pc,
    ) -> Pc {
        if terms.size(came) > MAX_WAY {
            return at;
        }
        let mut known = self.said_since(way, top, true);
        known.retain(|&t| !self.node(other).said.literals.contains(&t) && tells_of_calls(terms, t));
        let came_otherwise = terms.not(came);
        known.into_iter().rev().take(MAX_KNOWN).fold(at, |at, t| {
            let implied = terms.or2(came_otherwise, t);
            self.know(terms, at, implied)
        })
    }

    /// `pc` strengthened by `literal`; `None` when that contradicts it.
    pub fn extend(&mut self, terms: &mut Terms, pc: Pc, literal: Term) -> Option<Pc> {
        let simpler = self.simplify(terms, pc, literal);
        match terms.node(simpler).clone() {
            Node::Bool(true) => Some(pc),
            Node::Bool(false) => None,
            Node::And(parts) => {
                let mut at = pc;
                for &part in parts.iter() {
                    at = self.extend(terms, at, part)?;
                }
                Some(at)
            }
            Node::Not(inner) if matches!(terms.node(inner), Node::Or(_)) => {
                let Node::Or(parts) = terms.node(inner).clone() else { return Some(pc) };
                let mut at = pc;
                for &part in parts.iter() {
                    let excluded = terms.not(part);
                    at = self.extend(terms, at, excluded)?;
                }
                Some(at)
            }
            _ => Some(self.child(terms, pc, simpler, false)),
        }
    }

    /// `pc` with a fact that decides conditions from here on, but that nobody has to be told: whoever used a
    /// pointer has one.
    pub fn know(&mut self, terms: &Terms, pc: Pc, literal: Term) -> Pc {
        match self.decide(terms, pc, literal) {
            Terms::TRUE | Terms::FALSE => pc,
            literal => self.child(terms, pc, literal, true),
        }
    }

    fn child(&mut self, terms: &Terms, parent: Pc, literal: Term, tacit: bool) -> Pc {
        if let Some(&pc) = self.children.get(&(parent, literal, tacit)) {
            return pc;
        }
        let pc = Pc(self.nodes.len() as u32);
        let depth = self.node(parent).depth + 1;
        let mut said = self.node(parent).said.clone();
        said.literals.insert(literal);
        if let Some((x, c)) = equality_with_constant(terms, literal) {
            said.equal.insert(x, c);
        }
        self.nodes.push(PcNode { parent, literal, depth, tacit, said });
        self.children.insert((parent, literal, tacit), pc);
        pc
    }

    /// `t` with what the path already says about it and its parts put in.
    pub fn simplify(&mut self, terms: &mut Terms, pc: Pc, t: Term) -> Term {
        self.simplify_within(terms, pc, t, MAX_NESTING)
    }

    /// As `simplify`, for parts that are nested no deeper than this.
    fn simplify_within(&mut self, terms: &mut Terms, pc: Pc, t: Term, nesting: u32) -> Term {
        let (parts, conj) = match terms.node(t) {
            Node::Bool(_) => return t,
            Node::And(parts) if nesting > 0 => (parts.clone(), true),
            Node::Or(parts) if nesting > 0 => (parts.clone(), false),
            Node::Not(inner) if matches!(terms.node(*inner), Node::And(_) | Node::Or(_)) => {
                let inner = self.simplify_within(terms, pc, *inner, nesting);
                return terms.not(inner);
            }
            _ => return self.decide(terms, pc, t),
        };
        if let Some(&known) = self.simplified.get(&(pc, t)) {
            return known;
        }
        let mut decided: SmallVec<[Term; 16]> = SmallVec::new();
        for (i, &part) in parts.iter().enumerate() {
            let new = self.simplify_within(terms, pc, part, nesting - 1);
            if new != part && decided.is_empty() {
                decided.extend_from_slice(&parts[..i]);
            }
            if new != part || !decided.is_empty() {
                decided.push(new);
            }
        }
        let whole = match conj {
            // A constructor would only find it again.
            _ if decided.is_empty() => t,
            true => terms.and(decided),
            false => terms.or(decided),
        };
        let simpler = self.decide(terms, pc, whole);
        self.simplified.insert((pc, t), simpler);
        simpler
    }

    /// Whether what was said on the path contradicts a condition.
    pub fn is_ruled_out(&self, terms: &Terms, pc: Pc, t: Term) -> bool {
        self.decide(terms, pc, t) == Terms::FALSE
    }

    /// Whether a condition was said on the path, or is known there.
    pub fn says(&self, pc: Pc, t: Term) -> bool {
        self.node(pc).said.literals.contains(&t)
    }

    /// True or false when the path says so, else `t` itself.
    fn decide(&self, terms: &Terms, pc: Pc, t: Term) -> Term {
        let said = &self.node(pc).said;
        if said.literals.contains(&t) {
            return Terms::TRUE;
        }
        if terms.negation(t).is_some_and(|n| said.literals.contains(&n)) {
            return Terms::FALSE;
        }
        let (positive, inner) = match terms.node(t) {
            Node::Not(inner) => (false, *inner),
            _ => (true, t),
        };
        match equality_with_constant(terms, inner) {
            Some((x, d)) if said.equal.get(&x).is_some_and(|&c| c != d) => Terms::bool(!positive),
            _ => t,
        }
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

    /// The path with what it knows besides: for questions about what may happen on it, which nobody else is told of.
    pub fn known_formula(&mut self, terms: &mut Terms, pc: Pc) -> Term {
        let (said, known) = (self.formula(terms, pc), self.tacit(terms, pc));
        terms.and2(said, known)
    }

    fn tacit(&mut self, terms: &mut Terms, pc: Pc) -> Term {
        if let Some(&t) = self.tacit.get(&pc) {
            return t;
        }
        let facts = self.said_since(pc, Self::ROOT, true).into_iter();
        let facts: Vec<Term> = facts.filter(|&t| tells_of_calls(terms, t)).collect();
        let t = terms.and(facts);
        self.tacit.insert(pc, t);
        t
    }

    /// The literals of the path, entry first.
    pub fn path(&self, pc: Pc) -> Vec<Term> {
        let mut list = self.literals(pc, Self::ROOT);
        list.reverse();
        list
    }

    /// What the path says since it was at `start`.
    pub fn since(&self, pc: Pc, start: Pc) -> Vec<Term> {
        self.literals(pc, start)
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
        let (mut from_a, mut from_b) = (self.literals(a, top), self.literals(b, top));
        // What both ways say stays a fact of its own: inside the disjunction it would decide nothing.
        let both: FxHashSet<Term> = from_a.iter().copied().filter(|t| from_b.contains(t)).collect();
        let mut at = top;
        for &t in from_a.iter().rev().filter(|t| both.contains(t)) {
            at = self.extend(terms, at, t).unwrap_or(at);
        }
        from_a.retain(|t| !both.contains(t));
        from_b.retain(|t| !both.contains(t));
        let (ca, cb) = (terms.and(from_a), terms.and(from_b));
        let either = terms.or2(ca, cb);
        let pc = self.extend(terms, at, either).unwrap_or(at);
        let pc = self.known_to_both(terms, pc, a, b, top);
        let pc = self.known_to_one(terms, pc, (a, ca), b, top);
        let pc = self.known_to_one(terms, pc, (b, cb), a, top);
        let chooser = if terms.size(cb) < terms.size(ca) { terms.not(cb) } else { ca };
        (pc, chooser)
    }
}

/// Whether a fact is about how calls went, and short enough to be kept beside the path.
fn tells_of_calls(terms: &Terms, t: Term) -> bool {
    terms.size(t) <= MAX_FACT && terms.marks(t).intersects(FAILURE | OUTCOME | CUT | OPEN)
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
