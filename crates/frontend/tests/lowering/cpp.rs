//! C++: exceptions, classes, templates, the standard library.

use crate::support::{Ask, AskFunction, lower_cpp};
use leakproof_ir::{InstKind, Linkage, SourceType, Terminator};

#[test]
fn exceptions_are_edges() {
    let m = lower_cpp(
        "struct S { S(); ~S(); }; void may();
         int f() { S s; try { may(); } catch (int) { return 1; } return 0; }",
    );
    let f = m.func("f");
    let invoke = f.code().blocks.values().find_map(|b| match b.term {
        Terminator::Invoke { call, .. } => Some((call, b.insts.last().copied())),
        _ => None,
    });
    let (call, last) = invoke.expect("an invoke");
    assert_eq!(Some(call), last);
    let resumes = f.code().blocks.values().filter(|b| b.term == Terminator::Resume);
    assert_eq!(resumes.count(), 1);
    assert!(f.all(|k| matches!(k, InstKind::Opaque { .. }).then_some(())).len() > 1);
}

#[test]
fn names_are_qualified() {
    let m = lower_cpp(
        "namespace ns { template <class T> struct Box { T *p; T *get() const { return p; } }; }
         namespace { struct Hidden { int x; int get() { return x; } }; }
         void *operator new(unsigned long, int);
         int f(const ns::Box<int> &b) { Hidden h{1}; new (3) int; return *b.get() + h.get(); }",
    );
    let get = m.func("ns::Box<int>::get");
    assert_eq!(get.linkage, Linkage::LinkOnce);
    assert_eq!(
        (get.params[0].name.as_str(), m.ty(get.params[0].ty).as_str()),
        ("this", "struct ns::Box<int> const*")
    );
    let fields = get.all(|k| match k {
        InstKind::Offset { ty, .. } => Some(m.ty(*ty)),
        _ => None,
    });
    assert_eq!(fields, ["struct ns::Box<int>"]);
    m.func("(anonymous namespace)::Hidden::get");
    m.func("operator new");
}

#[test]
fn symbols_without_debug_info_are_demangled() {
    let m = lower_cpp("struct S { S(); int *p; }; int *f() { return (new S)->p; }");
    m.func("S::S");
    assert_eq!(m.func("_Znwm").source_name, "operator new");
}

#[test]
fn base_classes_are_anonymous_fields() {
    let m = lower_cpp(
        "struct A { int a; static int count; }; struct B { char *b; void m(); };
         struct C : A, B { long c; };
         char *f(C *x) { x->c = 1; return x->b; }",
    );
    let SourceType::Pointer { to } = m.types[m.func("f").params[0].ty.expect("a type")] else {
        panic!("no pointer");
    };
    let SourceType::Struct { fields, .. } = &m.types[to] else { panic!("no struct") };
    let fields: Vec<_> =
        fields.iter().map(|f| (f.name.as_str(), f.offset, m.ty(Some(f.ty)))).collect();
    let expected = [("", 0, "struct A"), ("", 8, "struct B"), ("c", 16, "long")];
    assert_eq!(fields, expected.map(|(n, o, t)| (n, o, t.to_owned())));
}

#[test]
fn destructors_run_on_every_way_out_of_a_loop() {
    let m = lower_cpp(
        "struct S { S(); ~S() noexcept; int *p; }; int use(S &) noexcept;
         int f(int n) { while (n--) { S s; if (use(s)) return 1; if (use(s)) break; } return 2; }",
    );
    let switches =
        m.func("f").code().blocks.values().filter(|b| matches!(b.term, Terminator::Switch { .. }));
    assert_eq!(switches.count(), 0);
}

#[test]
fn the_standard_library_lowers() {
    let m = lower_cpp(
        "#include <functional>
         #include <map>
         #include <memory>
         #include <stdexcept>
         #include <string>
         #include <vector>
         struct Base { virtual ~Base() {} virtual int run() = 0; };
         struct D : virtual Base { std::string s; int run() override { return s.size(); } };
         int f(std::vector<std::string> &v) {
           std::map<std::string, std::unique_ptr<Base>> m;
           std::function<int(int)> g = [&](int i) { return i + (int)v.size(); };
           for (auto &s : v) { if (s.empty()) throw std::runtime_error(s); m[s] = std::make_unique<D>(); }
           auto p = std::make_shared<D>();
           try { return m.at(\"x\")->run() + g(2); } catch (const std::out_of_range &) { return p->run(); }
         }",
    );
    assert!(m.functions.len() > 200);
}
