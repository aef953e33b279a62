//! One test per kind of instruction.

use crate::support::{Ask, AskFunction, bitcode, checked, lower};
use leakproof_ir::{BinOp, Callee, CastOp, InstKind, Pred, RmwOp, Terminator, Ty, ValueKind};

#[test]
fn locals_become_values_with_phis_only_where_they_are_read() {
    let m = lower(
        "int f(int c) {
           int x = 1, dead = 2;
           if (c) { x = 3; dead = 4; }
           return x;
         }",
    );
    let f = m.func("f");
    let (phi, incoming) = f.one(|k| match k {
        InstKind::Phi { incoming } => Some(incoming.clone()),
        _ => None,
    });
    let mut values: Vec<_> = incoming.iter().map(|(_, v)| f.kind(*v)).collect();
    values.sort_by_key(|v| format!("{v:?}"));
    assert_eq!(values, [ValueKind::Int(1), ValueKind::Int(3)]);
    let last = f.code().blocks.values().next_back().expect("a block");
    assert_eq!(last.term, Terminator::Return(phi.result));
    let memory = f.all(|k| match k {
        InstKind::Alloca { .. } | InstKind::Load { .. } | InstKind::Store { .. } => Some(()),
        _ => None,
    });
    assert!(memory.is_empty());
}

#[test]
fn address_taken_and_volatile_locals_stay_in_memory() {
    let m = lower(
        "void g(int *);
         int f(void) { int x = 1; volatile int y = 2; g(&x); return x + y; }",
    );
    let f = m.func("f");
    let slots = f.all(|k| match k {
        InstKind::Alloca { size, count: None, var: Some(var), ty } => {
            Some((f.code().vars[*var].name.clone(), *size, m.ty(*ty)))
        }
        _ => None,
    });
    assert_eq!(slots, [("x".into(), 4, "int".into()), ("y".into(), 4, "int".into())]);
    assert_eq!(f.all(|k| matches!(k, InstKind::Load { .. }).then_some(())).len(), 2);
    assert_eq!(f.all(|k| matches!(k, InstKind::Store { .. }).then_some(())).len(), 2);
}

#[test]
fn variable_length_arrays_are_dynamic_slots() {
    let m = lower("void g(char *); void f(int n) { char a[n]; g(a); }");
    let f = m.func("f");
    let (_, count) = f.one(|k| match k {
        InstKind::Alloca { size: 1, count, .. } => *count,
        _ => None,
    });
    assert!(matches!(f.kind(count), ValueKind::Inst(_)));
}

#[test]
fn offsets_add_up_fields_and_scaled_indices() {
    let m = lower(
        "struct in { int a; char *s; };
         struct out { long l; struct in arr[4]; };
         char *f(struct out *o, int i) { return o->arr[i].s; }",
    );
    let f = m.func("f");
    let offsets = f.all(|k| match k {
        InstKind::Offset { offset, indices, ty, .. } => {
            Some((*offset, indices.first().map(|i| i.scale), m.ty(*ty)))
        }
        _ => None,
    });
    assert_eq!(
        offsets,
        [
            (8, None, "struct out".into()),
            (0, Some(16), "none".into()),
            (8, None, "struct in".into()),
        ]
    );
}

#[test]
fn negative_and_pointer_arithmetic_offsets() {
    let m = lower("int *f(int *p, long n) { return p - 1 + n; }");
    let f = m.func("f");
    let offsets = f.all(|k| match k {
        InstKind::Offset { offset, indices, .. } => Some((*offset, indices.len())),
        _ => None,
    });
    assert_eq!(offsets, [(-4, 0), (0, 1)]);
}

#[test]
fn arithmetic_comparisons_and_casts() {
    let m = lower(
        "unsigned f(unsigned a, unsigned b) { return a / b; }
         int g(int a, int b) { return a >> b; }
         int lt(int a, int b) { return a < b; }
         int ult(unsigned a, unsigned b) { return a < b; }
         int nul(char *p) { return p == 0; }
         long wide(int a) { return a; }
         long addr(char *p) { return (long)p; }
         char *ptr(long a) { return (char *)a; }
         signed char cut(int a) { return a; }",
    );
    let bin = |name: &str| {
        m.func(name)
            .one(|k| match k {
                InstKind::Bin { op, .. } => Some(*op),
                _ => None,
            })
            .1
    };
    assert_eq!((bin("f"), bin("g")), (BinOp::UDiv, BinOp::AShr));
    let cmp = |name: &str| {
        m.func(name)
            .one(|k| match k {
                InstKind::Cmp { pred, .. } => Some(*pred),
                _ => None,
            })
            .1
    };
    assert_eq!((cmp("lt"), cmp("ult"), cmp("nul")), (Pred::SLt, Pred::ULt, Pred::Eq));
    let cast = |name: &str| {
        m.func(name)
            .one(|k| match k {
                InstKind::Cast { op, .. } => Some(*op),
                _ => None,
            })
            .1
    };
    assert_eq!(cast("wide"), CastOp::SExt);
    assert_eq!((cast("addr"), cast("ptr")), (CastOp::PtrToInt, CastOp::IntToPtr));
    assert_eq!(cast("cut"), CastOp::Trunc);
}

#[test]
fn floating_point_and_vectors_are_opaque() {
    let m = lower(
        "typedef float v4 __attribute__((vector_size(16)));
         int lt(double a, double b) { return a + 1.0 < b; }
         float first(v4 a, v4 b) { v4 c = a * b; return c[1]; }",
    );
    let lt = m.func("lt");
    assert_eq!(lt.ty(lt.params[0].value), Ty::Opaque(8));
    let results: Vec<Ty> = lt
        .insts()
        .iter()
        .filter(|i| matches!(i.kind, InstKind::Opaque { .. }))
        .map(|i| lt.ty(i.result.expect("a result")))
        .collect();
    assert_eq!(results, [Ty::Opaque(8), Ty::Int(1)]);
    let first = m.func("first");
    assert_eq!(first.ty(first.params[0].value), Ty::Opaque(16));
    assert_eq!(first.ret, Ty::Opaque(4));
}

#[test]
fn select_and_short_circuit_phi() {
    let m = lower("int f(int a, int b) { return a && b ? 7 : 8; }");
    let f = m.func("f");
    let selects = f.all(|k| matches!(k, InstKind::Select { .. }).then_some(()));
    let phis = f.all(|k| match k {
        InstKind::Phi { incoming } => Some(incoming.len()),
        _ => None,
    });
    assert_eq!((selects.len(), phis), (1, vec![2]));
}

#[test]
fn calls_direct_indirect_variadic_and_asm() {
    let m = lower(
        "int printf(const char *, ...);
         void f(int (*cb)(void *), void *p) {
           printf(\"%d\", cb(p));
           __asm__ volatile(\"nop\" ::: \"memory\");
         }",
    );
    let f = m.func("f");
    let calls = f.all(|k| match k {
        InstKind::Call { callee, args, noreturn: false } => Some((*callee, args.clone())),
        _ => None,
    });
    let cb = f.params[0].value;
    assert_eq!(calls[0].0, Callee::Indirect(cb));
    assert_eq!(calls[0].1.as_slice(), [f.params[1].value]);
    assert_eq!(calls[1].0, Callee::Direct(m.func_id("printf")));
    assert_eq!(calls[1].1.len(), 2);
    assert_eq!(m.global_name(&f.kind(calls[1].1[0])), ".str");
    assert_eq!(calls[2].0, Callee::Asm);
    assert!(m.func("printf").variadic && !f.variadic);
}

#[test]
fn memory_intrinsics() {
    let m = lower(
        "struct s { char b[64]; };
         void f(struct s *a, const struct s *b, unsigned n) {
           *a = *b;
           __builtin_memset(a, 0, n);
           __builtin_memmove(a, b, 3);
         }",
    );
    let f = m.func("f");
    let copies = f.all(|k| match k {
        InstKind::MemCopy { len, .. } => Some(f.kind(*len)),
        _ => None,
    });
    assert_eq!(copies, [ValueKind::Int(64), ValueKind::Int(3)]);
    f.one(|k| match k {
        InstKind::MemSet { byte, .. } => (f.kind(*byte) == ValueKind::Int(0)).then_some(()),
        _ => None,
    });
}

#[test]
fn variadic_functions() {
    let m = lower(
        "#include <stdarg.h>
         void v(const char *, va_list);
         void f(const char *s, ...) {
           va_list a, b; va_start(a, s); va_copy(b, a); v(s, b); va_end(b); va_end(a);
         }",
    );
    let f = m.func("f");
    assert!(f.variadic);
    f.one(|k| matches!(k, InstKind::VaStart { .. }).then_some(()));
    f.one(|k| matches!(k, InstKind::VaCopy { .. }).then_some(()));
}

#[test]
fn structs_in_registers_are_tuples() {
    let m = lower(
        "struct pair { char *p; int n; };
         struct pair make(char *p, int n) { struct pair r = {p, n}; return r; }
         char *first(void) { return make(0, 1).p; }",
    );
    assert_eq!(m.func("make").ret, Ty::Tuple(2));
    let make = m.func("make");
    // The result is loaded as a whole: one load per leaf.
    let inserts = make.all(|k| match k {
        InstKind::Insert { index, .. } => Some(*index),
        _ => None,
    });
    assert_eq!(inserts, [0, 1]);
    let loads: Vec<Ty> = make
        .insts()
        .iter()
        .filter(|i| matches!(i.kind, InstKind::Load { .. }))
        .map(|i| make.ty(i.result.expect("a result")))
        .collect();
    assert_eq!(loads, [Ty::Ptr, Ty::Int(32)]);
    let extracts = m.func("first").all(|k| match k {
        InstKind::Extract { index, .. } => Some(*index),
        _ => None,
    });
    assert_eq!(extracts, [0, 1]);
}

#[test]
fn overflow_checks_yield_a_pair() {
    let m = lower(
        "int f(unsigned long a, unsigned long b, unsigned long *r) {
           return __builtin_mul_overflow(a, b, r);
         }",
    );
    let f = m.func("f");
    f.one(|k| matches!(k, InstKind::Bin { op: BinOp::Mul, .. }).then_some(()));
    let extracts = f.all(|k| match k {
        InstKind::Extract { index, .. } => Some(*index),
        _ => None,
    });
    assert_eq!(extracts, [1, 0]);
}

#[test]
fn extrema_are_comparisons() {
    let m = lower(
        "unsigned f(unsigned a, unsigned b) { return __builtin_elementwise_max(a, b); }
         int g(int a) { return __builtin_elementwise_abs(a); }",
    );
    let pred = |name: &str| {
        m.func(name)
            .one(|k| match k {
                InstKind::Cmp { pred, .. } => Some(*pred),
                _ => None,
            })
            .1
    };
    assert_eq!((pred("f"), pred("g")), (Pred::UGt, Pred::SLt));
    m.func("f").one(|k| matches!(k, InstKind::Select { .. }).then_some(()));
}

#[test]
fn atomics() {
    let m = lower(
        "int f(int *p, int v) {
           __atomic_fetch_add(p, 1, 5);
           __atomic_fetch_sub(p, 1, 5);
           __atomic_fetch_nand(p, 1, 5);
           int old = __atomic_exchange_n(p, v, 5);
           __atomic_compare_exchange_n(p, &old, v, 0, 5, 5);
           return __atomic_load_n(p, 5);
         }",
    );
    let f = m.func("f");
    let ops = f.all(|k| match k {
        InstKind::AtomicRmw { op, .. } => Some(*op),
        _ => None,
    });
    assert_eq!(ops, [RmwOp::Add, RmwOp::Sub, RmwOp::Other, RmwOp::Xchg]);
    let (cmpxchg, _) = f.one(|k| matches!(k, InstKind::CmpXchg { .. }).then_some(()));
    assert_eq!(f.ty(cmpxchg.result.expect("a result")), Ty::Tuple(2));
}

#[test]
fn expectations_and_thread_locals_are_transparent() {
    let m = lower(
        "_Thread_local int t;
         int f(int *p) { if (__builtin_expect(p == 0, 0)) return 1; t = 2; return 0; }",
    );
    let f = m.func("f");
    assert!(f.all(|k| matches!(k, InstKind::Opaque { .. }).then_some(())).is_empty());
    let (_, target) = f.one(|k| match k {
        InstKind::Store { ptr, .. } => Some(f.kind(*ptr)),
        _ => None,
    });
    assert_eq!(m.global_name(&target), "t");
}

#[test]
fn constant_addresses() {
    let m = lower(
        "struct s { int a, b; } g;
         extern int tab[];
         void take(void *); void fn(void);
         void f(void) {
           take(&g.b); take(tab + 3); take((void *)-1); take(0); take(fn);
           take((void *)(((unsigned long)&g) | 1));
         }",
    );
    let f = m.func("f");
    let args = f.all(|k| match k {
        InstKind::Call { args, .. } => Some(f.kind(args[0])),
        _ => None,
    });
    assert!(matches!(args[0], ValueKind::Global(_, 4)));
    assert!(matches!(args[1], ValueKind::Global(_, 12)));
    assert_eq!(args[2], ValueKind::Int(u64::MAX));
    assert_eq!(args[3], ValueKind::Null);
    assert_eq!(args[4], ValueKind::Function(m.func_id("fn")));
    assert!(matches!(args[5], ValueKind::Inst(_)));
}

#[test]
fn inserting_into_nested_aggregates() {
    let m = lower(
        "typedef _Complex long cl;
         struct in { long a; }; struct out { struct in i; char *p; };
         struct out pass(struct out o) { return o; }",
    );
    let pass = m.func("pass");
    assert_eq!(pass.ret, Ty::Tuple(2));
    assert_eq!(pass.params.len(), 2);
}

#[test]
fn undefined_parts_of_aggregates_keep_their_place() {
    let source = "
        define { { i64, i32 }, ptr } @f(i1 %c) {
          br i1 %c, label %a, label %b
        a:
          br label %b
        b:
          %r = phi { { i64, i32 }, ptr }
            [ { { i64, i32 } undef, ptr null }, %0 ], [ { { i64, i32 } { i64 7, i32 8 }, ptr null }, %a ]
          ret { { i64, i32 }, ptr } %r
        }";
    let m = checked(&bitcode("snippet.ll", source, &["-w"]));
    let f = m.func("f");
    let mut inserted = f.all(|k| match k {
        InstKind::Insert { index, value, .. } => Some((*index, f.kind(*value))),
        _ => None,
    });
    inserted.sort_by_key(|i| i.0);
    let null = (2, ValueKind::Null);
    assert_eq!(inserted, [(0, ValueKind::Int(7)), (1, ValueKind::Int(8)), null, null]);
}
