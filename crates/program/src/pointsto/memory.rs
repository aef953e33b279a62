//! What memory holds: cells, "anywhere", escape, and copies of bytes.
//!
//! Rules. A cell of an object is one node, read and written. "Anywhere in o" has two nodes: what is
//! written through it flows into every cell of o, and every cell of o flows into what is read
//! through it, so an address of unknown offset does not merge fields by itself. An object escapes
//! when its address reaches memory that the analysis does not see: then its cells may hold
//! `UNKNOWN`, and what they hold escapes too. Copies of bytes relate cells at equal distance.
//! Invariant: these relations hold for cells made later as well (`new_cell`).

use super::object::{ANYWHERE, Loc, NONE, Obj, UNKNOWN};
use super::solver::{NodeId, Solver, Val};

/// Above this many (destination, source) pairs a copy is between whole objects.
const MAX_PAIRS: usize = 64;

/// Bytes `[from, from + len)` of an object are also in another, from `to` on.
#[derive(Clone, Copy)]
pub(super) struct Mirror {
    from: u32,
    len: u64,
    object: Obj,
    to: u32,
    /// Period of the object that is copied from.
    period: u32,
}

/// `memcpy(dst, src, len)` and what its ends were found to be.
pub(super) struct ByteCopy {
    len: u64,
    dsts: Vec<Loc>,
    srcs: Vec<Loc>,
    /// Set once pairs are too many: everything read flows through this node.
    through: Option<NodeId>,
}

impl Solver {
    /// The node of what a load from `loc` yields; `None`: nothing, ever.
    pub fn read_node(&mut self, loc: Loc) -> Option<NodeId> {
        let l = &self.mem.locs[loc as usize];
        if l.read != NONE {
            return Some(l.read);
        }
        self.make_nodes(loc, |s, loc| s.new_reader(loc))
    }

    /// The node that a store to `loc` flows into.
    pub fn write_node(&mut self, loc: Loc) -> Option<NodeId> {
        if loc == UNKNOWN {
            return Some(self.escape);
        }
        let l = &self.mem.locs[loc as usize];
        if l.write != NONE {
            return Some(l.write);
        }
        self.make_nodes(loc, |s, loc| s.new_writer(loc))
    }

    fn make_nodes(&mut self, loc: Loc, make: impl Fn(&mut Self, Loc) -> NodeId) -> Option<NodeId> {
        let l = &self.mem.locs[loc as usize];
        if self.mem.objects[l.object as usize].opaque {
            return None;
        }
        Some(if l.offset == ANYWHERE { make(self, loc) } else { self.new_cell(loc) })
    }

    /// A cell starts to matter: connects it with all that holds for its object.
    fn new_cell(&mut self, loc: Loc) -> NodeId {
        let node = self.fresh();
        let l = &mut self.mem.locs[loc as usize];
        (l.read, l.write) = (node, node);
        let (obj, offset) = (l.object, l.offset);
        let o = &self.mem.objects[obj as usize];
        let (anywhere, escaped, mirrors) = (o.anywhere, o.escaped, o.mirrors.len());
        if anywhere != NONE {
            let any = &self.mem.locs[anywhere as usize];
            let (read, write) = (any.read, any.write);
            if read != NONE {
                self.edge(node, read);
            }
            if write != NONE {
                self.edge(write, node);
            }
        }
        if escaped {
            self.insert(node, UNKNOWN);
            self.edge(node, self.escape);
        }
        for i in 0..mirrors {
            let mirror = self.mirrors[self.mem.objects[obj as usize].mirrors[i] as usize];
            self.reflect(mirror, offset, node);
        }
        node
    }

    fn new_reader(&mut self, loc: Loc) -> NodeId {
        let node = self.fresh();
        let l = &mut self.mem.locs[loc as usize];
        l.read = node;
        let (obj, write) = (l.object, l.write);
        for cell in self.cell_nodes(obj) {
            self.edge(cell, node);
        }
        if write != NONE {
            self.edge(write, node);
        }
        if self.mem.objects[obj as usize].escaped {
            self.insert(node, UNKNOWN);
        }
        node
    }

    fn new_writer(&mut self, loc: Loc) -> NodeId {
        let node = self.fresh();
        let l = &mut self.mem.locs[loc as usize];
        l.write = node;
        let (obj, read) = (l.object, l.read);
        for cell in self.cell_nodes(obj) {
            self.edge(node, cell);
        }
        if read != NONE {
            self.edge(node, read);
        }
        let o = &self.mem.objects[obj as usize];
        let mirrors = o.mirrors.clone();
        if o.escaped {
            self.edge(node, self.escape);
        }
        for m in mirrors {
            let whole = self.mem.anywhere(self.mirrors[m as usize].object);
            self.store_node(whole, node);
        }
        node
    }

    fn store_node(&mut self, loc: Loc, src: NodeId) {
        if let Some(cell) = self.write_node(loc) {
            self.edge(src, cell);
        }
    }

    /// Nodes of the cells of an object that matter so far.
    fn cell_nodes(&self, obj: Obj) -> Vec<NodeId> {
        let cells = self.mem.objects[obj as usize].cells.iter();
        cells.map(|&(_, l)| self.mem.locs[l as usize].read).filter(|&n| n != NONE).collect()
    }

    /// The object at `loc` becomes visible outside.
    pub fn escape_loc(&mut self, loc: Loc) {
        if loc == UNKNOWN {
            return;
        }
        let obj = self.mem.locs[loc as usize].object;
        let o = &mut self.mem.objects[obj as usize];
        if std::mem::replace(&mut o.escaped, true) {
            return;
        }
        let anywhere = o.anywhere;
        for cell in self.cell_nodes(obj) {
            self.insert(cell, UNKNOWN);
            self.edge(cell, self.escape);
        }
        if anywhere != NONE {
            let any = &self.mem.locs[anywhere as usize];
            let (read, write) = (any.read, any.write);
            if read != NONE {
                self.insert(read, UNKNOWN);
            }
            if write != NONE {
                self.edge(write, self.escape);
            }
        }
        self.escaped_objects.push(obj);
    }

    /// `memcpy(dst, src, len)`; `u64::MAX` for an unknown length.
    pub fn copy_bytes(&mut self, dst: Val, src: Val, len: u64) {
        if dst == Val::Nothing || src == Val::Nothing {
            return;
        }
        let id = self.copies.len() as u32;
        self.copies.push(ByteCopy { len, dsts: Vec::new(), srcs: Vec::new(), through: None });
        for (end, is_dst) in [(dst, true), (src, false)] {
            match end {
                Val::Nothing => {}
                Val::Addr(loc) => self.copy_end(id, is_dst, loc),
                Val::Var(n) => self.watch_copy(n, id, is_dst),
            }
        }
    }

    /// One end of a copy was found to be `loc`.
    pub fn copy_end(&mut self, id: u32, is_dst: bool, loc: Loc) {
        if self.is_opaque(loc) {
            return;
        }
        let copy = &mut self.copies[id as usize];
        let own = if is_dst { &mut copy.dsts } else { &mut copy.srcs };
        if own.contains(&loc) {
            return;
        }
        own.push(loc);
        if let Some(through) = copy.through {
            self.join(through, is_dst, loc);
            return;
        }
        if copy.dsts.len() * copy.srcs.len() > MAX_PAIRS {
            self.summarise(id);
            return;
        }
        let len = copy.len;
        let others = if is_dst { copy.srcs.clone() } else { copy.dsts.clone() };
        for other in others {
            let (dst, src) = if is_dst { (loc, other) } else { (other, loc) };
            self.pair(dst, src, len);
        }
    }

    fn is_opaque(&self, loc: Loc) -> bool {
        let obj = self.mem.locs[loc as usize].object;
        loc != UNKNOWN && self.mem.objects[obj as usize].opaque
    }

    fn summarise(&mut self, id: u32) {
        let through = self.fresh();
        let copy = &mut self.copies[id as usize];
        copy.through = Some(through);
        let (dsts, srcs) = (copy.dsts.clone(), copy.srcs.clone());
        dsts.iter().for_each(|&loc| self.join(through, true, loc));
        srcs.iter().for_each(|&loc| self.join(through, false, loc));
    }

    /// Connects one end with the node through which a summarised copy flows.
    fn join(&mut self, through: NodeId, is_dst: bool, loc: Loc) {
        let whole = self.whole(loc);
        if is_dst {
            self.store_node(whole, through);
        } else if whole == UNKNOWN {
            self.insert(through, UNKNOWN);
        } else if let Some(all) = self.read_node(whole) {
            self.edge(all, through);
        }
    }

    fn whole(&mut self, loc: Loc) -> Loc {
        if loc == UNKNOWN { loc } else { self.mem.anywhere(self.mem.locs[loc as usize].object) }
    }

    /// Copies `len` bytes from `src` to `dst`.
    fn pair(&mut self, dst: Loc, src: Loc, len: u64) {
        if dst == UNKNOWN || src == UNKNOWN {
            return self.pair_unknown(dst, src);
        }
        let (from, to) = (self.mem.locs[src as usize].offset, self.mem.locs[dst as usize].offset);
        let (object, target) =
            (self.mem.locs[src as usize].object, self.mem.locs[dst as usize].object);
        if from == ANYWHERE || to == ANYWHERE || object == target {
            let (all, whole) = (self.whole(src), self.whole(dst));
            if let (Some(all), Some(whole)) = (self.read_node(all), self.write_node(whole)) {
                self.edge(all, whole);
            }
            return;
        }
        let period = self.mem.objects[object as usize].period;
        let mirror = Mirror { from, len, object: target, to, period };
        self.mirrors.push(mirror);
        let id = self.mirrors.len() as u32 - 1;
        self.mem.objects[object as usize].mirrors.push(id);
        self.reflect_all(object, mirror);
    }

    fn pair_unknown(&mut self, dst: Loc, src: Loc) {
        let whole = self.whole(dst);
        if src == UNKNOWN {
            if let Some(node) = self.write_node(whole) {
                self.insert(node, UNKNOWN);
            }
            return;
        }
        let all = self.whole(src);
        if let Some(all) = self.read_node(all) {
            self.edge(all, self.escape);
        }
    }

    fn reflect_all(&mut self, object: Obj, mirror: Mirror) {
        let o = &self.mem.objects[object as usize];
        let anywhere = o.anywhere;
        let cells: Vec<(u32, NodeId)> = o
            .cells
            .iter()
            .map(|&(offset, l)| (offset, self.mem.locs[l as usize].read))
            .filter(|c| c.1 != NONE)
            .collect();
        for (offset, node) in cells {
            self.reflect(mirror, offset, node);
        }
        if anywhere != NONE && self.mem.locs[anywhere as usize].write != NONE {
            let written = self.mem.locs[anywhere as usize].write;
            let whole = self.mem.anywhere(mirror.object);
            self.store_node(whole, written);
        }
    }

    /// The cell at `offset` of the mirrored object, whose node is given, is also in the copy.
    fn reflect(&mut self, mirror: Mirror, offset: u32, node: NodeId) {
        let mut distance = i64::from(offset) - i64::from(mirror.from);
        // A copy over several elements of a repeating object wraps round.
        if distance < 0 {
            distance += i64::from(mirror.period);
        }
        if distance < 0 || distance as u64 >= mirror.len {
            return;
        }
        let to = self.mem.at(mirror.object, i64::from(mirror.to) + distance);
        self.store_node(to, node);
    }
}
