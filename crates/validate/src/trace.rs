//! A finished run: what the runtime wrote, read back and checked.

use leakproof_rt::abi::{
    COMPARED_HEAD, COMPARED_OFFSET, EVENT_SIZE, EVENTS_OFFSET, Event, FROM_NOWHERE, MAGIC,
    MAX_COMPARED, MAX_EVENTS, MAX_MISSING, MAX_NODES, MAX_OBJECTS, MISSING_OFFSET, NODE_SIZE,
    NODES_OFFSET, Node, OBJECT_SIZE, OBJECTS_OFFSET, Object, SOURCE_SHIFT, VERSION, flag, header,
    mark, op, outcome, state,
};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub flags: u32,
    pub outcome: u32,
    /// Elements of the path that were passed.
    pub progress: u32,
    /// How often the leak point was passed, and how often after the whole path.
    pub points: u32,
    pub covered: u32,
    /// The signal that ended the run; 0 when its time was up.
    pub signal: Option<i32>,
    /// Processor time of the run; wall-clock time when it was cut off.
    pub time: Duration,
    pub events: Vec<Event>,
    pub nodes: Vec<Node>,
    pub objects: Vec<Object>,
    /// Names of files that were looked for in vain, as the program gave them.
    pub missing: Vec<String>,
    /// Texts that were compared, in the order of the run.
    pub compared: Vec<Compared>,
}

/// Two texts that a run compared; the same twice when it found what it looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Number of events before it.
    pub event: usize,
    pub call: u32,
    /// The variable of the first byte of `is`, when that stands in the input so.
    pub source: Option<u32>,
    pub is: Vec<u8>,
    pub wanted: Vec<u8>,
}

impl Trace {
    pub fn read(file: &File) -> io::Result<Self> {
        let mut head = [0; 64];
        file.read_exact_at(&mut head, 0)?;
        let word = |i: usize| number(&head, 4 * i);
        if word(header::MAGIC) != MAGIC || word(header::VERSION) != VERSION {
            // The program ended before the runtime started.
            return Ok(Self::default());
        }
        let events = word(header::EVENTS).min(MAX_EVENTS) as usize;
        let nodes = word(header::NODES).min(MAX_NODES) as usize;
        let objects = word(header::OBJECTS).min(MAX_OBJECTS) as usize;
        let mut missing = vec![0; (word(header::MISSING) as usize).min(MAX_MISSING)];
        file.read_exact_at(&mut missing, MISSING_OFFSET as u64)?;
        let mut compared_texts = vec![0; (word(header::COMPARED) as usize).min(MAX_COMPARED)];
        file.read_exact_at(&mut compared_texts, COMPARED_OFFSET as u64)?;
        Ok(Self {
            flags: word(header::FLAGS),
            outcome: word(header::OUTCOME),
            progress: word(header::PROGRESS),
            points: word(header::POINTS),
            covered: word(header::COVERED),
            signal: None,
            time: Duration::from_micros(u64::from(word(header::PROCESSOR_TIME))),
            events: table(file, EVENTS_OFFSET, EVENT_SIZE, events, event)?,
            nodes: table(file, NODES_OFFSET, NODE_SIZE, nodes, node)?,
            objects: table(file, OBJECTS_OFFSET, OBJECT_SIZE, objects, object)?,
            missing: texts(&missing),
            compared: compared(&compared_texts),
        })
    }

    pub fn reached_main(&self) -> bool {
        self.flags & flag::MAIN != 0
    }

    /// The inputs of which it read some bytes.
    pub fn sources(&self) -> BTreeSet<u32> {
        let variables = self.nodes.iter().filter(|n| n.op == op::VAR);
        variables.map(|n| n.a >> SOURCE_SHIFT).collect()
    }

    /// Whether the leak point was passed more often than the allocation was called.
    pub fn is_unpaired(&self) -> bool {
        self.flags & flag::UNPAIRED != 0
    }

    /// Whether the run ended in the usual way, so that what is left over has leaked.
    pub fn ended(&self) -> bool {
        self.outcome == outcome::EXIT
    }

    /// Whether something limits what the trace tells.
    pub fn is_partial(&self) -> bool {
        let bits = flag::NODES_FULL | flag::EVENTS_FULL | flag::OBJECTS_FULL;
        self.flags & bits != 0
    }
}

fn table<T>(
    file: &File,
    offset: usize,
    size: usize,
    count: usize,
    decode: impl Fn(&[u8]) -> T,
) -> io::Result<Vec<T>> {
    let mut bytes = vec![0; size * count];
    file.read_exact_at(&mut bytes, offset as u64)?;
    Ok(bytes.chunks_exact(size).map(decode).collect())
}

/// Texts that end with a zero each; what is no text is left out.
fn texts(bytes: &[u8]) -> Vec<String> {
    let words = bytes.split(|b| *b == 0).filter(|w| !w.is_empty());
    words.filter_map(|w| String::from_utf8(w.to_vec()).ok()).collect()
}

fn compared(mut bytes: &[u8]) -> Vec<Compared> {
    let mut all = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(COMPARED_HEAD * 4) {
        let lengths = number(head, 12) as usize;
        let (is, wanted) = (lengths & 0xffff, lengths >> 16);
        let Some((texts, rest)) = rest.split_at_checked((is + wanted).next_multiple_of(4)) else {
            break;
        };
        all.push(Compared {
            event: number(head, 0) as usize,
            call: number(head, 4),
            source: Some(number(head, 8)).filter(|s| *s != FROM_NOWHERE),
            is: texts[..is].to_vec(),
            wanted: texts[is..is + wanted].to_vec(),
        });
        bytes = rest;
    }
    all
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(number(bytes, at)) | u64::from(number(bytes, at + 4)) << 32
}

fn event(b: &[u8]) -> Event {
    let taken = u16::from_le_bytes([b[2], b[3]]);
    Event { kind: b[0], pad: 0, taken, id: number(b, 4), node: number(b, 8), aux: number(b, 12) }
}

fn node(b: &[u8]) -> Node {
    Node {
        op: b[0],
        bits: b[1],
        pad: 0,
        a: number(b, 4),
        b: number(b, 8),
        c: number(b, 12),
        value: long(b, 16),
    }
}

fn object(b: &[u8]) -> Object {
    Object {
        address: long(b, 0),
        size: long(b, 8),
        state: number(b, 16),
        marks: number(b, 20),
        event: number(b, 24),
        turn: number(b, 28),
    }
}

/// What became of a tracked object.
pub trait Fate {
    fn is_freed(&self) -> bool;
    fn has(&self, mark: u32) -> bool;
    fn is_lost_at_exit(&self) -> bool;
}

impl Fate for Object {
    fn is_freed(&self) -> bool {
        self.state >= state::FREED_BEFORE
    }

    fn has(&self, mark: u32) -> bool {
        self.marks & mark != 0
    }

    fn is_lost_at_exit(&self) -> bool {
        self.has(mark::SCANNED_AT_EXIT) && !self.has(mark::REFERENCED_AT_EXIT)
    }
}
