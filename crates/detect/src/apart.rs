//! Questions of one function apart from those of others.
//!
//! The solver has one context per thread, and which model or which contradiction it finds, and how
//! far its limits let it come, depends on all that this context has seen. So the questions of each
//! function are asked on a new thread: answers then depend on the function alone, not on what
//! happened to run before it, on the number of threads, or on what was taken from the cache.

use crate::schedule::STACK_BYTES;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};

/// Does the work on a new thread and waits for it; a panic goes on in the caller.
pub fn apart(work: impl FnOnce() + Send) {
    let work = Mutex::new(Some(work));
    let run = || {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.into_iter().for_each(|work| work());
    };
    scope(|scope| match Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        // No more threads: an answer that depends on others is better than none.
        Err(_) => run(),
    });
}
