//! Call graph rules, on text IR.

mod common;

use common::world;
use leakproof_program::Target;

const DECLS: &str = r#"unit "a.c"
type t0 = void
type t1 = ptr t0
type t2 = struct "op" size 16 { "name" 0 t1, "run" 8 t1 }
type t3 = array t2 x 3
func f0 "qsort" (v0: ptr, v1: i64, v2: i64, v3: ptr) -> void
func f1 "malloc" (v0: i64) -> ptr
func f2 "unknown_library" () -> ptr
func f3 "one" internal (v0: ptr, v1: ptr) -> i32 {
bb0:
  ret i32 0
}
func f4 "two" internal (v0: ptr, v1: ptr) -> i32 {
bb0:
  v2: i32 = call f5(v0, v1)
  ret v2
}
func f5 "three" internal (v0: ptr, v1: ptr) -> i32 {
bb0:
  v2: i32 = call f4(v0, v1)
  ret v2
}
"#;

#[test]
fn tables_struct_fields_and_library_functions_behind_pointers() {
    let w = world(&[&format!(
        "{}{DECLS_REST}",
        DECLS.replace(
            "func f0",
            "global g0 \"ops\" size 48 t3 init { 8: @f3, 24: @f4 }\nglobal g1 \"my_malloc\" size 8 init { 0: @f1 }\nfunc f0"
        )
    )]);
    assert_eq!(w.calls("main"), [vec!["one", "two"], vec!["extern malloc"], vec!["three"]]);
    let all_complete = w.graph.calls_of(w.func("main")).all(|(_, t)| t.complete && !t.fallback);
    assert!(all_complete);
}

const DECLS_REST: &str = r#"func f6 "main" (v9: i32) -> i32 {
bb0:
  v0 = offset @g0, 8, v9 * 16
  v1 = load v0
  v2: i32 = call v1(null, null)
  v3 = load @g1
  v4 = call v3(i64 8)
  v5 = offset v4, 8
  store @f5 -> v5
  v6 = load v5
  v7: i32 = call v6(null, null)
  ret i32 0
}
"#;

#[test]
fn callbacks_of_modelled_functions_are_callees() {
    let w = world(&[&format!(
        "{DECLS}{}",
        r#"func f6 "main" () -> i32 {
bb0:
  call f0(null, i64 1, i64 8, @f3)
  ret i32 0
}
"#
    )]);
    let main = w.func("main");
    let (call, targets) = w.graph.calls_of(main).next().expect("one call");
    assert_eq!(w.names(&targets.list), ["extern qsort"]);
    assert_eq!(w.names(w.graph.callback_targets(main, call, 3)), ["one"]);
    assert!(w.graph.callback_targets(main, call, 0).is_empty());
    assert_eq!(w.graph.callees_of(main), [w.func("one")]);
    assert_eq!(w.graph.callers_of(w.func("one")), [main]);
}

#[test]
fn an_unknown_pointer_falls_back_to_the_signature_and_says_so() {
    let w = world(&[&format!(
        "{DECLS}{}",
        r#"func f6 "main" () -> i32 {
bb0:
  v0 = call f2()
  v1: i32 = call v0(null, @f3)
  v2: i32 = call v0(null, @f4)
  v3 = call v0(i32 1)
  ret i32 0
}
"#
    )]);
    let calls: Vec<_> = w.graph.calls_of(w.func("main")).map(|(_, t)| t.clone()).collect();
    assert_eq!(w.names(&calls[1].list), ["one", "two"]);
    assert!(calls[1].fallback && !calls[1].complete);
    assert!(calls[3].list.is_empty() && !calls[3].fallback && !calls[3].complete);
}

#[test]
fn the_fallback_is_capped() {
    let mut text = DECLS.to_owned();
    for i in 0..40 {
        text += &format!("func f{} \"h{i}\" internal () -> void {{\nbb0:\n  ret\n}}\n", i + 6);
    }
    text += "func f46 \"main\" () -> i32 {\nbb0:\n  v0 = call f2()\n  v1 = alloca 400\n";
    for i in 0..40 {
        text +=
            &format!("  v{} = offset v1, {}\n  store @f{} -> v{}\n", i + 2, i * 8, i + 6, i + 2);
    }
    text += "  call v0()\n  ret i32 0\n}\n";
    let w = world(&[&text]);
    let (_, targets) = w.graph.calls_of(w.func("main")).last().expect("calls");
    assert_eq!(targets.list.len(), 16);
    assert!(targets.fallback);
}

#[test]
fn targets_that_cannot_take_the_call_are_dropped() {
    let w = world(&[&format!(
        "{DECLS}{}",
        r#"func f6 "tiny" internal () -> i32 {
bb0:
  ret i32 0
}
func f7 "main" (v9: i1) -> i32 {
bb0:
  v0 = select v9, @f3, @f6
  v1: i32 = call v0()
  v2: i32 = call v0(null, null)
  ret i32 0
}
"#
    )]);
    assert_eq!(w.calls("main"), [vec!["tiny"], vec!["one", "tiny"]]);
}

#[test]
fn components_come_callees_first() {
    let w = world(&[&format!(
        "{DECLS}{}",
        r#"func f6 "main" () -> i32 {
bb0:
  v0: i32 = call f4(null, null)
  ret v0
}
"#
    )]);
    let named: Vec<Vec<String>> = w
        .graph
        .sccs()
        .iter()
        .map(|c| w.names(&c.iter().map(|&f| Target::Defined(f)).collect::<Vec<_>>()))
        .collect();
    assert_eq!(named, [vec!["one"], vec!["two", "three"], vec!["main"]]);
}

const LIBRARY: &str = r#"unit "a.c"
type t0 = void
type t1 = ptr t2
type t2 = func () -> t0
type t3 = struct "ops" size 16 { "run" 0 t1, "told" 8 t1 }
global g0 "ops" const size 16 t3 init { 0: @f0, 8: @f0 }
func f0 "own" internal () -> void {
bb0:
  ret
}
func f1 "other" internal () -> void {
bb0:
  ret
}
func f2 "set" (v0: ptr, v1: ptr t1) -> void {
bb0:
  v2 = offset v0, 8, t3
  store v1 -> v2
  ret
}
func f3 "use" (v0: ptr) -> void {
bb0:
  v1 = offset v0, 0, t3
  v2 = load v1
  call v2()
  v3 = offset v0, 8, t3
  v4 = load v3
  call v4()
  call f2(v0, @f1)
  ret
}
"#;

#[test]
fn a_library_is_taken_to_have_its_own_tables_except_where_its_users_set_what_is_called() {
    let w = world(&[LIBRARY]);
    let calls: Vec<_> = w.graph.calls_of(w.func("use")).map(|(_, t)| t.clone()).collect();
    assert_eq!(w.names(&calls[0].list), ["own"]);
    assert!(calls[0].from_tables && !calls[0].complete && !calls[0].fallback);
    assert!(calls[1].fallback && !calls[1].from_tables);
}

#[test]
fn a_call_that_is_not_there_has_no_targets() {
    let w = world(&[DECLS]);
    let targets = w.graph.targets(w.func("one"), leakproof_ir::InstId(77));
    assert!(targets.list.is_empty() && !targets.complete);
}
