//! From a finished run to the runs that could be next: which decisions to take the other way.
//!
//! This is the loop of Algorithm 1: as long as the path has elements left, only decisions whose other
//! side can still reach the next one; once it is passed, those that can reach the leak point; after
//! that, all.

use crate::edit::Edit;
use crate::input::Fault;
use crate::map::{Block, ProgramMap};
use crate::target::Target;
use crate::trace::{Compared, Trace};
use leakproof_rt::abi::{Event, FAULTS, event};
use leakproof_smt::Claim;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// How many decisions of one run are considered.
const MAX_DECISIONS: usize = 4000;

/// Steps that count for an inner call of the allocation's trace when it cannot be reached.
const OUT_OF_REACH: u32 = 30;

/// Distances to the goals: each element of the path, then the allocation, then the leak point.
pub struct Goals {
    distances: Vec<Vec<Option<u32>>>,
}

impl Goals {
    pub fn new(map: &ProgramMap, target: &Target) -> Self {
        let mut distances = Vec::new();
        for element in &target.path {
            let goal = |(id, taken): &(u32, u32)| map.successor(*id, *taken);
            let blocks: Vec<Block> = element.edges.iter().filter_map(goal).collect();
            distances.push(map.distances(&blocks));
        }
        distances.push(to_allocation(map, target));
        distances.push(map.distances(&target.point_blocks));
        Self { distances }
    }

    /// The number of the goal of a run that has passed so much of the path, and has made an object or not.
    pub fn number(&self, progress: usize, has_object: bool) -> usize {
        let path = self.distances.len() - 2;
        if progress < path { progress } else { path + usize::from(has_object) }
    }

    pub fn count(&self) -> usize {
        self.distances.len()
    }

    /// Steps from `block` to goal `number`; `None` when it cannot be reached.
    pub fn distance(&self, number: usize, block: Block) -> Option<u32> {
        self.distances[number][block as usize]
    }
}

/// Steps to the outermost call of the allocation's trace, and from there on to the inner ones: the sum, since which of them
/// a run was in is not told.
fn to_allocation(map: &ProgramMap, target: &Target) -> Vec<Option<u32>> {
    let mut sum = map.distances(&target.site_blocks);
    for calls in target.sites.iter().skip(1) {
        let blocks: Vec<Block> = calls.iter().filter_map(|c| map.call_block(*c)).collect();
        let inner = map.distances(&blocks);
        for (total, inner) in sum.iter_mut().zip(inner) {
            *total = total.map(|t| t + inner.unwrap_or(OUT_OF_REACH));
        }
    }
    sum
}

/// What to change.
#[derive(Clone, Debug)]
pub enum Change {
    /// These claims instead of what held at the event.
    Decide(Vec<Claim>),
    Fail(Fault),
    /// Another text.
    Replace(Edit),
}

/// One decision that may be taken the other way.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Position in the trace's events.
    pub event: usize,
    pub change: Change,
    /// Names the path that would result.
    pub path: u64,
    pub rank: Rank,
    /// The branch and side, for counting how often it was tried.
    pub side: (u32, u32),
    /// Whether it would take the next element of the path.
    pub takes_element: Option<usize>,
}

/// Goals still ahead, then the distance to the next: smaller is better.
pub type Rank = (usize, u32);

/// What a run suggests.
pub struct Suggestions {
    /// In the order of the run's events.
    pub candidates: Vec<Candidate>,
    /// The name of the path that it took.
    pub path: u64,
    /// How near it came.
    pub nearest: Rank,
}

/// Walks over a trace.
struct Walk<'a> {
    map: &'a ProgramMap,
    target: &'a Target,
    goals: &'a Goals,
    progress: usize,
    has_object: bool,
    after: bool,
    hasher: FxHasher,
    found: Vec<Candidate>,
    nearest: Rank,
}

/// Which decisions of a run may be taken the other way, and where it got.
pub fn suggestions(map: &ProgramMap, target: &Target, goals: &Goals, trace: &Trace) -> Suggestions {
    let mut walk = Walk {
        map,
        target,
        goals,
        progress: 0,
        has_object: false,
        after: false,
        hasher: FxHasher::default(),
        found: Vec::new(),
        nearest: (goals.count(), u32::MAX),
    };
    // Where the allocation was passed is not told by the events, but the objects know how many there had been.
    walk.all(trace, trace.objects.iter().map(|o| o.event as usize).min());
    let path = walk.hasher.finish();
    Suggestions { candidates: walk.found, path, nearest: walk.nearest }
}

impl Walk<'_> {
    fn all(&mut self, trace: &Trace, allocated_at: Option<usize>) {
        let mut compared = trace.compared.iter().peekable();
        for (i, e) in trace.events.iter().enumerate() {
            while let Some(pair) = compared.next_if(|c| c.event <= i) {
                self.compared(pair);
            }
            self.has_object |= allocated_at == Some(i);
            if self.found.len() < MAX_DECISIONS {
                self.event(i, e);
            }
            if let Some(block) = side_taken(e).and_then(|(id, side)| self.map.successor(id, side))
                && let Some(rank) = self.rank(block)
            {
                self.nearest = self.nearest.min(rank);
            }
            (e.kind, e.id, e.taken).hash(&mut self.hasher);
            match e.kind {
                event::PROGRESS => self.progress = e.aux as usize,
                // Passed before there was an object, it says nothing.
                event::LEAK_POINT => self.after |= e.aux > 0,
                _ => {}
            }
        }
        compared.for_each(|pair| self.compared(pair));
    }

    /// How near a block is to what is next; `None` when that cannot be reached from it.
    fn rank(&self, block: Block) -> Option<Rank> {
        match self.after {
            true => Some((0, 0)),
            false => Some(self.rank_at(self.goals.distance(self.goal(), block)?)),
        }
    }

    fn rank_at(&self, distance: u32) -> Rank {
        match self.after {
            true => (0, 0),
            false => (self.goals.count() - self.goal(), distance),
        }
    }

    fn goal(&self) -> usize {
        self.goals.number(self.progress, self.has_object)
    }

    fn event(&mut self, index: usize, e: &Event) {
        match e.kind {
            event::BRANCH if e.node != 0 => {
                let other = u32::from(e.taken == 0);
                let claim = Claim { node: e.node, value: u64::from(other), equal: true };
                // Successor 0 is where a true condition goes.
                self.side(index, e.id, 1 - other, vec![claim]);
            }
            event::SWITCH if e.node != 0 => self.switch(index, e),
            event::LIBRARY => {
                let value = u64::from(e.taken == 0);
                let claim = Claim { node: e.node, value, equal: true };
                let block = self.map.call_block(e.id);
                let change = Change::Decide(vec![claim]);
                self.add(index, change, block, (e.id, 2 + u32::from(e.taken)), None);
            }
            event::FAULT if e.aux == 0 => {
                let Some(name) = FAULTS.get(usize::from(e.taken)) else { return };
                let fault = Fault { function: (*name).to_owned(), call: e.node };
                let block = self.map.call_block(e.id);
                self.add(index, Change::Fail(fault), block, (e.id, 4), None);
            }
            _ => {}
        }
    }

    /// Two texts that could be the same.
    fn compared(&mut self, pair: &Compared) {
        const KINDS: u32 = 16;
        if self.found.len() >= MAX_DECISIONS || pair.is == pair.wanted {
            return;
        }
        let (is, wanted) = (pair.is.clone(), pair.wanted.clone());
        // Each wanted text is another side: a table has many.
        let mut hasher = FxHasher::default();
        wanted.hash(&mut hasher);
        let side = KINDS.max((hasher.finish() >> 33) as u32);
        let edit = Edit { variable: pair.source, is, wanted };
        let block = self.map.call_block(pair.call);
        self.add(pair.event, Change::Replace(edit), block, (pair.call, side), None);
    }

    fn switch(&mut self, index: usize, e: &Event) {
        let Some(cases) = self.map.branch(e.id).and_then(|b| b.cases.clone()) else { return };
        for (successor, values) in cases.iter().enumerate() {
            if successor == usize::from(e.taken) {
                continue;
            }
            let claims = if successor == 0 {
                let all = cases.iter().flatten();
                all.map(|v| Claim { node: e.node, value: *v, equal: false }).collect()
            } else {
                let first = values.first().copied().unwrap_or(0);
                vec![Claim { node: e.node, value: first, equal: true }]
            };
            self.side(index, e.id, successor as u32, claims);
        }
    }

    /// A branch that could go on to `successor` instead.
    fn side(&mut self, index: usize, id: u32, successor: u32, claims: Vec<Claim>) {
        let block = self.map.successor(id, successor);
        let element = self.target.path.get(self.progress);
        let takes = element.is_some_and(|e| e.edges.contains(&(id, successor)));
        let takes = takes.then_some(self.progress);
        self.add(index, Change::Decide(claims), block, (id, successor), takes);
    }

    fn add(
        &mut self,
        event: usize,
        change: Change,
        block: Option<Block>,
        side: (u32, u32),
        takes_element: Option<usize>,
    ) {
        let rank = match block {
            Some(block) => self.rank(block),
            // A decision whose place is not known may lead anywhere.
            None => Some(self.rank_at(50)),
        };
        let Some(rank) = rank else { return };
        let mut hasher = self.hasher.clone();
        (event, side, fault_name(&change)).hash(&mut hasher);
        if let Change::Decide(claims) = &change {
            for c in claims {
                (c.value, c.equal).hash(&mut hasher);
            }
        }
        if let Change::Replace(edit) = &change {
            edit.hash(&mut hasher);
        }
        let path = hasher.finish();
        self.found.push(Candidate { event, change, path, rank, side, takes_element });
    }
}

/// The branch of an event and the successor that it went on to.
pub fn side_taken(e: &Event) -> Option<(u32, u32)> {
    match e.kind {
        event::BRANCH => Some((e.id, u32::from(e.taken == 0))),
        event::SWITCH => Some((e.id, u32::from(e.taken))),
        _ => None,
    }
}

fn fault_name(change: &Change) -> Option<(&str, u32)> {
    match change {
        Change::Fail(fault) => Some((&fault.function, fault.call)),
        Change::Decide(_) | Change::Replace(_) => None,
    }
}
