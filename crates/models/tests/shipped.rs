//! The shipped library, entry by entry.
//!
//! `expect.txt` holds one line per function: the canonical form of its model, as reviewed against
//! the documentation. A change of a model file must show up there: run the test with
//! `LEAKPROOF_BLESS=1` to rewrite it, and read the difference.

use leakproof_models::{Effect, Library, Model, Outcome, Returns};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn expect_file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expect.txt")
}

#[test]
fn every_entry_means_what_was_reviewed() {
    let library = Library::shipped();
    let actual: String = library.iter().map(|m| format!("{m}\n")).collect();
    if std::env::var_os("LEAKPROOF_BLESS").is_some() {
        std::fs::write(expect_file(), &actual).expect("write expect.txt");
    }
    let expected = std::fs::read_to_string(expect_file()).expect("read expect.txt");
    let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let table: BTreeMap<String, &str> = expected.lines().map(|l| (name(l), l)).collect();
    let mut wrong = Vec::new();
    for line in actual.lines() {
        if table.get(&name(line)) != Some(&line) {
            wrong.push(format!("{line}\n  expected: {:?}", table.get(&name(line))));
        }
    }
    let missing = table.keys().filter(|n| library.get(n).is_none());
    wrong.extend(missing.map(|n| format!("{n} is no longer in the library")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_entry_survives_printing_and_parsing() {
    let text: String = Library::shipped().iter().map(|m| format!("{m}\n")).collect();
    let again = Library::with_user_files(&[("again.model", &text)]).expect("canonical text parses");
    for (first, second) in Library::shipped().iter().zip(again.iter()) {
        assert_eq!(first.outcomes, second.outcomes, "{}", first.name);
        assert_eq!(second.file, "again.model");
    }
    assert_eq!(again.len(), Library::shipped().len());
}

#[test]
fn every_entry_keeps_the_promises_of_the_ast() {
    for model in Library::shipped().iter() {
        assert!(!model.outcomes.is_empty(), "{}", model.name);
        assert!(model.line > 0 && model.file.ends_with(".model"), "{}", model.name);
        for outcome in &model.outcomes {
            let is_condition = |e: &Effect| matches!(e, Effect::IsNull(_) | Effect::IsNonNull(_));
            let first_effect = outcome.effects.iter().position(|e| !is_condition(e));
            let rest = &outcome.effects[first_effect.unwrap_or(outcome.effects.len())..];
            assert!(!rest.iter().any(is_condition), "{}: conditions come first", model.name);
        }
    }
}

#[test]
fn a_function_that_can_fail_can_succeed() {
    // `exec` comes back only when it fails.
    let only_failing: Vec<&str> = Library::shipped()
        .iter()
        .filter(|m| m.outcomes.iter().all(|o| o.failure))
        .map(|m| m.name.as_str())
        .collect();
    let exec = [
        "execl",
        "execle",
        "execlp",
        "execv",
        "execve",
        "execveat",
        "execvp",
        "execvpe",
        "fexecve",
        "setcontext",
    ];
    assert_eq!(only_failing, exec);
}

fn allocated_families(model: &Model) -> impl Iterator<Item = &str> {
    model.outcomes.iter().flat_map(|outcome| {
        let returned = match &outcome.returns {
            Returns::Object { family, .. } => Some(family.as_str()),
            _ => None,
        };
        let stored = outcome.effects.iter().filter_map(|e| match e {
            Effect::Alloc { family, .. } => Some(family.as_str()),
            _ => None,
        });
        returned.into_iter().chain(stored)
    })
}

fn released_families(model: &Model) -> impl Iterator<Item = &str> {
    model.outcomes.iter().flat_map(|o| &o.effects).filter_map(|e| match e {
        Effect::Free { family, .. } => Some(family.as_str()),
        _ => None,
    })
}

#[test]
fn every_family_has_an_allocator_and_a_deallocator() {
    let library = Library::shipped();
    let allocated: BTreeSet<&str> = library.iter().flat_map(allocated_families).collect();
    let released: BTreeSet<&str> = library.iter().flat_map(released_families).collect();
    let declared: BTreeSet<&str> = library.families().map(|f| f.name.as_str()).collect();
    let only_declared: Vec<&&str> = declared.difference(&allocated).collect();
    let never_released: Vec<&&str> = declared.difference(&released).collect();
    assert_eq!((only_declared, never_released), (vec![], vec![]));
}

#[test]
fn every_family_can_be_released_by_one_call() {
    let library = Library::shipped();
    let stuck: Vec<&str> = library
        .families()
        .filter(|f| library.deallocators(&f.name).is_empty())
        .map(|f| f.name.as_str())
        .collect();
    // g_string_free needs to be told what to do with the characters, xmlHashFree with the entries;
    // sqlite3_str_finish hands out the text.
    assert_eq!(stuck, ["glib.string", "libxml2.hash", "sqlite.str"]);
}

#[test]
fn a_deallocator_releases_whatever_it_returns() {
    let library = Library::shipped();
    // These hand an object over to another one, and can fail to.
    let transfers = ["krb5_cc_move", "seccomp_merge"];
    for family in library.families() {
        for (model, place) in library.deallocators(&family.name) {
            let releases = |o: &Outcome| {
                o.effects.iter().any(|e| matches!(e, Effect::Free { place: p, .. } if p == place))
            };
            let always = model.outcomes.iter().all(releases);
            assert!(always || transfers.contains(&model.name.as_str()), "{}", model.name);
        }
    }
}

#[test]
fn the_preferred_deallocator_is_the_obvious_one() {
    let library = Library::shipped();
    let preferred =
        |family: &str| library.deallocators(family).first().map(|(m, _)| m.name.as_str());
    assert_eq!(preferred("memory"), Some("free"));
    assert_eq!(preferred("new"), Some("_ZdlPv"));
    assert_eq!(preferred("new[]"), Some("_ZdaPv"));
    assert_eq!(preferred("file"), Some("fclose"));
    assert_eq!(preferred("dir"), Some("closedir"));
    assert_eq!(preferred("addrinfo"), Some("freeaddrinfo"));
    assert_eq!(preferred("openssl.bio"), Some("BIO_free"));
    assert_eq!(preferred("glib.list"), Some("g_list_free"));
    // Their parts go with them.
    assert_eq!(preferred("libxml2.uri"), Some("xmlFreeURI"));
    assert_eq!(preferred("libxml2.doc"), Some("xmlFreeDoc"));
    assert_eq!(preferred("libxml2"), Some("xmlFree"));
}

#[test]
fn memory_is_on_and_resources_are_off() {
    let library = Library::shipped();
    for family in ["memory", "new", "new[]", "addrinfo", "openssl.x509", "glib.hash", "file", "dir"]
    {
        assert!(library.is_memory(family), "{family}");
    }
    for family in ["mmap", "shm", "semaphore", "dl"] {
        assert!(!library.is_memory(family), "{family}");
    }
}

#[test]
fn shipped_library_is_large_enough() {
    assert!(Library::shipped().len() > 10_000, "{}", Library::shipped().len());
}
