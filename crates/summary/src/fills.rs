//! Whether a function fills a place without a look at what is there: an out-parameter. What such a place
//! held is its caller's business.

use crate::summary::{Effect, Expr, Ref, Root, Summary};

impl Summary {
    /// Whether the effect stores into a cell whose old contents matter to nothing else that the function
    /// does. Where it does not store, they stay, which is no look at them.
    pub fn fills(&self, effect: &Effect) -> bool {
        let mut old = vec![false; self.pool.len()];
        for (i, expr) in self.pool.iter().enumerate() {
            let is_old = |r: &Ref| old[r.0 as usize];
            old[i] = match expr {
                Expr::Init { root, slot, .. } => (*root, *slot) == (effect.root, effect.slot),
                Expr::Ite { then, otherwise, .. } => is_old(then) || is_old(otherwise),
                Expr::Any(items) => items.iter().any(is_old),
                _ => false,
            };
        }
        let is_old = |r: Ref| old[r.0 as usize];
        let leads_on = |root: Root| matches!(root, Root::Pointee(r) if is_old(r));
        let is_looked_at = self.pool.iter().any(|e| match e {
            Expr::Init { root, .. } | Expr::Addr { root, .. } => leads_on(*root),
            Expr::Elem { root, index, .. } => leads_on(*root) || is_old(*index),
            Expr::Not(x) | Expr::Cast { value: x, .. } | Expr::Ite { cond: x, .. } => is_old(*x),
            Expr::Cmp { lhs, rhs, .. } | Expr::Bin { lhs, rhs, .. } => is_old(*lhs) || is_old(*rhs),
            Expr::And(items) | Expr::Or(items) | Expr::Tuple(items) => {
                items.iter().any(|&r| is_old(r))
            }
            _ => false,
        });
        let is_kept = self.effects.iter().any(|e| {
            leads_on(e.root) || ((e.root, e.slot) != (effect.root, effect.slot) && is_old(e.value))
        });
        !is_looked_at && !is_kept && !self.value.is_some_and(is_old)
    }
}
