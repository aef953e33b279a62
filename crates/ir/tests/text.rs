//! The text form: hand-written modules parse, print and verify; errors name place and expectation.

use leakproof_ir::{
    Callee, InstKind, Invariant, Module, Ty, ValueKind, parse_module, print_module, verify,
};

/// Every construct of the text form at least once.
const EVERYTHING: &str = include_str!("everything.lir");

fn parse(text: &str) -> Module {
    parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn assert_round_trip(module: &Module) {
    let text = print_module(module);
    let again = parse(&text);
    assert_eq!(again, *module, "{text}");
    assert_eq!(print_module(&again), text);
}

#[test]
fn everything_verifies_and_round_trips() {
    let module = parse(EVERYTHING);
    assert_eq!(verify(&module), Ok(()));
    assert_round_trip(&module);
}

#[test]
fn everything_is_already_in_printed_form() {
    assert_eq!(print_module(&parse(EVERYTHING)), EVERYTHING);
}

#[test]
fn empty_text_is_an_empty_module() {
    assert_eq!(parse(" ; nothing\n"), Module::default());
    assert_round_trip(&Module::default());
}

#[test]
fn optional_parts_may_be_left_out() {
    let module = parse(
        r#"
        func f0 "malloc" (v0: i64) -> ptr
        func f1 "free" (v0: ptr)
        func f2 "leak" (v0: i32) -> i32 {
        bb0:
          v10 = call "malloc"(i64 16)       ; gaps in numbering are fine
          v20 = cmp eq v0, i32 -1
          br v20, bb1, bb2
        bb1:
          ret i32 -1
        bb2:
          call "free"(v10)
          ret v0
        }
        "#,
    );
    assert_eq!(verify(&module), Ok(()));
    assert_round_trip(&module);
    let f = module.functions.values().nth(2).expect("f2");
    let call = f.body.as_ref().expect("a body").insts.values().next().expect("an instruction");
    assert!(matches!(&call.kind, InstKind::Call { callee: Callee::Direct(f), .. } if f.0 == 0));
    assert!(
        f.values.values().any(|v| v.kind == ValueKind::Int(0xffff_ffff) && v.ty == Ty::Int(32))
    );
}

#[test]
fn equal_inline_constants_share_one_value() {
    let module = parse(
        "func f0 \"f\" (v0: i32) -> i1 { bb0:
           v1: i32 = add v0, i32 7
           v2 = cmp eq v1, i32 7
           ret v2 }",
    );
    let f = module.functions.values().next().expect("f0");
    assert_eq!(f.values.len(), 4);
    assert_round_trip(&module);
}

#[test]
fn constants_out_of_order_are_declared() {
    // v1 is used after v2, so only one of them can stand inline.
    let text = "unit \"a.c\"
func f0 \"f\" (v0: i32) -> i32 {
  const v2 = i32 8
bb0:
  v3: i32 = add v0, v2
  v4: i32 = add v3, i32 7
  ret v4
}
";
    let module = parse(text);
    let f = module.functions.values().next().expect("f0");
    assert_eq!(f.values.values().nth(1).map(|v| v.kind), Some(ValueKind::Int(7)));
    assert_eq!(print_module(&module), text);
}

#[test]
fn declarations_may_carry_values() {
    let text =
        "unit \"\"\nfunc f0 \"f\" (v0: ptr) -> void {\n  const v1 = null\n  declaration\n}\n";
    let module = parse(text);
    assert_eq!(print_module(&module), text);
}

#[test]
fn instructions_may_stand_out_of_order() {
    let text = "unit \"\"
func f0 \"f\" (v0: i32) -> i32 {
bb0:
  i1: v1: i32 = add v0, i32 1
  i0: v3: i32 = add v1, v1
  ret v3
}
";
    let module = parse(text);
    assert_eq!(verify(&module), Ok(()));
    assert_eq!(print_module(&module), text);
}

#[test]
fn strings_keep_every_byte_and_character() {
    let text = "unit \"gr\u{fc}n \\\"q\\\" \\\\ \\x07\"
global g0 \"s\" as \"\" internal const size 5 init { 0: bytes \"a\\n\\x00\\xff\\\"\" }
";
    let module = parse(text);
    assert_eq!(module.name, "gr\u{fc}n \"q\" \\ \u{7}");
    assert_eq!(print_module(&module), text);
}

fn error_of(text: &str) -> String {
    parse_module(text).expect_err("text must not parse").to_string()
}

#[test]
fn errors_say_where_and_what_was_expected() {
    let cases = [
        ("unit 5", "1:6: expected the unit's name in quotes, found `5`"),
        ("frob", "1:1: expected `file`, `type`, `global`, `alias` or `func`, found `frob`"),
        ("\n  type t1 = void", "2:8: expected `t0`, found `t1`"),
        (
            "type t0 = int",
            "1:11: expected `void`, `scalar`, `ptr`, `const`, `array`, `struct`, `union` or `func`, found `int`",
        ),
        ("global g0 \"x\" 8", "1:15: expected `size`, found `8`"),
        ("global g0 \"x\" size -8", "1:20: expected a size in bytes in range, found `-8`"),
        ("func f0 \"f\" (v0 ptr)", "1:17: expected `:`, found `ptr`"),
        ("func f0 \"f\" (v0: int)", "1:18: expected a type like `ptr` or `i32`, found `int`"),
        ("func f0 \"f\" () {\nbb0:\n  ret v1\n}", "3:7: v1 is not defined in this function"),
        ("func f0 \"f\" () { bb0: frob v1 }", "1:23: expected an instruction, found `frob`"),
        ("func f0 \"f\" () { bb1: ret }", "1:18: expected `bb0`, found `bb1`"),
        ("func f0 \"f\" () { bb0: ret", "1:26: expected `bb1`, found the end of the text"),
        ("func f0 \"f\" (v0: ptr) { bb0: v0 = load v0 ret }", "1:30: v0 is defined twice"),
        (
            "func f0 \"f\" () { bb0: call \"g\"() ret }",
            "1:28: expected the name of a function of this unit, found \"g\"",
        ),
        ("func f0 \"f\" () -> i8 { bb0: ret i8 256 }", "1:40: the number 256 does not fit i8"),
        ("func f0 \"f\" () { bb0: invoke bb1, bb2 }", "1:30: expected a call before `invoke`"),
        (
            "func f0 \"f\" () { bb0: v999999 = load null ret }",
            "1:23: value number 999999 is too far ahead",
        ),
        ("unit \"a", "1:6: expected a closing `\"` on the same line"),
        ("unit \"\\q\"", "1:7: expected one of \\\" \\\\ \\n \\0 \\xHH"),
        ("file file0 \"\\xff\"", "1:12: expected UTF-8 in a name"),
        (
            "type t0 = scalar \"x\" 999999999999999999999 signed",
            "1:22: the number 999999999999999999999 is too large",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error_of(text), message, "{text}");
    }
}

#[test]
fn columns_count_characters() {
    assert_eq!(
        error_of("unit \"\u{e4}\u{f6}\" \u{fc}"),
        "1:11: expected `file`, `type`, `global`, `alias` or `func`, found `\u{fc}`"
    );
}

fn broken(text: &str) -> Vec<Invariant> {
    let mut found: Vec<Invariant> = match verify(&parse(text)) {
        Ok(()) => Vec::new(),
        Err(errors) => errors.iter().map(|e| e.invariant).collect(),
    };
    found.dedup();
    found
}

/// A function with the given blocks, `v0` an `i1`, `v1` a pointer, `v2` an `i32`.
fn body(blocks: &str) -> String {
    format!(
        "func f0 \"f\" (v0: i1, v1: ptr, v2: i32) -> i32 {{ var var0 \"x\" {blocks} }}
         func f1 \"g\" () -> ptr"
    )
}

#[test]
fn verifier_finds_wrong_operand_types() {
    let cases = [
        "bb0: v3 = load v2 ret v2",
        "bb0: store v1 -> v2 ret v2",
        "bb0: v3 = add v2, v2 ret v2",
        "bb0: v3: i32 = add v2, v0 ret v2",
        "bb0: v3 = cmp eq v1, v2 ret v2",
        "bb0: v3: i32 = cmp eq v1, v1 ret v2",
        "bb0: v3: i32 = trunc v2 ret v2",
        "bb0: v3: i8 = zext v2 ret v2",
        "bb0: v3 = ptrtoint v2 ret v2",
        "bb0: v3 = inttoptr v1 ret v2",
        "bb0: v3 = select v2, v1, v1 ret v2",
        "bb0: v3 = select v0, v1, v2 ret v2",
        "bb0: v3: i32 = offset v1, 8 ret v2",
        "bb0: v3 = offset v1, 8, v1 * 4 ret v2",
        "bb0: v3: i32 = alloca 8 ret v2",
        "bb0: scope_end v1 ret v2",
        "bb0: memset v1, v2, v2 ret v2",
        "bb0: v3 = extract v1, 0 ret v2",
        "bb0: v3 = cmpxchg v1, v2, v2 ret v2",
        "bb0: v3 = store v1 -> v1 ret v2",
        "bb0: load v1 ret v2",
        "bb0: v3 = call v2() ret v2",
        "bb0: br v2, bb1, bb1 bb1: ret v2",
        "bb0: switch v1, bb1 [] bb1: ret v2",
        "bb0: switch v2, bb1 [1: bb1, 1: bb1] bb1: ret v2",
        "bb0: ret v1",
        "bb0: ret",
        "bb0: jump bb1 bb1: v3 = phi [bb0: v2] ret v2",
    ];
    for blocks in cases {
        assert_eq!(broken(&body(blocks)), [Invariant::Operands], "{blocks}");
    }
}

#[test]
fn verifier_finds_wrong_structure() {
    let cases = [
        ("", Invariant::Blocks),
        ("bb0: br v0, bb1, bb2 bb1: jump bb0 bb2: ret v2", Invariant::Blocks),
        ("bb0: jump bb1 bb1: v3 = load v1 v4 = phi [bb0: v1] ret v2", Invariant::Blocks),
        ("bb0: v3 = load v1 invoke bb1, bb2 bb1: ret v2 bb2: resume", Invariant::Blocks),
        ("bb0: jump bb7", Invariant::Ids),
        ("bb0: varset var1, v2 ret v2", Invariant::Ids),
        ("bb0: call f9() ret v2", Invariant::Ids),
        ("bb0: store @f9 -> v1 ret v2", Invariant::Ids),
        ("bb0: store @g9 -> v1 ret v2", Invariant::Ids),
        ("bb0: v3 = alloca 8 t0 ret v2", Invariant::Ids),
        ("bb0: ret v2 @0:1:1", Invariant::Locations),
        ("bb0: v3 = load v1 @0:1:1 ret v2", Invariant::Locations),
        ("bb0: v3: void = call f1() ret v2", Invariant::Constants),
        ("bb0: store x8 5 -> v1 ret v2", Invariant::Constants),
        ("bb0: jump bb1 bb1: v3 = phi ret v2", Invariant::Phis),
        ("bb0: jump bb1 bb1: v3 = phi [bb0: v1], [bb0: v1] ret v2", Invariant::Phis),
        ("bb0: jump bb1 bb1: v3 = phi [bb0: v1], [bb2: v1] ret v2 bb2: ret v2", Invariant::Phis),
    ];
    for (blocks, invariant) in cases {
        assert_eq!(broken(&body(blocks)), [invariant], "{blocks}");
    }
}

#[test]
fn verifier_finds_uses_that_are_not_dominated() {
    let cases = [
        "bb0: store v3 -> v1 v3 = load v1 ret v2",
        "bb0: br v0, bb1, bb2 bb1: v3 = load v1 jump bb2 bb2: store v3 -> v1 ret v2",
        "bb0: br v0, bb1, bb2 bb1: v3 = load v1 jump bb2
         bb2: v4 = phi [bb0: v3], [bb1: v3] ret v2",
        "bb0: v3 = call f1() invoke bb1, bb2 bb1: ret v2 bb2: store v3 -> v1 resume",
        "bb0: v3 = call f1() invoke bb1, bb1 bb1: store v3 -> v1 ret v2",
        "bb0: v3 = call f1() invoke bb1, bb2 bb1: jump bb2
         bb2: v4 = phi [bb0: v3], [bb1: v3] ret v2",
    ];
    for blocks in cases {
        assert_eq!(broken(&body(blocks)), [Invariant::Dominance], "{blocks}");
    }
}

#[test]
fn verifier_accepts_what_is_right() {
    let cases = [
        "bb0: jump bb1 bb1: v3 = phi [bb0: v1], [bb1: v4] v4 = load v3 br v0, bb1, bb2 bb2: ret v2",
        "bb0: v3 = call f1() invoke bb1, bb2 bb1: store v3 -> v1 ret v2 bb2: resume",
        "bb0: v3 = call f1() invoke bb1, bb2 bb1: v4 = phi [bb0: v3] ret v2 bb2: resume",
        "bb0: br v0, bb1, bb1 bb1: v3 = phi [bb0: v1] ret v2",
        "bb0: ret v2 bb1: store v3 -> v1 v3 = load v1 ret v2",
        "bb0: v3 = cmp eq v1, ptr 18446744073709551615 ret v2",
    ];
    for blocks in cases {
        assert_eq!(broken(&body(blocks)), [], "{blocks}");
    }
}

#[test]
fn verifier_finds_bad_types_and_globals() {
    let cases = [
        ("type t0 = struct \"s\" size 8 { \"self\" 0 t0 }", Invariant::Types),
        ("type t0 = array t1 x 2 type t1 = struct \"s\" size 8 { \"a\" 0 t0 }", Invariant::Types),
        ("type t0 = ptr t0", Invariant::Types),
        ("type t0 = void type t1 = struct \"s\" size 8 { \"a\" 9 t0 }", Invariant::Types),
        ("type t0 = ptr t1", Invariant::Ids),
        ("alias \"a\" = @f0", Invariant::Ids),
        ("func f0 \"a\" () global g0 \"a\" size 1", Invariant::Ids),
        ("global g0 \"a\" size 4 init { 0: i64 1 }", Invariant::Init),
        ("global g0 \"a\" size 8 init { 0: i32 1, 2: i32 1 }", Invariant::Init),
        ("global g0 \"a\" size 8 init { 0: @g1 }", Invariant::Ids),
        ("global g0 \"a\" size 8 @1:1:1", Invariant::Locations),
        ("func f0 \"f\" () { const v0 = i32 1 const v1 = x4 7 declaration }", Invariant::Constants),
    ];
    for (text, invariant) in cases {
        assert_eq!(broken(text), [invariant], "{text}");
    }
    let list = "type t0 = struct \"node\" size 8 { \"next\" 0 t1 } type t1 = ptr t0";
    assert_eq!(broken(list), []);
}

#[test]
fn verify_errors_name_the_place() {
    let errors =
        verify(&parse(&body("bb0: jump bb1 bb1: v3 = load v2 ret v2"))).expect_err("broken");
    assert_eq!(errors[0].to_string(), "f0 bb1 i0: v2 is i32, not ptr (operands)");
}
