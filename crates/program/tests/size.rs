//! Programs of unusual shape stay near-linear: the solver's work is counted, not timed.

mod common;

use common::{World, world};
use std::fmt::Write;

const DECLS: &str = "unit \"a.c\"\nfunc f0 \"malloc\" (v0: i64) -> ptr\n\
                     global g0 \"kept\" size 8 init { }\nglobal g1 \"given\" size 8 init { }\n";

/// How much the solver had to do.
fn work(w: &World) -> usize {
    let stats = w.andersen.stats();
    stats.elements + stats.edges + stats.nodes
}

/// Four times the program is at most seven times the work.
fn assert_near_linear(make: impl Fn(usize) -> World, size: usize) {
    let (small, large) = (work(&make(size)), work(&make(4 * size)));
    assert!(large > small, "the larger program is more work: {small}, {large}");
    assert!(large < 7 * small, "four times the program: {small} became {large}");
}

/// Handlers that each wrap what they are given, all called through one pointer.
fn handlers(count: usize) -> World {
    let mut text = DECLS.to_owned();
    for i in 0..count {
        let id = i + 1;
        writeln!(text, "func f{id} \"h{i}\" internal (v0: ptr) -> ptr {{\nbb0:").unwrap();
        text.push_str("  v1 = call f0(i64 8)\n  store v0 -> v1\n  ret v1\n}\n");
    }
    writeln!(text, "func f{} \"main\" () -> i32 {{\nbb0:\n  v0 = alloca 8", count + 1).unwrap();
    (0..count).for_each(|i| writeln!(text, "  store @f{} -> v0", i + 1).unwrap());
    text.push_str("  v1 = load v0\n  v2 = call v1(@g1)\n  v3 = load v2\n  ret i32 0\n}\n");
    world(&[&text])
}

#[test]
fn thousands_of_address_taken_functions() {
    assert_near_linear(handlers, 1000);
}

/// One function with many variables, each with an object of its own; one in a hundred is kept.
fn long_function(statements: usize) -> World {
    let mut text = DECLS.to_owned();
    text.push_str("func f1 \"main\" () -> i32 {\nbb0:\n");
    for i in 0..statements {
        let [new, slot, seen, field] = [0, 1, 2, 3].map(|n| 4 * i + n);
        writeln!(text, "  v{new} = call f0(i64 16)\n  v{slot} = alloca 8").unwrap();
        writeln!(text, "  store v{new} -> v{slot}\n  v{seen} = load v{slot}").unwrap();
        writeln!(text, "  v{field} = offset v{seen}, 8\n  store @g1 -> v{field}").unwrap();
        if i % 100 == 0 {
            writeln!(text, "  store v{seen} -> @g0").unwrap();
        }
    }
    text.push_str("  ret i32 0\n}\n");
    world(&[&text])
}

#[test]
fn a_function_of_fifty_thousand_lines() {
    assert_near_linear(long_function, 2500);
    let w = long_function(10_000);
    assert_eq!(w.pts("main", 2), ["heap main i0"]);
}
