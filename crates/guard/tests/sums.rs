//! Signed sums do not wrap; others do.

use leakproof_guard::{Cmp, Op, SymInfo, Term, Terms};

fn symbol(terms: &mut Terms, bits: u16) -> Term {
    let info = SymInfo { bits, range: None, nonzero: false, outside: false };
    let s = terms.new_sym(info);
    terms.sym(s)
}

fn plus(terms: &mut Terms, x: Term, k: i64) -> Term {
    let k = terms.int(terms.bits(x), k as u64);
    terms.bin(Op::Add, x, k)
}

#[test]
fn a_constant_goes_from_one_side_to_the_other() {
    let mut terms = Terms::new();
    let x = symbol(&mut terms, 32);
    let next = plus(&mut terms, x, 1);
    let (nine, ten) = (terms.int(32, 9), terms.int(32, 10));
    let (a, b) = (terms.cmp(Cmp::SLt, next, ten), terms.cmp(Cmp::SLt, x, nine));
    assert_eq!(a, b);
    let (a, b) = (terms.cmp(Cmp::SLe, ten, next), terms.cmp(Cmp::SLe, nine, x));
    assert_eq!(a, b);
}

#[test]
fn the_next_number_is_greater() {
    let mut terms = Terms::new();
    let x = symbol(&mut terms, 32);
    let (next, before) = (plus(&mut terms, x, 1), plus(&mut terms, x, -1));
    assert_eq!(terms.cmp(Cmp::SLt, x, next), Terms::TRUE);
    assert_eq!(terms.cmp(Cmp::SLe, next, before), Terms::FALSE);
}

#[test]
fn a_sum_that_cannot_be_reached_decides() {
    let mut terms = Terms::new();
    let x = symbol(&mut terms, 32);
    let next = plus(&mut terms, x, 1);
    let least = terms.int(32, i64::from(i32::MIN) as u64);
    assert_eq!(terms.cmp(Cmp::SLe, next, least), Terms::FALSE);
}

#[test]
fn numbers_without_a_sign_wrap() {
    let mut terms = Terms::new();
    let x = symbol(&mut terms, 32);
    let next = plus(&mut terms, x, 1);
    let (a, ten) = (terms.cmp(Cmp::ULt, x, next), terms.int(32, 10));
    assert_ne!(a, Terms::TRUE);
    let (b, c) = (terms.cmp(Cmp::ULt, next, ten), terms.int(32, 9));
    assert_ne!(b, terms.cmp(Cmp::ULt, x, c));
}
