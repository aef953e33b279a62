//! Control flow: terminators, unreachable code, cleanups.

use crate::support::{Ask, AskFunction, FLAGS, bitcode, checked, lower};
use leakproof_ir::{Callee, InstKind, Module, Terminator, ValueKind};

fn terminators(m: &Module, name: &str) -> Vec<Terminator> {
    m.func(name).code().blocks.values().map(|b| b.term.clone()).collect()
}

#[test]
fn switches_keep_their_numbers() {
    let m = lower("int f(int x) { switch (x) { case -1: return 1; case 7: return 2; } return 3; }");
    let cases = terminators(&m, "f").into_iter().find_map(|t| match t {
        Terminator::Switch { cases, .. } => Some(cases.into_iter().map(|c| c.0).collect()),
        _ => None,
    });
    assert_eq!(cases, Some(vec![0xffff_ffff, 7u64]));
}

#[test]
fn computed_goto() {
    let m = lower(
        "int f(int i) {
           static void *t[] = { &&a, &&b };
           goto *t[i];
         a: return 1;
         b: return 2;
         }",
    );
    let targets = terminators(&m, "f").into_iter().find_map(|t| match t {
        Terminator::Indirect { targets } => Some(targets.len()),
        _ => None,
    });
    assert_eq!(targets, Some(2));
}

#[test]
fn asm_goto() {
    let m = lower("int f(void) { asm goto(\"jmp %l0\" :::: out); return 1; out: return 2; }");
    let f = m.func("f");
    f.one(|k| matches!(k, InstKind::Call { callee: Callee::Asm, .. }).then_some(()));
    assert!(terminators(&m, "f").iter().any(|t| matches!(t, Terminator::Indirect { .. })));
}

#[test]
fn noreturn_calls_end_their_block() {
    let m = lower(
        "_Noreturn void die(const char *);
         void quit(void) __attribute__((noreturn));
         int f(int *p) { if (!p) die(\"x\"); return *p; }
         void g(void) { __builtin_trap(); }
         int h(int x) { if (x) return 1; __builtin_unreachable(); }",
    );
    let f = m.func("f");
    f.one(|k| matches!(k, InstKind::Call { noreturn: true, .. }).then_some(()));
    assert!(m.func("die").attrs.noreturn);
    assert!(terminators(&m, "f").contains(&Terminator::Unreachable));
    assert_eq!(terminators(&m, "g"), [Terminator::Unreachable]);
    assert!(terminators(&m, "h").contains(&Terminator::Unreachable));
}

#[test]
fn returns_keep_the_position_of_their_statement() {
    let m = lower(
        "int g(void);\n\
         int f(int x) {\n\
           if (x)\n\
             return -1;\n\
           int y = g();\n\
           return y;\n\
         }",
    );
    let f = m.func("f");
    let exit = f.code().blocks.iter().find(|(_, b)| matches!(b.term, Terminator::Return(_)));
    let (exit, _) = exit.expect("a return");
    let mut lines: Vec<u32> = f
        .code()
        .blocks
        .values()
        .filter(|b| b.term == Terminator::Jump(exit))
        .map(|b| b.term_loc.line)
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [4, 6]);
}

/// With lifetime markers, clang routes every way out of the loop through one switch.
const LEAVING_SCOPES: &str = "
    char *mk(void); void rel(char **); int use(char *);
    int f(int n) {
      for (int i = 0; i < n; i++) {
        CLEANUP char *q = mk();
        if (!q) return 1;
        if (use(q)) break;
        if (use(q)) continue;
        use(0);
      }
      return 2;
    }";

#[test]
fn ways_out_of_a_scope_do_not_meet() {
    for cleanup in ["-DCLEANUP=", "-DCLEANUP=__attribute__((cleanup(rel)))"] {
        let mut flags = FLAGS.to_vec();
        flags.push(cleanup);
        let m = checked(&bitcode("snippet.c", LEAVING_SCOPES, &flags));
        let switches =
            terminators(&m, "f").into_iter().filter(|t| matches!(t, Terminator::Switch { .. }));
        assert_eq!(switches.count(), 0, "{cleanup}");
        let f = m.func("f");
        let (_, returned) = f.one(|k| match k {
            InstKind::Phi { incoming } => {
                let values: Vec<_> = incoming.iter().map(|(_, v)| f.kind(*v)).collect();
                (values.contains(&ValueKind::Int(1)) && values.len() == 2).then_some(values)
            }
            _ => None,
        });
        assert!(returned.contains(&ValueKind::Int(2)));
    }
}

#[test]
fn each_way_out_runs_the_cleanup_once() {
    let mut flags = FLAGS.to_vec();
    flags.extend([
        "-DCLEANUP=__attribute__((cleanup(rel)))",
        "-Xclang",
        "-disable-lifetime-markers",
    ]);
    let m = checked(&bitcode("snippet.c", LEAVING_SCOPES, &flags));
    let rel = m.func_id("rel");
    let f = m.func("f");
    let cleanups = f.all(|k| match k {
        InstKind::Call { callee: Callee::Direct(c), .. } if *c == rel => Some(()),
        _ => None,
    });
    // return, break, continue, end of the body.
    assert_eq!(cleanups.len(), 4);
}

#[test]
fn scopes_of_slots_end() {
    let m = lower(
        "struct s { char *p; }; void use(struct s *);
         void f(int c) { if (c) { struct s a; use(&a); } { struct s b; use(&b); } use(0); }",
    );
    let f = m.func("f");
    let ended = f.all(|k| match k {
        InstKind::ScopeEnd { slot } => Some(f.kind(*slot)),
        _ => None,
    });
    assert_eq!(ended.len(), 2);
    assert_ne!(ended[0], ended[1]);
}

/// Lines at which a promoted variable goes out of scope.
fn ends(m: &Module, function: &str) -> Vec<u32> {
    let f = m.func(function);
    let undefined = |value| f.kind(value) == ValueKind::Undef;
    let insts = f.code().insts.values();
    let ends =
        insts.filter(|i| matches!(i.kind, InstKind::VarSet { value, .. } if undefined(value)));
    let mut lines: Vec<u32> = ends.map(|i| i.loc.line).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn variables_end_at_the_statement_that_leaves_their_scope() {
    let m = lower(
        "char *mk(void); int c(void); void use(char *);\n\
         void f(void) {\n\
           while (c()) {\n\
             char *p = mk();\n\
             if (c())\n\
               continue;\n\
             if (c())\n\
               continue;\n\
             if (c())\n\
               break;\n\
             use(p);\n\
           }\n\
           use(0);\n\
         }",
    );
    assert_eq!(ends(&m, "f"), [6, 8, 10, 12]);
}

#[test]
fn a_return_ends_no_scope_and_keeps_its_position() {
    let m = lower(
        "char *mk(void); int c(void); void use(char *);\n\
         int f(void) {\n\
           if (c())\n\
             return 1;\n\
           char *p = mk();\n\
           if (c())\n\
             return 2;\n\
           if (c()) {\n\
             char *q = mk();\n\
             if (c())\n\
               return 3;\n\
             use(q);\n\
           }\n\
           use(p);\n\
           return 4;\n\
         }",
    );
    assert_eq!(ends(&m, "f"), [13]);
    let f = m.func("f");
    let (_, incoming) = f.one(|k| match k {
        InstKind::Phi { incoming } => Some(incoming.clone()),
        _ => None,
    });
    let mut returns: Vec<(u32, ValueKind)> = incoming
        .iter()
        .map(|(block, value)| (f.code().blocks[*block].term_loc.line, f.kind(*value)))
        .collect();
    returns.sort_by_key(|(line, _)| *line);
    let expected = [(4, 1), (7, 2), (11, 3), (15, 4)].map(|(l, n)| (l, ValueKind::Int(n)));
    assert_eq!(returns, expected);
}

#[test]
fn unreachable_blocks_are_gone() {
    let m = lower("int f(int x) { return x; x++; again: x++; goto again; }");
    assert_eq!(m.func("f").code().blocks.len(), 1);
}

#[test]
fn a_value_of_the_last_turn_does_not_survive_its_scope() {
    // Without the start of its lifetime, `p` would look held from one turn to the next.
    let m = lower(
        "char *mk(void); int c(void); void use(char *);
         void f(void) { while (c()) { char *p; if (c()) p = mk(); else p = 0; use(p); } }",
    );
    let f = m.func("f");
    let phis = f.all(|k| match k {
        InstKind::Phi { incoming } => Some(incoming.len()),
        _ => None,
    });
    assert_eq!(phis, [2]);
}
