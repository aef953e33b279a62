//! The constraint graph and its solution by waves.
//!
//! Nodes are pointer-holding variables and memory cells; an edge `a -> b` says that `b` may hold
//! whatever `a` holds. Constraints that dereference sit on the node of the pointer and turn into
//! edges as its set grows. A wave: merge cycles, push differences along edges in topological order,
//! then let the grown pointers create edges. Repeated until nothing changes.
//! Invariant between waves: every element before a node's `pushed` cursor is in all its successors,
//! every element before `seen` went through all its constraints. Functions are not in the log: they have sets of
//! their own, and in the place of cursors the sets that were pushed and seen.

use super::ObjectKind;
use super::copy::ByteCopy;
use super::functions::{FunctionSetId, FunctionSets};
use super::layout::LayoutId;
use super::memory::Classes;
use super::object::{Loc, Obj, Objects, Shape, UNKNOWN};
use super::set::LocSet;
use super::uses::Uses;
use crate::scc;
use rustc_hash::FxHashSet;

pub(super) type NodeId = u32;

/// A pointer that is dereferenced may lead to this many different contents.
const MAX_CLASSES: usize = 24;

/// A set with more locations says hardly anything: it becomes `UNKNOWN`, and what is in it escapes.
const MAX_SET: usize = 2048;

/// A set with `UNKNOWN` keeps the names of escaped objects while it is not larger than this.
const MAX_NAMED: usize = 16;

/// Cycles are looked for again when the edges have grown by one in so many.
const NEW_EDGES: usize = 200;

/// What a pointer operand is, before solving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Val {
    /// Holds no address.
    Nothing,
    /// Exactly this address.
    Addr(Loc),
    Var(NodeId),
}

/// An address computation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Step {
    pub delta: i64,
    /// `None`: a constant step. `Some(s)`: plus an unknown multiple of `s` (0: of anything).
    pub stride: Option<u64>,
    /// The struct that a member is selected of.
    pub ty: Option<LayoutId>,
}

impl Step {
    pub const ANYWHERE: Step = Step { delta: 0, stride: Some(0), ty: None };

    pub fn constant(delta: i64) -> Step {
        Step { delta, stride: None, ty: None }
    }
}

#[derive(Default)]
struct Node {
    set: LocSet,
    /// Prefix of `set` that all successors have.
    pushed: u32,
    /// Prefix of `set` that all uses have seen.
    seen: u32,
    functions: FunctionSetId,
    functions_pushed: FunctionSetId,
    functions_seen: FunctionSetId,
    /// Holds `UNKNOWN`: then escaped objects are meant already, and are left out.
    unknown: bool,
    /// Grew beyond `MAX_SET`.
    wide: bool,
    /// Length of `set` and count of escapes when it was narrowed last.
    narrowed: (u32, u32),
    successors: Vec<NodeId>,
    uses: Option<Box<Uses>>,
}

impl Node {
    fn size(&self, functions: &FunctionSets) -> usize {
        self.set.len() + functions.len(self.functions)
    }

    /// It is too large to name objects that `UNKNOWN` stands for.
    fn absorbs(&self, functions: &FunctionSets) -> bool {
        self.unknown && self.size(functions) > MAX_NAMED
    }

    fn is_pushed(&self) -> bool {
        self.pushed as usize == self.set.len() && self.functions_pushed == self.functions
    }

    fn is_seen(&self) -> bool {
        self.seen as usize == self.set.len() && self.functions_seen == self.functions
    }
}

pub(super) struct Solver {
    pub mem: Objects,
    pub classes: Classes,
    pub functions: FunctionSets,
    pub copies: Vec<ByteCopy>,
    /// How many pairs of places were copied between.
    pub pairs: u64,
    nodes: Vec<Node>,
    /// Union-find parents.
    parent: Vec<NodeId>,
    edges: FxHashSet<u64>,
    /// Nodes, sources first; how many nodes are in it, and of how many edges it knows.
    order: Vec<NodeId>,
    ordered_nodes: usize,
    ordered_edges: usize,
    /// Nodes with elements that are not pushed or not seen.
    dirty: Vec<NodeId>,
    is_dirty: Vec<bool>,
    /// Everything that flows into this node escapes.
    pub escape: NodeId,
    /// Calls through pointers that found a function: (call, function location).
    pub resolved_calls: Vec<(u32, Loc)>,
    /// Dereferenced nodes with many pointees.
    crowded: Vec<NodeId>,
    /// Nodes that grew beyond `MAX_SET`, and how many of them escape already.
    wide: Vec<NodeId>,
    widened: usize,
    /// Objects that escaped and that nobody has looked at yet.
    pub escaped_objects: Vec<Obj>,
    pub stats: SolverStats,
}

/// Counts for benchmarks.
#[derive(Clone, Copy, Default, Debug)]
pub struct SolverStats {
    pub nodes: usize,
    pub edges: usize,
    pub objects: usize,
    pub locations: usize,
    pub waves: usize,
    pub elements: usize,
}

impl Solver {
    pub fn new() -> Self {
        let mut solver = Solver {
            mem: Objects::default(),
            classes: Classes::default(),
            functions: FunctionSets::new(),
            copies: Vec::new(),
            pairs: 0,
            nodes: Vec::new(),
            parent: Vec::new(),
            edges: FxHashSet::default(),
            order: Vec::new(),
            ordered_nodes: 0,
            ordered_edges: 0,
            dirty: Vec::new(),
            is_dirty: Vec::new(),
            escape: 0,
            resolved_calls: Vec::new(),
            crowded: Vec::new(),
            wide: Vec::new(),
            widened: 0,
            escaped_objects: Vec::new(),
            stats: SolverStats::default(),
        };
        solver.escape = solver.fresh();
        // The location `UNKNOWN` needs an object to be in.
        let nowhere = solver.mem.add(ObjectKind::Library, Shape::UNTYPED);
        solver.mem.objects[nowhere as usize].opaque = true;
        solver
    }

    pub fn fresh(&mut self) -> NodeId {
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node::default());
        self.parent.push(id);
        self.is_dirty.push(false);
        id
    }

    pub fn find(&mut self, node: NodeId) -> NodeId {
        let mut root = node;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        let mut at = node;
        while self.parent[at as usize] != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }

    /// The representative, without shortening paths.
    pub fn find_shared(&self, mut node: NodeId) -> NodeId {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }

    pub fn locations(&self, node: NodeId) -> impl Iterator<Item = Loc> {
        let n = &self.nodes[self.find_shared(node) as usize];
        n.set.as_slice().iter().copied().chain(self.functions.list(n.functions))
    }

    fn mark(&mut self, node: NodeId) {
        if !std::mem::replace(&mut self.is_dirty[node as usize], true) {
            self.dirty.push(node);
        }
    }

    /// `node ∋ loc`
    pub fn insert(&mut self, node: NodeId, loc: Loc) {
        let node = self.find(node);
        if let Some(function) = self.functions.only(loc) {
            return self.push_functions(node, function);
        }
        let n = &mut self.nodes[node as usize];
        if n.unknown && self.mem.escaped[loc as usize] {
            return;
        }
        if n.set.insert(loc) {
            n.unknown |= loc == UNKNOWN;
            self.mark(node);
            self.note_width(node);
        }
    }

    /// Puts functions into the set of a representative.
    fn push_functions(&mut self, node: NodeId, functions: FunctionSetId) {
        let known = self.nodes[node as usize].functions;
        let union = self.functions.union(known, functions);
        if union != known {
            self.nodes[node as usize].functions = union;
            self.mark(node);
            self.note_width(node);
        }
    }

    fn note_width(&mut self, node: NodeId) {
        let n = &mut self.nodes[node as usize];
        if n.size(&self.functions) > MAX_SET && !n.wide {
            n.wide = true;
            self.wide.push(node);
        }
    }

    /// `dst ⊇ src`
    pub fn edge(&mut self, src: NodeId, dst: NodeId) {
        let (src, dst) = (self.find(src), self.find(dst));
        if src == dst || !self.edges.insert(u64::from(src) << 32 | u64::from(dst)) {
            return;
        }
        self.nodes[src as usize].successors.push(dst);
        self.push_pushed(src, dst);
    }

    /// Gives a new successor what the others have.
    fn push_pushed(&mut self, src: NodeId, dst: NodeId) {
        let Node { pushed, functions_pushed, .. } = self.nodes[src as usize];
        if pushed > 0 {
            self.push_range(src, dst, 0, pushed as usize);
        }
        self.push_functions(dst, functions_pushed);
    }

    pub fn flow(&mut self, src: Val, dst: NodeId) {
        match src {
            Val::Nothing => {}
            Val::Addr(loc) => self.insert(dst, loc),
            Val::Var(src) => self.edge(src, dst),
        }
    }

    /// Puts a range of `src`'s log into `dst`.
    fn push_range(&mut self, src: NodeId, dst: NodeId, from: usize, to: usize) {
        let log = std::mem::take(&mut self.nodes[src as usize].set);
        // Merging and new edges push whole sets again, to where most of them are already.
        if from == 0 && log.is_known_subset(&self.nodes[dst as usize].set) {
            self.nodes[src as usize].set = log;
            return;
        }
        let target = &mut self.nodes[dst as usize];
        let before = target.set.len();
        for &loc in &log.as_slice()[from..to] {
            if target.unknown && self.mem.escaped[loc as usize] {
                continue;
            }
            target.set.insert(loc);
            target.unknown |= loc == UNKNOWN;
        }
        let grew = target.set.len() > before;
        self.nodes[src as usize].set = log;
        if grew {
            self.mark(dst);
            self.note_width(dst);
        }
    }

    fn uses(&mut self, node: NodeId) -> &mut Uses {
        self.nodes[node as usize].uses.get_or_insert_default()
    }

    /// Adds a constraint; what the pointer already holds goes through it at once.
    fn add_use(
        &mut self,
        node: NodeId,
        add: impl FnOnce(&mut Uses),
        each: impl Fn(&mut Self, Loc),
    ) {
        let node = self.find(node);
        add(self.uses(node));
        let Node { seen, functions_seen, .. } = self.nodes[node as usize];
        for i in 0..seen as usize {
            let loc = self.nodes[node as usize].set.as_slice()[i];
            each(self, loc);
        }
        for function in self.functions.list(functions_seen) {
            each(self, function);
        }
        if !self.nodes[node as usize].is_seen() {
            self.mark(node);
        }
    }

    pub fn load(&mut self, ptr: Val, dst: NodeId) {
        match ptr {
            Val::Nothing => {}
            Val::Addr(loc) => self.load_from(loc, dst),
            Val::Var(n) => {
                self.add_use(n, |u| u.loads.push(dst), move |s, loc| s.load_from(loc, dst))
            }
        }
    }

    pub fn store(&mut self, ptr: Val, src: Val) {
        match ptr {
            Val::Nothing => {}
            Val::Addr(loc) => {
                if let Some(cell) = self.write_node(loc) {
                    self.flow(src, cell);
                }
            }
            Val::Var(n) => {
                let Some(src) = self.as_node(src) else { return };
                self.add_use(n, |u| u.stores.push(src), move |s, loc| s.store_to(loc, src));
            }
        }
    }

    pub fn step(&mut self, base: Val, step: Step, dst: NodeId) {
        match base {
            Val::Nothing => {}
            Val::Addr(loc) => {
                let to = self.moved(loc, step);
                self.insert(dst, to);
            }
            Val::Var(n) => self.add_use(
                n,
                |u| u.steps.push((step, dst)),
                move |s, loc| {
                    let to = s.moved(loc, step);
                    s.insert(dst, to);
                },
            ),
        }
    }

    pub fn moved(&mut self, loc: Loc, step: Step) -> Loc {
        let loc = match step.ty {
            Some(ty) => self.viewed(loc, ty, step.delta),
            None => loc,
        };
        match step.stride {
            None => self.mem.shift(loc, step.delta),
            Some(stride) => self.mem.shift_indexed(loc, step.delta, stride),
        }
    }

    /// Watches a pointer for a copy of bytes or for calls.
    pub fn watch_copy(&mut self, ptr: NodeId, copy: u32, is_dst: bool) {
        self.add_use(
            ptr,
            |u| u.copies.push((copy, is_dst)),
            move |s, loc| {
                s.copy_end(copy, is_dst, loc);
            },
        );
    }

    pub fn watch_call(&mut self, ptr: NodeId, call: u32) {
        self.add_use(ptr, |u| u.calls.push(call), move |s, loc| s.resolved_calls.push((call, loc)));
    }

    /// A node that holds exactly what `val` does; `None` for nothing.
    pub fn as_node(&mut self, val: Val) -> Option<NodeId> {
        match val {
            Val::Nothing => None,
            Val::Var(n) => Some(n),
            Val::Addr(loc) => {
                let node = self.fresh();
                self.insert(node, loc);
                Some(node)
            }
        }
    }

    pub fn has_work(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// One wave. Afterwards `resolved_calls` and `escaped_objects` may ask for more constraints.
    pub fn wave(&mut self) {
        self.stats.waves += 1;
        self.bring_in_order();
        // After merging, which joins sets, and before all that are left are pushed along.
        self.narrow();
        self.push_all();
        self.use_all();
        self.merge_crowds();
        self.widen();
    }

    /// Lets what the sets that grew too large hold escape, so that `UNKNOWN` stands for it.
    fn widen(&mut self) {
        while let Some(&node) = self.wide.get(self.widened) {
            self.widened += 1;
            if self.find(node) != self.find(self.escape) {
                self.insert(node, UNKNOWN);
                self.edge(node, self.escape);
            }
        }
    }

    /// Takes from sets what `UNKNOWN` stands for by now. Without this, one pointer that goes out of
    /// sight fills most sets of a program with all that escapes.
    fn narrow(&mut self) {
        let sink = self.find(self.escape);
        let escaped = &self.mem.escaped;
        let keep = |loc: Loc| loc == UNKNOWN || !escaped[loc as usize];
        for (id, n) in self.nodes.iter_mut().enumerate() {
            let state = (n.set.len() as u32, self.mem.escapes);
            if n.absorbs(&self.functions) && id != sink as usize && n.narrowed != state {
                n.set.retain([&mut n.pushed, &mut n.seen], keep);
                n.narrowed = (n.set.len() as u32, self.mem.escapes);
            }
        }
    }

    /// Merges cycles and orders the nodes. Where hardly an edge is new, the old order does: the last
    /// waves of many change a few sets each.
    fn bring_in_order(&mut self) {
        if (self.edges.len() - self.ordered_edges) * NEW_EDGES >= self.edges.len() {
            self.ordered_edges = self.edges.len();
            self.order = self.merge_cycles();
        } else {
            self.order.extend(self.ordered_nodes as NodeId..self.nodes.len() as NodeId);
        }
        self.ordered_nodes = self.nodes.len();
    }

    /// Merges strongly connected nodes. Returns representatives, sources first.
    fn merge_cycles(&mut self) -> Vec<NodeId> {
        let graph = self.snapshot();
        let components = scc::components(&graph);
        let mut order = Vec::with_capacity(components.len());
        for component in components.iter().rev() {
            for &other in &component[1..] {
                self.merge(component[0], other);
            }
            order.push(self.find(component[0]));
        }
        order
    }

    fn snapshot(&mut self) -> scc::Graph {
        let mut starts = Vec::with_capacity(self.nodes.len() + 1);
        let mut targets = Vec::new();
        starts.push(0);
        for n in 0..self.nodes.len() {
            let mut successors = std::mem::take(&mut self.nodes[n].successors);
            successors.iter_mut().for_each(|to| *to = self.find(*to));
            // Merging makes edges of one node equal, and edges to itself.
            successors.sort_unstable();
            successors.dedup();
            successors.retain(|to| *to as usize != n);
            targets.extend_from_slice(&successors);
            self.nodes[n].successors = successors;
            starts.push(targets.len() as u32);
        }
        scc::Graph { starts, targets }
    }

    /// Makes one node of two; the one with more elements stays, for the work that it has done.
    pub fn merge(&mut self, a: NodeId, b: NodeId) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let size = |n: NodeId| self.nodes[n as usize].size(&self.functions);
        let larger = size(b) > size(a);
        let (a, b) = if larger { (b, a) } else { (a, b) };
        let gone = std::mem::take(&mut self.nodes[b as usize]);
        self.parent[b as usize] = a;
        // What went to the successors of `a` already has yet to go to those of `b`. What `b` holds
        // comes behind the cursors of `a` and goes to all.
        for &next in &gone.successors {
            let next = self.find(next);
            if next != a {
                self.push_pushed(a, next);
            }
        }
        let node = &mut self.nodes[a as usize];
        for &loc in gone.set.as_slice() {
            node.set.insert(loc);
        }
        node.unknown |= gone.unknown;
        node.wide |= gone.wide;
        node.successors.extend(gone.successors);
        if let Some(uses) = gone.uses {
            (node.seen, node.functions_seen) = (0, FunctionSetId::EMPTY);
            node.uses.get_or_insert_default().extend(*uses);
        }
        node.functions = self.functions.union(node.functions, gone.functions);
        self.mark(a);
        self.note_width(a);
    }

    fn push_all(&mut self) {
        for i in 0..self.order.len() {
            let node = self.order[i];
            if self.nodes[node as usize].is_pushed() {
                continue;
            }
            let (from, to) = self.unpushed(node);
            let functions = self.nodes[node as usize].functions;
            let successors = std::mem::take(&mut self.nodes[node as usize].successors);
            for &next in &successors {
                let next = self.find(next);
                if next != node {
                    self.push_range(node, next, from, to);
                    self.push_functions(next, functions);
                }
            }
            let n = &mut self.nodes[node as usize];
            (n.successors, n.pushed, n.functions_pushed) = (successors, to as u32, functions);
        }
    }

    fn unpushed(&self, node: NodeId) -> (usize, usize) {
        let n = &self.nodes[node as usize];
        (n.pushed as usize, n.set.len())
    }

    fn use_all(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.iter().for_each(|&n| self.is_dirty[n as usize] = false);
        dirty.sort_unstable();
        for node in dirty {
            if self.find(node) != node {
                continue;
            }
            self.use_new(node);
            let n = &self.nodes[node as usize];
            if !n.is_pushed() || !n.is_seen() {
                self.mark(node);
            }
        }
    }

    /// What is dereferenced as one is kept as one: bounds the edges that a dereference makes.
    fn merge_crowds(&mut self) {
        for node in std::mem::take(&mut self.crowded) {
            let node = self.find(node);
            let mut groups: Vec<(Option<LayoutId>, u32)> = Vec::new();
            for i in 0..self.nodes[node as usize].set.len() {
                let loc = self.nodes[node as usize].set.as_slice()[i];
                let object = self.mem.locs[loc as usize].object;
                let o = &self.mem.objects[object as usize];
                if !o.opaque && !o.constant {
                    let layout = o.layout;
                    groups.push((layout, self.classes.of(object)));
                }
            }
            groups.sort_unstable();
            groups.dedup();
            if groups.len() <= MAX_CLASSES {
                continue;
            }
            let mut firsts: Vec<u32> = Vec::new();
            for pair in groups.chunk_by(|a, b| a.0 == b.0) {
                firsts.push(pair[0].1);
                for other in &pair[1..] {
                    self.merge_classes(pair[0].1, other.1);
                }
            }
            if firsts.len() > MAX_CLASSES {
                for other in &firsts[1..] {
                    self.merge_classes(firsts[0], *other);
                }
            }
        }
    }

    /// Lets the uses of `node` see its new elements.
    fn use_new(&mut self, node: NodeId) {
        let from = self.nodes[node as usize].seen as usize;
        let fresh: Vec<Loc> = self.nodes[node as usize].set.as_slice()[from..].to_vec();
        self.nodes[node as usize].seen += fresh.len() as u32;
        let functions = self.new_functions(node);
        if node == self.find(self.escape) {
            fresh.iter().chain(&functions).for_each(|&loc| self.escape_loc(loc));
        }
        let Some(uses) = self.nodes[node as usize].uses.take() else { return };
        let dereferenced = uses.loads.len() + uses.stores.len() + uses.copies.len() > 0;
        if dereferenced && self.nodes[node as usize].set.len() > MAX_CLASSES && !fresh.is_empty() {
            self.crowded.push(node);
        }
        for &loc in &fresh {
            let meant = self.mem.escaped[loc as usize]
                && self.nodes[node as usize].absorbs(&self.functions);
            if !meant {
                self.use_one(&uses, loc);
            }
        }
        if !functions.is_empty() {
            self.use_functions(node, &uses, &functions);
        }
        // A use may have added to this very node meanwhile.
        match &mut self.nodes[node as usize].uses {
            slot @ None => *slot = Some(uses),
            Some(added) => added.extend(*uses),
        }
    }

    /// The functions that uses of `node` have not seen; from now on they have.
    fn new_functions(&mut self, node: NodeId) -> Vec<Loc> {
        let n = &mut self.nodes[node as usize];
        let seen = std::mem::replace(&mut n.functions_seen, n.functions);
        self.functions.difference(n.functions, seen)
    }

    /// What `use_one` would do with each of them: they hold nothing, and a step stays where it is.
    fn use_functions(&mut self, node: NodeId, uses: &Uses, fresh: &[Loc]) {
        let all = self.nodes[node as usize].functions_seen;
        for &(_, dst) in &uses.steps {
            let dst = self.find(dst);
            self.push_functions(dst, all);
        }
        for &loc in fresh {
            self.resolved_calls.extend(uses.calls.iter().map(|&call| (call, loc)));
        }
    }

    fn use_one(&mut self, uses: &Uses, loc: Loc) {
        for &dst in &uses.loads {
            self.load_from(loc, dst);
        }
        for &src in &uses.stores {
            self.store_to(loc, src);
        }
        for &(step, dst) in &uses.steps {
            let to = self.moved(loc, step);
            self.insert(dst, to);
        }
        for &(copy, is_dst) in &uses.copies {
            self.copy_end(copy, is_dst, loc);
        }
        self.resolved_calls.extend(uses.calls.iter().map(|&call| (call, loc)));
    }

    fn load_from(&mut self, loc: Loc, dst: NodeId) {
        if loc == UNKNOWN {
            self.insert(dst, UNKNOWN);
        } else if let Some(cell) = self.read_node(loc) {
            self.edge(cell, dst);
        }
    }

    fn store_to(&mut self, loc: Loc, src: NodeId) {
        if let Some(cell) = self.write_node(loc) {
            self.edge(src, cell);
        }
    }

    pub fn finish(&mut self) {
        self.stats.nodes = self.nodes.len();
        self.stats.edges = self.edges.len();
        self.stats.objects = self.mem.objects.len();
        self.stats.locations = self.mem.locs.len();
        self.stats.elements = self.nodes.iter().map(|n| n.size(&self.functions)).sum();
        debug_assert!(self.nodes.iter().all(Node::is_pushed));
    }
}
