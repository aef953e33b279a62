//! One test per linking rule, on text IR.

mod common;

use common::{World, world};

/// A function body that calls declared functions and returns.
fn calling(name: &str, calls: &str) -> String {
    format!("func f0 \"{name}\" () -> void {{\nbb0:\n{calls}  ret\n}}\n")
}

fn empty(id: u32, name: &str, linkage: &str) -> String {
    format!("func f{id} \"{name}\" {linkage} () -> void {{\nbb0:\n  ret\n}}\n")
}

fn notes(w: &World) -> String {
    w.program.notes().join("\n")
}

fn units(parts: &[(&str, String)]) -> World {
    let texts: Vec<String> = parts.iter().map(|(n, t)| format!("unit \"{n}\"\n{t}")).collect();
    world(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_declaration_binds_to_the_definition_elsewhere() {
    let user = calling("main", "  call f1()\n") + "func f1 \"work\" () -> void\n";
    let w = units(&[("a.c", user), ("b.c", empty(0, "work", ""))]);
    assert_eq!(w.calls("main"), [["b.c:work"]]);
    assert!(w.program.notes().is_empty());
}

#[test]
fn static_functions_of_the_same_name_stay_apart() {
    let one = calling("one", "  call f1()\n") + &empty(1, "helper", "internal");
    let two = calling("two", "  call f1()\n") + &empty(1, "helper", "internal");
    let w = units(&[("a.c", one), ("b.c", two)]);
    assert_eq!(w.calls("one"), [["a.c:helper"]]);
    assert_eq!(w.calls("two"), [["b.c:helper"]]);
    assert_eq!(w.program.definitions().count(), 4);
}

#[test]
fn strong_beats_weak_wherever_it_stands() {
    let user = calling("main", "  call f1()\n") + "func f1 \"hook\" () -> void\n";
    let w =
        units(&[("a.c", user), ("b.c", empty(0, "hook", "weak")), ("c.c", empty(0, "hook", ""))]);
    assert_eq!(w.calls("main"), [["c.c:hook"]]);
    assert_eq!(w.program.definitions().count(), 2);
    assert!(w.program.notes().is_empty());
}

#[test]
fn a_weak_definition_gives_way_in_its_own_unit_too() {
    let weak = calling("user", "  call f1()\n") + &empty(1, "hook", "weak");
    let w = units(&[("a.c", weak), ("b.c", empty(0, "hook", ""))]);
    assert_eq!(w.calls("user"), [["b.c:hook"]]);
}

#[test]
fn inline_copies_merge_and_hints_yield() {
    let one = calling("one", "  call f1()\n") + &empty(1, "inl", "linkonce");
    let two = calling("two", "  call f1()\n") + &empty(1, "inl", "linkonce");
    let three = calling("three", "  call f1()\n") + &empty(1, "c99", "available_externally");
    let w = units(&[("a.c", one), ("b.c", two), ("c.c", three), ("d.c", empty(0, "c99", ""))]);
    assert_eq!(w.calls("two"), [["a.c:inl"]]);
    assert_eq!(w.calls("three"), [["d.c:c99"]]);
    assert_eq!(w.program.definitions().count(), 5);
}

#[test]
fn a_hint_counts_when_there_is_nothing_else() {
    let only = calling("one", "  call f1()\n") + &empty(1, "c99", "available_externally");
    assert_eq!(units(&[("a.c", only)]).calls("one"), [["c99"]]);
}

#[test]
fn aliases_stand_for_their_target() {
    let user = calling("main", "  call f1()\n") + "func f1 \"pub\" () -> void\n";
    let lib = empty(0, "impl", "internal") + "alias \"pub\" = @f0\n";
    let lib = format!("alias \"pub\" = @f0\n{}", lib.replace("alias \"pub\" = @f0\n", ""));
    let w = units(&[("a.c", user), ("b.c", lib)]);
    assert_eq!(w.calls("main"), [["b.c:impl"]]);
}

#[test]
fn externals_have_one_representative_with_a_signature() {
    let plain = calling("one", "  call f1()\n") + "func f1 \"puts\" () -> void\n";
    let typed = format!(
        "type t0 = void\ntype t1 = func () -> t0\n{}func f1 \"puts\" () -> void sig t1\n",
        calling("two", "  call f1()\n")
    );
    let w = units(&[("a.c", plain), ("b.c", typed)]);
    let target = |f: &str| w.graph.calls_of(w.func(f)).next().map(|(_, t)| t.list[0]);
    assert_eq!(target("one"), target("two"));
    let decl = target("one").expect("one call").func();
    assert!(w.program.function(decl).signature.is_some());
}

#[test]
fn common_symbols_merge_into_the_largest() {
    let body = |size: u32| {
        format!("global g0 \"shared\" weak size {size} init {{ }}\n")
            + &calling(&format!("f{size}"), "")
    };
    let w = units(&[("a.c", body(4)), ("b.c", body(400))]);
    let g = w.program.resolve_global(0, leakproof_ir::GlobalId(0));
    assert_eq!(w.program.global(g).size, 400);
    assert_eq!(w.program.resolve_global(1, leakproof_ir::GlobalId(0)), g);
}

#[test]
fn each_program_gets_its_own_definition() {
    let main = |extra: &str| {
        calling("main", "  call f1()\n  call f2()\n")
            + "func f1 \"shared\" () -> void\n"
            + &empty(2, extra, "")
    };
    let shared = calling("shared", "  call f1()\n") + "func f1 \"usage\" () -> void\n";
    let w = units(&[
        ("src/cat.c", main("usage")),
        ("src/ls.c", main("usage")),
        ("lib/shared.c", shared),
    ]);
    assert_eq!(w.calls("src/cat.c:main"), [["lib/shared.c:shared"], ["src/cat.c:usage"]]);
    assert_eq!(w.calls("src/ls.c:main"), [["lib/shared.c:shared"], ["src/ls.c:usage"]]);
    // The shared unit is in both programs: it may mean either.
    assert_eq!(w.calls("shared"), [["src/cat.c:usage", "src/ls.c:usage"]]);
    assert!(w.program.notes().is_empty(), "{}", notes(&w));
}

#[test]
fn a_program_takes_what_it_already_contains_before_what_is_near() {
    // Both `log` are outside mains; `b/log.c` is in the program through `log_open`.
    let main = calling("main", "  call f1()\n  call f2()\n")
        + "func f1 \"log\" () -> void\nfunc f2 \"log_open\" () -> void\n";
    let near = empty(0, "log", "");
    let far = empty(0, "log", "") + &empty(1, "log_open", "");
    let w = units(&[("a/main.c", main), ("a/log.c", near), ("b/log.c", far)]);
    assert_eq!(w.calls("main"), [["b/log.c:log"], ["b/log.c:log_open"]]);
}

#[test]
fn otherwise_the_nearest_directory_counts() {
    let main = |_: ()| calling("main", "  call f1()\n") + "func f1 \"log\" () -> void\n";
    let w = units(&[
        ("a/main.c", main(())),
        ("b/main.c", main(())),
        ("a/util/log.c", empty(0, "log", "")),
        ("b/util/log.c", empty(0, "log", "")),
    ]);
    assert_eq!(w.calls("a/main.c:main"), [["a/util/log.c:log"]]);
    assert_eq!(w.calls("b/main.c:main"), [["b/util/log.c:log"]]);
}

#[test]
fn a_tree_compiled_twice_keeps_its_variants_together() {
    let main = |_: ()| calling("main", "  call f1()\n") + "func f1 \"log\" () -> void\n";
    let w = units(&[
        ("main.c", main(())),
        ("log.c", empty(0, "log", "")),
        ("main.c", main(())),
        ("log.c", empty(0, "log", "")),
    ]);
    let targets: Vec<u32> = w
        .program
        .definitions()
        .filter(|f| w.program.function(*f).name == "main")
        .map(|f| w.graph.callees_of(f)[0].module)
        .collect();
    assert_eq!(targets, [1, 3]);
}

#[test]
fn a_weak_default_serves_programs_without_a_strong_one() {
    let strong = calling("main", "  call f1()\n")
        + "func f1 \"shared\" () -> void\n"
        + &empty(2, "hook", "");
    let plain = calling("main", "  call f1()\n") + "func f1 \"shared\" () -> void\n";
    let shared = calling("shared", "  call f1()\n") + &empty(1, "hook", "weak");
    let w = units(&[("a.c", strong), ("b.c", plain), ("lib.c", shared)]);
    assert_eq!(w.calls("shared"), [["a.c:hook", "lib.c:hook"]]);
}

#[test]
fn two_definitions_in_one_program_are_a_note() {
    let main = calling("main", "  call f1()\n  call f2()\n  call f3()\n")
        + "func f1 \"one\" () -> void\nfunc f2 \"two\" () -> void\nfunc f3 \"twice\" () -> void\n";
    let one = empty(0, "one", "") + &empty(1, "twice", "");
    let two = empty(0, "two", "") + &empty(1, "twice", "");
    let w = units(&[("main.c", main), ("one.c", one), ("two.c", two)]);
    assert_eq!(w.calls("main")[2], ["one.c:twice"]);
    assert!(notes(&w).contains("`twice` is defined more than once: one.c, two.c"), "{}", notes(&w));
}

#[test]
fn a_library_without_main_notes_conflicts_and_prefers_its_own() {
    let a = calling("use_a", "  call f1()\n") + &empty(1, "helper", "");
    let b = calling("use_b", "  call f1()\n") + &empty(1, "helper", "");
    let w = units(&[("a.c", a), ("b.c", b)]);
    assert_eq!(w.calls("use_a"), [["a.c:helper"]]);
    assert_eq!(w.calls("use_b"), [["b.c:helper"]]);
    assert!(notes(&w).contains("`helper`"));
}

#[test]
fn an_empty_program_links() {
    let w = world(&[]);
    assert_eq!(w.program.definitions().count(), 0);
    assert!(w.graph.sccs().is_empty());
}
