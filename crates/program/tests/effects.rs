//! What a call may read, write and release.

mod common;

use common::{World, world};
use leakproof_ir::{InstId, InstKind, ValueId};
use leakproof_models::Library;
use leakproof_program::{Effects, ObjectId, PointsTo};

const DECLS: &str = r#"unit "a.c"
type t0 = func (t1) -> t4
type t1 = ptr t2
type t2 = const t3
type t3 = scalar "char" 1 signed
type t4 = scalar "unsigned long" 8 unsigned
func f0 "malloc" (v0: i64) -> ptr
func f1 "free" (v0: ptr) -> void
func f2 "strlen" (v0: ptr) -> i64 sig t0
func f3 "mystery" (v0: ptr) -> void
func f4 "qsort" (v0: ptr, v1: i64, v2: i64, v3: ptr) -> void
func f5 "getline" (v0: ptr, v1: ptr, v2: ptr) -> i64
"#;

/// The answers for the `n`th call of `func` about the object that value `v` of `main` points to:
/// `r`, `w` and `f` for those that are yes.
fn touches(w: &World, func: &str, n: usize, v: u32) -> String {
    let effects = Effects::new(&w.program, &w.andersen, &w.graph, Library::shipped());
    let f = w.func(func);
    let body = w.program.function(f).body.as_ref().expect("a body");
    let is_call = |id: &InstId| matches!(body.insts[*id].kind, InstKind::Call { .. });
    let call = body.insts.ids().filter(is_call).nth(n).expect("a call");
    let object = object(w, v);
    let answers = [
        (effects.may_read(f, call, object), 'r'),
        (effects.may_write(f, call, object), 'w'),
        (effects.may_free(f, call, object), 'f'),
    ];
    answers.iter().filter(|(yes, _)| *yes).map(|(_, c)| *c).collect()
}

fn object(w: &World, v: u32) -> ObjectId {
    let set = w.andersen.points_to(w.func("main"), ValueId(v));
    assert_eq!(set.pointees.len(), 1);
    set.pointees[0].object
}

fn with(body: &str) -> World {
    world(&[&format!("{DECLS}{body}")])
}

#[test]
fn own_accesses_count_in_every_caller() {
    let w = with(
        r#"func f6 "main" () -> i32 {
bb0:
  v0 = alloca 8
  v1 = alloca 8
  call f7(v0, v1)
  ret i32 0
}
func f7 "outer" (v0: ptr, v1: ptr) -> void {
bb0:
  call f8(v0, v1)
  ret
}
func f8 "inner" (v0: ptr, v1: ptr) -> void {
bb0:
  v2: i64 = load v0
  store v2 -> v1
  ret
}"#,
    );
    assert_eq!(touches(&w, "main", 0, 0), "r");
    assert_eq!(touches(&w, "main", 0, 1), "w");
    assert_eq!(touches(&w, "outer", 0, 1), "w");
}

#[test]
fn models_say_what_is_released_and_declarations_what_is_only_read() {
    let w = with(
        r#"func f6 "main" () -> i32 {
bb0:
  v0 = call f0(i64 8)
  v1 = call f0(i64 8)
  v2: i64 = call f2(v0)
  call f1(v0)
  ret i32 0
}"#,
    );
    assert_eq!(touches(&w, "main", 2, 0), "r");
    assert!(touches(&w, "main", 3, 0).contains('f'));
    assert_eq!(touches(&w, "main", 3, 1), "");
}

#[test]
fn a_function_that_is_not_seen_does_anything_to_what_escapes() {
    let w = with(
        r#"func f6 "main" () -> i32 {
bb0:
  v0 = alloca 8
  v1 = alloca 8
  v2 = alloca 8
  store v1 -> v0
  call f3(v0)
  ret i32 0
}"#,
    );
    assert_eq!(touches(&w, "main", 0, 0), "rwf");
    assert_eq!(touches(&w, "main", 0, 1), "rwf");
    assert_eq!(touches(&w, "main", 0, 2), "");
}

#[test]
fn callbacks_and_recursion_count() {
    let w = with(
        r#"global g0 "seen" size 8 init { }
global g1 "other" size 8 init { }
func f6 "main" () -> i32 {
bb0:
  v0 = offset @g0, 0
  v1 = offset @g1, 0
  v2 = alloca 32
  call f4(v2, i64 4, i64 8, @f7)
  call f8(i32 3)
  ret i32 0
}
func f7 "compare" (v0: ptr, v1: ptr) -> i32 {
bb0:
  store i64 1 -> @g0
  ret i32 0
}
func f8 "even" (v0: i32) -> void {
bb0:
  call f9(v0)
  ret
}
func f9 "odd" (v0: i32) -> void {
bb0:
  store i64 1 -> @g1
  call f8(v0)
  ret
}"#,
    );
    assert_eq!(touches(&w, "main", 0, 0), "w");
    assert_eq!(touches(&w, "main", 0, 1), "");
    assert_eq!(touches(&w, "main", 1, 1), "w");
    assert_eq!(touches(&w, "even", 0, 1), "w");
    assert_eq!(touches(&w, "main", 1, 0), "");
}

#[test]
fn what_a_cell_holds_may_be_anything_that_is_released() {
    let w = with(
        r#"func f6 "main" () -> i32 {
bb0:
  v0 = alloca 8
  v1 = call f0(i64 8)
  store v1 -> v0
  v2 = alloca 8
  v3: i64 = call f5(v0, v2, null)
  ret i32 0
}"#,
    );
    assert!(touches(&w, "main", 1, 1).contains('f'));
}
