//! Symbols and initial values.

use crate::support::{Ask, FLAGS, bitcode, checked, lower};
use leakproof_ir::{AliasTarget, InitEntry, InitValue, Linkage};

#[test]
fn initial_values_are_flattened() {
    let m = lower(
        "int f(void), g(void);
         struct op { const char *name; int (*fn)(void); int flags; void *self; };
         struct op ops[] = { {\"one\", f, 0, 0}, {0, g, 7, &ops[1].flags} };
         int zero[100]; char text[8] = \"hi\"; short nums[3] = {1, 2, 3}; double d = 1.5;
         long long minus = -1;",
    );
    let at = |name: &str| m.global(name).init.clone().expect("an initial value");
    let ops = at("ops");
    let offsets: Vec<u64> = ops.iter().map(|e| e.offset).collect();
    assert_eq!(offsets, [0, 8, 40, 48, 56]);
    assert!(matches!(ops[0].value, InitValue::Global(_, 0)));
    assert_eq!(ops[1].value, InitValue::Function(m.func_id("f")));
    assert_eq!(ops[3].value, InitValue::Int { bits: 32, value: 7 });
    assert!(matches!(ops[4].value, InitValue::Global(_, 48)));
    assert_eq!(at("zero"), []);
    assert_eq!(m.global("zero").size, 400);
    let bytes = |value: &[u8]| [InitEntry { offset: 0, value: InitValue::Bytes(value.to_vec()) }];
    assert_eq!(at("text"), bytes(b"hi\0\0\0\0\0\0"));
    assert_eq!(at("nums"), bytes(&[1, 0, 2, 0, 3, 0]));
    assert_eq!(at("d"), [InitEntry { offset: 0, value: InitValue::Opaque(8) }]);
    let minus = InitValue::Int { bits: 64, value: u64::MAX };
    assert_eq!(at("minus"), [InitEntry { offset: 0, value: minus }]);
}

#[test]
fn string_literals() {
    let m = lower("const char *f(void) { return \"caf\\xc3\\xa9\"; }");
    let literal = m.global(".str");
    assert!(literal.constant && literal.source_name.is_empty());
    let bytes = InitValue::Bytes(b"caf\xc3\xa9\0".to_vec());
    assert_eq!(literal.init, Some(vec![InitEntry { offset: 0, value: bytes }]));
}

#[test]
fn big_tables_are_one_entry() {
    let numbers: Vec<String> = (1..10_000).map(|n| n.to_string()).collect();
    let m = lower(&format!("int t[] = {{ {} }};", numbers.join(",")));
    let init = m.global("t").init.as_ref().expect("an initial value");
    assert_eq!(init.len(), 1);
    assert_eq!(init[0].value, InitValue::Opaque(4 * 9_999));
}

#[test]
fn linkage() {
    let source = "int common; static int internal; int defined = 1; extern int elsewhere;
         __attribute__((weak)) int weak = 1; _Thread_local int tls; const int fixed = 3;
         inline int inl(void) { return 1; } static int stat(void) { return 2; }
         __attribute__((weak)) int wf(void) { return 3; } int ext(void);
         int f(void) {
           return common + internal + elsewhere + inl() + stat() + wf() + ext() + tls + fixed;
         }";
    let mut flags = FLAGS.to_vec();
    flags.push("-fcommon");
    let m = checked(&bitcode("snippet.c", source, &flags));
    let global = |name: &str| m.global(name).linkage;
    assert_eq!(global("common"), Linkage::Weak);
    assert_eq!(global("internal"), Linkage::Internal);
    assert_eq!(global("defined"), Linkage::External);
    assert_eq!(global("weak"), Linkage::Weak);
    assert_eq!(m.global("elsewhere").init, None);
    assert!(m.global("tls").thread_local && !m.global("defined").thread_local);
    assert!(m.global("fixed").constant && !m.global("defined").constant);
    let function = |name: &str| (m.func(name).linkage, m.func(name).is_definition());
    assert_eq!(function("inl"), (Linkage::AvailableExternally, true));
    assert_eq!(function("stat"), (Linkage::Internal, true));
    assert_eq!(function("wf"), (Linkage::Weak, true));
    assert_eq!(function("ext"), (Linkage::External, false));
}

#[test]
fn aliases_ifuncs_constructors() {
    let m = lower(
        "void real(void) {} int value = 3;
         void other(void) __attribute__((alias(\"real\")));
         extern int same __attribute__((alias(\"value\")));
         static void *pick(void) { return real; }
         void chosen(void) __attribute__((ifunc(\"pick\")));
         __attribute__((constructor)) void up(void) {}
         __attribute__((destructor)) void down(void) {}
         void f(void) { other(); chosen(); }",
    );
    let target = |name: &str| m.aliases.iter().find(|a| a.name == name).map(|a| a.target);
    assert_eq!(target("other"), Some(AliasTarget::Function(m.func_id("real"))));
    assert!(matches!(target("same"), Some(AliasTarget::Global(_))));
    assert!(!m.func("chosen").is_definition());
    assert!(m.func("up").attrs.constructor && !m.func("up").attrs.destructor);
    assert!(m.func("down").attrs.destructor && !m.func("down").attrs.constructor);
    assert!(!m.func("real").attrs.constructor);
}

#[test]
fn allocator_attributes() {
    let m = lower(
        "void *fresh(unsigned long n) __attribute__((malloc, alloc_size(1)));
         void *never(void) __attribute__((returns_nonnull));
         void *plain(void);
         void f(void) { fresh(3); never(); plain(); }",
    );
    let attrs = |name: &str| m.func(name).attrs.clone();
    assert!(attrs("fresh").noalias_return && attrs("fresh").alloc_size);
    assert!(attrs("never").nonnull_return && !attrs("never").noalias_return);
    assert_eq!(attrs("plain"), leakproof_ir::FuncAttrs::default());
}

#[test]
fn sizes_follow_the_data_layout() {
    let m = lower(
        "struct __attribute__((packed)) packed { char c; long l; short s; } packed;
         struct mixed { char c; long double ld; __int128 i; char d; } mixed;
         struct bits { unsigned a : 3; unsigned long b : 40; char c; } bits;
         struct empty {} empty; _Bool flags[3]; void (*fn)(void);
         typedef int v3 __attribute__((vector_size(16))); struct { char c; v3 v; } vec;
         _Complex double cd; union { char c[9]; double d; } u; _Float16 half[3];",
    );
    let size = |name: &str| m.global(name).size;
    assert_eq!((size("packed"), size("mixed"), size("bits")), (11, 64, 8));
    assert_eq!((size("empty"), size("flags"), size("fn")), (0, 3, 8));
    assert_eq!((size("vec"), size("cd"), size("u"), size("half")), (32, 16, 16, 6));
}

#[test]
fn wide_integers() {
    let m = lower(
        "__int128 big = ((__int128)1 << 100) + 5; unsigned _BitInt(200) bits = 7;
         __int128 f(__int128 a) { return a + 1; }",
    );
    assert_eq!((m.global("big").size, m.global("bits").size), (16, 32));
    let f = m.func("f");
    assert_eq!(f.ret, leakproof_ir::Ty::Tuple(2));
}
