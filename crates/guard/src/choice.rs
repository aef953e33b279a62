//! Wide choices between pointers, put in order: every alternative once, under its own condition.
//!
//! Code that reaches a pointer by many ways makes deep choices between few values. Those are told
//! in as many conditions as there are values; of many values it is not known which.

use crate::seen::Seen;
use crate::{Node, Term, Terms};

/// Alternatives that keep their conditions.
const MAX_ALTERNATIVES: usize = 12;
/// Conditions that are larger than this are not worth being kept.
const MAX_CONDITION: u32 = 1500;

/// The ways to one alternative.
struct Alternative {
    value: Term,
    ways: Vec<Term>,
}

impl Terms {
    /// `ite` of a wide choice: the same value in a form that is as small as its alternatives are
    /// few, or any of the alternatives where that cannot be told in reasonable size.
    pub(crate) fn ordered_choice(&mut self, cond: Term, then: Term, otherwise: Term) -> Term {
        let values = self.leaves([then, otherwise]);
        if values.len() > MAX_ALTERNATIVES {
            return self.any(values);
        }
        let mut found = Vec::new();
        let not_cond = self.not(cond);
        let told = self.collect_ways(then, cond, &mut found)
            && self.collect_ways(otherwise, not_cond, &mut found);
        match found.pop() {
            Some(last) if told => found.into_iter().rev().fold(last.value, |others, a| {
                let when = self.or(a.ways);
                self.nested_ite(when, a.value, others)
            }),
            _ => self.any(values),
        }
    }

    /// What some choices are between, each once; of what is any of several values it stays unknown which.
    fn leaves(&self, choices: [Term; 2]) -> Vec<Term> {
        let (mut seen, mut work) = (Seen::default(), choices.to_vec());
        let mut found = Vec::new();
        while let Some(t) = work.pop() {
            match *self.node(t) {
                _ if !seen.insert(t) => {}
                Node::Ite { then, otherwise, .. } => work.extend([then, otherwise]),
                _ => found.push(t),
            }
        }
        found
    }

    /// Every alternative of a choice with the conditions on its ways; false when they get too large.
    fn collect_ways(&mut self, t: Term, way: Term, found: &mut Vec<Alternative>) -> bool {
        if way == Self::FALSE {
            return true;
        }
        if self.size(way) > MAX_CONDITION {
            return false;
        }
        if let Node::Ite { cond, then, otherwise } = *self.node(t) {
            let not_cond = self.not(cond);
            let (yes, no) = (self.and2(way, cond), self.and2(way, not_cond));
            return self.collect_ways(then, yes, found) && self.collect_ways(otherwise, no, found);
        }
        match found.iter_mut().find(|a| a.value == t) {
            Some(known) => known.ways.push(way),
            None => found.push(Alternative { value: t, ways: vec![way] }),
        }
        true
    }
}
