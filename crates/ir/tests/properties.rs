//! Properties: every linked module round-trips through text, ids included; damaged text is refused
//! or understood, and never panics in parser, verifier or printer.

use leakproof_ir::*;
use proptest::prelude::*;

const EVERYTHING: &str = include_str!("everything.lir");

/// A sequence of choices: proptest shrinks it towards fewer and smaller ones.
struct Tape(std::vec::IntoIter<u32>);

impl Tape {
    fn next(&mut self) -> u32 {
        self.0.next().unwrap_or(0)
    }
    fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { self.next() as usize % n }
    }
    fn flag(&mut self) -> bool {
        self.next() % 2 == 1
    }
    fn name(&mut self) -> String {
        const NAMES: [&str; 6] = ["", "p", "a b", "gr\u{fc}n\t\"\\", "v0", "\u{0}\u{7f}"];
        NAMES[self.below(NAMES.len())].to_owned()
    }
    fn offset(&mut self) -> i64 {
        [0, 8, -8, i64::MAX, i64::MIN][self.below(5)]
    }
    fn loc(&mut self) -> Loc {
        if self.flag() {
            Loc::default()
        } else {
            Loc { file: self.next(), line: self.next(), column: self.next() }
        }
    }
    fn ty(&mut self) -> Ty {
        [Ty::Ptr, Ty::Int(32), Ty::Int(1), Ty::Int(128), Ty::Opaque(8), Ty::Tuple(2)][self.below(6)]
    }
    fn id<K: Entity>(&mut self) -> K {
        K::new(self.below(9))
    }
    fn opt<K: Entity>(&mut self) -> Option<K> {
        if self.flag() { Some(self.id()) } else { None }
    }
    fn linkage(&mut self) -> Linkage {
        use Linkage::*;
        [External, Internal, Weak, LinkOnce, AvailableExternally][self.below(5)]
    }
    fn constant(&mut self) -> Value {
        let bits = [1u16, 7, 32, 64][self.below(4)];
        let n = [0, 1, 5, u64::MAX >> (64 - bits)][self.below(4)] & (u64::MAX >> (64 - bits));
        let (kind, ty) = match self.below(6) {
            0 => (ValueKind::Int(n), Ty::Int(bits)),
            1 => (ValueKind::Null, Ty::Ptr),
            2 => (ValueKind::Undef, self.ty()),
            3 => (ValueKind::Global(self.id(), self.offset()), Ty::Ptr),
            4 => (ValueKind::Function(self.id()), Ty::Ptr),
            _ => (ValueKind::Int(u64::from(self.next())), Ty::Ptr),
        };
        Value { kind, ty }
    }
}

/// Builds a function: parameters, constants and results in any numbering, uses anywhere.
fn function(tape: &mut Tape) -> Function {
    let mut values: Arena<ValueId, Value> = Arena::new();
    let mut params = Vec::new();
    let mut insts: Arena<InstId, Inst> = Arena::new();
    let has_body = tape.flag();
    for _ in 0..tape.below(24) {
        match tape.below(3) {
            0 => {
                let kind = ValueKind::Param(u32::try_from(params.len()).unwrap());
                let value = values.push(Value { kind, ty: tape.ty() });
                params.push(Param {
                    value,
                    name: tape.name(),
                    ty: tape.opt(),
                    sret: tape.flag(),
                    byval: tape.flag(),
                });
            }
            1 if has_body => {
                let result = tape.flag().then(|| {
                    values.push(Value { kind: ValueKind::Inst(insts.next_id()), ty: tape.ty() })
                });
                insts.push(Inst {
                    kind: InstKind::Phi { incoming: Vec::new() },
                    result,
                    loc: tape.loc(),
                });
            }
            _ => {
                let constant = tape.constant();
                values.push(constant);
            }
        }
    }
    let used = values.len();
    if used > 0 {
        for (_, inst) in insts.iter_mut() {
            inst.kind = inst_kind(tape, used);
        }
    }
    let body = has_body.then(|| body(tape, insts, used));
    Function {
        name: tape.name(),
        source_name: tape.name(),
        linkage: tape.linkage(),
        attrs: attrs(tape),
        params,
        ret: if tape.flag() { Ty::Void } else { tape.ty() },
        signature: tape.opt(),
        variadic: tape.flag(),
        loc: tape.loc(),
        body,
        values,
    }
}

fn attrs(tape: &mut Tape) -> FuncAttrs {
    FuncAttrs {
        noreturn: tape.flag(),
        noalias_return: tape.flag(),
        nonnull_return: tape.flag(),
        alloc_family: tape.flag().then(|| tape.name()),
        alloc_size: tape.flag(),
        alloc_ptr: tape.flag().then(|| tape.next()),
        constructor: tape.flag(),
        destructor: tape.flag(),
    }
}

/// Distributes the instructions over blocks, not always in the order of their ids.
fn body(tape: &mut Tape, insts: Arena<InstId, Inst>, used: usize) -> Body {
    let mut order: Vec<InstId> = insts.ids().collect();
    if tape.flag() {
        order.reverse();
    }
    let mut blocks = Arena::new();
    while blocks.is_empty() || !order.is_empty() {
        let take = tape.below(order.len() + 1).max(usize::from(tape.0.len() == 0)).min(order.len());
        let list: Vec<InstId> = order.drain(..take).collect();
        let term = terminator(tape, list.last().copied(), used);
        blocks.push(Block { insts: list, term, term_loc: tape.loc() });
    }
    let vars = (0..tape.below(3))
        .map(|_| Var {
            name: tape.name(),
            ty: tape.opt(),
            loc: tape.loc(),
            param: tape.flag().then(|| tape.next()),
        })
        .collect();
    Body { insts, blocks, vars }
}

fn terminator(tape: &mut Tape, last: Option<InstId>, used: usize) -> Terminator {
    let value = ValueId::new(tape.below(used));
    match (tape.below(8), last) {
        (0, _) => Terminator::Jump(tape.id()),
        (1, _) if used > 0 => {
            Terminator::Branch { cond: value, then: tape.id(), otherwise: tape.id() }
        }
        (2, _) if used > 0 => {
            let cases = (0..tape.below(3)).map(|_| (u64::from(tape.next()), tape.id())).collect();
            Terminator::Switch { value, cases, default: tape.id() }
        }
        (3, _) if used > 0 => Terminator::Return(Some(value)),
        (4, _) => Terminator::Unreachable,
        (5, Some(call)) => Terminator::Invoke { call, normal: tape.id(), unwind: tape.id() },
        (6, _) => Terminator::Resume,
        (7, _) => Terminator::Indirect { targets: (0..tape.below(3)).map(|_| tape.id()).collect() },
        _ => Terminator::Return(None),
    }
}

fn inst_kind(tape: &mut Tape, used: usize) -> InstKind {
    use InstKind::*;
    let choice = tape.below(23);
    let op = [BinOp::Add, BinOp::LShr, BinOp::SRem][tape.below(3)];
    let pred = [Pred::Eq, Pred::UGe, Pred::SLt][tape.below(3)];
    let cast = [CastOp::Trunc, CastOp::SExt, CastOp::IntToPtr][tape.below(3)];
    let rmw = [RmwOp::Add, RmwOp::Other, RmwOp::Xchg][tape.below(3)];
    let count = tape.below(4);
    let mut v = || ValueId::new(tape.below(used));
    let (a, b, c) = (v(), v(), v());
    let some: Vec<ValueId> = (0..count).map(|_| v()).collect();
    match choice {
        0 => Alloca { size: 8, count: some.first().copied(), var: tape.opt(), ty: tape.opt() },
        1 => Load { ptr: a, volatile: b.0 % 2 == 0 },
        2 => Store { ptr: a, value: b },
        3 => {
            let indices = some.iter().map(|v| Index { value: *v, scale: tape.offset() }).collect();
            Offset { base: a, offset: tape.offset(), indices, ty: tape.opt() }
        }
        4 => Bin { op, lhs: a, rhs: b },
        5 => Cmp { pred, lhs: a, rhs: b },
        6 => Cast { op: cast, value: a },
        7 => Select { cond: a, then: b, otherwise: c },
        8 => Phi { incoming: some.iter().map(|v| (tape.id(), *v)).collect() },
        9 => MemCopy { dst: a, src: b, len: c },
        10 => MemSet { dst: a, byte: b, len: c },
        11 => Extract { tuple: a, index: tape.next() },
        12 => Insert { tuple: a, index: tape.next(), value: b },
        13 => AtomicRmw { op: rmw, ptr: a, value: b },
        14 => CmpXchg { ptr: a, expected: b, new: c },
        15 => VaStart { list: a },
        16 => VaCopy { dst: a, src: b },
        17 => VarSet { var: tape.id(), value: a },
        18 => ScopeEnd { slot: a },
        19 => Opaque { operands: some.into_iter().collect() },
        n => {
            let callee = [Callee::Direct(tape.id()), Callee::Indirect(a), Callee::Asm][n - 20];
            Call { callee, args: some.into_iter().collect(), noreturn: tape.flag() }
        }
    }
}

fn source_type(tape: &mut Tape) -> SourceType {
    match tape.below(8) {
        0 => SourceType::Void,
        1 => SourceType::Scalar {
            name: tape.name(),
            size: u64::from(tape.next()),
            signed: tape.flag(),
        },
        2 => SourceType::Pointer { to: tape.id() },
        3 => SourceType::Const { of: tape.id() },
        4 => SourceType::Array { of: tape.id(), count: u64::MAX },
        5 => {
            let params = (0..tape.below(3)).map(|_| tape.id()).collect();
            SourceType::Function { params, ret: tape.id(), variadic: tape.flag() }
        }
        _ => {
            let fields = (0..tape.below(3))
                .map(|_| Field { name: tape.name(), offset: u64::from(tape.next()), ty: tape.id() })
                .collect();
            SourceType::Struct { name: tape.name(), size: 16, fields, union: tape.flag() }
        }
    }
}

fn global(tape: &mut Tape) -> Global {
    let value = |tape: &mut Tape| match tape.below(5) {
        0 => InitValue::Int { bits: 64, value: u64::MAX },
        1 => InitValue::Bytes(tape.next().to_le_bytes().to_vec()),
        2 => InitValue::Function(tape.id()),
        3 => InitValue::Global(tape.id(), tape.offset()),
        _ => InitValue::Opaque(tape.next()),
    };
    let entries = |tape: &mut Tape| {
        (0..tape.below(4))
            .map(|_| InitEntry { offset: u64::from(tape.next()), value: value(tape) })
            .collect()
    };
    Global {
        name: tape.name(),
        source_name: tape.name(),
        linkage: tape.linkage(),
        constant: tape.flag(),
        thread_local: tape.flag(),
        size: u64::from(tape.next()),
        ty: tape.opt(),
        init: tape.flag().then(|| entries(tape)),
        loc: tape.loc(),
    }
}

fn module(tape: &mut Tape) -> Module {
    let alias = |tape: &mut Tape| Alias {
        name: tape.name(),
        linkage: tape.linkage(),
        target: if tape.flag() {
            AliasTarget::Function(tape.id())
        } else {
            AliasTarget::Global(tape.id())
        },
    };
    Module {
        name: tape.name(),
        files: (0..tape.below(3)).map(|_| tape.name()).collect(),
        types: (0..tape.below(4)).map(|_| source_type(tape)).collect(),
        globals: (0..tape.below(4)).map(|_| global(tape)).collect(),
        aliases: (0..tape.below(2)).map(|_| alias(tape)).collect(),
        functions: (0..=tape.below(4)).map(|_| function(tape)).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_linked_module_round_trips(choices in proptest::collection::vec(any::<u32>(), 0..600)) {
        let module = module(&mut Tape(choices.into_iter()));
        let text = print_module(&module);
        let again = parse_module(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(&again, &module, "{}", text);
    }

    #[test]
    fn any_module_can_be_verified(choices in proptest::collection::vec(any::<u32>(), 0..600)) {
        let _ = verify(&module(&mut Tape(choices.into_iter())));
    }

    #[test]
    fn damaged_text_never_panics(cuts in proptest::collection::vec((any::<u16>(), 0usize..12, any::<u16>()), 1..4)) {
        let mut text = EVERYTHING.to_owned();
        for (at, len, from) in cuts {
            let at = usize::from(at) % text.len();
            let from = usize::from(from) % text.len();
            let patch: String = text.chars().skip(from).take(len / 2).collect();
            let end = (at + len).min(text.len());
            text.replace_range(at..end, &patch);
        }
        if let Ok(module) = parse_module(&text) {
            let _ = verify(&module);
            print_module(&module);
        }
    }

    #[test]
    fn random_text_never_panics(text in ".{0,200}") {
        let _ = parse_module(&text);
    }
}
