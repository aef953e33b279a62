//! LLVM's own functions, by what they mean to us.

/// The meaning of an `llvm.*` function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intrinsic {
    MemCopy,
    MemSet,
    VaStart,
    VaCopy,
    LifetimeStart,
    LifetimeEnd,
    /// Yields its first argument.
    Same,
    /// Without effect for us.
    Nothing,
    /// Ends the program.
    Trap,
    /// The pair of a result and whether it overflowed; the number is the operation's.
    Overflow(u64),
    Extremum(Extremum),
    Abs,
    /// A pointer into the same object as the first argument.
    PtrMask,
    DebugDeclare,
    DebugValue,
    /// Computes something that is not modelled.
    Opaque,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    UMax,
    UMin,
    SMax,
    SMin,
}

/// Prefixes of names (behind `llvm.`), each up to a full stop or the end of the name.
const NAMES: &[(&str, Intrinsic)] = &[
    ("memcpy", Intrinsic::MemCopy),
    ("memmove", Intrinsic::MemCopy),
    ("memset", Intrinsic::MemSet),
    ("va_start", Intrinsic::VaStart),
    ("va_copy", Intrinsic::VaCopy),
    ("va_end", Intrinsic::Nothing),
    ("lifetime.start", Intrinsic::LifetimeStart),
    ("lifetime.end", Intrinsic::LifetimeEnd),
    ("expect", Intrinsic::Same),
    ("ssa.copy", Intrinsic::Same),
    ("launder.invariant.group", Intrinsic::Same),
    ("strip.invariant.group", Intrinsic::Same),
    ("threadlocal.address", Intrinsic::Same),
    ("ptr.annotation", Intrinsic::Same),
    ("annotation", Intrinsic::Same),
    ("arithmetic.fence", Intrinsic::Same),
    ("preserve.array.access.index", Intrinsic::Same),
    ("preserve.struct.access.index", Intrinsic::Same),
    ("preserve.union.access.index", Intrinsic::Same),
    ("assume", Intrinsic::Nothing),
    ("donothing", Intrinsic::Nothing),
    ("sideeffect", Intrinsic::Nothing),
    ("prefetch", Intrinsic::Nothing),
    ("var.annotation", Intrinsic::Nothing),
    ("stackrestore", Intrinsic::Nothing),
    ("invariant.end", Intrinsic::Nothing),
    ("experimental.noalias.scope.decl", Intrinsic::Nothing),
    ("pseudoprobe", Intrinsic::Nothing),
    ("trap", Intrinsic::Trap),
    ("ubsantrap", Intrinsic::Trap),
    ("debugtrap", Intrinsic::Nothing),
    ("sadd.with.overflow", Intrinsic::Overflow(0)),
    ("uadd.with.overflow", Intrinsic::Overflow(0)),
    ("ssub.with.overflow", Intrinsic::Overflow(1)),
    ("usub.with.overflow", Intrinsic::Overflow(1)),
    ("smul.with.overflow", Intrinsic::Overflow(2)),
    ("umul.with.overflow", Intrinsic::Overflow(2)),
    ("umax", Intrinsic::Extremum(Extremum::UMax)),
    ("umin", Intrinsic::Extremum(Extremum::UMin)),
    ("smax", Intrinsic::Extremum(Extremum::SMax)),
    ("smin", Intrinsic::Extremum(Extremum::SMin)),
    ("abs", Intrinsic::Abs),
    ("ptrmask", Intrinsic::PtrMask),
    ("dbg.declare", Intrinsic::DebugDeclare),
    ("dbg.value", Intrinsic::DebugValue),
    ("dbg", Intrinsic::Nothing),
];

impl Intrinsic {
    /// `None` when the name is no intrinsic's.
    pub fn of(symbol: &str) -> Option<Self> {
        let name = symbol.strip_prefix("llvm.")?;
        let known = NAMES.iter().find(|(prefix, _)| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        Some(known.map_or(Intrinsic::Opaque, |(_, intrinsic)| *intrinsic))
    }

    /// How many leading arguments matter.
    pub fn arguments(self) -> usize {
        match self {
            Intrinsic::MemCopy | Intrinsic::MemSet => 3,
            Intrinsic::VaCopy
            | Intrinsic::Overflow(_)
            | Intrinsic::Extremum(_)
            | Intrinsic::PtrMask => 2,
            Intrinsic::VaStart | Intrinsic::Same | Intrinsic::Abs => 1,
            // A slot may be promoted, and then its address is no value.
            Intrinsic::LifetimeStart
            | Intrinsic::LifetimeEnd
            | Intrinsic::Nothing
            | Intrinsic::Trap
            | Intrinsic::DebugDeclare
            | Intrinsic::DebugValue => 0,
            Intrinsic::Opaque => usize::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_up_to_a_full_stop() {
        assert_eq!(Intrinsic::of("llvm.memcpy.p0.p0.i64"), Some(Intrinsic::MemCopy));
        assert_eq!(Intrinsic::of("llvm.abs.i32"), Some(Intrinsic::Abs));
        assert_eq!(Intrinsic::of("llvm.absent"), Some(Intrinsic::Opaque));
        assert_eq!(Intrinsic::of("llvm.dbg.label"), Some(Intrinsic::Nothing));
        assert_eq!(Intrinsic::of("memcpy"), None);
    }
}
