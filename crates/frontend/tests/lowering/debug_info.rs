//! What debug info tells: names, types, positions, assignments.

use crate::support::{Ask, AskFunction, FLAGS, bitcode, checked, compile, lower};
use leakproof_frontend::{PathStyle, lower_bitcode};
use leakproof_ir::{InstKind, SourceType, ValueKind};

#[test]
fn assignments_keep_their_line() {
    let m = lower(
        "char *mk(void);\n\
         void use(char *);\n\
         void f(char *a) {\n\
           char *p;\n\
           p = mk();\n\
           use(p);\n\
           p = 0;\n\
           a = p;\n\
           use(a);\n\
         }",
    );
    let f = m.func("f");
    let sets = f.assignments();
    let shape: Vec<(&str, u32)> = sets.iter().map(|(v, l, _)| (v.as_str(), *l)).collect();
    assert_eq!(shape, [("a", 3), ("p", 5), ("p", 7), ("a", 8)]);
    assert_eq!(sets[0].2, ValueKind::Param(0));
    assert!(matches!(sets[1].2, ValueKind::Inst(_)));
    assert_eq!((sets[2].2, sets[3].2), (ValueKind::Null, ValueKind::Null));
}

#[test]
fn a_joined_variable_is_set_to_the_phi() {
    let m = lower("int f(int c) { int x = 1; if (c) x = 2; return x; }");
    let f = m.func("f");
    let (phi, ()) = f.one(|k| matches!(k, InstKind::Phi { .. }).then_some(()));
    let last = f.assignments().pop().expect("an assignment");
    let phi = f.kind(phi.result.expect("a result"));
    assert_eq!((last.0.as_str(), last.2), ("x", phi));
}

#[test]
fn parameters_have_names_and_types() {
    let m = lower(
        "struct big { long a[10]; }; struct two { char *p; long n; };
         struct big f(int n, const char *s, struct big b, struct two t, int *out) {
           *out = n; t.p = (char *)s; return b;
         }",
    );
    let f = m.func("f");
    let params: Vec<_> = f.params.iter().map(|p| (p.name.as_str(), m.ty(p.ty))).collect();
    assert_eq!(
        params,
        [
            ("", "none".into()),
            ("n", "int".into()),
            ("s", "char const*".into()),
            ("b", "struct big".into()),
            ("", "none".into()),
            ("", "none".into()),
            ("out", "int*".into()),
        ]
    );
    assert!(f.params[0].sret && f.params[3].byval);
    assert_eq!(m.ty(f.signature), "struct big(int, char const*, struct big, struct two, int*)");
    let vars = f.code().vars.values().map(|v| (v.name.as_str(), v.param));
    let expected =
        [("n", Some(1)), ("s", Some(2)), ("b", Some(3)), ("t", Some(4)), ("out", Some(5))];
    let mut vars: Vec<_> = vars.collect();
    vars.sort_by_key(|v| v.1);
    assert_eq!(vars, expected);
}

#[test]
fn external_functions_have_signatures() {
    let m = lower(
        "#include <stdio.h>
         struct s; void take(const struct s *, char **, ...);
         void f(struct s *p, FILE *file) { take(p, 0); fputs(\"x\", file); }",
    );
    assert_eq!(m.ty(m.func("take").signature), "void(struct s const*, char**, ...)");
    assert_eq!(m.ty(m.func("take").params[0].ty), "struct s const*");
    assert_eq!(m.ty(m.func("fputs").signature), "int(char const*, struct _IO_FILE*)");
}

#[test]
fn types_of_fields_without_a_name() {
    let m = lower(
        "typedef struct { int kind; union { char *s; struct { long x, y; } at; }; } item_t;
         char *f(item_t *i) { return i->s; }
         long g(item_t *i) { return i->at.y; }",
    );
    let structs = |name: &str| {
        m.func(name).all(|k| match k {
            InstKind::Offset { offset, ty, .. } => Some((*offset, m.ty(*ty))),
            _ => None,
        })
    };
    assert_eq!(structs("f"), [(8, "struct item_t".into())]);
    assert_eq!(structs("g"), [(8, "struct item_t".into()), (8, "struct ".into())]);
    let SourceType::Pointer { to } = m.types[m.func("f").params[0].ty.expect("a type")] else {
        panic!("no pointer");
    };
    let SourceType::Struct { name, size: 24, fields, union: false } = &m.types[to] else {
        panic!("no struct");
    };
    assert_eq!(name, "item_t");
    let fields: Vec<_> = fields.iter().map(|f| (f.name.as_str(), f.offset)).collect();
    assert_eq!(fields, [("kind", 0), ("", 8)]);
}

#[test]
fn structs_without_a_name_are_known_by_their_variables() {
    let m = lower(
        "static const struct { const char *name; int (*run)(void); } table[2];
         int f(int i) { return table[i].run(); }
         int g(void) { struct { int a; long b; } local = {1, 2}; return local.b; }
         struct holder { struct { char *p; char *q; short tag; } *list; };
         char *h(struct holder *h) { return h->list->q; }",
    );
    let fields = |name: &str| {
        m.func(name).all(|k| match k {
            InstKind::Offset { offset, ty: Some(ty), .. } => match &m.types[*ty] {
                SourceType::Struct { fields, .. } => {
                    fields.iter().find(|f| f.offset == *offset as u64).map(|f| f.name.clone())
                }
                _ => None,
            },
            _ => None,
        })
    };
    assert_eq!(fields("f"), ["run"]);
    assert_eq!(fields("g"), ["b"]);
    assert_eq!(fields("h"), ["list", "q"]);
}

#[test]
fn recursive_types_arrays_bitfields_and_enums() {
    let m = lower(
        "enum color { RED, GREEN };
         struct node { struct node *next, *kids[2][3]; enum color c; unsigned a : 3, b : 7;
                       void (*cb)(struct node *, ...); char tail[]; };
         struct node *f(volatile struct node *n) { return n->next; }",
    );
    let ty = m.func("f").params[0].ty.expect("a type");
    assert_eq!(m.ty(Some(ty)), "struct node*");
    let SourceType::Pointer { to } = m.types[ty] else { panic!("no pointer") };
    let SourceType::Struct { fields, .. } = &m.types[to] else { panic!("no struct") };
    let fields: Vec<_> =
        fields.iter().map(|f| (f.name.as_str(), f.offset, m.ty(Some(f.ty)))).collect();
    let expected = [
        ("next", 0, "struct node*"),
        ("kids", 8, "struct node*[3][2]"),
        ("c", 56, "color"),
        ("a", 60, "unsigned int"),
        ("b", 60, "unsigned int"),
        ("cb", 64, "void(struct node*, ...)*"),
        ("tail", 72, "char[0]"),
    ];
    assert_eq!(fields, expected.map(|(n, o, t)| (n, o, t.to_owned())));
}

#[test]
fn signedness_of_scalars() {
    let m = lower("void f(signed char a, unsigned char b, long c, unsigned d, _Bool e) {}");
    let signed: Vec<_> = m
        .func("f")
        .params
        .iter()
        .map(|p| match m.types[p.ty.expect("a type")] {
            SourceType::Scalar { size, signed, .. } => (size, signed),
            _ => panic!("no scalar"),
        })
        .collect();
    assert_eq!(signed, [(1, true), (1, false), (8, true), (4, false), (1, false)]);
}

#[test]
fn globals_are_described() {
    let m = lower("\n\nint *count(void) { static int n; return &n; }\nconst char *const names[2];");
    let n = m.global("count.n");
    assert_eq!((n.source_name.as_str(), n.loc.line, m.ty(n.ty)), ("n", 3, "int".into()));
    let names = m.global("names");
    assert_eq!((names.loc.line, m.ty(names.ty)), (4, "char const* const[2]".into()));
}

#[test]
fn files_are_named_from_where_the_user_is() {
    let dir = tempfile::tempdir().expect("a directory");
    let root = dir.path().canonicalize().expect("a path");
    std::fs::create_dir_all(root.join("proj/src")).expect("directories");
    std::fs::write(root.join("proj/src/h.h"), "static int inc(int x) {\nreturn x + 1;\n}\n")
        .expect("a header");
    let source = "#include \"h.h\"\nint f(int x) {\n  return inc(x);\n}\n";
    std::fs::write(root.join("proj/src/a.c"), source).expect("a source");
    let bitcode = compile(&root.join("proj/src"), "a.c", FLAGS);
    let style = PathStyle { cwd: root.join("proj"), comp_dir: root.join("proj/src") };
    let m = lower_bitcode(&bitcode, "a.c", &style).expect("a module");
    let f = m.func("f");
    let (call, ()) = f.one(|k| matches!(k, InstKind::Call { .. }).then_some(()));
    assert_eq!((m.file_name(call.loc), call.loc.line, call.loc.column), ("src/a.c", 3, 10));
    assert_eq!((m.file_name(f.loc), f.loc.line), ("src/a.c", 2));
    let (add, ()) = m.func("inc").one(|k| matches!(k, InstKind::Bin { .. }).then_some(()));
    assert_eq!((m.file_name(add.loc), add.loc.line), ("src/h.h", 2));
}

#[test]
fn optimised_code_has_its_variables_too() {
    let source = "char *mk(void); void use(char *);
         void f(int n, char *s) { char *p = mk(); for (int i = 0; i < n; i++) use(p + i); use(s); }";
    let m = checked(&bitcode("snippet.c", source, &["-O2", "-g"]));
    let f = m.func("f");
    let set: Vec<String> = f.assignments().into_iter().map(|(v, _, _)| v).collect();
    for name in ["n", "s", "p", "i"] {
        assert!(set.iter().any(|v| v == name), "{name} is not among {set:?}");
    }
    let names: Vec<_> = f.params.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["n", "s"]);
}

#[test]
fn debug_info_in_the_form_of_calls() {
    let source =
        "void use(int *); void f(int n) { int x = n; use(&x); int y = x; use(&n); n = y; }";
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("snippet.c"), source).expect("a source");
    let mut flags = FLAGS.to_vec();
    flags.extend(["-mllvm", "-experimental-debuginfo-iterators=false"]);
    let old = checked(&compile(dir.path(), "snippet.c", &flags));
    let new = checked(&compile(dir.path(), "snippet.c", FLAGS));
    assert_eq!(leakproof_ir::print_module(&old), leakproof_ir::print_module(&new));
}

#[test]
fn no_debug_info_at_all() {
    let m = checked(&bitcode("snippet.c", "int f(int *p) { return p ? *p : 0; }", &["-O0"]));
    let f = m.func("f");
    assert!(f.signature.is_none() && f.params[0].name.is_empty() && !f.loc.is_known());
    assert!(f.code().vars.is_empty() && m.types.is_empty());
}
