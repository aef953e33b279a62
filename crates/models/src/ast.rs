//! What a model says: the outcomes of a library function, as data.
//!
//! A call takes exactly one outcome; each outcome says what holds of the return value and what
//! happened to memory. A consumer turns outcomes into guarded memory actions.

/// The behaviour of one library function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub name: String,
    /// Never empty. `noreturn` functions have one outcome with `Returns::Never`; `error` has one
    /// that returns and one that does not, told apart by a condition on an argument.
    pub outcomes: Vec<Outcome>,
    /// Where the entry stands: file name and 1-based line.
    pub file: String,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub returns: Returns,
    /// In the order in which they happen; conditions (`IsNull`) come first.
    pub effects: Vec<Effect>,
    /// The outcome is a failure of the library or the system (`malloc` returning null).
    pub failure: bool,
}

/// What is known of the return value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Nothing (also: `void`).
    Unknown,
    /// A fresh object of this family.
    Object {
        family: String,
        zeroed: bool,
    },
    /// Exactly argument `n` (0-based).
    Arg(usize),
    /// A pointer into the object that argument `n` points to, at an unknown offset.
    Inside(usize),
    /// Inside argument `n` or null (`strchr`).
    InsideOrNull(usize),
    /// A pointer that nobody has to release (static storage, `getenv`); null or not.
    Borrowed,
    /// What `place` held before the call (`strsep` returns the old `*@1`).
    Old(Place),
    Null,
    /// A non-null pointer or non-zero integer.
    NonNull,
    /// A pointer to a number of the library's: `errno`.
    NonNullTo(IntRange),
    Int(IntRange),
    /// A number that depends on nothing but the arguments and what they point to: the same call gives the same.
    Same(IntRange),
    Never,
    /// It does not return: an exception leaves it.
    Throws,
}

/// Inclusive bounds on an integer result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntRange {
    pub min: i64,
    pub max: i64,
}

impl IntRange {
    pub const ALL: Self = Self { min: i64::MIN, max: i64::MAX };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A fresh object, its address stored at `place`.
    Alloc {
        place: Place,
        family: String,
        zeroed: bool,
    },
    /// The object that `place` holds is released. Null is a no-op.
    Free {
        place: Place,
        family: String,
    },
    /// The object that `place` holds, and what it holds, now belongs to the callee or the system.
    Take {
        place: Place,
    },
    /// The callee writes an unknown value that owns nothing.
    Write {
        place: Place,
    },
    SetNull {
        place: Place,
    },
    /// A pointer into what argument `arg` points to is stored at `place` (`strtol`'s end pointer).
    SetInside {
        place: Place,
        arg: usize,
    },
    /// The returned object takes over the contents of the object at `from`: of the one that is
    /// gone (`realloc`), or, where the function returns an argument, as a copy (`mempcpy`).
    MoveContents {
        from: Place,
    },
    /// The function may call argument `callee` with these arguments, any number of times, now or
    /// later (`atexit`, `pthread_create`): that a callback never returns says nothing of the call.
    Call {
        callee: usize,
        args: Vec<CallArg>,
    },
    /// Plain data from outside is stored from `place` on: characters only, or numbers of any width.
    SetData {
        place: Place,
        text: bool,
    },
    /// The byte at `place` is not zero afterwards.
    SetNonZero {
        place: Place,
    },
    /// The function goes through the pointer at `place`: it does not come back from null.
    Needs(Place),
    /// The outcome is only taken when `place` holds null (or there is no such place) / something.
    IsNull(Place),
    IsNonNull(Place),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallArg {
    /// The caller's argument `n`, passed on.
    Arg(usize),
    /// A pointer into what argument `n` points to.
    Inside(usize),
    Unknown,
}

/// A place that can hold a pointer, seen from the call. Where a step goes through null there is no
/// place, and an effect on it does nothing (`strtol(s, NULL, 10)`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub root: Root,
    /// Byte offsets of successive dereferences: `*@1` is `[0]`, the field at 8 of what `*@1`
    /// points to is `[0, 8]`.
    pub derefs: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// Argument, 0-based.
    Arg(usize),
    /// Every variadic argument.
    VarArgs,
    Return,
}
