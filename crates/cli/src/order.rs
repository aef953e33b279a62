//! The two orders of findings with verdicts: figure 1 of the ISSTA 2013 paper.

use clap::ValueEnum;
use leakproof_findings::{Report, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// MUST-LEAK, MAY-LEAK, BLOAT, LIKELY-NOT-LEAK
    Fix,
    /// MAY-LEAK, BLOAT, LIKELY-NOT-LEAK, MUST-LEAK
    Validate,
}

impl Order {
    /// The place of a verdict; what has none comes last.
    pub fn rank(self, verdict: Option<Verdict>) -> usize {
        use Verdict::{Bloat, LikelyNotLeak, MayLeak, MustLeak};
        let list = match self {
            Order::Fix => [MustLeak, MayLeak, Bloat, LikelyNotLeak],
            Order::Validate => [MayLeak, Bloat, LikelyNotLeak, MustLeak],
        };
        verdict.and_then(|v| list.iter().position(|w| *w == v)).unwrap_or(list.len())
    }

    /// Findings of the same verdict stay as they are.
    pub fn sort(self, report: &mut Report) {
        report.leaks.sort_by_key(|f| self.rank(f.verdict));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::Finding;

    #[test]
    fn both_orders() {
        use Verdict::{Bloat, LikelyNotLeak, MayLeak, MustLeak};
        let finding = |verdict| Finding { verdict, ..Finding::default() };
        let given = [None, Some(LikelyNotLeak), Some(MustLeak), Some(Bloat), Some(MayLeak)];
        let sorted = |order: Order| {
            let mut report = Report { leaks: given.map(finding).to_vec(), ..Report::default() };
            order.sort(&mut report);
            report.leaks.iter().map(|f| f.verdict).collect::<Vec<_>>()
        };
        let fix = [MustLeak, MayLeak, Bloat, LikelyNotLeak].map(Some);
        assert_eq!(sorted(Order::Fix), [&fix[..], &[None]].concat());
        let validate = [MayLeak, Bloat, LikelyNotLeak, MustLeak].map(Some);
        assert_eq!(sorted(Order::Validate), [&validate[..], &[None]].concat());
    }
}
