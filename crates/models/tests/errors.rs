//! What the parser says about wrong model files: place, message and hint, as a table.

use leakproof_models::Library;

/// Text of a user file, and the errors it must give, in order.
const CASES: &[(&str, &[&str])] = &[
    // unknown words
    ("f { retrun new }", &["t.model:1:5: unknown word `retrun` (did you mean `return`?)"]),
    ("f { return nul }", &["t.model:1:12: unknown word `nul` (did you mean `null`?)"]),
    (
        "f { return heap }",
        &["t.model:1:12: unknown word `heap` (known here: new, inside, borrowed, null, nonnull, \
           nonzero, same, unknown)"],
    ),
    ("f { okay: return 0 }", &["t.model:1:5: unknown word `okay` (known here: ok, fail)"]),
    ("f { fial: return 0 }", &["t.model:1:5: unknown word `fial` (did you mean `fail`?)"]),
    ("f { *@1 = nwe }", &["t.model:1:11: unknown word `nwe` (did you mean `new`?)"]),
    (
        "f { if @1 nil }",
        &["t.model:1:11: unknown word `nil` (known here: null, nonnull, zero, nonzero)"],
    ),
    ("f { call @1(insid @2) }", &["t.model:1:13: unknown word `insid` (did you mean `inside`?)"]),
    ("family x is memry", &["t.model:1:13: unknown word `memry` (did you mean `memory`?)"]),
    // argument numbers
    ("f { free @0 }", &["t.model:1:10: bad argument number `@0` (arguments are numbered from 1)"]),
    ("f { free @33 }", &["t.model:1:10: bad argument number `@33` (at most @32)"]),
    (
        "f { free @99999999999999999999 }",
        &[
            "t.model:1:10: bad argument number `@99999999999999999999` (write `@` and a number from 1)",
        ],
    ),
    ("f { free @ }", &["t.model:1:10: bad argument number `@` (write `@` and a number from 1)"]),
    ("f { free @p }", &["t.model:1:10: bad argument number `@p` (write `@` and a number from 1)"]),
    (
        "f { return inside @... }",
        &[
            "t.model:1:19: bad argument number `@...` (`@...` stands for variadic arguments only in a \
           place)",
        ],
    ),
    (
        "f { return @... }",
        &["t.model:1:12: bad argument number `@...` (return one argument, or what it points to)"],
    ),
    (
        "base { free @2 }\nalias f = base(@1)",
        &[
            "t.model:2:7: bad argument number `@2` (the entry of `base` speaks of it, the alias does \
           not give it)",
        ],
    ),
    // numbers
    ("f { return 99999999999999999999 }", &["t.model:1:12: bad number `99999999999999999999`"]),
    ("f { return 12ab }", &["t.model:1:12: bad number `12ab`"]),
    ("f { free @1->5000000000 }", &["t.model:1:14: bad number `5000000000`"]),
    ("f { return 3..1 }", &["t.model:1:12: contradictory entry: no value is in this range"]),
    (
        "f { return < -9223372036854775808 }",
        &["t.model:1:12: contradictory entry: no value is in this range"],
    ),
    // duplicates
    (
        "f { ignored }\n  f { free @1 }",
        &["t.model:2:3: duplicate entry `f`, first given in t.model:1 (remove one of them)"],
    ),
    (
        "f, g, f { ignored }",
        &["t.model:1:7: duplicate entry `f`, first given in t.model:1 (remove one of them)"],
    ),
    (
        "f { ignored }\nalias f = free",
        &["t.model:2:7: duplicate entry `f`, first given in t.model:1 (remove one of them)"],
    ),
    // families
    ("f { return new of fiel }", &["t.model:1:19: unknown family `fiel` (did you mean `file`?)"]),
    (
        "family my_own_things",
        &[
            "t.model:1:8: unknown family `my_own_things` (declare it first: `family my_own_things is \
           memory` or `is resource`)",
        ],
    ),
    (
        "family mmap is memory",
        &["t.model:1:8: contradictory entry: family `mmap` is declared otherwise in \
           libc/alloc.model:44"],
    ),
    // aliases
    (
        "alias f = mallok",
        &["t.model:1:11: alias of unknown function `mallok` (did you mean `malloc`?)"],
    ),
    ("alias f = f", &["t.model:1:7: alias `f` leads back to itself"]),
    (
        "alias f = g\nalias g = f",
        &[
            "t.model:1:7: alias `f` leads back to itself",
            "t.model:2:7: alias `g` leads back to itself",
        ],
    ),
    // contradictions within an outcome
    (
        "f { noreturn, free @1 }",
        &[
            "t.model:1:15: contradictory entry: `noreturn` with an effect on memory (a call that never \
           returns has nothing to say about memory)",
        ],
    ),
    (
        "f { ignored, free @1 }",
        &[
            "t.model:1:5: contradictory entry: `ignored` with something else in the outcome (`ignored` \
           means: nothing kept, nothing released, result unknown)",
        ],
    ),
    (
        "f { return 0, return 1 }",
        &["t.model:1:15: contradictory entry: an outcome returns once (separate outcomes by `;`)"],
    ),
    (
        "f { noreturn, return 0 }",
        &["t.model:1:15: contradictory entry: an outcome returns once (separate outcomes by `;`)"],
    ),
    (
        "f { if @1 null, if @1 nonnull }",
        &["t.model:1:20: contradictory entry: @1 both null and not"],
    ),
    (
        "f { if @1 null, if @1 zero }",
        &["t.model:1:20: contradictory entry: condition on @1 stated twice"],
    ),
    (
        "f { if @1 null, *@1 = new }",
        &["t.model:1:17: contradictory entry: an effect on @1, which is null in this outcome"],
    ),
    (
        "f { free @1, take @1 }",
        &["t.model:1:14: contradictory entry: the same object given up twice"],
    ),
    ("f { free @1, free @1 }", &["t.model:1:14: contradictory entry: the same effect twice"]),
    (
        "f { *@1 = new, *@1 = null }",
        &["t.model:1:16: contradictory entry: the same place written twice"],
    ),
    (
        "f { free @1, return @1 }",
        &["t.model:1:5: contradictory entry: the released object is returned"],
    ),
    (
        "f { move @1 }",
        &["t.model:1:5: contradictory entry: `move` but no object is returned (`move` goes with \
           `return new` or `return @1`)"],
    ),
    (
        "f { return null, return->8 = new }",
        &["t.model:1:18: contradictory entry: a field of a result that is no object"],
    ),
    (
        "f { @1 = new }",
        &[
            "t.model:1:5: contradictory entry: an argument is passed by value, not written (write what \
           it points to: `*@1`)",
        ],
    ),
    (
        "f { write @1 }",
        &["t.model:1:11: contradictory entry: an argument is passed by value, not written (write \
           what it points to: `*@1`)"],
    ),
    (
        "f { return new, free return->8 }",
        &["t.model:1:22: contradictory entry: `free` of what is only now returned"],
    ),
    // contradictions between outcomes
    ("f { return 0; return 0 }", &["t.model:1:15: contradictory entry: the same outcome twice"]),
    (
        "f { ok: return 0, free @1; fail: return 0 }",
        &["t.model:1:28: contradictory entry: two outcomes with the same result but different \
           effects (the caller could not tell them apart: give each its own `return` or `if`)"],
    ),
    (
        "f { ok: return >= 0, *@1 = new; fail: return -1..0 }",
        &["t.model:1:33: contradictory entry: two outcomes with the same result but different \
           effects (the caller could not tell them apart: give each its own `return` or `if`)"],
    ),
    (
        "f { ok: return nonnull, take @1; fail: return -1 }",
        &["t.model:1:34: contradictory entry: two outcomes with the same result but different \
           effects (the caller could not tell them apart: give each its own `return` or `if`)"],
    ),
    // syntax
    ("f free @1 }", &["t.model:1:3: unexpected `free`, expected `{`"]),
    ("f { free @1 ", &["t.model:1:13: unexpected end of file, expected `,`, `;` or `}`"]),
    (
        "f { }",
        &["t.model:1:5: unexpected `}`, expected an outcome (write `ignored` for a function that \
           does nothing to memory)"],
    ),
    (
        "f { free }",
        &["t.model:1:10: unexpected `}`, expected a place such as `@1`, `*@1` or `@1->8`"],
    ),
    (
        "f { return }",
        &[
            "t.model:1:12: unexpected `}`, expected a value such as `new`, `null`, `@1`, `0` or `>= 0`",
        ],
    ),
    ("f { @1->x = new }", &["t.model:1:9: unexpected `x`, expected a byte offset"]),
    (
        "f { *@1->8 = new }",
        &["t.model:1:8: unexpected `->`, expected a place (write the first step as an arrow too: \
           `@1->0->8` for `(*@1)->8`)"],
    ),
    ("f { call @1(@2 @3) }", &["t.model:1:16: unexpected `@3`, expected `,` or `)`"]),
    ("ö { ignored }", &["t.model:1:1: unexpected character 'ö', expected a function name"]),
    ("new[] { ignored }", &["t.model:1:1: unexpected `new[]`, expected a function name"]),
    ("{ ignored }", &["t.model:1:1: unexpected `{`, expected a function name"]),
    ("alias f free", &["t.model:1:9: unexpected `free`, expected `=`"]),
    ("f { return inside @1 or 0 }", &["t.model:1:25: unexpected `0`, expected `null`"]),
    // several errors in one file, each at its place; good entries between them do no harm
    (
        "f { fre @1 }\ng { free @1 }\n\nh { free @0 }\nalias i malloc\nj { ignored }",
        &[
            "t.model:1:5: unknown word `fre` (did you mean `free`?)",
            "t.model:4:10: bad argument number `@0` (arguments are numbered from 1)",
            "t.model:5:9: unexpected `malloc`, expected `=`",
        ],
    ),
];

#[test]
fn every_mistake_is_named_where_it_stands() {
    for (text, expected) in CASES {
        let errors = match Library::with_user_files(&[("t.model", text)]) {
            Ok(_) => panic!("accepted: {text}"),
            Err(errors) => errors,
        };
        let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(&messages, expected, "for {text}");
    }
}

#[test]
fn a_name_may_be_given_once_in_all_user_files() {
    let files = [("a.model", "f { ignored }"), ("b.model", "\nf { free @1 }")];
    let errors = Library::with_user_files(&files).expect_err("duplicate");
    assert_eq!(
        errors[0].to_string(),
        "b.model:2:1: duplicate entry `f`, first given in a.model:1 (remove one of them)"
    );
}

#[test]
fn a_family_of_one_user_file_is_known_in_the_next() {
    let files = [("a.model", "f { return new of box }"), ("b.model", "family box is memory")];
    assert!(Library::with_user_files(&files).is_ok());
}
