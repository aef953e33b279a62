//! Tracked objects: those of the reported allocation, and the state each is in (figure 6 of the paper).
//!
//! Only objects that are past the leak point and not yet used again need their accesses watched; the
//! span of their addresses is all that instrumented code looks at.

use super::trace::{object, object_count};
use super::{path, scan, trace};
use crate::abi::{Object, header, mark, state};

#[unsafe(no_mangle)]
pub static mut lp_track_low: u64 = 0;
#[unsafe(no_mangle)]
pub static mut lp_track_length: u64 = 0;

/// Scans for references are costly: only the first times that the leak point is passed.
const MAX_SCANS: u32 = 8;

/// A block of the reported allocation; its number plus one, 0 when it cannot be tracked.
pub fn created(address: u64, size: u64) -> u32 {
    let event = *trace::word(header::EVENTS);
    let turn = path::turn();
    let made = Object { address, size, state: state::CREATED, marks: 0, event, turn };
    trace::add_object(made).map_or(0, |i| i + 1)
}

/// Whether an object came to the leak point: one that is still there, or that the last call of the allocation made. One that
/// is gone since that was called again came by in an earlier turn, and says nothing about this one.
pub fn came_along() -> bool {
    let now = path::turn();
    let is_gone = |s| matches!(s, state::FREED_BEFORE | state::FREED_UNUSED | state::FREED_USED);
    (0..object_count()).map(object).any(|o| o.turn == now || !is_gone(o.state))
}

/// Objects that are still there go from Created to LP.
pub fn leak_point(frame: u64) {
    let mut fresh = false;
    for i in 0..object_count() {
        let o = object(i);
        if o.state == state::CREATED {
            o.state = state::LEAK_POINT;
            fresh = true;
        }
    }
    if fresh {
        watch();
        if *trace::word(header::COVERED) <= MAX_SCANS {
            scan::mark_unreferenced(frame, mark::LOST_AT_POINT);
        }
    }
}

/// Recomputes the span of addresses that matter.
fn watch() {
    let (mut low, mut high) = (u64::MAX, 0);
    for i in 0..object_count() {
        let o = object(i);
        if o.state == state::LEAK_POINT {
            low = low.min(o.address);
            high = high.max(o.address + o.size.max(1));
        }
    }
    // SAFETY: plain words.
    unsafe {
        lp_track_low = if high == 0 { 0 } else { low };
        lp_track_length = high.saturating_sub(low);
    }
}

/// Memory in the watched span is read or written.
pub fn used(address: u64, size: u64) {
    // SAFETY: plain words.
    if unsafe { address.wrapping_sub(lp_track_low) >= lp_track_length } {
        return;
    }
    let mut changed = false;
    for i in 0..object_count() {
        let o = object(i);
        let hit = address < o.address + o.size.max(1) && o.address < address + size.max(1);
        if o.state == state::LEAK_POINT && hit {
            o.state = state::USED_AFTER;
            changed = true;
        }
    }
    if changed {
        watch();
    }
}

/// The object with this number plus one was released.
pub fn freed(number: u32) {
    let o = object(number - 1);
    o.state = match o.state {
        state::CREATED => state::FREED_BEFORE,
        state::LEAK_POINT => state::FREED_UNUSED,
        state::USED_AFTER => state::FREED_USED,
        other => other,
    };
    watch();
}

/// `realloc` gave it another place or size, which is a use.
pub fn moved(number: u32, address: u64, size: u64) {
    let o = object(number - 1);
    (o.address, o.size) = (address, size);
    if o.state == state::LEAK_POINT {
        o.state = state::USED_AFTER;
    }
    watch();
}
