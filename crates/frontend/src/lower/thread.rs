//! Straightens cleanup code: a copy of it for each place where control goes afterwards.
//!
//! When a scope with cleanups (destructors, `__attribute__((cleanup))`, ends of lifetimes) is left
//! in several ways, clang notes the way in a hidden variable, runs the cleanups once, and switches
//! on the variable. The ways meet in that switch, and an analysis that does not follow the hidden
//! variable would think that a `return` can go on with the next turn of the loop. Here the blocks
//! between the note and the switch are copied for each noted value, so that the switch disappears.
//! Blocks that do nothing but end lifetimes are copied for each place that notes a value, so that
//! two `return`s out of one scope do not meet either and each end keeps its statement's position.
//!
//! This happens before slots are promoted: values then hardly ever cross blocks, and blocks whose
//! values do are not copied. Invariant: the program computes the same; only paths that cannot be
//! taken are gone.

use super::cfg::for_each_successor;
use super::intrinsic::Intrinsic;
use super::promote::{for_each_operand, intrinsic};
use super::unit::Unit;
use super::variable::for_each_declaration;
use crate::llvm::{Body, Constant, Inst, Op, Range, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// How many instructions copies may add to a function.
const MAX_COPIED: usize = 4_000;
/// How many ways of leaving a scope are told apart.
const MAX_VALUES: usize = 200;

/// A value of the hidden variable, and the block that noted it where that makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Noted {
    value: u64,
    by: Option<u32>,
}

/// What the hidden variable may hold; `None` stands for anything.
type Values = SmallVec<[Option<Noted>; 4]>;

pub fn thread_cleanups(unit: &mut Unit, body: &mut Body) {
    for slot in deciding_slots(unit, body) {
        // By place first; when that makes too much code, by value only.
        for by_place in [true, false] {
            let Some(flow) = Flow::new(unit, body, slot, by_place) else { break };
            if let Some(copies) = flow.choose_copies(body) {
                Copier { flow, copies }.run(unit, body);
                break;
            }
        }
    }
}

/// Slots without a name in the source that some block loads only to branch on them. Variables
/// that the programmer switches on are left alone: threading a whole state machine is not wanted.
fn deciding_slots(unit: &Unit, body: &Body) -> Vec<u32> {
    let mut slots = Vec::new();
    for range in &body.blocks {
        let insts = range.of(&body.insts);
        let decider = insts.last().and_then(|inst| decided_value(inst.op));
        let load = decider.and_then(|v| insts.iter().find(|i| i.value == Some(v)));
        if let Some(Inst { op: Op::Load { ptr, volatile: false }, .. }) = load
            && is_slot(unit, body, *ptr)
            && !slots.contains(ptr)
        {
            slots.push(*ptr);
        }
    }
    if !slots.is_empty() {
        let mut named = FxHashSet::default();
        for_each_declaration(unit, body, |declaration| {
            named.insert(declaration.value);
        });
        slots.retain(|slot| !named.contains(slot));
    }
    slots
}

fn decided_value(op: Op) -> Option<u32> {
    match op {
        Op::Switch { value, .. } => Some(value),
        Op::Branch { cond, .. } => Some(cond),
        _ => None,
    }
}

fn is_slot(unit: &Unit, body: &Body, value: u32) -> bool {
    let Some((Value::Inst(index), _)) = unit.raw.values.get(value as usize) else { return false };
    match body.insts.get(*index as usize).map(|i| i.op) {
        Some(Op::Alloca { ty, .. }) => matches!(unit.raw.types.get(ty), Type::Int(1..=64)),
        _ => false,
    }
}

/// What a block does to the slot.
#[derive(Clone, Copy, Debug, Default)]
struct Effect {
    /// Reads it before writing it.
    reads: bool,
    /// The last value written.
    writes: Option<Option<u64>>,
    /// Ends in a branch on the value that the slot has at the end of the block.
    decides: bool,
    copyable: bool,
    /// Does nothing but end lifetimes.
    light: bool,
}

/// What is known about one slot throughout a body.
struct Flow {
    effects: Vec<Effect>,
    /// Blocks on whose entry the slot's value still matters.
    live: Vec<bool>,
    /// Possible values on entry.
    values: Vec<Values>,
    /// Whether light blocks tell places apart.
    by_place: bool,
}

impl Flow {
    /// `None` when the slot is used in other ways than by plain loads and stores.
    fn new(unit: &Unit, body: &Body, slot: u32, by_place: bool) -> Option<Self> {
        let count = body.blocks.len();
        let mut effects = Vec::with_capacity(count);
        for range in &body.blocks {
            effects.push(effect(unit, body, slot, range.of(&body.insts))?);
        }
        let values = vec![Values::new(); count];
        let mut flow = Self { effects, live: vec![false; count], values, by_place };
        flow.find_live(body);
        flow.find_values(unit, body);
        flow.mark_copyable(body);
        Some(flow)
    }

    fn find_live(&mut self, body: &Body) {
        let mut preds: Vec<Vec<u32>> = vec![Vec::new(); body.blocks.len()];
        for (block, range) in (0u32..).zip(&body.blocks) {
            if let Some(last) = range.of(&body.insts).last() {
                for_each_successor(body, last.op, |t| preds[t as usize].push(block));
            }
        }
        let mut work: Vec<usize> =
            (0..self.effects.len()).filter(|b| self.effects[*b].reads).collect();
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut self.live[block], true) {
                continue;
            }
            let open = preds[block].iter().map(|p| *p as usize);
            work.extend(open.filter(|p| self.effects[*p].writes.is_none() && !self.live[*p]));
        }
    }

    fn find_values(&mut self, unit: &Unit, body: &Body) {
        if self.values.is_empty() {
            return;
        }
        self.values[0] = Values::from_elem(None, 1);
        let mut work = vec![0u32];
        while let Some(block) = work.pop() {
            let entry = self.values[block as usize].clone();
            for (target, values) in self.edges(unit, body, block, &entry) {
                if self.add_values(target, &values) {
                    work.push(target);
                }
            }
        }
    }

    /// What `block` tells of a value that comes in: the place too, or not.
    fn seen_by(&self, block: u32, noted: Noted) -> Noted {
        let by = noted.by.filter(|_| self.by_place && self.effects[block as usize].light);
        Noted { by, ..noted }
    }

    fn add_values(&mut self, block: u32, values: &Values) -> bool {
        let before = self.values[block as usize].len();
        for value in values {
            let value = value.map(|noted| self.seen_by(block, noted));
            let known = &mut self.values[block as usize];
            let value = value.filter(|_| known.len() < MAX_VALUES);
            if !known.contains(&value) {
                known.push(value);
            }
        }
        self.values[block as usize].len() > before
    }

    /// The values that leave a block along each of its edges, given those that enter it.
    fn edges(&self, unit: &Unit, body: &Body, block: u32, entry: &Values) -> Vec<(u32, Values)> {
        let effect = self.effects[block as usize];
        let out = match effect.writes {
            Some(value) => Values::from_elem(noted_in(block, value), 1),
            None => entry.clone(),
        };
        let Some(last) = body.blocks[block as usize].of(&body.insts).last() else {
            return Vec::new();
        };
        let mut edges = Vec::new();
        if effect.decides {
            for value in out {
                match value {
                    Some(noted) => {
                        let target = decide(unit, body, last.op, noted.value);
                        edges.extend(target.map(|t| (t, Values::from_elem(Some(noted), 1))));
                    }
                    None => for_each_outcome(unit, body, last.op, |value, target| {
                        edges.push((target, Values::from_elem(noted_in(block, value), 1)));
                    }),
                }
            }
        } else {
            for_each_successor(body, last.op, |target| edges.push((target, out.clone())));
        }
        edges
    }

    /// A block can be copied when it has no phi, is not the target of a computed jump, and what
    /// it computes is used in it only.
    fn mark_copyable(&mut self, body: &Body) {
        let mut home: FxHashMap<u32, usize> = FxHashMap::default();
        for (block, range) in body.blocks.iter().enumerate() {
            let insts = range.of(&body.insts);
            let plain = |i: &Inst| {
                !matches!(
                    i.op,
                    Op::Phi { .. } | Op::Indirect { .. } | Op::CallBr { .. } | Op::Alloca { .. }
                )
            };
            self.effects[block].copyable =
                block != 0 && self.live[block] && insts.iter().all(plain);
            if self.effects[block].copyable {
                home.extend(insts.iter().filter_map(|i| Some((i.value?, block))));
            }
        }
        for (block, range) in body.blocks.iter().enumerate() {
            for inst in range.of(&body.insts) {
                for_each_operand(body, inst.op, |value| {
                    if let Some(home) = home.get(&value).filter(|h| **h != block) {
                        self.effects[*home].copyable = false;
                    }
                });
                if let Op::Indirect { targets } | Op::CallBr { targets, .. } = inst.op {
                    for target in targets.of(&body.pool) {
                        self.effects[*target as usize].copyable = false;
                    }
                }
            }
        }
    }

    /// The (block, value) pairs to make copies for; nothing when they would be too many.
    fn choose_copies(&self, body: &Body) -> Option<Vec<(u32, Noted)>> {
        let mut copies = Vec::new();
        let mut size = 0;
        for (block, values) in self.values.iter().enumerate() {
            if self.effects[block].copyable && values.len() > 1 {
                let known = values.iter().flatten().map(|v| (block as u32, *v));
                copies.extend(known);
                size += body.blocks[block].of(&body.insts).len() * values.len();
            }
        }
        (size <= MAX_COPIED).then_some(copies)
    }
}

fn effect(unit: &Unit, body: &Body, slot: u32, insts: &[Inst]) -> Option<Effect> {
    let mut effect = Effect { light: true, ..Effect::default() };
    let mut current = None;
    for inst in insts {
        effect.light &= is_light(unit, inst.op);
        match inst.op {
            Op::Load { ptr, volatile: false } if ptr == slot => {
                effect.reads |= effect.writes.is_none();
                current = inst.value;
            }
            Op::Store { ptr, value, volatile: false } if ptr == slot && value != slot => {
                effect.writes = Some(match unit.raw.constant(value) {
                    Some(Constant::Int(value)) => Some(value),
                    Some(Constant::Null) => Some(0),
                    _ => None,
                });
                current = None;
            }
            Op::Call { callee, args, .. }
                if args.of(&body.pool).contains(&u64::from(slot))
                    && intrinsic(unit, callee).is_some_and(|i| i.arguments() == 0) =>
            {
                // The slot's lifetime starts or ends.
                effect.writes = Some(None);
                current = None;
            }
            op => {
                let mut other_use = false;
                for_each_operand(body, op, |value| other_use |= value == slot);
                if other_use {
                    return None;
                }
            }
        }
    }
    let decided = insts.last().and_then(|i| decided_value(i.op));
    effect.decides = decided.is_some() && decided == current;
    Some(effect)
}

fn noted_in(block: u32, value: Option<u64>) -> Option<Noted> {
    value.map(|value| Noted { value, by: Some(block) })
}

/// Loads and stores are those of the hidden variable, mostly.
fn is_light(unit: &Unit, op: Op) -> bool {
    match op {
        Op::Call { callee, .. } => {
            matches!(intrinsic(unit, callee), Some(Intrinsic::LifetimeEnd))
        }
        Op::Load { .. } | Op::Store { .. } => true,
        op => matches!(op, Op::Jump { .. } | Op::Branch { .. } | Op::Switch { .. }),
    }
}

/// Where a branch on the slot goes when the slot holds `value`.
fn decide(unit: &Unit, body: &Body, op: Op, value: u64) -> Option<u32> {
    match op {
        Op::Branch { then, otherwise, .. } => Some(if value & 1 != 0 { then } else { otherwise }),
        Op::Switch { default, cases, .. } => {
            let mut pairs = cases.of(&body.pool).chunks_exact(2);
            let hit = pairs.find(|p| case_value(unit, p[0] as u32) == Some(value));
            Some(hit.map_or(default, |p| p[1] as u32))
        }
        _ => None,
    }
}

/// Calls `f` with each value that a branch singles out (`None` for the rest) and its target.
fn for_each_outcome(unit: &Unit, body: &Body, op: Op, mut f: impl FnMut(Option<u64>, u32)) {
    match op {
        Op::Branch { then, otherwise, .. } => {
            f(Some(1), then);
            f(Some(0), otherwise);
        }
        Op::Switch { default, cases, .. } => {
            for pair in cases.of(&body.pool).chunks_exact(2) {
                f(case_value(unit, pair[0] as u32), pair[1] as u32);
            }
            f(None, default);
        }
        _ => {}
    }
}

fn case_value(unit: &Unit, number: u32) -> Option<u64> {
    match unit.raw.constant(number)? {
        Constant::Int(value) => Some(value),
        Constant::Null => Some(0),
        _ => None,
    }
}

/// Makes the copies and leads the edges to them.
struct Copier {
    flow: Flow,
    copies: Vec<(u32, Noted)>,
}

impl Copier {
    fn run(self, unit: &mut Unit, body: &mut Body) {
        let originals = body.blocks.len() as u32;
        let places: FxHashMap<(u32, Noted), u32> =
            self.copies.iter().copied().zip(originals..).collect();
        for &(block, noted) in &self.copies {
            self.copy(unit, body, block, noted.value);
        }
        for (index, &(block, noted)) in (originals..).zip(&self.copies) {
            let entry = Values::from_elem(Some(noted), 1);
            self.lead(unit, body, index, block, &entry, &places);
            self.feed_phis(body, block, index);
        }
        for block in 0..originals {
            let entry = self.flow.values[block as usize].clone();
            self.lead(unit, body, block, block, &entry, &places);
        }
    }

    /// Appends a copy of a block; a branch that the value decides becomes a jump.
    fn copy(&self, unit: &mut Unit, body: &mut Body, block: u32, value: u64) {
        let insts = body.blocks[block as usize].of(&body.insts).to_vec();
        let dead = self.dead_load(body, &insts, block);
        let start = body.insts.len();
        let mut renamed: FxHashMap<u32, u32> = FxHashMap::default();
        for mut inst in insts {
            if dead.is_some() && inst.value == dead {
                continue;
            }
            if self.flow.effects[block as usize].decides && inst.op.is_terminator() {
                let value = self.flow.effects[block as usize].writes.unwrap_or(Some(value));
                let target = value.and_then(|value| decide(unit, body, inst.op, value));
                inst.op = target.map_or(inst.op, |target| Op::Jump { target });
            }
            rename(body, &mut inst.op, &renamed);
            if let Some(old) = inst.value {
                let new = unit.raw.values.len() as u32;
                unit.raw.values.push((Value::Inst(body.insts.len() as u32), inst.ty));
                renamed.insert(old, new);
                inst.value = Some(new);
            }
            body.insts.push(inst);
        }
        body.blocks.push(Range::new(start, body.insts.len()));
    }

    /// The load whose only use was the branch that a copy does not have.
    fn dead_load(&self, body: &Body, insts: &[Inst], block: u32) -> Option<u32> {
        let (last, others) = insts.split_last()?;
        let load = decided_value(last.op).filter(|_| self.flow.effects[block as usize].decides)?;
        let mut used = false;
        for inst in others {
            for_each_operand(body, inst.op, |value| used |= value == load);
        }
        (!used).then_some(load)
    }

    /// Leads the edges of block `index`, which does what `original` does, to the copies.
    fn lead(
        &self,
        unit: &Unit,
        body: &mut Body,
        index: u32,
        original: u32,
        entry: &Values,
        places: &FxHashMap<(u32, Noted), u32>,
    ) {
        let effect = self.flow.effects[original as usize];
        let known = match (effect.writes, entry.as_slice()) {
            (Some(value), _) => noted_in(original, value),
            (None, &[noted]) => noted,
            _ => None,
        };
        let range = body.blocks[index as usize];
        let last = range.start() as usize + range.of(&body.insts).len() - 1;
        let mut op = body.insts[last].op;
        let decided = known.filter(|_| effect.decides);
        if let Some(target) = decided.and_then(|noted| decide(unit, body, op, noted.value)) {
            op = Op::Jump { target };
        }
        // A branch on the slot tells its value on the edge, even if it was unknown before.
        let place = |told: Option<u64>, target: u32| {
            let told = told.filter(|_| effect.decides).and_then(|v| noted_in(original, Some(v)));
            let noted = known.or(told).map(|noted| self.flow.seen_by(target, noted));
            noted.and_then(|n| places.get(&(target, n)).copied()).unwrap_or(target)
        };
        body.insts[last].op = retarget(unit, body, op, place);
    }

    /// Phis in the successors of a copy get the value that they have for the original.
    fn feed_phis(&self, body: &mut Body, original: u32, copy: u32) {
        let Some(last) = body.blocks[copy as usize].of(&body.insts).last().copied() else { return };
        let mut targets = FxHashSet::default();
        for_each_successor(body, last.op, |target| {
            targets.insert(target);
        });
        let mut targets: Vec<u32> = targets.into_iter().collect();
        targets.sort_unstable();
        for target in targets {
            let range = body.blocks[target as usize];
            let end = range.start() as usize + range.of(&body.insts).len();
            for index in range.start() as usize..end {
                let Op::Phi { incoming } = body.insts[index].op else { break };
                let mut pairs = incoming.of(&body.pool).to_vec();
                let from = pairs.chunks_exact(2).find(|p| p[1] == u64::from(original));
                let Some(value) = from.map(|p| p[0]) else { continue };
                pairs.extend([value, u64::from(copy)]);
                let start = body.pool.len();
                body.pool.extend(pairs);
                let incoming = Range::new(start, body.pool.len());
                body.insts[index].op = Op::Phi { incoming };
            }
        }
    }
}

/// Replaces the targets of a terminator; `place` gets the value that the branch singles out.
fn retarget(
    unit: &Unit,
    body: &mut Body,
    mut op: Op,
    place: impl Fn(Option<u64>, u32) -> u32,
) -> Op {
    match &mut op {
        Op::Jump { target } => *target = place(None, *target),
        Op::Branch { then, otherwise, .. } => {
            *then = place(Some(1), *then);
            *otherwise = place(Some(0), *otherwise);
        }
        Op::Switch { default, cases, .. } => {
            let pairs = cases.of(&body.pool).to_vec();
            let start = body.pool.len();
            for pair in pairs.chunks_exact(2) {
                let target = place(case_value(unit, pair[0] as u32), pair[1] as u32);
                body.pool.extend([pair[0], u64::from(target)]);
            }
            *cases = Range::new(start, body.pool.len());
            *default = place(None, *default);
        }
        Op::Invoke { normal, unwind, .. } => {
            *normal = place(None, *normal);
            *unwind = place(None, *unwind);
        }
        _ => {}
    }
    op
}

/// Replaces the operands that the copy computes itself.
fn rename(body: &mut Body, op: &mut Op, renamed: &FxHashMap<u32, u32>) {
    if renamed.is_empty() {
        return;
    }
    let one = |value: &mut u32| {
        if let Some(new) = renamed.get(value) {
            *value = *new;
        }
    };
    let mut list = |range: &mut Range| {
        let values = range.of(&body.pool).to_vec();
        let start = body.pool.len();
        let new = values.iter().map(|v| renamed.get(&(*v as u32)).map_or(*v, |n| u64::from(*n)));
        body.pool.extend(new);
        *range = Range::new(start, body.pool.len());
    };
    match op {
        Op::Bin { lhs, rhs, .. } | Op::Cmp { lhs, rhs, .. } => [lhs, rhs].into_iter().for_each(one),
        Op::Cast { value, .. } | Op::Freeze { value } | Op::VaArg { list: value } => one(value),
        Op::Gep { operands, .. } | Op::Opaque { operands } => list(operands),
        Op::Select { cond, then, otherwise } => [cond, then, otherwise].into_iter().for_each(one),
        Op::Load { ptr, .. } => one(ptr),
        Op::Store { ptr, value, .. } | Op::AtomicRmw { ptr, value, .. } => {
            [ptr, value].into_iter().for_each(one);
        }
        Op::CmpXchg { ptr, expected, new } => [ptr, expected, new].into_iter().for_each(one),
        Op::ExtractValue { tuple, .. } => one(tuple),
        Op::InsertValue { tuple, value, .. } => [tuple, value].into_iter().for_each(one),
        Op::Call { callee, args, .. } | Op::Invoke { callee, args, .. } => {
            one(callee);
            list(args);
        }
        Op::Return { value } => value.iter_mut().for_each(one),
        Op::Branch { cond, .. } => one(cond),
        Op::Switch { value, .. } => one(value),
        Op::Alloca { .. }
        | Op::CallBr { .. }
        | Op::Phi { .. }
        | Op::Fence
        | Op::Jump { .. }
        | Op::Indirect { .. }
        | Op::Resume
        | Op::Unreachable => {}
    }
}
