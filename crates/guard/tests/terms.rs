//! Wide choices and assumptions keep their meaning: checked by evaluating before and after.

use leakproof_guard::{Assignment, Assumption, Cmp, Node, Op, SymInfo, Term, Terms};

fn symbol(terms: &mut Terms, bits: u16) -> Term {
    let info = SymInfo { bits, range: None, nonzero: false, outside: false };
    let s = terms.new_sym(info);
    terms.sym(s)
}

fn evaluate(terms: &Terms, t: Term, model: &Assignment) -> u64 {
    leakproof_guard::evaluate(terms, t, model, &mut rustc_hash::FxHashMap::default())
}

fn objects(terms: &mut Terms, n: usize) -> Vec<Term> {
    (0..n)
        .map(|_| {
            let base = terms.new_distinct_base(true);
            terms.addr(base, 0)
        })
        .collect()
}

/// `conds[i]` chooses `values[i % values.len()]`, the first condition that holds wins.
fn chain(terms: &mut Terms, conds: &[Term], values: &[Term]) -> Term {
    let ways = conds.iter().enumerate().rev();
    ways.fold(Terms::NULL, |rest, (i, &c)| terms.ite(c, values[i % values.len()], rest))
}

fn assignment(terms: &Terms, conds: &[Term], chosen: usize) -> Assignment {
    let mut model = Assignment::default();
    for (i, &c) in conds.iter().enumerate() {
        if let Node::Sym(s) = terms.node(c) {
            model.syms.insert(*s, u64::from(i == chosen));
        }
    }
    model
}

#[test]
fn a_deep_choice_between_few_objects_keeps_its_conditions() {
    let mut terms = Terms::new();
    let conds: Vec<Term> = (0..40).map(|_| symbol(&mut terms, 1)).collect();
    let values = objects(&mut terms, 3);
    let choice = chain(&mut terms, &conds, &values);
    assert!(terms.width(choice) <= 24, "it does not grow with the ways");
    for chosen in 0..conds.len() {
        let model = assignment(&terms, &conds, chosen);
        let expected = evaluate(&terms, values[chosen % 3], &model);
        assert_eq!(evaluate(&terms, choice, &model), expected, "way {chosen}");
    }
    let none = assignment(&terms, &conds, conds.len());
    assert_eq!(evaluate(&terms, choice, &none), 0);
}

#[test]
fn a_choice_between_many_objects_is_any_of_them() {
    let mut terms = Terms::new();
    let conds: Vec<Term> = (0..40).map(|_| symbol(&mut terms, 1)).collect();
    let values = objects(&mut terms, 40);
    let choice = chain(&mut terms, &conds, &values);
    let found = terms.alternatives(choice);
    assert!(values.iter().all(|v| found.contains(v)), "no object is forgotten");
}

#[test]
fn an_assumption_reaches_every_part() {
    let mut terms = Terms::new();
    let (a, b) = (symbol(&mut terms, 1), symbol(&mut terms, 1));
    let x = symbol(&mut terms, 32);
    let (one, two) = (terms.int(32, 1), terms.int(32, 2));
    let value = terms.ite(a, one, two);
    let sum = terms.bin(leakproof_guard::Op::Add, value, x);
    let is_two = terms.eq(sum, two);
    let not_a = terms.not(a);
    let left = terms.and2(not_a, b);
    let whole = terms.or2(left, is_two);
    for truth in [false, true] {
        let mut given = Assumption::new(&terms, a, truth);
        let under = terms.assuming(whole, &mut given);
        for (b_value, x_value) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut model = Assignment::default();
            for (t, v) in [(a, u64::from(truth)), (b, b_value), (x, x_value)] {
                let Node::Sym(s) = terms.node(t) else { panic!("a symbol") };
                model.syms.insert(*s, v);
            }
            assert_eq!(evaluate(&terms, whole, &model), evaluate(&terms, under, &model));
        }
    }
}

/// `if (options & bit) options -= bit;` for 24 bits: twice as many values with each of them.
#[test]
fn a_comparison_with_a_sum_of_choices_stays_small() {
    let mut terms = Terms::new();
    let mut value = symbol(&mut terms, 32);
    for bit in 0..24 {
        let mask = terms.int(32, 1 << bit);
        let zero = terms.int(32, 0);
        let bits = terms.bin(Op::And, value, mask);
        let unset = terms.cmp(Cmp::Eq, bits, zero);
        let less = terms.bin(Op::Sub, value, mask);
        value = terms.ite(unset, value, less);
    }
    let before = terms.len();
    let seven = terms.int(32, 7);
    terms.cmp(Cmp::Eq, value, seven);
    terms.cmp(Cmp::SLt, value, seven);
    assert!(terms.len() - before < 1000, "{} new terms", terms.len() - before);
}
