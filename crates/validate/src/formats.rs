//! Short texts in formats that many programs read. A search finds single bytes and words by itself, but hardly a
//! grammar: these are where it starts from.
//!
//! Only a help for the search: a format that is missing costs time, one too many costs a few runs.

/// Differences name files of the default ones and fit their content.
const TEXTS: &[&str] = &[
    "--- 1\t2020-01-01 00:00:00 +0000\n+++ 1\t2020-01-02 00:00:00 +0000\n@@ -1,2 +1,2 @@\n-a 1\n+a 9\n b 2\n",
    "*** 1\t2020-01-01 00:00:00\n--- 1\t2020-01-02 00:00:00\n***************\n*** 1,2 ****\n! a 1\n  b 2\n--- 1,2 ----\n! a 9\n  b 2\n",
    "Index: 1\n=======\n--- 1\t2020-01-01\n+++ 1\t2020-01-02\n@@ -1,2 +1,3 @@\n a 1\n+x\n b 2\nIndex: a\n=======\n--- a\t2020-01-01\n+++ a\t2020-01-02\n@@ -1,2 +1,1 @@\n a 2\n-c 3\n\\ No newline at end of file\n",
    "1c1\n< a 1\n---\n> a 9\n",
    "1c\na 9\n.\n",
    "a=1\nb = a + 2\nprint a, b;\nif (a < b) { a = \"x\" } else { b = -1.5e3 }\n",
    "#include <a.h>\n#define B(x) (x)\nint f(int c) { /* d */ return B(c)[0]; }\n",
    "# c\n[a]\nb = c\n\nd: 'e f'\ng \\\nh\n",
    "{\"a\": [1, -2.5, true, null], \"b\": {\"c\": \"d\\n\"}}\n",
    "<?xml version=\"1.0\"?>\n<a b=\"c\">d<e/><!-- f --></a>\n",
    "From: a@b.c\nTo: d@e.f\nSubject: g\n h\n\ni\n",
    "a,b,c\n1,\"x,y\",3\n;;\n",
    "a\tb\t1\nc\td\t2\n",
];

/// How many names the long text has: more than tables of names begin with.
const MANY: usize = 80;

/// All texts, the last with many names.
pub fn texts() -> Vec<String> {
    let many = (0..MANY).map(|i| format!("n{i}={i}\n")).collect();
    TEXTS.iter().map(|t| (*t).to_owned()).chain([many]).collect()
}
