//! The words of the text form for enums without payload: one table each, read by printer and parser.
//!
//! Invariant: within a table every variant stands exactly once and no word stands twice.

use crate::{BinOp, CastOp, Linkage, Pred, RmwOp};

/// An enum whose variants are spelled as single words.
pub(crate) trait Keyword: Copy + PartialEq + 'static {
    const TABLE: &'static [(Self, &'static str)];

    fn word(self) -> &'static str {
        Self::TABLE.iter().find(|(k, _)| *k == self).map_or("?", |(_, w)| w)
    }
    fn from_word(word: &str) -> Option<Self> {
        Self::TABLE.iter().find(|(_, w)| *w == word).map(|(k, _)| *k)
    }
}

impl Keyword for BinOp {
    const TABLE: &'static [(Self, &'static str)] = &[
        (BinOp::Add, "add"),
        (BinOp::Sub, "sub"),
        (BinOp::Mul, "mul"),
        (BinOp::UDiv, "udiv"),
        (BinOp::SDiv, "sdiv"),
        (BinOp::URem, "urem"),
        (BinOp::SRem, "srem"),
        (BinOp::And, "and"),
        (BinOp::Or, "or"),
        (BinOp::Xor, "xor"),
        (BinOp::Shl, "shl"),
        (BinOp::LShr, "lshr"),
        (BinOp::AShr, "ashr"),
    ];
}

impl Keyword for Pred {
    const TABLE: &'static [(Self, &'static str)] = &[
        (Pred::Eq, "eq"),
        (Pred::Ne, "ne"),
        (Pred::ULt, "ult"),
        (Pred::ULe, "ule"),
        (Pred::UGt, "ugt"),
        (Pred::UGe, "uge"),
        (Pred::SLt, "slt"),
        (Pred::SLe, "sle"),
        (Pred::SGt, "sgt"),
        (Pred::SGe, "sge"),
    ];
}

impl Keyword for CastOp {
    const TABLE: &'static [(Self, &'static str)] = &[
        (CastOp::Trunc, "trunc"),
        (CastOp::ZExt, "zext"),
        (CastOp::SExt, "sext"),
        (CastOp::PtrToInt, "ptrtoint"),
        (CastOp::IntToPtr, "inttoptr"),
    ];
}

impl Keyword for RmwOp {
    const TABLE: &'static [(Self, &'static str)] = &[
        (RmwOp::Xchg, "xchg"),
        (RmwOp::Add, "add"),
        (RmwOp::Sub, "sub"),
        (RmwOp::And, "and"),
        (RmwOp::Or, "or"),
        (RmwOp::Other, "other"),
    ];
}

impl Keyword for Linkage {
    const TABLE: &'static [(Self, &'static str)] = &[
        (Linkage::External, "external"),
        (Linkage::Internal, "internal"),
        (Linkage::Weak, "weak"),
        (Linkage::LinkOnce, "linkonce"),
        (Linkage::AvailableExternally, "available_externally"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_are_distinct<K: Keyword + std::fmt::Debug>() {
        for (k, w) in K::TABLE {
            assert_eq!(K::from_word(w), Some(*k));
            assert_eq!(k.word(), *w);
        }
    }

    #[test]
    fn every_table_is_a_bijection() {
        words_are_distinct::<BinOp>();
        words_are_distinct::<Pred>();
        words_are_distinct::<CastOp>();
        words_are_distinct::<RmwOp>();
        words_are_distinct::<Linkage>();
    }
}
