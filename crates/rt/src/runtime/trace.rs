//! The trace file: header words, events, nodes and objects, in memory shared with the tool.
//!
//! Invariant: counters only grow, and are written after what they count, so that a trace is readable
//! whatever happens to the program.

use super::cell::Global;
use super::libc;
use crate::abi::{
    COMPARED_HEAD, COMPARED_OFFSET, EVENTS_OFFSET, Event, MAX_COMPARED, MAX_EVENTS, MAX_MISSING,
    MAX_NODES, MAX_OBJECTS, MISSING_OFFSET, NODES_OFFSET, Node, OBJECTS_OFFSET, Object, TRACE_SIZE,
    flag, header,
};

static BASE: Global<*mut u8> = Global::new(core::ptr::null_mut());

pub fn set_base(base: *mut u8) {
    *BASE.get() = base;
}

/// Lets this process write into nothing: what a child does is no part of its parent's run.
pub extern "C" fn detach() {
    if is_open() {
        libc::map_over(*BASE.get(), TRACE_SIZE);
    }
}

pub fn is_open() -> bool {
    !BASE.get().is_null()
}

/// A word of the header. Only after `set_base`.
pub fn word(index: usize) -> &'static mut u32 {
    static NOWHERE: Global<u32> = Global::new(0);
    if !is_open() {
        return NOWHERE.get();
    }
    // SAFETY: the header is 4096 bytes of the mapping.
    unsafe { &mut *(*BASE.get()).cast::<u32>().add(index) }
}

pub fn raise(bits: u32) {
    *word(header::FLAGS) |= bits;
}

pub fn event(kind: u8, taken: u16, id: u32, node: u32, aux: u32) {
    let count = *word(header::EVENTS);
    if !is_open() || count >= MAX_EVENTS {
        raise(flag::EVENTS_FULL);
        return;
    }
    let at = Event { kind, pad: 0, taken, id, node, aux };
    // SAFETY: within the event table.
    unsafe { (*BASE.get()).add(EVENTS_OFFSET).cast::<Event>().add(count as usize).write(at) };
    *word(header::EVENTS) = count + 1;
}

/// The node with this id; the ids that exist are below the header's count.
pub fn node(id: u32) -> &'static Node {
    static NONE: Node = Node { op: 0, bits: 0, pad: 0, a: 0, b: 0, c: 0, value: 0 };
    if !is_open() || id == 0 || id >= *word(header::NODES) {
        return &NONE;
    }
    // SAFETY: within the node table.
    unsafe { &*(*BASE.get()).add(NODES_OFFSET).cast::<Node>().add(id as usize) }
}

/// Adds a node; 0 when the table is full.
pub fn add_node(node: Node) -> u32 {
    let id = (*word(header::NODES)).max(1);
    if !is_open() || id >= MAX_NODES {
        raise(flag::NODES_FULL);
        return 0;
    }
    // SAFETY: within the node table.
    unsafe { (*BASE.get()).add(NODES_OFFSET).cast::<Node>().add(id as usize).write(node) };
    *word(header::NODES) = id + 1;
    id
}

/// The object with this number.
pub fn object(index: u32) -> &'static mut Object {
    // SAFETY: callers stay below the header's count, which is at most `MAX_OBJECTS`.
    unsafe { &mut *(*BASE.get()).add(OBJECTS_OFFSET).cast::<Object>().add(index as usize) }
}

pub fn object_count() -> u32 {
    *word(header::OBJECTS)
}

/// Adds an object; its number, or `None` when the table is full.
pub fn add_object(object_to_add: Object) -> Option<u32> {
    let index = object_count();
    if !is_open() || index >= MAX_OBJECTS {
        raise(flag::OBJECTS_FULL);
        return None;
    }
    *object(index) = object_to_add;
    *word(header::OBJECTS) = index + 1;
    Some(index)
}

/// Names that were looked for in vain, each with a zero behind it.
pub fn missing() -> &'static [u8] {
    if !is_open() {
        return &[];
    }
    let length = (*word(header::MISSING) as usize).min(MAX_MISSING);
    // SAFETY: within the header's page.
    unsafe { core::slice::from_raw_parts((*BASE.get()).add(MISSING_OFFSET), length) }
}

/// Adds such a name, unless there is no room for it.
pub fn add_missing(name: &[u8]) {
    let length = missing().len();
    if !is_open() || length + name.len() + 1 > MAX_MISSING {
        return;
    }
    // SAFETY: within the header's page, which is zero beyond what was written.
    unsafe {
        let to = (*BASE.get()).add(MISSING_OFFSET + length);
        core::ptr::copy_nonoverlapping(name.as_ptr(), to, name.len());
    }
    *word(header::MISSING) = (length + name.len() + 1) as u32;
}

/// Adds texts that were compared, unless there is no room for them.
pub fn add_compared(head: [u32; COMPARED_HEAD], is: &[u8], wanted: &[u8]) {
    let before = *word(header::COMPARED) as usize;
    let texts = (is.len() + wanted.len()).next_multiple_of(4);
    let size = COMPARED_HEAD * 4 + texts;
    if !is_open() || before + size > MAX_COMPARED {
        return;
    }
    // SAFETY: within the table of compared texts, which is zero beyond what was written; its parts are whole words.
    unsafe {
        let to = (*BASE.get()).add(COMPARED_OFFSET + before);
        to.cast::<[u32; COMPARED_HEAD]>().write(head);
        let to = to.add(COMPARED_HEAD * 4);
        core::ptr::copy_nonoverlapping(is.as_ptr(), to, is.len());
        core::ptr::copy_nonoverlapping(wanted.as_ptr(), to.add(is.len()), wanted.len());
    }
    *word(header::COMPARED) = (before + size) as u32;
}
