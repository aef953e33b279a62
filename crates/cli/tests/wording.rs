//! What the text of a report says: conditions, steps and headlines that a reader can trust.

mod common;

use common::Sandbox;
use serde_json::Value;

/// The leaks of one file, those at the smallest lines first.
fn leaks(source: &str) -> Vec<Value> {
    let s = Sandbox::new();
    s.write("a.c", source);
    let mut leaks = s.check(["a.c"])["leaks"].as_array().unwrap().clone();
    leaks.sort_by_key(|l| l["leak"]["line"].as_u64());
    leaks
}

fn only_leak(source: &str) -> Value {
    let mut found = leaks(source);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

/// The condition of the one leak of a function that forgets `p` when `test` holds.
fn condition(before: &str, parameters: &str, test: &str) -> String {
    let source = format!(
        "#include <errno.h>\n#include <stdarg.h>\n#include <stdbool.h>\n#include <stdio.h>\n\
         #include <stdlib.h>\n#include <dirent.h>\n{before}\n\
         int f({parameters}) {{\n  char *p = malloc(9);\n  if (!p) return 0;\n  \
         {test}\n    return 1;\n  free(p);\n  return 2;\n}}\n"
    );
    let leak = only_leak(&source);
    leak["condition"].as_str().unwrap().to_owned()
}

fn notes(leak: &Value) -> Vec<String> {
    let path = leak["path"].as_array().unwrap();
    path.iter().map(|s| format!("{} {}", s["line"], s["note"].as_str().unwrap())).collect()
}

#[test]
fn truth_values_have_names() {
    assert_eq!(condition("", "bool quick", "if (quick)"), "quick");
    assert_eq!(condition("", "bool quick, int n", "if (!quick && n > 3)"), "!quick && n > 3");
    let opt = "struct opt { bool on; };";
    assert_eq!(condition(opt, "struct opt *o", "if (o->on)"), "o->on");
    assert_eq!(condition("bool ready(void);", "void", "if (ready())"), "ready()");
}

#[test]
fn a_branch_on_a_truth_value_names_it() {
    let leak = only_leak(
        "#include <stdbool.h>\n#include <stdlib.h>\nint f(bool quick) {\n  char *p = malloc(9);\n  \
         if (!p) return 0;\n  if (quick)\n    return 1;\n  free(p);\n  return 2;\n}\n",
    );
    assert!(notes(&leak).contains(&"6 assuming quick: on to line 7".to_owned()), "{leak:#}");
}

#[test]
fn elements_are_told_apart() {
    let cb = "struct cb { int n; int set[4]; };";
    assert_eq!(
        condition(cb, "struct cb *cb", "if (cb->set[0] == 0 && cb->set[1] != 0)"),
        "cb->set[0] == 0 && cb->set[1] != 0"
    );
    let table = "int t[8];";
    assert_eq!(condition(table, "int i", "if (t[2] == 0 && t[i] == 4)"), "t[2] == 0 && t[] == 4");
    assert_eq!(condition("", "char **v", "if (v[1] == NULL)"), "v[1] == NULL");
}

#[test]
fn the_member_of_a_union_is_the_one_that_is_read() {
    let lex = "struct lex { int k; union { double real; char *str; int n; } value; };";
    assert_eq!(
        condition(lex, "struct lex *lex", "if (lex->value.str == NULL)"),
        "lex->value.str == NULL"
    );
    let either = "struct lex { int k; union { long n; char *str; } value; };";
    assert_eq!(
        condition(either, "struct lex *lex", "if (lex->value.str == NULL)"),
        "lex->value == 0"
    );
}

#[test]
fn what_is_behind_a_pointer_is_named_by_its_type() {
    let item = "struct item { int type; char *s; };";
    assert_eq!(
        condition(item, "void *arg", "struct item *item = arg;\n  if (item->s == NULL)"),
        "item->s == NULL"
    );
    let read = "struct dirent *de = readdir(d);\n  if (de && de->d_type == 8)";
    assert_eq!(condition("", "DIR *d", read), "readdir() != 0 && de->d_type == 8");
    // Further on than the struct goes: no name is better than that of another field.
    let row = "struct row { int a; char *image; };";
    assert_eq!(condition(row, "struct row *r", "if (r[2].image == NULL)"), "");
}

#[test]
fn errno_is_called_errno() {
    let test = "if (other() < 0 && errno == ENOENT)";
    assert_eq!(condition("int other(void);", "void", test), "other() < 0 && errno == 2");
}

#[test]
fn the_inside_of_an_argument_list_is_not_shown() {
    assert_eq!(condition("", "va_list ap", "if (va_arg(ap, int) == 7)"), "");
    let local = "va_list ap;\n  va_start(ap, n);\n  int k = va_arg(ap, int);\n  va_end(ap);\n  \
                 if (k == 7)";
    assert_eq!(condition("", "int n, ...", local), "");
}

#[test]
fn calls_that_seem_to_contradict_each_other_have_lines() {
    let twice = "if (fwrite(\"a\", 1, 1, f) != 1) { free(p); return 3; }\n  \
                 if (fwrite(\"b\", 1, 1, f) != 1)";
    assert_eq!(
        condition("", "FILE *f", twice),
        "fwrite() == 1 on line 11 && fwrite() != 1 on line 12"
    );
}

#[test]
fn of_a_field_that_changes_the_last_value_counts() {
    let s = "struct s { int n; }; void change(struct s *);";
    let test = "if (s->n != 3) { free(p); return 3; }\n  change(s);\n  if (s->n == 4)";
    assert_eq!(condition(s, "struct s *s", test), "s->n == 4");
}

/// Only the failure of a call further down makes it a leak.
#[test]
fn a_failure_inside_a_callee_is_said() {
    let source = "#include <stdlib.h>\n#include <string.h>\nstruct box { char *a, *b; };\n\
                  static char *twin(const char *s) { return strdup(s); }\n\
                  static int take(struct box *b, char *v) {\n  b->b = COPY(\"x\");\n  \
                  if (!b->b) return -1;\n  b->a = v;\n  return 0;\n}\n\
                  int fill(struct box *b, const char *t) {\n  char *v = strdup(t);\n  \
                  take(b, v);\n  twin;\n  return 0;\n}\n";
    let direct = only_leak(&source.replace("COPY", "strdup"));
    assert_eq!(direct["condition"], "strdup() fails inside take()");
    let said = "13 passed to 'take', which leaves it: strdup() fails there".to_owned();
    assert!(notes(&direct).contains(&said), "{direct:#}");
    let deeper = only_leak(&source.replace("COPY", "twin"));
    assert_eq!(deeper["condition"], "strdup() fails inside twin()");
    let said = "13 passed to 'take', which leaves it (strdup() fails inside twin())".to_owned();
    assert!(notes(&deeper).contains(&said), "{deeper:#}");
}

/// `p` is null where the function returns.
#[test]
fn a_null_pointer_holds_nothing() {
    let leak = only_leak(
        "#include <stdlib.h>\nint f(int i, int j) {\n  char *a[4] = {0};\n  a[i] = malloc(4);\n  \
         char *p = a[j];\n  if (p == NULL)\n    return 1;\n  free(p);\n  return 0;\n}\n",
    );
    assert_eq!(leak["held_by"], "a[]");
    let end = "7 the function returns without releasing the object".to_owned();
    assert_eq!(notes(&leak).last(), Some(&end));
}

#[test]
fn the_path_ends_with_the_leak() {
    let leak = only_leak(
        "#include <stdio.h>\n#include <stdlib.h>\nint use(int);\nint f(int n) {\n  \
         if (n == 1) {\n    char *p = malloc(10);\n    puts(p);\n  } else if (n == 2) {\n    \
         puts(\"x\");\n  }\n  if (n > 4) puts(\"z\");\n  return use(2);\n}\n",
    );
    assert_eq!(leak["condition"], "n == 1");
    assert_eq!(
        notes(&leak),
        [
            "5 assuming n == 1: on to line 6",
            "6 'malloc' allocates the object",
            "7 passed to 'puts', which leaves it",
            "8 'p' goes out of scope",
            "8 the last reference, 'p', goes out of scope here",
        ]
    );
}
