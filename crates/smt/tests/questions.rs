//! Questions with known answers: every answer is checked against brute force or by evaluation.

use leakproof_guard::{Cmp, Op, SymInfo, Term, Terms, evaluate};
use leakproof_smt::{Answer, Limits, Session};
use rustc_hash::FxHashMap;

fn symbol(terms: &mut Terms, bits: u16) -> Term {
    let info = SymInfo { bits, range: None, nonzero: false, outside: false };
    let sym = terms.new_sym(info);
    terms.sym(sym)
}

/// The answer; a model is required to make the formula true.
fn is_satisfiable(terms: &Terms, formula: Term) -> bool {
    match Session::new().solve(terms, formula, Limits::default()) {
        Answer::Unsat => false,
        Answer::Sat(model) => {
            let mut memo = FxHashMap::default();
            assert_eq!(evaluate(terms, formula, &model, &mut memo), 1, "the model is wrong");
            true
        }
        Answer::Unknown(_) => panic!("small questions have an answer"),
    }
}

#[test]
fn a_value_is_not_two_constants() {
    let mut t = Terms::new();
    let x = symbol(&mut t, 32);
    let (one, two) = (t.int(32, 1), t.int(32, 2));
    let (a, b) = (t.eq(x, one), t.eq(x, two));
    let both = t.and2(a, b);
    let either = t.or2(a, b);
    assert!(!is_satisfiable(&t, both));
    assert!(is_satisfiable(&t, either));
}

#[test]
fn widths_are_those_of_c() {
    let mut t = Terms::new();
    let x = symbol(&mut t, 8);
    let (one, zero) = (t.int(8, 1), t.int(8, 0));
    let next = t.bin(Op::Add, x, one);
    let wraps = t.cmp(Cmp::ULt, next, x);
    assert!(is_satisfiable(&t, wraps), "255 + 1 is 0 in eight bits");
    let positive = t.cmp(Cmp::SLt, zero, x);
    let negative = t.cmp(Cmp::SLt, next, zero);
    let overflow = t.and2(positive, negative);
    assert!(is_satisfiable(&t, overflow), "127 + 1 is -128");
}

#[test]
fn bits_of_one_value_are_related() {
    let mut t = Terms::new();
    let x = symbol(&mut t, 32);
    let (one, three, zero) = (t.int(32, 1), t.int(32, 3), t.int(32, 0));
    let (low, both) = (t.bin(Op::And, x, one), t.bin(Op::And, x, three));
    let (low_set, none_set) = (t.eq(low, one), t.eq(both, zero));
    let contradiction = t.and2(low_set, none_set);
    assert!(!is_satisfiable(&t, contradiction), "the comparisons alone do not tell");
}

#[test]
fn conditions_inside_values_count() {
    let mut t = Terms::new();
    let (x, y, z) = (symbol(&mut t, 32), symbol(&mut t, 32), symbol(&mut t, 32));
    let c = symbol(&mut t, 1);
    let five = t.int(32, 5);
    let sum = t.bin(Op::Add, x, five);
    let chosen = t.ite(c, sum, y);
    let equal = t.cmp(Cmp::SLt, chosen, z);
    let (z_low, x_high) = (t.cmp(Cmp::SLt, z, five), t.eq(x, five));
    let not_c = t.not(c);
    let with = t.and([equal, z_low, x_high, c]);
    let without = t.and([equal, z_low, x_high, not_c]);
    assert!(!is_satisfiable(&t, with), "5 + 5 is not below a number below 5");
    assert!(is_satisfiable(&t, without));
}

#[test]
fn what_one_question_teaches_does_not_change_the_next() {
    let mut t = Terms::new();
    let x = symbol(&mut t, 16);
    let constants: Vec<Term> = (0..6).map(|k| t.int(16, k)).collect();
    let mut session = Session::new();
    for (i, &a) in constants.iter().enumerate() {
        for (j, &b) in constants.iter().enumerate() {
            let (low, high) = (t.cmp(Cmp::SLt, a, x), t.cmp(Cmp::SLt, x, b));
            let between = t.and2(low, high);
            let expected = j > i + 1;
            let got = matches!(session.solve(&t, between, Limits::default()), Answer::Sat(_));
            assert_eq!(got, expected, "{i} < x < {j}");
        }
    }
}

#[test]
fn small_formulas_agree_with_brute_force() {
    let mut seed = 7u64;
    let mut next = move |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    for _ in 0..300 {
        let mut t = Terms::new();
        let x = symbol(&mut t, 4);
        let y = symbol(&mut t, 4);
        let mut parts = Vec::new();
        for _ in 0..5 {
            let k = t.int(4, next(16));
            let operands = [x, y, k, t.bin(Op::Add, x, y), t.bin(Op::And, x, k)];
            let (a, b) = (operands[next(5) as usize], operands[next(5) as usize]);
            let cmp = [Cmp::Eq, Cmp::ULt, Cmp::ULe, Cmp::SLt, Cmp::SLe][next(5) as usize];
            let atom = t.cmp(cmp, a, b);
            parts.push(if next(2) == 0 { atom } else { t.not(atom) });
        }
        let either = t.or2(parts[0], parts[1]);
        let formula = t.and([either, parts[2], parts[3], parts[4]]);
        let expected = (0..256).any(|v| holds(&t, formula, x, y, v & 15, v >> 4));
        assert_eq!(is_satisfiable(&t, formula), expected);
    }
}

fn holds(terms: &Terms, formula: Term, x: Term, y: Term, a: u64, b: u64) -> bool {
    let mut model = leakproof_guard::Assignment::default();
    for (t, value) in [(x, a), (y, b)] {
        if let leakproof_guard::Node::Sym(s) = terms.node(t) {
            model.syms.insert(*s, value);
        }
    }
    evaluate(terms, formula, &model, &mut FxHashMap::default()) == 1
}

#[test]
fn sums_that_are_compared_as_signed_do_not_wrap() {
    let mut t = Terms::new();
    let (x, y) = (symbol(&mut t, 32), symbol(&mut t, 32));
    let room = t.int(32, 32);
    let grown = t.bin(Op::Add, y, room);
    let (full, still_full) = (t.cmp(Cmp::SLe, x, y), t.cmp(Cmp::SLe, grown, x));
    let both = t.and2(full, still_full);
    assert!(!is_satisfiable(&t, both));
    let (full, still_full) = (t.cmp(Cmp::ULe, x, y), t.cmp(Cmp::ULe, grown, x));
    let both = t.and2(full, still_full);
    assert!(is_satisfiable(&t, both), "without a sign they do");
}

#[test]
fn a_product_of_unknowns_has_the_value_of_the_model() {
    let mut t = Terms::new();
    let (x, y) = (symbol(&mut t, 32), symbol(&mut t, 32));
    let (seven, zero) = (t.int(32, 7), t.int(32, 0));
    let product = t.bin(Op::Mul, x, y);
    let (is_seven, x_is_zero) = (t.eq(product, seven), t.eq(x, zero));
    let both = t.and2(is_seven, x_is_zero);
    assert!(is_satisfiable(&t, is_seven));
    assert!(is_satisfiable(&t, both), "factors are not looked at");
}
