//! Every form of the model language: what it means, and what is said when it is wrong.

use leakproof_models::{CallArg, Effect, IntRange, Library, Model, Outcome, Place, Returns, Root};

/// The only model of this text, which overrides whatever is shipped under its name.
fn model(text: &str, name: &str) -> Model {
    let library = Library::with_user_files(&[("t.model", text)]).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| format!("{e}\n")).collect::<String>())
    });
    library.get(name).unwrap_or_else(|| panic!("no model {name}")).clone()
}

/// The outcomes of `f { BODY }`.
fn outcomes(body: &str) -> Vec<Outcome> {
    model(&format!("f {{ {body} }}"), "f").outcomes
}

fn one(body: &str) -> Outcome {
    let mut all = outcomes(body);
    assert_eq!(all.len(), 1, "{body}");
    all.remove(0)
}

fn returned(body: &str) -> Returns {
    one(body).returns
}

fn effect(body: &str) -> Effect {
    let mut effects = one(body).effects;
    assert_eq!(effects.len(), 1, "{body}");
    effects.remove(0)
}

fn arg(n: usize, derefs: &[u64]) -> Place {
    Place { root: Root::Arg(n), derefs: derefs.to_vec() }
}

fn memory() -> String {
    "memory".to_owned()
}

#[test]
fn results() {
    assert_eq!(returned("return unknown"), Returns::Unknown);
    assert_eq!(returned("return new"), Returns::Object { family: memory(), zeroed: false });
    assert_eq!(returned("return new zeroed"), Returns::Object { family: memory(), zeroed: true });
    assert_eq!(
        returned("return new zeroed of file"),
        Returns::Object { family: "file".into(), zeroed: true }
    );
    assert_eq!(returned("return @1"), Returns::Arg(0));
    assert_eq!(returned("return inside @3"), Returns::Inside(2));
    assert_eq!(returned("return inside @3 or null"), Returns::InsideOrNull(2));
    assert_eq!(returned("return borrowed"), Returns::Borrowed);
    assert_eq!(returned("return *@1"), Returns::Old(arg(0, &[0])));
    assert_eq!(returned("return @2->8"), Returns::Old(arg(1, &[8])));
    assert_eq!(returned("return null"), Returns::Null);
    assert_eq!(returned("return nonnull"), Returns::NonNull);
    assert_eq!(returned("return nonzero"), Returns::NonNull);
    assert_eq!(returned("noreturn"), Returns::Never);
    assert_eq!(returned("throws"), Returns::Throws);
}

#[test]
fn results_that_are_the_same_every_time() {
    assert_eq!(returned("return same"), Returns::Same(IntRange::ALL));
    assert_eq!(returned("return same >= 0"), Returns::Same(IntRange { min: 0, max: i64::MAX }));
    assert_eq!(model("f { return same >= 0 }", "f").to_string(), "f { return same >= 0 }");
}

#[test]
fn ranges() {
    let range = |body: &str| match returned(body) {
        Returns::Int(IntRange { min, max }) => (min, max),
        other => panic!("{body}: {other:?}"),
    };
    assert_eq!(range("return 0"), (0, 0));
    assert_eq!(range("return -1"), (-1, -1));
    assert_eq!(range("return -5..7"), (-5, 7));
    assert_eq!(range("return >= 0"), (0, i64::MAX));
    assert_eq!(range("return > 0"), (1, i64::MAX));
    assert_eq!(range("return <= -2"), (i64::MIN, -2));
    assert_eq!(range("return < 0"), (i64::MIN, -1));
}

#[test]
fn effects() {
    assert_eq!(effect("free @1"), Effect::Free { place: arg(0, &[]), family: memory() });
    assert_eq!(
        effect("free *@2 of dir"),
        Effect::Free { place: arg(1, &[0]), family: "dir".into() }
    );
    assert_eq!(effect("take @1->8->16"), Effect::Take { place: arg(0, &[8, 16]) });
    assert_eq!(effect("take **@1"), Effect::Take { place: arg(0, &[0, 0]) });
    assert_eq!(
        effect("write *@..."),
        Effect::Write { place: Place { root: Root::VarArgs, derefs: vec![0] } }
    );
    assert_eq!(
        effect("*@1 = new zeroed"),
        Effect::Alloc { place: arg(0, &[0]), family: memory(), zeroed: true }
    );
    assert_eq!(effect("@1->24 = null"), Effect::SetNull { place: arg(0, &[24]) });
    assert_eq!(effect("*@2 = inside @1"), Effect::SetInside { place: arg(1, &[0]), arg: 0 });
    assert_eq!(effect("return new, move @1"), Effect::MoveContents { from: arg(0, &[]) });
    assert_eq!(
        effect("return new, return->8 = new"),
        Effect::Alloc {
            place: Place { root: Root::Return, derefs: vec![8] },
            family: memory(),
            zeroed: false
        }
    );
    assert_eq!(effect("needs @2"), Effect::Needs(arg(1, &[])));
    assert_eq!(effect("if @1 null"), Effect::IsNull(arg(0, &[])));
    assert_eq!(effect("if @2 zero"), Effect::IsNull(arg(1, &[])));
    assert_eq!(effect("if @2 nonnull"), Effect::IsNonNull(arg(1, &[])));
    assert_eq!(effect("if @2 nonzero"), Effect::IsNonNull(arg(1, &[])));
    assert_eq!(effect("if *@1 null"), Effect::IsNull(arg(0, &[0])));
    assert_eq!(effect("*@1 = nonzero"), Effect::SetNonZero { place: arg(0, &[0]) });
    let args = vec![CallArg::Inside(0), CallArg::Unknown, CallArg::Arg(4)];
    assert_eq!(effect("call @4(inside @1, unknown, @5)"), Effect::Call { callee: 3, args });
    assert_eq!(effect("call @1()"), Effect::Call { callee: 0, args: vec![] });
}

#[test]
fn ignored_and_copies_do_nothing() {
    for body in ["ignored", "copies"] {
        let nothing = Outcome { returns: Returns::Unknown, effects: vec![], failure: false };
        assert_eq!(one(body), nothing);
    }
}

#[test]
fn outcomes_keep_their_order_and_labels() {
    let all = outcomes("ok: return 0; fail: return -1, free @1; return 1;");
    let labels: Vec<bool> = all.iter().map(|o| o.failure).collect();
    assert_eq!(labels, [false, true, false]);
}

#[test]
fn outcomes_may_differ_in_what_they_leave_behind() {
    let all = outcomes("return *@1, write *@1; return *@1, *@1 = null");
    assert_eq!(all[0].returns, all[1].returns);
}

#[test]
fn conditions_come_before_effects() {
    let outcome = one("free @1, if @2 zero, take @3");
    assert!(outcome.effects[0] == Effect::IsNull(arg(1, &[])));
    assert!(matches!(outcome.effects[1], Effect::Free { .. }));
    assert!(matches!(outcome.effects[2], Effect::Take { .. }));
}

#[test]
fn one_entry_can_name_many_functions() {
    let text = "aa,\n  bb, cc { free @1 }";
    let lines: Vec<u32> = ["aa", "bb", "cc"].map(|n| model(text, n).line).to_vec();
    assert_eq!(lines, [1, 2, 2]);
}

#[test]
fn a_section_gives_its_family() {
    let text = "family box is memory\nbox_new { return new }\nbox_free { free @1 }\n\
                family memory\nbox_name { return new }";
    let family = |name: &str| match &model(text, name).outcomes[0] {
        Outcome { returns: Returns::Object { family, .. }, .. } => family.clone(),
        Outcome { effects, .. } => match &effects[0] {
            Effect::Free { family, .. } => family.clone(),
            other => panic!("{other:?}"),
        },
    };
    assert_eq!(family("box_new"), "box");
    assert_eq!(family("box_free"), "box");
    assert_eq!(family("box_name"), "memory");
}

#[test]
fn families_say_whether_they_are_memory() {
    let text = "family box is memory\nfamily gate is resource\n\
                f { return new of box }\ng { return new of gate }";
    let library = Library::with_user_files(&[("t.model", text)]).expect("parses");
    assert!(library.is_memory("box") && !library.is_memory("gate"));
    assert!(library.is_memory("never heard of"));
    assert_eq!(library.family("gate").map(|f| (f.file.as_str(), f.line)), Some(("t.model", 2)));
}

#[test]
fn an_alias_is_its_target() {
    let text = "alias my_dup, my_other_dup = strdup";
    assert_eq!(model(text, "my_dup").outcomes, model(text, "strdup").outcomes);
    assert_eq!(model(text, "my_other_dup").file, "t.model");
}

#[test]
fn an_alias_can_pass_other_arguments() {
    let text = "base { *@1 = new, take @2, call @2(inside @1), *@1 = inside @2 }";
    assert!(Library::with_user_files(&[("t.model", text)]).is_err(), "written twice");
    let text = "base { *@1 = inside @2, take @2, call @2(inside @1), return @1, if @2 zero }\n\
                alias shifted = base(@3, @5)";
    assert!(Library::with_user_files(&[("t.model", text)]).is_err(), "effect on null");
    let text = "base { *@1 = inside @2, take @2, call @2(inside @1), return @1 }\n\
                alias shifted = base(@3, @5)";
    let printed = model(text, "shifted").to_string();
    assert_eq!(printed, "shifted { return @3, *@3 = inside @5, take @5, call @5(inside @3) }");
}

#[test]
fn an_alias_of_an_alias_composes() {
    let text =
        "base { free @2 }\nalias middle = base(@1, @4)\nalias outer = middle(@9, @8, @7, @6)";
    assert_eq!(model(text, "outer").to_string(), "outer { free @6 }");
}

#[test]
fn a_shipped_alias_follows_the_user() {
    let text = "strdup { return borrowed }";
    assert_eq!(model(text, "__strdup").outcomes[0].returns, Returns::Borrowed);
}

#[test]
fn a_user_entry_replaces_a_shipped_one_and_a_shipped_alias() {
    let text = "free { ignored }\n__strdup { return null }";
    assert_eq!(model(text, "free").outcomes[0].effects, []);
    assert_eq!(model(text, "__strdup").outcomes[0].returns, Returns::Null);
    assert_ne!(model(text, "strdup").outcomes[0].returns, Returns::Null);
}

#[test]
fn words_of_the_language_can_name_functions() {
    let text = "alias { free @1 }\nfamily, return { ignored }";
    assert_eq!(model(text, "alias").to_string(), "alias { free @1 }");
    assert_eq!(model(text, "return").to_string(), "return { ignored }");
}

#[test]
fn comments_and_layout_do_not_matter() {
    let text = "# a comment { of braces\nf{ok:return new;# why\r\n\tfail :return null;}#end";
    assert_eq!(model(text, "f").to_string(), "f { ok: return new; fail: return null }");
}

#[test]
fn printing_is_canonical() {
    let cases = [
        ("return nonzero", "return nonnull"),
        ("return > 3", "return >= 4"),
        ("return < 0", "return <= -1"),
        ("return 2..2", "return 2"),
        ("free @1, return 0", "return 0, free @1"),
        ("take @1->0", "take *@1"),
        ("take **@1", "take @1->0->0"),
        ("ok: return unknown; fail: return -1", "ok: return unknown; fail: return -1"),
        (
            "if @1 zero; if @1 nonzero, noreturn",
            "if @1 null, return unknown; if @1 nonnull, noreturn",
        ),
    ];
    for (body, expected) in cases {
        let printed = model(&format!("f {{ {body} }}"), "f").to_string();
        assert_eq!(printed, format!("f {{ {expected} }}"));
    }
}
