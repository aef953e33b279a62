//! Input that is no bitcode, or damaged, and several threads.

use crate::support::{FLAGS, bitcode};
use leakproof_frontend::{LowerError, PathStyle, lower_bitcode};
use leakproof_ir::Module;

const SOURCE: &str = "
    #include <stdlib.h>
    #include <string.h>
    struct list { struct list *next; char *name; union { int i; double d; } u; };
    static const char *names[] = { \"a\", \"b\" };
    struct list *add(struct list *l, const char *name, int kind) {
      struct list *n = malloc(sizeof *n);
      if (!n) return NULL;
      switch (kind) { case 1: n->u.i = 3; break; case 2: n->u.d = 1.5; break; default: break; }
      n->name = strdup(name ? name : names[kind & 1]);
      n->next = l;
      return n;
    }
    void drop(struct list *l) {
      while (l) { struct list *next = l->next; free(l->name); free(l); l = next; }
    }";

fn lower(bytes: &[u8]) -> Result<Module, LowerError> {
    let style = PathStyle { cwd: "/nowhere".into(), comp_dir: "/nowhere".into() };
    lower_bitcode(bytes, "damaged", &style)
}

/// A small generator, so that a failure can be repeated.
fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn what_is_no_bitcode_is_refused() {
    assert_eq!(lower(b""), Err(LowerError::Empty));
    assert_eq!(lower(b"; ModuleID = 'x'\n"), Err(LowerError::NotBitcode));
    assert_eq!(lower(b"\x7fELF\x02\x01\x01"), Err(LowerError::NotBitcode));
    assert!(lower(b"BC\xc0\xde").is_err());
    let message = lower(b"BC\xc0\xde").expect_err("an error").to_string();
    assert!(!message.is_empty() && message.lines().count() == 1);
}

#[test]
fn truncated_bitcode_is_refused_at_every_length() {
    let good = bitcode("snippet.c", SOURCE, FLAGS);
    assert!(lower(&good).is_ok());
    // The symbol table at the end may be missing; the string table may not.
    for len in (0..good.len() - 600).step_by(3) {
        assert!(lower(&good[..len]).is_err(), "{len} of {} bytes", good.len());
    }
}

#[test]
fn damaged_bitcode_does_no_harm() {
    let good = bitcode("snippet.c", SOURCE, FLAGS);
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for round in 0..6000 {
        let mut bad = good.clone();
        for _ in 0..=round % 4 {
            let at = xorshift(&mut state) as usize % bad.len();
            bad[at] ^= 1 << (xorshift(&mut state) % 8);
        }
        // Any answer will do; the verifier must be able to look at what comes out.
        if let Ok(module) = lower(&bad) {
            let _ = leakproof_ir::verify(&module);
        }
    }
}

#[test]
fn random_bytes_do_no_harm() {
    let mut state = 42;
    for len in 0..2000 {
        let mut bytes = b"BC\xc0\xde".to_vec();
        bytes.extend((0..len).map(|_| xorshift(&mut state) as u8));
        assert!(lower(&bytes).is_err());
    }
}

#[test]
fn bitcode_of_another_release_is_named() {
    let mut bytes = bitcode("snippet.c", SOURCE, FLAGS);
    // "LLVM19.1.7" in six-bit characters is the first record; its version is damaged here.
    let message = (8..40).find_map(|at| {
        let saved = bytes[at];
        bytes[at] ^= 4;
        let error = lower(&bytes).err().map(|e| e.to_string());
        bytes[at] = saved;
        error.filter(|m| m.contains("not by LLVM 15 to 19"))
    });
    assert!(message.is_some());
}

#[test]
fn threads_do_not_disturb_each_other() {
    let bytes = bitcode("snippet.c", SOURCE, FLAGS);
    let expected = lower(&bytes).expect("a module");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(lower(&bytes).as_ref(), Ok(&expected));
                }
            });
        }
    });
}
