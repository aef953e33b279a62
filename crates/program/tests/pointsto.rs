//! One test per points-to rule, on text IR.

mod common;

use common::world;

const DECLS: &str = r#"unit "a.c"
type t0 = void
type t1 = scalar "char" 1 signed
type t2 = ptr t0
type t3 = struct "pair" size 16 { "a" 0 t2, "b" 8 t2 }
type t4 = ptr t3
type t5 = array t3 x 10
type t6 = struct "holder" size 96 { "name" 0 t7, "slots" 16 t8, "last" 88 t2 }
type t7 = array t1 x 16
type t8 = array t2 x 9
type t9 = ptr t6
func f0 "malloc" (v0: i64) -> ptr
func f1 "free" (v0: ptr) -> void
func f2 "mystery" (v0: ptr) -> ptr
func f3 "realloc" (v0: ptr, v1: i64) -> ptr
func f4 "memcpy" (v0: ptr, v1: ptr, v2: i64) -> ptr
func f5 "strchr" (v0: ptr, v1: i32) -> ptr
func f6 "asprintf" (v0: ptr, v1: ptr, ...) -> i32
func f7 "getenv" (v0: ptr) -> ptr
func f8 "qsort" (v0: ptr, v1: i64, v2: i64, v3: ptr) -> void
func f9 "strdup" (v0: ptr) -> ptr
global g0 "x" size 8 init { }
global g1 "y" size 8 init { }
"#;

fn with(body: &str) -> common::World {
    world(&[&format!("{DECLS}{body}")])
}

#[test]
fn address_of_stack_global_heap_and_function() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = alloca 8
  store @g0 -> v0
  v1 = load v0
  v2 = call f0(i64 8)
  v3 = alloca 8
  store @f1 -> v3
  v4 = load v3
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 0), ["stack main i0"]);
    assert_eq!(w.pts("main", 1), ["x"]);
    assert_eq!(w.pts("main", 2), ["heap main i3"]);
    assert_eq!(w.pts("main", 4), ["free"]);
}

#[test]
fn phi_select_and_loop_merge() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = cmp eq i32 1, i32 2
  br v0, bb1, bb2
bb1:
  jump bb2
bb2:
  v1 = phi [bb0: @g0], [bb1: @g1]
  v2 = select v0, v1, null
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 1), ["x", "y"]);
    assert_eq!(w.pts("main", 2), ["x", "y"]);
}

#[test]
fn fields_are_told_apart() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = alloca 16 t3
  v1 = offset v0, 8
  store @g0 -> v0
  store @g1 -> v1
  v2 = load v0
  v3 = load v1
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 1), ["stack main i0+8"]);
    assert_eq!(w.pts("main", 2), ["x"]);
    assert_eq!(w.pts("main", 3), ["y"]);
}

#[test]
fn fields_through_a_pointer_to_untyped_memory() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = call f0(i64 16)
  v5 = alloca 8
  store v0 -> v5
  v6 = load v5
  v1 = offset v6, 8
  store @g0 -> v6
  store @g1 -> v1
  v2 = load v0
  v3 = offset v0, 8
  v4 = load v3
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 2), ["x"]);
    assert_eq!(w.pts("main", 4), ["y"]);
}

#[test]
fn array_elements_fold_but_keep_their_fields() {
    let w = with(
        r#"func f10 "main" (v9: i32) -> i32 {
bb0:
  v0 = alloca 160 t5
  v1 = offset v0, 24
  store @g0 -> v1
  v2 = offset v0, 8, v9 * 16
  v3 = load v2
  v4 = offset v0, 0, v9 * 16
  v5 = load v4
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 3), ["x"]);
    assert!(w.pts("main", 5).is_empty());
}

#[test]
fn an_embedded_array_does_not_spoil_the_struct() {
    let w = with(
        r#"func f10 "main" (v9: i32) -> i32 {
bb0:
  v0 = alloca 96 t6
  v1 = offset v0, 16
  v2 = offset v1, 0, v9 * 8
  store @g0 -> v2
  v3 = offset v0, 88
  store @g1 -> v3
  v4 = offset v0, 40
  v5 = load v4
  v6 = load v3
  v7 = offset v0, 0, v9 * 1
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 5), ["x"]);
    assert_eq!(w.pts("main", 6), ["y"]);
    assert_eq!(w.pts("main", 7), ["stack main i0"]);
}

#[test]
fn a_variable_index_into_untyped_memory_reads_and_writes_all_of_it() {
    let w = with(
        r#"func f10 "main" (v9: i32) -> i32 {
bb0:
  v0 = call f0(i64 64)
  store @g0 -> v0
  v1 = offset v0, 8
  store @g1 -> v1
  v2 = offset v0, 0, v9 * 8
  v3 = load v2
  v4 = offset v0, 16
  v5 = load v4
  store @f1 -> v2
  v6 = load v4
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 3), ["free", "x", "y"]);
    assert_eq!(w.pts("main", 5), ["free"]);
    assert_eq!(w.pts("main", 6), ["free"]);
}

#[test]
fn a_pointer_that_walks_in_a_loop_does_not_make_fields_without_end() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = call f0(i64 64)
  jump bb1
bb1:
  v1 = phi [bb0: v0], [bb1: v2]
  v2 = offset v1, 8
  v3 = cmp eq v2, null
  br v3, bb2, bb1
bb2:
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 1), ["heap main i0", "heap main i0+*"]);
}

#[test]
fn a_pointer_that_walks_through_memory_ends_up_anywhere() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = call f0(i64 64)
  v1 = alloca 8
  store v0 -> v1
  jump bb1
bb1:
  v2 = load v1
  v3 = offset v2, 8
  store v3 -> v1
  jump bb1
}"#,
    );
    let all = w.pts("main", 2);
    assert!(all.contains(&"heap main i0+*".to_owned()), "{all:?}");
    assert!(all.len() < 100, "{} fields", all.len());
}

#[test]
fn container_of_goes_back_to_the_start() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = alloca 16 t3
  v1 = offset v0, 8
  v2 = offset v1, -8
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 2), ["stack main i0"]);
    assert!(w.must_alias("main", 0, 2) && w.may_alias("main", 0, 2));
    assert!(!w.must_alias("main", 0, 1) && !w.may_alias("main", 0, 1));
}

#[test]
fn arguments_and_results_flow() {
    let w = with(
        r#"func f10 "id" internal (v0: ptr) -> ptr {
bb0:
  ret v0
}
func f11 "main" () -> i32 {
bb0:
  v0 = call f10(@g0)
  v1 = call f10(@g1)
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("id", 0), ["x", "y"]);
    assert_eq!(w.pts("main", 0), ["x", "y"]);
}

#[test]
fn what_nobody_calls_gets_unknown_arguments() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  ret i32 0
}
func f11 "orphan" internal (v0: ptr, v1: ptr) -> ptr {
bb0:
  v2 = load v0
  ret v2
}"#,
    );
    assert_eq!(w.pts("orphan", 0), ["unknown"]);
    assert_eq!(w.pts("orphan", 2), ["unknown"]);
    assert!(w.may_alias("orphan", 0, 1));
}

#[test]
fn a_library_without_main_is_open_to_the_outside() {
    let w = with(
        r#"func f10 "api" (v0: ptr) -> ptr {
bb0:
  v1 = load @g0
  ret v1
}
func f11 "inner" internal (v0: ptr) -> ptr {
bb0:
  ret v0
}
func f12 "api2" () -> ptr {
bb0:
  v0 = call f11(@g1)
  ret v0
}"#,
    );
    assert_eq!(w.pts("api", 0), ["unknown"]);
    assert_eq!(w.pts("api", 1), ["unknown"]);
    assert_eq!(w.pts("inner", 0), ["y"]);
}

#[test]
fn what_an_unknown_function_gets_escapes() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = alloca 8
  v1 = alloca 8
  v2 = alloca 8
  store v1 -> v0
  v3 = call f2(v0)
  v4 = load v0
  v5 = load v1
  v6 = load v2
  store v2 -> v3
  v7 = load v2
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 3), ["unknown"]);
    assert_eq!(w.pts("main", 4), ["stack main i1", "unknown"]);
    assert_eq!(w.pts("main", 5), ["unknown"]);
    // Stored through an unknown pointer: escaped as well.
    assert_eq!(w.pts("main", 7), ["unknown"]);
    assert!(w.may_alias("main", 3, 0) && w.may_alias("main", 3, 2));
    assert!(!w.may_alias("main", 0, 1));
}

#[test]
fn memcpy_of_a_struct_copies_fields_to_fields() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = alloca 16 t3
  v1 = alloca 16 t3
  store @g0 -> v0
  v2 = offset v0, 8
  store @g1 -> v2
  memcpy v1, v0, i64 16
  v3 = load v1
  v4 = offset v1, 8
  v5 = load v4
  v6 = alloca 16 t3
  v7 = call f4(v6, v2, i64 8)
  v8 = load v6
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 3), ["x"]);
    assert_eq!(w.pts("main", 5), ["y"]);
    assert_eq!(w.pts("main", 7), ["stack main i9"]);
    assert_eq!(w.pts("main", 8), ["y"]);
}

#[test]
fn memcpy_of_memory_written_at_an_unknown_offset() {
    let w = with(
        r#"func f10 "main" (v9: i32) -> i32 {
bb0:
  v0 = call f0(i64 64)
  v1 = offset v0, 0, v9 * 8
  store @g0 -> v1
  v2 = alloca 16 t3
  memcpy v2, v0, i64 16
  v3 = offset v2, 8
  v4 = load v3
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 4), ["x"]);
}

#[test]
fn addresses_survive_integers() {
    let w = with(
        r#"func f10 "main" (v9: i64) -> i32 {
bb0:
  v0 = alloca 8
  v1: i64 = ptrtoint @g0
  store v1 -> v0
  v2: i64 = load v0
  v3 = inttoptr v2
  v4: i64 = add v1, v9
  v5 = inttoptr v4
  v6: i64 = ptrtoint v0
  v7: i64 = sub v6, v1
  v8: i64 = mul v1, i64 3
  v10 = inttoptr v8
  v11 = call f0(v7)
  v12 = inttoptr i64 16
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 3), ["x"]);
    assert_eq!(w.pts("main", 5), ["library", "x+*"]);
    assert_eq!(w.pts("main", 10), ["unknown"]);
    assert!(w.pts("main", 12).is_empty());
}

#[test]
fn a_word_copied_as_an_integer_carries_its_pointer() {
    let w = with(
        r#"func f10 "swap" internal (v0: ptr, v1: ptr) -> void {
bb0:
  v2: i64 = load v0
  store v2 -> v1
  ret
}
func f11 "main" () -> i32 {
bb0:
  v0 = alloca 8
  v1 = alloca 8
  store @g0 -> v0
  call f10(v0, v1)
  v2 = load v1
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 2), ["x"]);
}

#[test]
fn variadic_arguments_arrive() {
    // As x86-64 lowers va_arg: the list holds addresses of areas that hold the arguments.
    let w = with(
        r#"func f10 "take" internal (v0: i32, ...) -> ptr {
bb0:
  v1 = alloca 24
  va_start v1
  v2 = alloca 24
  va_copy v2, v1
  v3 = offset v2, 16
  v4 = load v3
  v5 = offset v4, 8
  v6 = load v5
  ret v6
}
func f11 "main" () -> i32 {
bb0:
  v0 = call f10(i32 1, @g0, @g1)
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 0), ["x", "y"]);
}

#[test]
fn unions_share_their_bytes() {
    let text = r#"unit "u.c"
type t0 = void
type t1 = ptr t0
type t2 = array t1 x 2
type t3 = struct "s" size 16 { "p" 0 t1, "q" 8 t1 }
type t4 = union "u" size 16 { "arr" 0 t2, "s" 0 t3 }
global g0 "x" size 8 init { }
func f0 "main" (v9: i32) -> i32 {
bb0:
  v0 = alloca 16 t4
  v1 = offset v0, 0, v9 * 8
  store @g0 -> v1
  v2 = offset v0, 8
  v3 = load v2
  ret i32 0
}"#;
    assert_eq!(world(&[text]).pts("main", 3), ["x"]);
}

#[test]
fn globals_start_with_their_initial_pointers() {
    let w = with(
        r#"global g2 "table" size 48 init { 8: @f1, 24: @f9, 40: @g0+4 }
func f10 "main" (v9: i32) -> i32 {
bb0:
  v0 = load @g2+8
  v1 = load @g2+40
  v2 = offset @g2, 8, v9 * 16
  v3 = load v2
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 0), ["free"]);
    assert_eq!(w.pts("main", 1), ["x+*"]);
    // No type, no regular layout: the variable index reads all of the table.
    assert_eq!(w.pts("main", 3), ["free", "strdup", "x+*"]);
}

#[test]
fn a_typed_table_keeps_its_columns_apart() {
    let w = with(
        r#"global g2 "table" size 160 t5 init { 0: @g0, 8: @f1, 16: @g1, 24: @f9 }
func f10 "main" (v9: i32) -> i32 {
bb0:
  v1 = offset @g2, 0, v9 * 16
  v2 = offset v1, 8
  v3 = load v2
  v4 = load v1
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 3), ["free", "strdup"]);
    assert_eq!(w.pts("main", 4), ["x", "y"]);
}

#[test]
fn data_defined_elsewhere_is_unknown_and_the_librarys_is_the_librarys() {
    let w = with(
        r#"global g2 "elsewhere" size 8
global g3 "stdout" size 8
global g4 ".str" as "" internal const size 3 init { 0: bytes "ok\x00" }
func f10 "main" () -> i32 {
bb0:
  v0 = load @g2
  v1 = load @g3
  v2 = select i1 1, @g4, null
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 0), ["unknown"]);
    assert_eq!(w.pts("main", 1), ["library"]);
    assert_eq!(w.pts("main", 2), ["literal"]);
}

#[test]
fn models_say_what_library_functions_return() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = call f9(@g0)
  v1 = call f5(v0, i32 47)
  v2 = call f7(@g0)
  v3 = alloca 8
  v4: i32 = call f6(v3, @g0)
  v5 = load v3
  v6 = load v2
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 0), ["heap main i0"]);
    assert_eq!(w.pts("main", 1), ["heap main i0+*"]);
    assert_eq!(w.pts("main", 2), ["library"]);
    // When it fails, asprintf leaves something there that nobody owns.
    assert_eq!(w.pts("main", 5), ["heap main i4", "library"]);
    assert_eq!(w.pts("main", 6), ["library"]);
}

#[test]
fn realloc_moves_contents_into_the_new_object() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = call f0(i64 8)
  store @g0 -> v0
  v1 = call f3(v0, i64 16)
  v2 = load v1
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 1), ["heap main i2"]);
    assert_eq!(w.pts("main", 2), ["x"]);
}

#[test]
fn qsort_moves_elements_and_calls_back() {
    let w = with(
        r#"func f10 "order" internal (v0: ptr, v1: ptr) -> i32 {
bb0:
  v2 = load v0
  ret i32 0
}
func f11 "main" () -> i32 {
bb0:
  v0 = call f0(i64 16)
  store @g0 -> v0
  v1 = offset v0, 8
  store @g1 -> v1
  call f8(v0, i64 2, i64 8, @f10)
  v2 = load v0
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 2), ["x", "y"]);
    assert_eq!(w.pts("order", 2), ["x", "y"]);
}

const WRAPPERS: &str = r#"func f10 "xmalloc" (v0: i64) -> ptr {
bb0:
  v1 = call f0(v0)
  v2 = cmp eq v1, null
  br v2, bb1, bb2
bb1:
  unreachable
bb2:
  ret v1
}
func f11 "xcalloc2" (v0: i64) -> ptr {
bb0:
  v1 = call f10(v0)
  memset v1, i8 0, v0
  ret v1
}
func f12 "xrealloc" (v0: ptr, v1: i64) -> ptr {
bb0:
  v2 = call f3(v0, v1)
  ret v2
}
func f13 "xpair" (v0: ptr) -> ptr {
bb0:
  v1 = call f11(i64 16)
  store v0 -> v1
  v2 = offset v1, 8
  store v1 -> v2
  ret v1
}
func f14 "kept" () -> ptr {
bb0:
  v0 = call f10(i64 8)
  store v0 -> @g0
  ret v0
}
"#;

#[test]
fn wrappers_give_each_caller_its_own_object() {
    let main = r#"func f15 "main" () -> i32 {
bb0:
  v0 = call f10(i64 8)
  v1 = call f10(i64 8)
  v2 = call f11(i64 8)
  v3 = call f11(i64 8)
  store @g0 -> v0
  v4 = call f12(v0, i64 16)
  v5 = call f12(v1, i64 16)
  v6 = load v4
  v7 = load v5
  ret i32 0
}"#;
    let w = with(&format!("{WRAPPERS}{main}"));
    for (value, inst) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 5), (5, 6)] {
        assert_eq!(w.pts("main", value), [format!("heap main i{inst}")]);
    }
    assert_eq!(w.pts("main", 6), ["x"]);
    assert!(w.pts("main", 7).is_empty());
}

#[test]
fn what_a_wrapper_puts_into_the_object_is_in_every_clone() {
    let main = r#"func f15 "main" () -> i32 {
bb0:
  v0 = call f13(@g0)
  v1 = call f13(@g1)
  v2 = load v0
  v3 = load v1
  v4 = offset v1, 8
  v5 = load v4
  ret i32 0
}"#;
    let w = with(&format!("{WRAPPERS}{main}"));
    assert_eq!(w.pts("main", 2), ["x"]);
    assert_eq!(w.pts("main", 3), ["y"]);
    assert_eq!(w.pts("main", 5), ["heap main i1"]);
}

#[test]
fn a_function_that_keeps_the_address_is_no_wrapper() {
    let main = r#"func f15 "main" () -> i32 {
bb0:
  v0 = call f14()
  v1 = load @g0
  ret i32 0
}"#;
    let w = with(&format!("{WRAPPERS}{main}"));
    assert_eq!(w.pts("main", 0), ["heap kept i0"]);
    assert_eq!(w.pts("main", 1), ["heap kept i0"]);
}

#[test]
fn calls_through_pointers_connect_as_pointers_are_found() {
    let w = with(
        r#"func f10 "one" internal (v0: ptr) -> ptr {
bb0:
  ret v0
}
func f11 "two" internal (v0: ptr) -> ptr {
bb0:
  ret @g1
}
func f12 "main" () -> i32 {
bb0:
  v0 = alloca 16
  store @f10 -> v0
  v1 = offset v0, 8
  store @f11 -> v1
  v2 = load v0
  v3 = call v2(@g0)
  v4 = load v1
  v5 = call v4(@g0)
  v6 = alloca 8
  store @f0 -> v6
  v7 = load v6
  v8 = call v7(i64 8)
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 3), ["x"]);
    assert_eq!(w.pts("main", 5), ["y"]);
    assert_eq!(w.pts("main", 8), ["heap main i11"]);
}

#[test]
fn a_function_that_escapes_is_called_with_anything() {
    let w = with(
        r#"func f10 "hook" internal (v0: ptr) -> ptr {
bb0:
  ret @g1
}
func f11 "main" () -> i32 {
bb0:
  v0 = call f2(@f10)
  v1 = call v0(@g0)
  v2 = load @g1
  v3 = load @g0
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("hook", 0), ["unknown"]);
    assert_eq!(w.pts("main", 2), ["unknown"]);
    assert_eq!(w.pts("main", 3), ["unknown"]);
}

#[test]
fn registers_full_of_pointers_and_atomics() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0: tuple2 = insert undef tuple2, 0, @g0
  v1: ptr = extract v0, 0
  v2 = alloca 8
  store @g0 -> v2
  v3: ptr = rmw xchg v2, @g1
  v4: tuple2 = cmpxchg v2, null, @f1
  v5: ptr = extract v4, 0
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 1), ["x"]);
    assert_eq!(w.pts("main", 3), ["free", "x", "y"]);
    assert_eq!(w.pts("main", 5), ["free", "x", "y"]);
}

#[test]
fn inline_assembly_and_landing_pads_are_unknown() {
    let w = with(
        r#"func f10 "main" () -> i32 {
bb0:
  v0 = alloca 8
  v1: ptr = call asm(v0)
  v2 = load v0
  v3: ptr = opaque()
  ret i32 0
}"#,
    );
    // Assembly may hand back what it was given.
    for v in [1, 2] {
        assert!(w.pts("main", v).contains(&"unknown".to_owned()));
    }
    assert_eq!(w.pts("main", 3), ["unknown"]);
}

#[test]
fn heap_types_are_found_where_the_result_goes() {
    let w = with(
        r#"func f10 "main" (v9: i32) -> i32 {
  var var0 "h" t9
bb0:
  v0 = call f0(i64 960)
  varset var0, v0
  v1 = offset v0, 16, v9 * 96
  v2 = offset v1, 8
  store @g0 -> v2
  v3 = offset v0, 88
  store @g1 -> v3
  v4 = offset v0, 208
  v5 = load v4
  v6 = offset v0, 184
  v7 = load v6
  ret i32 0
}"#,
    );
    // 208 = 2 * 96 + 16: slots of the third element; 184 = 96 + 88: `last` of the second.
    assert_eq!(w.pts("main", 5), ["x"]);
    assert_eq!(w.pts("main", 7), ["y"]);
}

#[test]
fn a_cycle_of_copies_is_one_set() {
    let w = with(
        r#"func f10 "a" internal (v0: ptr, v1: i1) -> ptr {
bb0:
  br v1, bb1, bb2
bb1:
  v2 = call f11(v0, v1)
  ret v2
bb2:
  ret @g0
}
func f11 "b" internal (v0: ptr, v1: i1) -> ptr {
bb0:
  v2 = call f10(v0, v1)
  store v2 -> v0
  v3 = load v0
  ret v3
}
func f12 "main" () -> i32 {
bb0:
  v0 = alloca 8
  v1 = call f11(v0, i1 1)
  ret i32 0
}"#,
    );
    assert_eq!(w.pts("main", 1), ["x"]);
    assert_eq!(w.pts("b", 2), ["x"]);
    assert_eq!(w.pts("a", 0), ["stack main i0"]);
}

#[test]
fn solving_is_deterministic() {
    let text = format!("{DECLS}{WRAPPERS}");
    let first = world(&[&text]).andersen.stats();
    let second = world(&[&text]).andersen.stats();
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}
