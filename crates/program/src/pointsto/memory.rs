//! What memory holds: cells, "anywhere", escape, and copies of bytes.
//!
//! Rules. A cell of an object is one node, read and written. "Anywhere in o" has two nodes: what is
//! written through it flows into every cell of o, and every cell of o flows into what is read
//! through it, so an address of unknown offset does not merge fields by itself. An object escapes
//! when its address reaches memory that the analysis does not see: then its cells may hold
//! `UNKNOWN`, and what they hold escapes too. Copies of bytes relate cells at equal distance.
//! Contents belong to a class of objects; cells of one folded offset are shared by the class.
//! Invariant: these relations hold for cells made later as well (`new_cell`).

use super::ObjectKind;
use super::layout::LayoutId;
use super::object::{ANYWHERE, Loc, NONE, Obj, UNKNOWN};
use super::solver::{NodeId, Solver, Val};
use rustc_hash::{FxHashMap, FxHashSet};

/// Contents of the objects of one class.
pub(super) struct Class {
    pub cells: Vec<(u32, NodeId)>,
    /// What a read at an unknown offset yields, what a write at one flows into.
    pub read: NodeId,
    pub write: NodeId,
    /// Some object of the class escaped.
    pub escaped: bool,
    /// Copies of these bytes that were made.
    pub mirrors: Vec<Mirror>,
    /// Members.
    pub objects: Vec<Obj>,
}

/// Bytes `[from, from + len)` of an object are also in another, from `to` on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Mirror {
    pub from: u32,
    pub len: u64,
    pub object: Obj,
    pub to: u32,
    /// Period of the object that is copied from.
    pub period: u32,
}

/// Classes by union-find over object ids.
#[derive(Default)]
pub(super) struct Classes {
    parent: Vec<u32>,
    classes: Vec<Class>,
    /// Cells of classes with many.
    large: FxHashMap<(u32, u32), NodeId>,
    /// Which class has which mirrors: a generic copying function makes thousands.
    mirrored: FxHashSet<(u32, Mirror)>,
}

/// Cells are looked up by hash above this count.
const LARGE: usize = 16;

impl Classes {
    /// The class of an object.
    pub fn of(&mut self, obj: Obj) -> u32 {
        while self.parent.len() <= obj as usize {
            self.parent.push(self.parent.len() as u32);
            self.classes.push(Class {
                cells: Vec::new(),
                read: NONE,
                write: NONE,
                escaped: false,
                mirrors: Vec::new(),
                objects: vec![self.classes.len() as Obj],
            });
        }
        let mut root = obj;
        while self.parent[root as usize] != root {
            let up = self.parent[self.parent[root as usize] as usize];
            self.parent[root as usize] = up;
            root = up;
        }
        root
    }

    fn get(&self, class: u32) -> &Class {
        &self.classes[class as usize]
    }

    fn get_mut(&mut self, class: u32) -> &mut Class {
        &mut self.classes[class as usize]
    }

    fn cell(&self, class: u32, offset: u32) -> Option<NodeId> {
        let cells = &self.get(class).cells;
        if cells.len() > LARGE {
            return self.large.get(&(class, offset)).copied();
        }
        cells.iter().find(|c| c.0 == offset).map(|c| c.1)
    }

    fn add_cell(&mut self, class: u32, offset: u32, node: NodeId) {
        self.get_mut(class).cells.push((offset, node));
        let cells = &self.classes[class as usize].cells;
        if cells.len() == LARGE + 1 {
            self.large.extend(cells.iter().map(|&(o, n)| ((class, o), n)));
        } else if cells.len() > LARGE {
            self.large.insert((class, offset), node);
        }
    }
}

impl Solver {
    /// The node of what a load from `loc` yields; `None`: nothing, ever.
    pub fn read_node(&mut self, loc: Loc) -> Option<NodeId> {
        self.content(loc, Solver::reader)
    }

    /// The node that a store to `loc` flows into.
    pub fn write_node(&mut self, loc: Loc) -> Option<NodeId> {
        if loc == UNKNOWN {
            return Some(self.escape);
        }
        self.content(loc, Solver::writer)
    }

    fn content(&mut self, loc: Loc, anywhere: fn(&mut Self, u32) -> NodeId) -> Option<NodeId> {
        let l = &self.mem.locs[loc as usize];
        if l.node != NONE {
            return Some(l.node);
        }
        let (object, offset) = (l.object, l.offset);
        if self.mem.objects[object as usize].opaque {
            return None;
        }
        let class = self.classes.of(object);
        if offset == ANYWHERE {
            return Some(anywhere(self, class));
        }
        let node = match self.classes.cell(class, offset) {
            Some(node) => node,
            None => self.new_cell(class, offset),
        };
        self.mem.locs[loc as usize].node = node;
        Some(node)
    }

    /// A cell starts to matter: connects it with all that holds for its class.
    fn new_cell(&mut self, class: u32, offset: u32) -> NodeId {
        let node = self.fresh();
        self.classes.add_cell(class, offset, node);
        self.connect_cell(class, node);
        for i in 0..self.classes.get(class).mirrors.len() {
            let mirror = self.classes.get(class).mirrors[i];
            self.reflect(mirror, offset, node);
        }
        node
    }

    fn connect_cell(&mut self, class: u32, node: NodeId) {
        let Class { read, write, escaped, .. } = *self.classes.get(class);
        if read != NONE {
            self.edge(node, read);
        }
        if write != NONE {
            self.edge(write, node);
        }
        if escaped {
            self.insert(node, UNKNOWN);
            self.edge(node, self.escape);
        }
    }

    fn reader(&mut self, class: u32) -> NodeId {
        let known = self.classes.get(class).read;
        if known != NONE {
            return known;
        }
        let node = self.fresh();
        self.classes.get_mut(class).read = node;
        for i in 0..self.classes.get(class).cells.len() {
            let cell = self.classes.get(class).cells[i].1;
            self.edge(cell, node);
        }
        let Class { write, escaped, .. } = *self.classes.get(class);
        if write != NONE {
            self.edge(write, node);
        }
        if escaped {
            self.insert(node, UNKNOWN);
        }
        for prefix in self.prefixes_of(class) {
            let whole = self.reader(prefix);
            self.edge(whole, node);
        }
        node
    }

    fn writer(&mut self, class: u32) -> NodeId {
        let known = self.classes.get(class).write;
        if known != NONE {
            return known;
        }
        let node = self.fresh();
        self.classes.get_mut(class).write = node;
        for i in 0..self.classes.get(class).cells.len() {
            let cell = self.classes.get(class).cells[i].1;
            self.edge(node, cell);
        }
        let Class { read, escaped, .. } = *self.classes.get(class);
        if read != NONE {
            self.edge(node, read);
        }
        if escaped {
            self.edge(node, self.escape);
        }
        for i in 0..self.classes.get(class).mirrors.len() {
            let whole = self.mem.anywhere(self.classes.get(class).mirrors[i].object);
            self.store_node(whole, node);
        }
        for prefix in self.prefixes_of(class) {
            let whole = self.writer(prefix);
            self.edge(node, whole);
        }
        node
    }

    /// Classes that hold the first part of the objects of a class.
    fn prefixes_of(&mut self, class: u32) -> Vec<u32> {
        let members = self.classes.classes[class as usize].objects.iter();
        let mut found: Vec<u32> = members
            .map(|&obj| self.mem.objects[obj as usize].prefix)
            .filter(|&prefix| prefix != NONE)
            .collect();
        for prefix in &mut found {
            *prefix = self.classes.of(*prefix);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Where a `ty` begins whose address is `loc` and whose member at `member` is meant.
    pub fn viewed(&mut self, loc: Loc, ty: LayoutId, member: i64) -> Loc {
        let at = self.mem.viewed(loc, ty, member);
        while let Some((object, ty, view)) = self.mem.seen.pop() {
            self.connect_view(object, ty, view);
        }
        at
    }

    /// What happened to an object happened to what is seen of it through a view.
    fn connect_view(&mut self, object: Obj, ty: LayoutId, view: Obj) {
        let own = self.mem.objects[view as usize].root == object;
        if own && self.mem.objects[object as usize].escaped {
            self.escape_object(view);
        }
        for i in 0..self.mem.objects[object as usize].copied_to.len() {
            let (dst, len) = self.mem.objects[object as usize].copied_to[i];
            self.copy_view(ty, view, dst, len);
        }
    }

    pub fn store_node(&mut self, loc: Loc, src: NodeId) {
        if let Some(cell) = self.write_node(loc) {
            self.edge(src, cell);
        }
    }

    /// Memory of a library: one place that points to itself.
    pub fn add_library(&mut self) -> Loc {
        let library = self.mem.add_library();
        let base = self.mem.base(library);
        self.store(Val::Addr(base), Val::Addr(base));
        base
    }

    /// The object at `loc` becomes visible outside.
    pub fn escape_loc(&mut self, loc: Loc) {
        if loc == UNKNOWN {
            return;
        }
        if self.mem.is_plain_member(loc) {
            self.mem.escaped[loc as usize] = true;
            self.mem.escapes += 1;
            return;
        }
        let obj = self.mem.locs[loc as usize].object;
        self.escape_object(self.mem.objects[obj as usize].root);
    }

    /// Code outside sees the object and, with it, its own views.
    fn escape_object(&mut self, obj: Obj) {
        if !self.mem.mark_escaped(obj) {
            return;
        }
        self.escaped_objects.push(obj);
        let o = &self.mem.objects[obj as usize];
        // The library's memory is outside by nature.
        if o.opaque || (o.kind == ObjectKind::Library && !o.view) {
            return;
        }
        let class = self.classes.of(obj);
        self.escape_class(class);
        for (_, view) in self.mem.objects[obj as usize].seen_as.clone() {
            if self.mem.objects[view as usize].root == obj {
                self.escape_object(view);
            }
        }
    }

    fn escape_class(&mut self, class: u32) {
        if std::mem::replace(&mut self.classes.get_mut(class).escaped, true) {
            return;
        }
        for i in 0..self.classes.get(class).cells.len() {
            let cell = self.classes.get(class).cells[i].1;
            self.insert(cell, UNKNOWN);
            self.edge(cell, self.escape);
        }
        let Class { read, write, .. } = *self.classes.get(class);
        if read != NONE {
            self.insert(read, UNKNOWN);
        }
        if write != NONE {
            self.edge(write, self.escape);
        }
    }

    /// From now on the two classes share their contents.
    pub fn merge_classes(&mut self, a: u32, b: u32) {
        let (a, b) = (self.classes.of(a), self.classes.of(b));
        if a == b {
            return;
        }
        let (a, b) = (a.min(b), a.max(b));
        self.classes.parent[b as usize] = a;
        let gone = self.classes.get_mut(b);
        let (read, write, escaped) = (gone.read, gone.write, gone.escaped);
        let (cells, mirrors) = (std::mem::take(&mut gone.cells), std::mem::take(&mut gone.mirrors));
        let objects = std::mem::take(&mut gone.objects);
        self.classes.get_mut(a).objects.extend(objects);
        if escaped {
            self.escape_class(a);
        }
        if read != NONE {
            let own = self.reader(a);
            self.merge(own, read);
        }
        if write != NONE {
            let own = self.writer(a);
            self.merge(own, write);
        }
        for &(offset, node) in &cells {
            match self.classes.cell(a, offset) {
                Some(own) => self.merge(own, node),
                None => self.adopt_cell(a, offset, node),
            }
        }
        for mirror in mirrors {
            self.add_mirror(a, mirror);
        }
    }

    /// A cell of a class that was merged into `class`.
    fn adopt_cell(&mut self, class: u32, offset: u32, node: NodeId) {
        self.classes.add_cell(class, offset, node);
        self.connect_cell(class, node);
        for i in 0..self.classes.get(class).mirrors.len() {
            let mirror = self.classes.get(class).mirrors[i];
            self.reflect(mirror, offset, node);
        }
    }

    pub fn add_mirror(&mut self, class: u32, mirror: Mirror) {
        if !self.classes.mirrored.insert((class, mirror)) {
            return;
        }
        self.classes.get_mut(class).mirrors.push(mirror);
        for (offset, node) in self.classes.get(class).cells.clone() {
            self.reflect(mirror, offset, node);
        }
        let written = self.classes.get(class).write;
        if written != NONE {
            let whole = self.mem.anywhere(mirror.object);
            self.store_node(whole, written);
        }
    }

    /// The cell at `offset` of the mirrored class, whose node is given, is also in the copy.
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
