//! The constraints that sit on the node of a pointer and wait for what it points to.
//!
//! Invariant: after two nodes became one, no load or store of theirs is there twice.

use super::solver::{NodeId, Step};

/// Constraints on what a pointer points to.
#[derive(Default)]
pub(super) struct Uses {
    /// `dst ⊇ *n`
    pub loads: Vec<NodeId>,
    /// `*n ⊇ src`
    pub stores: Vec<NodeId>,
    /// `dst ⊇ n + step`
    pub steps: Vec<(Step, NodeId)>,
    /// This node is the destination (true) or source of a copy of bytes.
    pub copies: Vec<(u32, bool)>,
    /// Calls through this pointer.
    pub calls: Vec<u32>,
}

impl Uses {
    pub fn extend(&mut self, other: Uses) {
        self.loads.extend(other.loads);
        self.stores.extend(other.stores);
        self.steps.extend(other.steps);
        self.copies.extend(other.copies);
        self.calls.extend(other.calls);
        self.loads.sort_unstable();
        self.loads.dedup();
        self.stores.sort_unstable();
        self.stores.dedup();
    }
}
