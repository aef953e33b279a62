//! The boolean structure of terms in a SAT solver.
//!
//! Every boolean term has a literal; conjunctions and disjunctions are defined by clauses, atoms
//! (comparisons, symbols of one bit) are free but for what `order` knows of them.

use crate::order::{self, Bound};
use batsat::{BasicSolver, Lit, SolverInterface, lbool};
use leakproof_guard::{BaseInfo, Node, Term, Terms, for_each_child};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::rc::Rc;

/// Comparisons of one value that are related to each other: the latest ones.
const MAX_RELATED: usize = 48;

pub struct Skeleton {
    sat: BasicSolver,
    lits: FxHashMap<Term, Lit>,
    bounds: FxHashMap<Term, Vec<(Lit, Bound)>>,
    /// Values whose conditions have literals already.
    looked_into: FxHashSet<Term>,
    budget: Rc<Cell<u64>>,
}

impl Skeleton {
    pub fn new() -> Self {
        let budget = Rc::new(Cell::new(0u64));
        let mut sat = BasicSolver::default();
        let left = Rc::clone(&budget);
        sat.cb_mut().set_stop(move || {
            left.set(left.get().saturating_sub(1));
            left.get() == 0
        });
        Self {
            sat,
            lits: FxHashMap::default(),
            bounds: FxHashMap::default(),
            looked_into: FxHashSet::default(),
            budget,
        }
    }

    /// Is there a model in which `root` holds? `None`: the budget of conflicts is used up.
    pub fn solve(&mut self, root: Lit, conflicts: u64) -> Option<bool> {
        self.budget.set(conflicts.max(2));
        match self.sat.solve_limited(&[root]) {
            r if r == lbool::TRUE => Some(true),
            r if r == lbool::FALSE => Some(false),
            _ => None,
        }
    }

    /// What the last model says about a term that has a literal.
    pub fn truth(&self, t: Term) -> bool {
        self.lits.get(&t).is_some_and(|&l| self.sat.value_lit(l) == lbool::TRUE)
    }

    /// From now on at least one of these terms has another truth value.
    pub fn exclude(&mut self, together: &[(Term, bool)]) {
        let mut clause: Vec<Lit> = together
            .iter()
            .filter_map(|&(t, holds)| self.lits.get(&t).map(|&l| if holds { !l } else { l }))
            .collect();
        self.sat.add_clause_reuse(&mut clause);
    }

    /// The literal of a boolean term, with everything below it defined.
    pub fn literal(&mut self, terms: &Terms, root: Term) -> Lit {
        let mut stack = vec![(root, false)];
        while let Some((t, expanded)) = stack.pop() {
            if self.lits.contains_key(&t) {
                continue;
            }
            if expanded {
                let lit = self.define(terms, t);
                self.lits.insert(t, lit);
                continue;
            }
            stack.push((t, true));
            match terms.node(t) {
                Node::Not(_) | Node::And(_) | Node::Or(_) => {
                    for_each_child(terms.node(t), |c| stack.push((c, false)));
                }
                _ => self.conditions_inside(terms, t, &mut stack),
            }
        }
        self.lits[&root]
    }

    /// Boolean terms on which the value of an atom's operands depends.
    fn conditions_inside(&mut self, terms: &Terms, atom: Term, out: &mut Vec<(Term, bool)>) {
        let mut work = Vec::new();
        for_each_child(terms.node(atom), |c| work.push(c));
        while let Some(t) = work.pop() {
            if !self.looked_into.insert(t) {
                continue;
            }
            if terms.bits(t) == 1 {
                out.push((t, false));
                continue;
            }
            let node = terms.node(t);
            if let Node::Addr { base, .. } | Node::Elem { base, .. } = node
                && let BaseInfo::Pointee(p) = terms.base_info(*base)
            {
                work.push(p);
            }
            if !matches!(node, Node::Any(_)) {
                for_each_child(node, |c| work.push(c));
            }
        }
    }

    fn define(&mut self, terms: &Terms, t: Term) -> Lit {
        match terms.node(t) {
            Node::Not(x) => !self.lits[x],
            Node::And(parts) => self.conjunction(parts, false),
            Node::Or(parts) => self.conjunction(parts, true),
            Node::Bool(b) => {
                let lit = self.fresh();
                self.sat.add_clause_reuse(&mut vec![if *b { lit } else { !lit }]);
                lit
            }
            _ => self.atom(terms, t),
        }
    }

    fn fresh(&mut self) -> Lit {
        Lit::new(self.sat.new_var_default(), true)
    }

    /// A literal for "all of them"; `dual`: for "one of them", by De Morgan.
    fn conjunction(&mut self, parts: &[Term], dual: bool) -> Lit {
        let whole = self.fresh();
        let mut long = vec![whole];
        for part in parts {
            let lit = self.lits[part];
            let lit = if dual { !lit } else { lit };
            self.sat.add_clause_reuse(&mut vec![!whole, lit]);
            long.push(!lit);
        }
        self.sat.add_clause_reuse(&mut long);
        if dual { !whole } else { whole }
    }

    fn atom(&mut self, terms: &Terms, t: Term) -> Lit {
        let lit = self.fresh();
        if let Some(bound) = order::bound(terms, t) {
            let bits = terms.bits(bound.subject);
            let others = self.bounds.entry(bound.subject).or_default();
            let mut clauses = Vec::new();
            for (other, b) in others.iter().rev().take(MAX_RELATED) {
                for (x, y) in order::conflicts(&bound, b, bits) {
                    let first = if x { !lit } else { lit };
                    let second = if y { !*other } else { *other };
                    clauses.push(vec![first, second]);
                }
            }
            others.push((lit, bound));
            for mut clause in clauses {
                self.sat.add_clause_reuse(&mut clause);
            }
        }
        lit
    }
}
