//! The term arena: nodes, symbols, bases, and interning.
//!
//! Invariant: two terms with the same structure have the same id; children have smaller ids than
//! their parents.

use crate::area::Area;
use crate::linear::Alternatives;
use crate::marks::Marks;
use crate::memo::{Key, Memo, Operation};
use crate::seen::Seen;
use crate::spare::{self, Tables};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A term of a `Terms` arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(pub u32);

/// A free symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sym(pub u32);

/// A memory object whose address terms are built on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Base(pub u32);

impl From<Term> for u32 {
    fn from(t: Term) -> Self {
        t.0
    }
}

impl From<Base> for u32 {
    fn from(b: Base) -> Self {
        b.0
    }
}

/// Comparison predicates; the others are spelled by swapping and negating.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Cmp {
    Eq,
    ULt,
    ULe,
    SLt,
    SLe,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Op {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Cast {
    Trunc,
    ZExt,
    SExt,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Bool(bool),
    Int {
        bits: u16,
        value: u64,
    },
    Sym(Sym),
    /// The address `offset` bytes into `base`.
    Addr {
        base: Base,
        offset: i64,
    },
    /// `base + offset + index`, where `index` is not a constant and moves in steps of `stride`.
    Elem {
        base: Base,
        offset: i64,
        stride: u32,
        index: Term,
        /// Where it cannot leave.
        area: Area,
    },
    Not(Term),
    And(Arc<[Term]>),
    Or(Arc<[Term]>),
    Ite {
        cond: Term,
        then: Term,
        otherwise: Term,
    },
    Cmp {
        cmp: Cmp,
        lhs: Term,
        rhs: Term,
    },
    Bin {
        op: Op,
        lhs: Term,
        rhs: Term,
    },
    Cast {
        cast: Cast,
        bits: u16,
        value: Term,
    },
    /// Some one of these (an element of an array that holds all of them).
    Any(Arc<[Term]>),
    Tuple(Arc<[Term]>),
}

/// What is known of a symbol's value wherever it occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymInfo {
    pub bits: u16,
    /// Inclusive signed bounds.
    pub range: Option<(i64, i64)>,
    pub nonzero: bool,
    /// The symbol existed before any object of this function: it equals none of their addresses.
    pub outside: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BaseInfo {
    /// An object with an address of its own, unlike that of any other distinct base.
    /// `fresh` ones came into being in this function.
    Distinct { fresh: bool },
    /// What this pointer term points to.
    Pointee(Term),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta {
    bits: u16,
    /// Nodes below, counted as a tree, saturating.
    size: u32,
    /// Alternatives of the choice that the term is, counted as a tree, saturating.
    width: u32,
    /// Whether the value may be an address, or computed from one.
    has_addr: bool,
    /// Which symbols and objects may be mentioned: a bit for many of them each.
    mentions: u64,
    /// Of all symbols in it.
    marks: Marks,
    /// The negation; `NONE` when nobody asked for it yet.
    negation: Term,
}

/// A term in the table that finds it by its node. With the hash of that, to leave nodes alone that are others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    hash: u32,
    term: Term,
}

/// No term.
const NONE: Term = Term(u32::MAX);

/// Of a larger value computed from addresses, an `Any` lists just those.
const MAX_ALTERNATIVE: u32 = 12;
/// How many places in one object one `Any` lists.
const MAX_PLACES: usize = 4;
/// How many values that are no addresses one `Any` lists.
const MAX_PLAIN_ALTERNATIVES: usize = 6;

/// The arena.
#[derive(Debug)]
pub struct Terms {
    nodes: Vec<Node>,
    meta: Vec<Meta>,
    index: HashTable<Entry>,
    pub(crate) memo: Memo,
    pub(crate) alternatives: Alternatives,
    syms: Vec<SymInfo>,
    sym_marks: Vec<Marks>,
    bases: Vec<BaseInfo>,
    pub(crate) pointees: FxHashMap<Term, Base>,
    /// By base, for a walk over a list.
    met: Vec<Met>,
}

/// How an object was met in a list of alternatives.
#[derive(Clone, Copy, Default, Debug)]
struct Met {
    places: u8,
    as_array: bool,
}

impl Drop for Terms {
    fn drop(&mut self) {
        spare::give(Tables {
            nodes: std::mem::take(&mut self.nodes),
            meta: std::mem::take(&mut self.meta),
            index: std::mem::take(&mut self.index),
        });
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

impl Terms {
    pub const FALSE: Term = Term(0);
    pub const TRUE: Term = Term(1);
    /// The null pointer.
    pub const NULL: Term = Term(2);

    pub fn new() -> Self {
        let Tables { nodes, meta, index } = spare::take();
        let mut terms = Self {
            nodes,
            meta,
            index,
            memo: Memo::default(),
            alternatives: Alternatives::default(),
            syms: Vec::new(),
            sym_marks: Vec::new(),
            bases: Vec::new(),
            pointees: FxHashMap::default(),
            met: Vec::new(),
        };
        terms.intern(Node::Bool(false));
        terms.intern(Node::Bool(true));
        terms.int(64, 0);
        terms
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    pub fn node(&self, t: Term) -> &Node {
        &self.nodes[t.0 as usize]
    }
    pub fn bits(&self, t: Term) -> u16 {
        self.meta[t.0 as usize].bits
    }
    /// Tree size of the term, saturating.
    pub fn size(&self, t: Term) -> u32 {
        self.meta[t.0 as usize].size
    }
    /// Whether a term has more than so many different parts. As a tree it may be much larger: conditions that were met
    /// early occur in all that came of them.
    pub fn has_more_parts(&self, t: Term, most: u32) -> bool {
        if self.size(t) <= most {
            return false;
        }
        let (mut seen, mut parts) = (Seen::default(), 0);
        let mut work = vec![t];
        while let Some(t) = work.pop() {
            if seen.insert(t) {
                parts += 1;
                if parts > most {
                    return true;
                }
                for_each_child(self.node(t), |c| work.push(c));
            }
        }
        false
    }
    /// Whether a term is larger than that as a tree, and has more different parts, too.
    pub fn is_larger(&self, t: Term, tree: u32, parts: u32) -> bool {
        self.size(t) > tree && self.has_more_parts(t, parts)
    }
    /// How many alternatives a value has, counted as a tree.
    pub fn width(&self, t: Term) -> u32 {
        self.meta[t.0 as usize].width
    }
    pub fn has_addr(&self, t: Term) -> bool {
        self.meta[t.0 as usize].has_addr
    }
    /// A term in which another one occurs has all the bits of that one.
    pub fn mentions(&self, t: Term) -> u64 {
        self.meta[t.0 as usize].mentions
    }
    /// The marks of all symbols that occur in a term.
    pub fn marks(&self, t: Term) -> Marks {
        self.meta[t.0 as usize].marks
    }
    pub fn sym_info(&self, s: Sym) -> SymInfo {
        self.syms[s.0 as usize]
    }
    pub fn base_info(&self, b: Base) -> BaseInfo {
        self.bases[b.0 as usize]
    }
    /// The pointer whose pointee `b` is.
    pub fn as_pointee(&self, b: Base) -> Option<Term> {
        match self.base_info(b) {
            BaseInfo::Pointee(p) => Some(p),
            BaseInfo::Distinct { .. } => None,
        }
    }
    pub fn sym_count(&self) -> usize {
        self.syms.len()
    }
    pub fn base_count(&self) -> usize {
        self.bases.len()
    }

    pub fn new_sym(&mut self, info: SymInfo) -> Sym {
        self.new_marked_sym(info, Marks::NONE)
    }
    pub fn new_marked_sym(&mut self, info: SymInfo, marks: Marks) -> Sym {
        self.syms.push(info);
        self.sym_marks.push(marks);
        Sym(self.syms.len() as u32 - 1)
    }
    pub fn sym(&mut self, s: Sym) -> Term {
        self.intern(Node::Sym(s))
    }
    pub fn new_distinct_base(&mut self, fresh: bool) -> Base {
        self.bases.push(BaseInfo::Distinct { fresh });
        Base(self.bases.len() as u32 - 1)
    }
    /// The base that `pointer` (not an address itself) points to.
    pub fn pointee(&mut self, pointer: Term) -> Base {
        if let Some(&b) = self.pointees.get(&pointer) {
            return b;
        }
        self.bases.push(BaseInfo::Pointee(pointer));
        let base = Base(self.bases.len() as u32 - 1);
        self.pointees.insert(pointer, base);
        base
    }
    pub fn bool(b: bool) -> Term {
        if b { Self::TRUE } else { Self::FALSE }
    }
    /// An integer constant, truncated to its width.
    pub fn int(&mut self, bits: u16, value: u64) -> Term {
        if bits == 1 {
            return Self::bool(value & 1 == 1);
        }
        self.intern(Node::Int { bits, value: truncate(bits, value) })
    }
    /// The address `offset` bytes into `base`; the pointer itself when `base` is its pointee.
    pub fn addr(&mut self, base: Base, offset: i64) -> Term {
        match self.base_info(base) {
            BaseInfo::Pointee(pointer) if offset == 0 => pointer,
            _ => self.intern(Node::Addr { base, offset }),
        }
    }
    pub fn elem(&mut self, base: Base, offset: i64, stride: u32, index: Term) -> Term {
        self.elem_in(base, offset, stride, index, Area::WHOLE)
    }
    pub fn elem_in(
        &mut self,
        base: Base,
        offset: i64,
        stride: u32,
        index: Term,
        area: Area,
    ) -> Term {
        self.intern(Node::Elem { base, offset, stride: stride.max(1), index, area })
    }
    pub fn tuple(&mut self, items: Vec<Term>) -> Term {
        self.intern(Node::Tuple(items.into()))
    }
    /// One of several values, not known which. No item is a choice itself.
    pub fn any(&mut self, items: impl IntoIterator<Item = Term>) -> Term {
        let items: SmallVec<[Term; 8]> = items.into_iter().collect();
        let [a, b] = items[..] else { return self.new_any(&items) };
        for (one, all) in [(a, b), (b, a)] {
            if self.adds_nothing(one, all) {
                return all;
            }
        }
        let key = Key(Operation::Any, a.min(b), a.max(b), Self::TRUE);
        self.memo.get(key).unwrap_or_else(|| {
            let any = self.new_any(&items);
            self.memo.keep(key, any);
            any
        })
    }

    fn new_any(&mut self, items: &[Term]) -> Term {
        let mut flat: Vec<Term> = Vec::new();
        for &item in items {
            match &self.nodes[item.0 as usize] {
                Node::Any(inner) => flat.extend_from_slice(inner),
                Node::Ite { .. } => self.collect_alternatives(item, &mut flat),
                _ => flat.push(item),
            }
        }
        self.any_of(flat)
    }

    /// Whether a list that is an alternative already stays as it is when a value is added to it: it is one of its values,
    /// or there are enough like it.
    fn adds_nothing(&self, one: Term, all: Term) -> bool {
        let Node::Any(items) = self.node(all) else { return false };
        let is_in = |t: &Term| items.binary_search(t).is_ok();
        let base = match self.node(one) {
            Node::Any(others) => return others.len() <= items.len() && others.iter().all(is_in),
            _ if is_in(&one) => return true,
            Node::Addr { base, .. } | Node::Elem { base, .. } => *base,
            _ => return false,
        };
        // Of those that are alike, the oldest stay.
        let is_element = matches!(self.node(one), Node::Elem { .. });
        let most = if is_element { 1 } else { MAX_PLACES };
        let older = items.iter().take_while(|t| **t < one).filter(|t| match self.node(**t) {
            Node::Addr { base: b, .. } => *b == base && !is_element,
            Node::Elem { base: b, .. } => *b == base && is_element,
            _ => false,
        });
        self.size(one) <= MAX_ALTERNATIVE && older.take(most).count() == most
    }

    /// One of these values, none of which is a choice.
    pub(crate) fn any_of(&mut self, mut flat: Vec<Term>) -> Term {
        let large = |t: Term| self.has_addr(t) && self.size(t) > MAX_ALTERNATIVE;
        for t in flat.extract_if(.., |t| large(*t)).collect::<Vec<Term>>() {
            self.collect_addresses(t, &mut flat);
        }
        // Most come from lists that are in order: a stable sort finds that.
        flat.sort();
        flat.dedup();
        // What exists was short enough when it was made.
        if let Some(known) = self.known_list(&flat, Kind::Any, hash_of_list(&flat, Kind::Any)) {
            return known;
        }
        self.drop_similar(&mut flat);
        match flat.as_slice() {
            [only] => *only,
            items => self.intern(Kind::Any.node(items)),
        }
    }
    /// The addresses from which a value was computed.
    fn collect_addresses(&self, t: Term, found: &mut Vec<Term>) {
        let mut seen = Seen::default();
        let mut work: SmallVec<[Term; 32]> = smallvec![t];
        while let Some(t) = work.pop() {
            if !seen.insert(t) || !self.has_addr(t) {
                continue;
            }
            match self.node(t) {
                Node::Addr { .. } | Node::Elem { .. } => found.push(t),
                node => for_each_child(node, |c| work.push(c)),
            }
        }
    }

    /// Keeps one of several pointers to unknown elements of the same array, a few of those into
    /// the same object, and a few values that are no addresses: nobody asks which one it is.
    fn drop_similar(&mut self, items: &mut Vec<Term>) {
        let elements = items.iter().filter(|t| matches!(self.node(**t), Node::Elem { .. })).count();
        if items.len() <= MAX_PLACES && elements < 2 {
            return;
        }
        let mut met = std::mem::take(&mut self.met);
        met.resize(self.bases.len(), Met::default());
        let mut plain = 0;
        items.retain(|&t| match self.node(t) {
            Node::Elem { base, .. } => !std::mem::replace(&mut met[base.0 as usize].as_array, true),
            Node::Addr { base, .. } => {
                let places = &mut met[base.0 as usize].places;
                *places += u8::from(usize::from(*places) <= MAX_PLACES);
                usize::from(*places) <= MAX_PLACES
            }
            _ => {
                plain += 1;
                plain <= MAX_PLAIN_ALTERNATIVES || self.has_addr(t)
            }
        });
        // All that were met are among those that are left.
        for t in items {
            if let Node::Elem { base, .. } | Node::Addr { base, .. } = self.node(*t) {
                met[base.0 as usize] = Met::default();
            }
        }
        self.met = met;
    }

    /// The constant's value, zero-extended.
    pub fn as_int(&self, t: Term) -> Option<u64> {
        match self.node(t) {
            Node::Int { value, .. } => Some(*value),
            Node::Bool(b) => Some(u64::from(*b)),
            _ => None,
        }
    }
    pub fn as_signed(&self, t: Term) -> Option<i64> {
        self.as_int(t).map(|v| sign_extend(self.bits(t), v))
    }

    /// The negation of a term, if that exists already.
    pub fn negation(&self, t: Term) -> Option<Term> {
        Some(self.meta[t.0 as usize].negation).filter(|&n| n != NONE)
    }

    pub(crate) fn intern(&mut self, node: Node) -> Term {
        let hash = hash_of(&node);
        let is_it = |e: &Entry| e.hash == hash && self.nodes[e.term.0 as usize] == node;
        match self.index.find(spread(hash), is_it) {
            Some(known) => known.term,
            None => self.add(node, hash),
        }
    }

    /// The node of this kind with exactly these operands, if it exists.
    pub(crate) fn known_list(&self, list: &[Term], kind: Kind, hash: u32) -> Option<Term> {
        let has_operands = |t: Term| {
            operands(&self.nodes[t.0 as usize]).is_some_and(|(k, items)| k == kind && items == list)
        };
        let known = self.index.find(spread(hash), |e| e.hash == hash && has_operands(e.term));
        known.map(|e| e.term)
    }

    /// A node that is not there yet.
    pub(crate) fn add(&mut self, node: Node, hash: u32) -> Term {
        let mut meta = self.meta_of(&node);
        let t = Term(self.nodes.len() as u32);
        if let Node::Not(x) = node {
            meta.negation = x;
            self.meta[x.0 as usize].negation = t;
        }
        self.nodes.push(node);
        self.meta.push(meta);
        self.index.insert_unique(spread(hash), Entry { hash, term: t }, |e| spread(e.hash));
        t
    }

    fn meta_of(&self, node: &Node) -> Meta {
        let mut size = 1u32;
        for_each_child(node, |c| size = size.saturating_add(self.size(c)));
        let width = match node {
            Node::Ite { then, otherwise, .. } => {
                self.width(*then).saturating_add(self.width(*otherwise))
            }
            Node::Any(items) => items.len() as u32,
            Node::Bin { lhs, rhs, .. } => self.width(*lhs).saturating_mul(self.width(*rhs)),
            Node::Cast { value, .. } => self.width(*value),
            _ => 1,
        };
        let (bits, has_addr) = (self.bits_of(node), self.holds_address(node));
        let (mentions, marks) = self.mentions_of(node);
        Meta { bits, size, width, has_addr, mentions, marks, negation: NONE }
    }

    fn mentions_of(&self, node: &Node) -> (u64, Marks) {
        let (mut mentions, mut marks): (u64, Marks) = match node {
            Node::Sym(s) => (1 << (s.0 % 64), self.sym_marks[s.0 as usize]),
            Node::Addr { base, .. } | Node::Elem { base, .. } => (1 << (base.0 % 64), Marks::NONE),
            Node::Any(_) => (0, Marks::ANY),
            _ => (0, Marks::NONE),
        };
        for_each_child(node, |c| {
            mentions |= self.mentions(c);
            marks = marks | self.marks(c);
        });
        (mentions, marks)
    }

    /// Whether the value may be an address, or computed from one. Conditions do not count, nor
    /// do distances between addresses, nor what is too narrow to lead back to an object.
    fn holds_address(&self, node: &Node) -> bool {
        match node {
            Node::Addr { .. } | Node::Elem { .. } => true,
            Node::Ite { then, otherwise, .. } => self.has_addr(*then) || self.has_addr(*otherwise),
            Node::Bin { op, lhs, rhs } => match (self.has_addr(*lhs), self.has_addr(*rhs)) {
                (true, true) => *op != Op::Sub,
                (a, b) => a || b,
            },
            Node::Cast { bits, value, .. } => *bits >= 64 && self.has_addr(*value),
            Node::Any(items) | Node::Tuple(items) => items.iter().any(|&t| self.has_addr(t)),
            Node::Bool(_) | Node::Not(_) | Node::And(_) | Node::Or(_) | Node::Cmp { .. } => false,
            Node::Int { .. } | Node::Sym(_) => false,
        }
    }

    fn bits_of(&self, node: &Node) -> u16 {
        match node {
            Node::Bool(_) | Node::Not(_) | Node::And(_) | Node::Or(_) | Node::Cmp { .. } => 1,
            Node::Int { bits, .. } | Node::Cast { bits, .. } => *bits,
            Node::Sym(s) => self.syms[s.0 as usize].bits,
            Node::Addr { .. } | Node::Elem { .. } => 64,
            Node::Ite { then, .. } => self.bits(*then),
            Node::Bin { lhs, .. } => self.bits(*lhs),
            Node::Any(items) => items.first().map_or(64, |&t| self.bits(t)),
            Node::Tuple(_) => 0,
        }
    }
}

/// Nodes whose operands are a sorted list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    And,
    Or,
    Any,
}

impl Kind {
    pub fn node(self, items: &[Term]) -> Node {
        match self {
            Kind::And => Node::And(items.into()),
            Kind::Or => Node::Or(items.into()),
            Kind::Any => Node::Any(items.into()),
        }
    }
}

fn operands(node: &Node) -> Option<(Kind, &[Term])> {
    match node {
        Node::And(items) => Some((Kind::And, items)),
        Node::Or(items) => Some((Kind::Or, items)),
        Node::Any(items) => Some((Kind::Any, items)),
        _ => None,
    }
}

fn hash_of(node: &Node) -> u32 {
    match operands(node) {
        Some((kind, items)) => hash_of_list(items, kind),
        None => {
            let mut hasher = FxHasher::default();
            node.hash(&mut hasher);
            folded(hasher.finish())
        }
    }
}

pub(crate) fn hash_of_list(items: &[Term], kind: Kind) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write_u8(kind as u8);
    for t in items {
        hasher.write_u32(t.0);
    }
    folded(hasher.finish())
}

fn folded(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// A hash as the table wants it: all of its bits count.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Calls `f` on the direct children of a node.
pub fn for_each_child(node: &Node, mut f: impl FnMut(Term)) {
    match node {
        Node::Bool(_) | Node::Int { .. } | Node::Sym(_) | Node::Addr { .. } => {}
        Node::Elem { index, .. } => f(*index),
        Node::Not(t) | Node::Cast { value: t, .. } => f(*t),
        Node::And(ts) | Node::Or(ts) | Node::Any(ts) | Node::Tuple(ts) => {
            ts.iter().copied().for_each(f);
        }
        Node::Ite { cond, then, otherwise } => [*cond, *then, *otherwise].into_iter().for_each(f),
        Node::Cmp { lhs, rhs, .. } | Node::Bin { lhs, rhs, .. } => {
            f(*lhs);
            f(*rhs);
        }
    }
}

pub fn truncate(bits: u16, value: u64) -> u64 {
    if bits >= 64 { value } else { value & ((1u64 << bits) - 1) }
}

pub fn sign_extend(bits: u16, value: u64) -> i64 {
    if bits == 0 || bits >= 64 {
        return value as i64;
    }
    let shift = 64 - u32::from(bits);
    ((value << shift) as i64) >> shift
}

/// The smallest and largest signed value of a width.
pub fn signed_limits(bits: u16) -> (i64, i64) {
    if bits == 0 || bits >= 64 {
        (i64::MIN, i64::MAX)
    } else {
        (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
    }
}
