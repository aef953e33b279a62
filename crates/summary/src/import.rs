//! Applies a callee's summary to the state at a call.
//!
//! First the pool is evaluated bottom-up against the state before the call (arguments for
//! parameters, loads for initial contents, fresh symbols for private ones), then the effects are
//! carried out.

use crate::call::Call;
use crate::exec::Exec;
use crate::memory::{Escaped, Leaves};
use crate::state::State;
use crate::summary::{Effect, Expr, Ref, Root, Summary};
use crate::vocabulary::{BaseKind, Object, Place, Site, Slot, What};
use leakproof_guard::{Base, Node, SymInfo, Term, Terms};
use leakproof_ir::Param;
use leakproof_program::FuncRef;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Objects released along a list or tree in one call.
const MAX_STAR: usize = 64;
/// A release that depends on more than this counts as if it did not.
const MAX_REACHED: u32 = 400;

/// A summary being applied.
struct Import<'s> {
    summary: &'s Summary,
    values: Vec<Term>,
    objects: Vec<Base>,
    extra: Vec<Term>,
    callee: FuncRef,
    /// The caller's state before the call.
    before: State,
    /// How many symbols there were before the call.
    symbols_before: u32,
}

impl Exec<'_> {
    pub fn apply_summary(
        &mut self,
        call: &Call<'_>,
        summary: &Summary,
        callee: FuncRef,
        recursive: bool,
        state: &mut State,
    ) -> Option<Option<Term>> {
        self.know_argument_by_ignored_result(call, summary, state);
        self.know_expected(call, summary, state);
        self.know_sizes(call, summary, state);
        let function = self.ctx.program.function(callee);
        let objects = self.import_objects(call, summary, &function.source_name);
        let extra = call.args.get(function.params.len()..).unwrap_or_default().to_vec();
        let mut import = Import {
            summary,
            values: Vec::with_capacity(summary.pool.len()),
            objects,
            extra,
            callee,
            before: state.clone(),
            symbols_before: self.sym_kinds.len() as u32,
        };
        for expr in &summary.pool {
            let t = self.import_expr(call, expr, &import, state);
            import.values.push(t);
        }
        if let Some(r) = summary.returns {
            let returns = import.values[r.0 as usize];
            match self.pcs.extend(&mut self.terms, state.pc, returns) {
                Some(pc) => state.pc = pc,
                None if summary.returns_deeper => {}
                None => return None,
            }
        }
        // What the summary says of the way back was said first: that is part of the path, and told on.
        if !self.survives_callee(call, summary, state) {
            return None;
        }
        self.releases_untold |= summary.releases_untold;
        // What escapes does so with what it held before the call: what the callee put there, it tells of itself.
        let (first, then): (Vec<&Effect>, Vec<&Effect>) =
            summary.effects.iter().partition(|e| escapes_from_others(e));
        self.forget_errno(state);
        let mut escaped = Escaped::default();
        for effect in first.into_iter().chain(then) {
            self.import_effect(call, effect, &import, recursive, state, &mut escaped);
        }
        self.import_stars(call, &import, state);
        let value = summary.value.map(|r| import.values[r.0 as usize]);
        self.limit_to_handed_over(value, &import, state);
        if let Some(r) = summary.throws {
            let throws = import.values[r.0 as usize];
            self.part_from_exception(state, throws)?;
        }
        Some(value)
    }

    /// Goes on without the exception that the call may throw; `None` when it always does.
    fn part_from_exception(&mut self, state: &mut State, throws: Term) -> Option<()> {
        if let Some(pc) = self.pcs.extend(&mut self.terms, state.pc, throws) {
            self.throw(State { pc, mem: state.mem.clone() });
        }
        let returns = self.terms.not(throws);
        state.pc = self.pcs.extend(&mut self.terms, state.pc, returns)?;
        Some(())
    }

    fn import_objects(&mut self, call: &Call<'_>, summary: &Summary, name: &str) -> Vec<Base> {
        let site = Site { at: self.place(call.loc), callee: name.into() };
        let mut bases = Vec::new();
        for new in &summary.objects {
            let trace: Arc<[Site]> =
                std::iter::once(site.clone()).chain(new.trace.iter().cloned()).collect();
            let family = new.family.clone();
            let assumed = new.assumed;
            let id = self.new_object(call.inst, |base| Object { base, family, trace, assumed });
            bases.push(self.objects[id.0 as usize].base);
        }
        bases
    }

    /// A new object exists for this function as far as the call handed it over: conditions that
    /// were cut from the summary must not make it appear out of nowhere.
    fn limit_to_handed_over(
        &mut self,
        value: Option<Term>,
        import: &Import<'_>,
        state: &mut State,
    ) {
        if import.objects.is_empty() {
            return;
        }
        let effects = import.summary.effects.iter().filter(|e| e.slot.is_contents());
        let stored = effects.map(|e| {
            let owner = match e.root {
                Root::Object(i) => Some(import.objects[i as usize]),
                _ => None,
            };
            (import.values[e.value.0 as usize], owner)
        });
        let holders: Vec<(Term, Option<Base>)> = stored
            .chain(value.map(|v| (v, None)))
            .filter(|(t, _)| self.terms.has_addr(*t))
            .collect();
        let mut handed: FxHashMap<Base, Term> = FxHashMap::default();
        // Returned, or stored in something that existed before.
        let mut direct: FxHashSet<Base> = FxHashSet::default();
        for (t, owner) in holders {
            for (base, when) in self.targets(state, t) {
                // That an object points into itself does not hand it over.
                if owner == Some(base) {
                    continue;
                }
                let old = handed.get(&base).copied().unwrap_or(Terms::FALSE);
                let either = self.terms.or2(old, when);
                handed.insert(base, either);
            }
            if owner.is_none() {
                direct.extend(self.all_bases(t));
            }
        }
        for &base in &import.objects {
            let mut live = state.fact(base, Slot::Live);
            if !direct.contains(&base) {
                live = self.certain(live);
            }
            let handed = handed.get(&base).copied().unwrap_or(Terms::FALSE);
            let both = self.terms.and2(live, handed);
            state.mem.insert((base, Slot::Live), both);
        }
    }

    /// The address of a root; `None` for the variadic arguments, which have none.
    fn import_root(&mut self, root: Root, import: &Import<'_>) -> Option<Term> {
        Some(match root {
            Root::Object(i) => self.terms.addr(import.objects[i as usize], 0),
            Root::Global(g) => {
                let base = self.base(BaseKind::Global(g));
                self.terms.addr(base, 0)
            }
            Root::Func(f) => {
                let base = self.base(BaseKind::Func(f));
                self.terms.addr(base, 0)
            }
            Root::VarArgs => return None,
            Root::Errno => {
                let base = self.base(BaseKind::Errno);
                self.terms.addr(base, 0)
            }
            Root::Pointee(r) => import.values[r.0 as usize],
        })
    }

    fn import_expr(
        &mut self,
        call: &Call<'_>,
        expr: &Expr,
        import: &Import<'_>,
        state: &State,
    ) -> Term {
        let get = |r: &Ref| import.values[r.0 as usize];
        match expr {
            Expr::Bool(b) => Terms::bool(*b),
            Expr::Int { bits, value } => self.terms.int(*bits, *value),
            Expr::Arg { index, bits } => match call.args.get(*index as usize) {
                Some(&t) if self.terms.bits(t) == *bits || self.terms.bits(t) == 0 => t,
                _ => self.opaque(*bits, What::Unknown, "", call.loc),
            },
            Expr::Init { root, slot, bits } => {
                self.import_initial(call, *root, *slot, *bits, import, state)
            }
            Expr::Private { number, info } => {
                let sym = SymInfo {
                    bits: info.bits,
                    range: info.range,
                    nonzero: info.nonzero,
                    outside: false,
                };
                let symbol = self.symbol(sym, info.origin.clone());
                let Node::Sym(s) = *self.terms.node(symbol) else { return symbol };
                if info.origin.what == What::Cut {
                    self.known_before.insert(s, import.symbols_before);
                }
                if matches!(info.origin.what, What::Cut | What::Outcome)
                    && !import.summary.returns_deeper
                {
                    self.outcomes.insert(s, symbol, (import.callee, *number));
                }
                symbol
            }
            Expr::Addr { root, offset } => match self.import_root(*root, import) {
                Some(p) => self.terms.offset(p, *offset),
                None => self.opaque(64, What::Unknown, "", call.loc),
            },
            Expr::Elem { root, offset, stride, index, area } => {
                match self.import_root(*root, import) {
                    Some(p) => {
                        let p = self.terms.offset(p, *offset);
                        self.terms.index_within(p, *stride, get(index), area.rest_from(*offset))
                    }
                    None => self.opaque(64, What::Unknown, "", call.loc),
                }
            }
            Expr::Not(x) => self.terms.not(get(x)),
            Expr::And(xs) => self.terms.and(xs.iter().map(get)),
            Expr::Or(xs) => self.terms.or(xs.iter().map(get)),
            Expr::Ite { cond, then, otherwise } => {
                let c = self.pcs.simplify(&mut self.terms, state.pc, get(cond));
                self.terms.ite(c, get(then), get(otherwise))
            }
            Expr::Cmp { cmp, lhs, rhs } => {
                let compared = self.terms.cmp(*cmp, get(lhs), get(rhs));
                let possible = match self.terms.bits(get(lhs)) {
                    64 => self.without_impossible(state, compared),
                    _ => compared,
                };
                self.pcs.simplify(&mut self.terms, state.pc, possible)
            }
            Expr::Bin { op: leakproof_guard::Op::Add, lhs, rhs } => self.add(get(lhs), get(rhs)),
            Expr::Bin { op, lhs, rhs } => self.terms.bin(*op, get(lhs), get(rhs)),
            Expr::Cast { cast, bits, value } => self.terms.cast(*cast, *bits, get(value)),
            Expr::Any(xs) => self.terms.any(xs.iter().map(get)),
            Expr::Tuple(xs) => self.terms.tuple(xs.iter().map(get).collect()),
        }
    }

    fn import_initial(
        &mut self,
        call: &Call<'_>,
        root: Root,
        slot: Slot,
        bits: u16,
        import: &Import<'_>,
        state: &State,
    ) -> Term {
        let Some(p) = self.import_root(root, import) else {
            let pointers: Vec<Term> =
                import.extra.iter().copied().filter(|&t| self.terms.bits(t) == bits).collect();
            if pointers.is_empty() {
                return self.opaque(bits, What::Unknown, "", call.loc);
            }
            return self.terms.any(pointers);
        };
        let at = self.at_slot(p, slot, call);
        let found = self.load(state, at, bits, call.loc);
        match slot {
            Slot::Every(_) if bits == 64 => self.element_if_any(p, found),
            _ => found,
        }
    }

    /// An array that is not there has no elements: what those of the other choices point to is not
    /// in the callee's hands then. For single fields this is not said: their callers know when they
    /// are there, and where conditions were cut, nobody could tell.
    fn element_if_any(&mut self, pointer: Term, found: Term) -> Term {
        let chosen = matches!(self.terms.node(pointer), Node::Ite { .. });
        if !chosen || !self.terms.alternatives(pointer).contains(&Terms::NULL) {
            return found;
        }
        let null = self.terms.is_null(pointer);
        self.terms.ite(null, Terms::NULL, found)
    }

    fn at_slot(&mut self, pointer: Term, slot: Slot, call: &Call<'_>) -> Term {
        match slot {
            Slot::Every(elements) => {
                let start = elements.first();
                let first = self.terms.offset(pointer, start);
                let index = self.opaque(64, What::Unknown, "", call.loc);
                let length = elements.area.rest_from(start);
                self.terms.index_within(first, elements.stride, index, length)
            }
            Slot::At(offset) => self.terms.offset(pointer, offset),
            _ => pointer,
        }
    }

    /// Contents that move come first in a summary, so nothing new is there yet that what `escaped` could lead to.
    fn import_effect(
        &mut self,
        call: &Call<'_>,
        effect: &Effect,
        import: &Import<'_>,
        recursive: bool,
        state: &mut State,
        escaped: &mut Escaped,
    ) {
        let value = import.values[effect.value.0 as usize];
        let Some(pointer) = self.import_root(effect.root, import) else { return };
        let at = self.outside_library(call, effect.at);
        match (effect.slot, effect.root) {
            (Slot::At(_) | Slot::Every { .. }, _) => {
                let to = match effect.only {
                    Some(element) => import.values[element.0 as usize],
                    None => self.at_slot(pointer, effect.slot, call),
                };
                if computes_from(import.summary, effect) {
                    self.note_counted(state, to);
                }
                let value = self.updated_twice(call, effect, state, import, to);
                let filled = self.is_own_variable(to)
                    && self.is_out_parameter(import, effect.root)
                    && import.summary.fills(effect);
                let at = if filled { self.place(call.loc) } else { at };
                self.store(state, to, value, at);
            }
            (Slot::Epoch, Root::Object(i)) => {
                state.mem.insert((import.objects[i as usize], Slot::Epoch), value);
                for original in self.copied_from(value) {
                    self.move_contents(state, pointer, original, at, escaped);
                }
            }
            (Slot::Live | Slot::Freed | Slot::Escaped, Root::Object(i)) => {
                state.mem.insert((import.objects[i as usize], effect.slot), value);
            }
            (Slot::Freed, root) => {
                let at = self.blame(call, root, import, effect.at);
                let from = self.frees.len();
                let logged = self.releases_logged();
                let value = self.if_reached(effect.root, import, state, value);
                self.free(state, pointer, value, call.inst, at);
                self.set_origin(logged, effect.at);
                let released = self.frees[from..].iter().map(|f| (f.base, import.callee));
                self.released_by.extend(released);
                if recursive {
                    self.mark_recursive(from);
                }
            }
            (Slot::Escaped, root) => {
                let value = self.if_reached(root, import, state, value);
                self.escape_if(state, pointer, value);
            }
            (Slot::Epoch, _) => {
                let originals = self.copied_from(value);
                if originals.is_empty() {
                    let length = self.size_of_argument(import, effect.root);
                    self.forget_contents(state, pointer, length, "", call.loc);
                }
                for original in originals {
                    self.move_contents(state, pointer, original, at, escaped);
                }
            }
            (Slot::Live | Slot::Star(_) | Slot::Last | Slot::Thrown, _) => {}
        }
    }

    /// A condition as far as the callee can have got to `root`: loops that release elements are not asked how often
    /// they turn, but behind null there are none, and what was never put in is not released with the rest.
    fn if_reached(&mut self, root: Root, import: &Import<'_>, state: &State, when: Term) -> Term {
        let pool = &import.summary.pool;
        let Root::Pointee(mut at) = root else { return when };
        let mut reached = when;
        while let Expr::Init { root: Root::Pointee(through), .. } = pool[at.0 as usize] {
            let there = self.is_there(import.values[through.0 as usize], state);
            reached = self.terms.and2(reached, there);
            at = through;
        }
        if self.terms.has_more_parts(reached, MAX_REACHED) { when } else { reached }
    }

    /// Under which condition a pointer leads somewhere. An element of an array that can only be one of our objects
    /// does if one of them exists.
    fn is_there(&mut self, pointer: Term, state: &State) -> Term {
        if !self.holds_any(pointer) {
            let is_choice = matches!(self.terms.node(pointer), Node::Ite { .. });
            let null = if is_choice { self.terms.is_null(pointer) } else { Terms::FALSE };
            return self.terms.not(null);
        }
        let bases = self.all_bases(pointer);
        let is_ours = |b: &Base| matches!(self.kind(*b), BaseKind::Heap(_));
        if bases.is_empty() || !bases.iter().all(is_ours) {
            return Terms::TRUE;
        }
        let exists = bases.into_iter().map(|b| state.fact(b, Slot::Live));
        self.terms.or(exists)
    }

    /// How large the struct is that a parameter is declared to point to.
    fn size_of_argument(&self, import: &Import<'_>, root: Root) -> Option<i64> {
        let ty = self.parameter(import, root)?.ty?;
        let module = self.ctx.program.module(import.callee.module);
        module.size_of_pointee(ty).and_then(|size| i64::try_from(size).ok())
    }

    /// Whether it is what a parameter that is declared as a pointer to a pointer points to.
    fn is_out_parameter(&self, import: &Import<'_>, root: Root) -> bool {
        let module = self.ctx.program.module(import.callee.module);
        let ty = self.parameter(import, root).and_then(|p| p.ty);
        ty.is_some_and(|ty| module.points_to_pointer(ty))
    }

    /// The parameter that points to `root`.
    fn parameter(&self, import: &Import<'_>, root: Root) -> Option<&Param> {
        let Root::Pointee(pointer) = root else { return None };
        let Expr::Arg { index, .. } = import.summary.pool[pointer.0 as usize] else { return None };
        self.ctx.program.function(import.callee).params.get(index as usize)
    }

    /// Two names of the callee, an argument and a global or a node and the next one's neighbour, may be the same cell
    /// here. Where the callee left the cell alone under one name, it holds what was stored under the other.
    fn updated_twice(
        &mut self,
        call: &Call<'_>,
        effect: &Effect,
        state: &State,
        import: &Import<'_>,
        to: Term,
    ) -> Term {
        let value = import.values[effect.value.0 as usize];
        let bits = self.terms.bits(value);
        let is_held = |e: &Expr| *e == Expr::Init { root: effect.root, slot: effect.slot, bits };
        let Some(held) = import.summary.pool.iter().position(is_held) else { return value };
        if !self.was_written(state, import, to) {
            return value;
        }
        let now = self.load(state, to, bits, call.loc);
        let mut known = FxHashMap::from_iter([(Ref(held as u32), now)]);
        self.with_known(import, state, effect.value, &mut known)
    }

    /// Whether this call has written to one of the cells that a pointer may lead to.
    fn was_written(&mut self, state: &State, import: &Import<'_>, to: Term) -> bool {
        self.leaves(state, to).unwrap_or_default().iter().any(|leaf| match leaf.target {
            Leaves::Cell(base, slot @ Slot::At(_)) => {
                state.mem.get(&(base, slot)) != import.before.mem.get(&(base, slot))
            }
            _ => false,
        })
    }

    /// A choice of the summary with other values for some of its alternatives.
    fn with_known(
        &mut self,
        import: &Import<'_>,
        state: &State,
        choice: Ref,
        known: &mut FxHashMap<Ref, Term>,
    ) -> Term {
        if let Some(&t) = known.get(&choice) {
            return t;
        }
        let t = match &import.summary.pool[choice.0 as usize] {
            Expr::Ite { cond, then, otherwise } => {
                let cond = import.values[cond.0 as usize];
                let cond = self.pcs.simplify(&mut self.terms, state.pc, cond);
                let then = self.with_known(import, state, *then, known);
                let otherwise = self.with_known(import, state, *otherwise, known);
                self.terms.ite(cond, then, otherwise)
            }
            Expr::Any(items) => {
                let items: Vec<Term> =
                    items.iter().map(|&r| self.with_known(import, state, r, known)).collect();
                self.terms.any(items)
            }
            _ => import.values[choice.0 as usize],
        };
        known.insert(choice, t);
        t
    }

    /// The objects whose contents an epoch says were moved.
    pub(crate) fn copied_from(&self, epoch: Term) -> Vec<Term> {
        let parts = self.terms.alternatives(epoch).into_iter();
        parts
            .filter_map(|t| match self.terms.node(t) {
                Node::Tuple(parts) => parts.first().copied(),
                _ => None,
            })
            .collect()
    }

    /// Releases through a recursive call count as a second turn of the function's own release.
    fn mark_recursive(&mut self, from: usize) {
        for i in from..self.frees.len() {
            let base = self.frees[i].base;
            self.recursive_frees.insert(base);
        }
    }

    /// Whether an address is that of a variable of this function, or of a part of one.
    fn is_own_variable(&self, address: Term) -> bool {
        let Node::Addr { base, .. } = *self.terms.node(address) else { return false };
        matches!(self.kind(base), BaseKind::Slot(_))
    }

    /// Where a release is to be blamed on: a generic `xfree(void *)` has no part in it.
    fn blame(&self, call: &Call<'_>, root: Root, import: &Import<'_>, at: Place) -> Place {
        let Some(parameter) = self.parameter(import, root) else {
            return self.outside_library(call, at);
        };
        let module = self.ctx.program.module(import.callee.module);
        let to_struct = parameter.ty.is_some_and(|ty| module.points_to_struct(ty));
        if to_struct { self.outside_library(call, at) } else { self.place(call.loc) }
    }

    /// Where something is to be blamed on that the callee did at a place: on the call, if that place is in
    /// a header of a library.
    fn outside_library(&self, call: &Call<'_>, at: Place) -> Place {
        let module = self.ctx.program.module(at.func.module);
        if module.is_in_library(at.loc) { self.place(call.loc) } else { at }
    }

    /// Carries a release on along the fields through which the callee's loop or recursion goes.
    fn import_stars(&mut self, call: &Call<'_>, import: &Import<'_>, state: &mut State) {
        let summary = import.summary;
        let roots: Vec<Root> = dedup_roots(&summary.effects);
        for root in roots {
            let fields: Vec<i64> = summary
                .effects
                .iter()
                .filter(|e| e.root == root)
                .filter_map(|e| if let Slot::Star(o) = e.slot { Some(o) } else { None })
                .collect();
            let freed = freed_fields(summary, root);
            if let Some(start) = self.import_root(root, import) {
                self.free_along(call, start, &fields, &freed, state);
            }
        }
    }

    fn free_along(
        &mut self,
        call: &Call<'_>,
        start: Term,
        next: &[i64],
        freed: &[Slot],
        state: &mut State,
    ) {
        let at = self.place(call.loc);
        let mut seen: FxHashSet<Base> = FxHashSet::default();
        let mut work = vec![(start, Terms::TRUE, true)];
        while let Some((pointer, cond, first)) = work.pop() {
            for leaf in self.leaves(state, pointer).unwrap_or_default() {
                let Leaves::Cell(base, _) = leaf.target else { continue };
                if seen.len() >= MAX_STAR || !seen.insert(base) {
                    continue;
                }
                let when = self.terms.and2(cond, leaf.cond);
                if self.object_of(base).is_none() {
                    // Somebody else's list: the same holds for our own callers, if they can name it.
                    if self.is_untold(base) {
                        continue;
                    }
                    for star in next.iter().map(|&o| Slot::Star(o)) {
                        if when != Terms::FALSE && state.fact(base, star) != Terms::TRUE {
                            state.mem.insert((base, star), Terms::TRUE);
                        }
                    }
                    continue;
                }
                if !first {
                    let whole = self.terms.addr(base, 0);
                    self.log_release(state, whole, when, call.inst, at);
                    self.free_base(state, base, when, call.inst, at);
                    for &slot in freed {
                        let inner = self.read(state, base, slot, 64);
                        self.free(state, inner, when, call.inst, at);
                    }
                }
                for &o in next {
                    let t = self.read(state, base, Slot::At(o), 64);
                    work.push((t, when, false));
                }
            }
        }
    }
}

fn dedup_roots(effects: &[Effect]) -> Vec<Root> {
    let mut roots = Vec::new();
    for e in effects {
        if matches!(e.slot, Slot::Star(_)) && !roots.contains(&e.root) {
            roots.push(e.root);
        }
    }
    roots
}

/// Fields of `root` whose objects the callee releases with it.
fn freed_fields(summary: &Summary, root: Root) -> Vec<Slot> {
    let mut fields = Vec::new();
    for e in summary.effects.iter().filter(|e| e.slot == Slot::Freed) {
        if let Root::Pointee(r) = e.root
            && let Expr::Init { root: owner, slot, .. } = &summary.pool[r.0 as usize]
            && *owner == root
            && !fields.contains(slot)
        {
            fields.push(*slot);
        }
    }
    fields
}

/// Whether an effect says that something which the callee did not make escapes.
fn escapes_from_others(effect: &Effect) -> bool {
    effect.slot == Slot::Escaped && !matches!(effect.root, Root::Object(_))
}

/// Whether a number is computed from what the same cell held before.
fn computes_from(summary: &Summary, effect: &Effect) -> bool {
    let held = |r: &Ref| {
        matches!(&summary.pool[r.0 as usize], Expr::Init { root, slot, .. }
            if (*root, *slot) == (effect.root, effect.slot))
    };
    let mut work: SmallVec<[Ref; 16]> = smallvec![effect.value];
    let mut seen: SmallVec<[Ref; 16]> = SmallVec::new();
    while let Some(r) = work.pop().filter(|_| seen.len() < 100) {
        if seen.contains(&r) {
            continue;
        }
        seen.push(r);
        match &summary.pool[r.0 as usize] {
            Expr::Ite { then, otherwise, .. } => work.extend([*then, *otherwise]),
            Expr::Any(items) => work.extend(items.iter().copied()),
            Expr::Bin { lhs, rhs, .. } if held(lhs) || held(rhs) => return true,
            _ => {}
        }
    }
    false
}
