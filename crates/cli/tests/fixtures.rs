//! Every fixture reports exactly the leaks that its comments expect, and its lowered units survive
//! the way through text.

mod suite;

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

#[test]
fn fixtures_report_what_their_comments_expect() {
    let binary = Path::new(env!("CARGO_BIN_EXE_leakproof"));
    let outcomes = suite::run_all(binary, &root(), "").expect("fixtures are readable");
    let failures: Vec<String> = outcomes.iter().flat_map(|o| o.failures()).collect();
    let table = suite::table::render(&outcomes);
    assert!(outcomes.len() >= 200, "only {} programs found", outcomes.len());
    assert!(failures.is_empty(), "{}\n\n{table}", failures.join("\n"));
}

#[test]
fn no_ok_function_expects_a_leak() {
    let cases = suite::discover::cases(&root()).expect("fixtures are readable");
    let mut wrong = Vec::new();
    for case in &cases {
        for e in case.expectations.iter().filter(|e| !e.is_false_alarm()) {
            if e.function.ends_with("_ok") {
                wrong.push(format!("{}: a leak is expected in {}", e.place(), e.function));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_fixture_round_trips_through_text() {
    let root = root();
    let cases = suite::discover::cases(&root).expect("fixtures are readable");
    let sources: Vec<&String> = cases.iter().flat_map(|c| &c.sources).collect();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let half = sources.len().div_ceil(2).max(1);
        let check = |part: &[&String]| part.iter().filter_map(|s| problem(&root, s)).collect();
        let threads: Vec<_> = sources
            .chunks(half)
            .map(|part| scope.spawn(move || -> Vec<String> { check(part) }))
            .collect();
        threads.into_iter().flat_map(|t| t.join().expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with the text form of one unit, if anything.
fn problem(root: &Path, source: &str) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_leakproof"))
        .current_dir(root)
        .args(["ir", source])
        .output()
        .expect("leakproof runs");
    let text = String::from_utf8_lossy(&output.stdout);
    if text.is_empty() {
        return Some(format!("{source}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let module = match leakproof_ir::parse_module(&text) {
        Ok(module) => module,
        Err(error) => return Some(format!("{source}: {error}")),
    };
    if let Err(errors) = leakproof_ir::verify(&module) {
        return Some(format!("{source}: {}", errors[0]));
    }
    (leakproof_ir::print_module(&module) != text).then(|| format!("{source}: prints differently"))
}

/// The comparison itself, on a made-up program.
mod comparison {
    use super::suite::compare::{Outcome, compare};
    use super::suite::discover::Case;
    use super::suite::expectation;
    use super::suite::run::Found;

    fn outcome(source: &str, findings: &[(&str, u32, u32, &str)]) -> Outcome {
        let case = Case {
            idiom: "x".to_owned(),
            name: "x/a.c".to_owned(),
            sources: vec!["a.c".to_owned()],
            options: Vec::new(),
            expectations: expectation::parse("a.c", source).expect("comments"),
        };
        let found = |(function, alloc, leak, variable): &(&str, u32, u32, &str)| Found {
            kind: "lost".to_owned(),
            function: (*function).to_owned(),
            variable: (*variable).to_owned(),
            evidence: "feasible".to_owned(),
            alloc: ("a.c".to_owned(), *alloc),
            leak: ("a.c".to_owned(), *leak),
        };
        compare(&case, findings.iter().map(found).collect())
    }

    const SOURCE: &str = "int f_bad(void) {
    char *p = strdup(\"\");
    char *q = strdup(\"\");
    return 1; // leak: forgotten p
}
void g_bad(struct s *s) {
    s->a = strdup(\"\"); // leaks: s.a [a]
    free(s); // leak: lost s.a [a]
}
";

    #[test]
    fn all_as_expected() {
        let o = outcome(SOURCE, &[("f_bad", 2, 4, "p"), ("g_bad", 7, 8, "s->a")]);
        assert_eq!(o.failures(), Vec::<String>::new());
        assert_eq!(o.met.len(), 2);
    }

    #[test]
    fn a_missed_leak_and_a_false_alarm_are_failures() {
        let o = outcome(SOURCE, &[("f_bad", 3, 4, "q"), ("g_bad", 7, 8, "s->a")]);
        assert_eq!(o.missing.len(), 1);
        assert_eq!(o.unexpected.len(), 1);
        assert_eq!(o.failures()[0], "a.c:4: MISSED forgotten `p` in f_bad");
    }

    #[test]
    fn another_line_of_the_same_function_and_variable_will_do() {
        let o = outcome(SOURCE, &[("f_bad", 2, 5, "p"), ("g_bad", 7, 8, "")]);
        assert_eq!(o.failures(), Vec::<String>::new());
    }

    #[test]
    fn what_the_leaked_object_owns_is_no_false_alarm() {
        let leaks = [("f_bad", 2, 4, "p"), ("f_bad", 2, 4, "p->inner"), ("g_bad", 7, 8, "s.a")];
        let o = outcome(SOURCE, &leaks);
        assert_eq!(o.failures(), Vec::<String>::new());
        assert_eq!(o.extra.len(), 1);
    }

    #[test]
    fn known_failures_are_asserted() {
        let source = "int f_bad(void) {
    return 1; // leak: forgotten p; missed: because
}
int g_ok(void) {
    return 1; // false: because
}
";
        let still = outcome(source, &[("g_ok", 5, 5, "q")]);
        assert_eq!(still.failures(), Vec::<String>::new());
        assert_eq!((still.known_missed.len(), still.known_false.len()), (1, 1));
        let no_longer = outcome(source, &[("f_bad", 2, 2, "p")]);
        assert_eq!(no_longer.stale.len(), 2);
    }

    #[test]
    fn mistakes_in_comments_are_refused() {
        assert!(expectation::parse("a.c", "return; // leak: p").is_err());
        assert!(expectation::parse("a.c", "return; // leak: last p").is_err());
    }
}
