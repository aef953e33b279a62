//! How far the run has come on the reported path, and what it has allocated at the reported place.

use super::cell::Global;
use super::{config, object, trace};
use crate::abi::{event, flag, header};

/// The call at which a library function or a failing one was called last.
#[unsafe(no_mangle)]
pub static mut lp_site: u32 = 0;

pub fn site() -> u32 {
    // SAFETY: a plain word.
    unsafe { lp_site }
}

/// How many calls are active that may be element `i` of the allocation's trace.
static ACTIVE: Global<[u32; 32]> = Global::new([0; 32]);

/// How often the first of these was entered.
static TURN: Global<u32> = Global::new(0);

pub fn turn() -> u32 {
    *TURN.get()
}

/// A branch was taken: is it the next of the path?
pub fn branch(id: u32, direction: u32) {
    let c = config::get();
    let progress = *trace::word(header::PROGRESS);
    if progress >= c.path.count() {
        return;
    }
    if c.path.get(progress).chunks_exact(2).any(|pair| pair[0] == id && pair[1] == direction) {
        *trace::word(header::PROGRESS) = progress + 1;
        trace::event(event::PROGRESS, 0, id, 0, progress + 1);
    }
}

/// A watched line was passed, in the function whose frame is at `frame`.
pub fn point(number: u32, frame: u64) {
    let c = config::get();
    if !c.points.contains(&number) {
        return;
    }
    *trace::word(header::POINTS) += 1;
    if *trace::word(header::POINTS) > turn() {
        trace::raise(flag::UNPAIRED);
    }
    if *trace::word(header::PROGRESS) < c.path.count() {
        return;
    }
    // What is made only afterwards did not come this way.
    let came_along = object::came_along();
    let count = if came_along { trace::object_count() } else { 0 };
    trace::event(event::LEAK_POINT, 0, number, 0, count);
    if !came_along {
        return;
    }
    *trace::word(header::COVERED) += 1;
    object::leak_point(frame);
}

pub fn enter(id: u32) {
    let sites = &config::get().sites;
    if sites.count() > 0 && sites.get(0).contains(&id) {
        *TURN.get() += 1;
    }
    change(id, |n| n + 1);
}

pub fn leave(id: u32) {
    change(id, |n| n.saturating_sub(1));
}

fn change(id: u32, how: impl Fn(u32) -> u32) {
    let sites = &config::get().sites;
    for i in 0..sites.count().min(32) {
        if sites.get(i).contains(&id) {
            let slot = &mut ACTIVE.get()[i as usize];
            *slot = how(*slot);
        }
    }
}

/// Whether an allocation made now is one of the reported place.
pub fn is_at_site() -> bool {
    let count = config::get().sites.count().min(32) as usize;
    count > 0 && ACTIVE.get()[..count].iter().all(|n| *n > 0)
}
