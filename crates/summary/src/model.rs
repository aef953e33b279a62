//! Calls of library functions, by their models.

use crate::call::Call;
use crate::errno;
use crate::exec::{Exec, Resized};
use crate::memory::{Escaped, Leaves};
use crate::state::State;
use crate::vocabulary::{BaseKind, Object, ObjectId, Origin, Site, Slot, SymKind, What};
use leakproof_guard::{Area, Node, SymInfo, Term, Terms, signed_limits};
use leakproof_ir::{Function, Ty};
use leakproof_models::{CallArg, Effect, IntRange, Model, Outcome, Place, Returns, Root};

impl Exec<'_> {
    pub fn call_model(
        &mut self,
        call: &Call<'_>,
        model: &Model,
        function: &Function,
        state: &mut State,
    ) -> Option<Option<Term>> {
        let call = &Call { name: &function.source_name, ..*call };
        let fixed = function.params.len();
        self.note_passed(call, call.name, state);
        self.note_resized(call, model, state);
        if errno::may_set_errno(model) {
            self.forget_errno(state);
        }
        let possible = self.possible_outcomes(call, model, state);
        if let [(guard, outcome)] = possible.as_slice() {
            state.pc = self.pcs.extend(&mut self.terms, state.pc, *guard)?;
            return self.apply_outcome(call, outcome, fixed, state);
        }
        self.fork_outcomes(call, &possible, fixed, state)
    }

    /// Remembers which object of somebody else a resizing function got.
    fn note_resized(&mut self, call: &Call<'_>, model: &Model, state: &State) {
        let effects = || model.outcomes.iter().flat_map(|o| &o.effects);
        let frees = |from: &Place| {
            effects().any(|e| matches!(e, Effect::Free { place, .. } if place == from))
        };
        let resizes = effects().find_map(|e| match e {
            Effect::MoveContents { from: from @ Place { root: Root::Arg(n), derefs } }
                if derefs.is_empty() && frees(from) =>
            {
                call.args.get(*n).copied()
            }
            _ => None,
        });
        let Some(pointer) = resizes else { return };
        let Node::Sym(s) = *self.terms.node(pointer) else { return };
        let SymKind::Init { base, slot, epoch } = self.sym_kinds[s.0 as usize] else { return };
        if epoch != Terms::NULL || matches!(self.kind(base), BaseKind::Heap(_) | BaseKind::Slot(_))
        {
            return;
        }
        let site = Site { at: self.place(call.loc), callee: call.name.into() };
        let object = ObjectId(self.objects.len() as u32);
        let whole = self.pointee(pointer);
        let (family, trace) = ("memory".into(), [site].into());
        self.objects.push(Object { base: whole, family, trace, assumed: false });
        self.resized.push(Resized { pc: state.pc, object, cell: (base, slot) });
    }

    /// Outcomes whose conditions on the arguments can hold, with those conditions.
    fn possible_outcomes<'m>(
        &mut self,
        call: &Call<'_>,
        model: &'m Model,
        state: &mut State,
    ) -> Vec<(Term, &'m Outcome)> {
        let mut list = Vec::new();
        for outcome in &model.outcomes {
            let mut guard = Terms::TRUE;
            for effect in &outcome.effects {
                let (place, null) = match effect {
                    Effect::IsNull(place) => (place, true),
                    Effect::IsNonNull(place) => (place, false),
                    _ => continue,
                };
                let held = self.held_at(call, place, None, call.args.len(), state);
                let held = held.first().copied();
                let is_null = held.map_or(Terms::TRUE, |v| self.is_zero(v, state));
                let wanted = if null { is_null } else { self.terms.not(is_null) };
                guard = self.terms.and2(guard, wanted);
            }
            let guard = self.pcs.simplify(&mut self.terms, state.pc, guard);
            if guard != Terms::FALSE {
                list.push((guard, outcome));
            }
        }
        list
    }

    fn fork_outcomes(
        &mut self,
        call: &Call<'_>,
        outcomes: &[(Term, &Outcome)],
        fixed: usize,
        state: &mut State,
    ) -> Option<Option<Term>> {
        let mut rest = Some(state.pc);
        let mut done: Option<(State, Option<Term>)> = None;
        for (i, (guard, outcome)) in outcomes.iter().enumerate() {
            let Some(pc) = rest else { break };
            let chosen = if i + 1 == outcomes.len() {
                Terms::TRUE
            } else {
                self.outcome_symbol(call, outcome)
            };
            let taken = self.terms.and2(chosen, *guard);
            if let Some(branch_pc) = self.pcs.extend(&mut self.terms, pc, taken) {
                let mut branch = State { pc: branch_pc, mem: state.mem.clone() };
                if let Some(v) = self.apply_outcome(call, outcome, fixed, &mut branch) {
                    done = Some(match done {
                        None => (branch, v),
                        Some((s, w)) => self.join_outcomes(s, w, branch, v),
                    });
                }
            }
            let not_chosen = self.terms.not(chosen);
            rest = self.pcs.extend(&mut self.terms, pc, not_chosen);
        }
        let (after, value) = done?;
        *state = after;
        Some(value)
    }

    /// A condition that tells this outcome from the ones after it, phrased as a failure.
    fn outcome_symbol(&mut self, call: &Call<'_>, outcome: &Outcome) -> Term {
        if outcome.failure {
            self.opaque(1, What::Failure, call.name, call.loc)
        } else {
            let fails = self.opaque(1, What::Failure, call.name, call.loc);
            self.terms.not(fails)
        }
    }

    fn apply_outcome(
        &mut self,
        call: &Call<'_>,
        outcome: &Outcome,
        fixed: usize,
        state: &mut State,
    ) -> Option<Option<Term>> {
        if !self.survives_outcome(call, outcome, state) {
            return None;
        }
        let value = self.returned(call, &outcome.returns, state)?;
        for effect in &outcome.effects {
            self.apply_effect(call, effect, value, fixed, state);
        }
        Some(value)
    }

    /// The returned value; the outer `None` when the function does not return.
    fn returned(
        &mut self,
        call: &Call<'_>,
        returns: &Returns,
        state: &mut State,
    ) -> Option<Option<Term>> {
        let name = call.name;
        let bits = self.bits_of(call.ty);
        let arg = |n: &usize| call.args.get(*n).copied();
        Some(match returns {
            Returns::Never => return None,
            Returns::Throws => {
                self.throw(state.clone());
                return None;
            }
            Returns::Object { family, zeroed } => {
                Some(self.allocate(call, name, family, *zeroed, state))
            }
            _ if matches!(call.ty, Ty::Void | Ty::Tuple(_)) => self.unknown_result(call, name),
            Returns::Unknown => self.unknown_result(call, name),
            Returns::Arg(n) => arg(n).or_else(|| self.unknown_result(call, name)),
            Returns::Inside(n) => match arg(n) {
                Some(p) => Some(self.inside(p, name, call.loc)),
                None => self.unknown_result(call, name),
            },
            Returns::InsideOrNull(n) => match arg(n) {
                Some(p) => {
                    let found = self.opaque(1, What::Result, name, call.loc);
                    let inside = self.inside(p, name, call.loc);
                    Some(self.terms.ite(found, inside, Terms::NULL))
                }
                None => self.unknown_result(call, name),
            },
            Returns::Borrowed => {
                let origin =
                    Origin { what: What::Result, name: name.into(), at: self.place(call.loc) };
                let info = SymInfo { bits, range: None, nonzero: false, outside: true };
                Some(self.symbol(info, origin))
            }
            Returns::Old(place) => match self.location(call, place, None, state) {
                Some(at) => Some(self.load(state, at, bits, call.loc)),
                None => self.unknown_result(call, name),
            },
            Returns::Null => Some(self.terms.int(bits, 0)),
            Returns::NonNull => Some(self.nonnull_result(call, name)),
            Returns::NonNullTo(range) => Some(self.address_of_errno(*range, state, call.loc)),
            Returns::Int(IntRange { min, max }) if min == max => {
                Some(self.terms.int(bits, *min as u64))
            }
            Returns::Int(range) => Some(self.number_in(call, *range)),
            Returns::Same(range) => Some(self.same_result(call, *range, state)),
        })
    }

    /// What a call returns when it is a number in a range.
    pub(crate) fn number_in(&mut self, call: &Call<'_>, range: IntRange) -> Term {
        let bits = self.bits_of(call.ty);
        let (lo, hi) = signed_limits(bits);
        let range = (range.min.max(lo), range.max.min(hi));
        self.symbol_in(bits, Some(range), What::Result, call.name, call.loc)
    }

    fn apply_effect(
        &mut self,
        call: &Call<'_>,
        effect: &Effect,
        returned: Option<Term>,
        fixed: usize,
        state: &mut State,
    ) {
        let at = self.place(call.loc);
        let name = call.name;
        match effect {
            Effect::Alloc { place, family, zeroed } => {
                // A caller that gives no place for an object gets none.
                if let Some(to) = self.location(call, place, returned, state) {
                    let object = self.allocate(call, name, family, *zeroed, state);
                    self.store(state, to, object, at);
                }
            }
            Effect::Free { place, .. } => {
                for v in self.held_at(call, place, returned, fixed, state) {
                    self.free(state, v, Terms::TRUE, call.inst, at);
                }
            }
            Effect::Take { place } => {
                for v in self.held_at(call, place, returned, fixed, state) {
                    self.escape(state, v);
                }
            }
            Effect::Write { place } => {
                let to = match place.root {
                    Root::VarArgs => call.args.get(fixed..).unwrap_or_default().to_vec(),
                    _ => self.location(call, place, returned, state).into_iter().collect(),
                };
                for p in to {
                    self.forget_scalars(state, p, false, call);
                }
            }
            Effect::SetData { place, text } => {
                if let Some(to) = self.location(call, place, returned, state) {
                    self.forget_scalars(state, to, *text, call);
                }
            }
            Effect::SetNull { place } => {
                if let Some(to) = self.location(call, place, returned, state) {
                    self.store(state, to, Terms::NULL, at);
                }
            }
            Effect::SetNonZero { place } => {
                if let Some(to) = self.location(call, place, returned, state) {
                    let origin = Origin { what: What::Input, name: name.into(), at };
                    let byte = SymInfo { bits: 8, range: None, nonzero: true, outside: false };
                    let value = self.symbol(byte, origin);
                    self.store(state, to, value, at);
                }
            }
            Effect::SetInside { place, arg } => {
                let to = self.location(call, place, returned, state);
                if let (Some(to), Some(&p)) = (to, call.args.get(*arg)) {
                    let inside = self.inside(p, name, call.loc);
                    self.store(state, to, inside, at);
                }
            }
            Effect::MoveContents { from } => {
                let old = self.held_at(call, from, returned, fixed, state);
                if let (Some(&old), Some(new)) = (old.first(), returned) {
                    self.move_contents(state, new, old, at, &mut Escaped::default());
                }
            }
            Effect::Call { callee, args } => self.call_back(call, *callee, args, state),
            Effect::IsNull(_) | Effect::IsNonNull(_) | Effect::Needs(_) => {}
        }
    }

    /// The address of a place; none where a step goes through null.
    fn location(
        &mut self,
        call: &Call<'_>,
        place: &Place,
        returned: Option<Term>,
        state: &State,
    ) -> Option<Term> {
        let mut p = match place.root {
            Root::Arg(n) => call.args.get(n).copied()?,
            Root::Return => returned?,
            Root::VarArgs => return None,
        };
        let (last, before) = place.derefs.split_last()?;
        for &offset in before {
            let at = self.terms.offset(p, offset as i64);
            p = self.load(state, at, 64, call.loc);
        }
        let null = self.terms.is_null(p);
        if self.pcs.simplify(&mut self.terms, state.pc, null) == Terms::TRUE {
            return None;
        }
        Some(self.terms.offset(p, *last as i64))
    }

    /// The pointers that a place holds.
    fn held_at(
        &mut self,
        call: &Call<'_>,
        place: &Place,
        returned: Option<Term>,
        fixed: usize,
        state: &State,
    ) -> Vec<Term> {
        if place.derefs.is_empty() {
            return match place.root {
                Root::Arg(n) => call.args.get(n).copied().into_iter().collect(),
                Root::Return => returned.into_iter().collect(),
                Root::VarArgs => call.args.get(fixed..).unwrap_or_default().to_vec(),
            };
        }
        match self.location(call, place, returned, state) {
            Some(at) => vec![self.load(state, at, 64, call.loc)],
            None => Vec::new(),
        }
    }

    /// The library writes numbers, or only characters: they are unknown afterwards, owned pointers
    /// stay. How far a member or an array inside a struct reaches is not known: members behind it
    /// stay.
    fn forget_scalars(&mut self, state: &mut State, pointer: Term, text: bool, call: &Call<'_>) {
        let origin = self.origin(What::Input, call.name, call.loc);
        for leaf in self.leaves(state, pointer).unwrap_or_default() {
            let Leaves::Cell(base, slot) = leaf.target else { continue };
            let start = if let Slot::At(o) = slot { o } else { 0 };
            let rest = Area { lo: start, hi: i64::MAX };
            let widest = if text || start > 0 { 8 } else { u16::MAX };
            self.forget_numbers(state, base, rest, widest, &origin);
            if !text && start > 0 {
                let first = Area { lo: start, hi: start + 1 };
                self.forget_numbers(state, base, first, u16::MAX, &origin);
            }
            let whole = start == 0 && !(text && self.wide.contains(&base));
            if whole && !matches!(self.kind(base), BaseKind::Global(_)) {
                let fresh = self.opaque(64, What::Input, call.name, call.loc);
                state.mem.insert((base, Slot::Epoch), fresh);
            }
        }
    }

    /// The library calls back a function that it was given.
    fn call_back(&mut self, call: &Call<'_>, callee: usize, args: &[CallArg], state: &mut State) {
        let Some(&function) = call.args.get(callee) else { return };
        let args: Vec<Term> = args
            .iter()
            .map(|a| match a {
                CallArg::Arg(n) => call.args.get(*n).copied(),
                CallArg::Inside(n) => {
                    call.args.get(*n).copied().map(|p| self.inside(p, "", call.loc))
                }
                CallArg::Unknown => None,
            })
            .collect::<Vec<_>>()
            .into_iter()
            .map(|t| t.unwrap_or_else(|| self.opaque(64, What::Unknown, "", call.loc)))
            .collect();
        self.call_function_value(call, function, &args, state);
    }
}
