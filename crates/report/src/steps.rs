//! The path of a finding as a reader wants it: complete at both ends, folded in the middle.
//!
//! In: a finding. Out: numbered steps that always start with the allocation and end with the leak,
//! or the few that matter plus the count of the folded ones. Numbers are those of the full path.

use leakproof_findings::{AllocSite, Event, Finding, PathStep};

/// Paths up to this length are shown whole.
const FOLD_ABOVE: usize = 9;
/// A longer path is folded to this many steps.
const FOLD_TO: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// 1-based place on the full path.
    pub number: usize,
    pub step: PathStep,
    /// How many steps were folded away right before this one.
    pub folded_before: usize,
}

/// The whole path; one with missing ends gets them from the finding itself.
pub(crate) fn full_path(finding: &Finding) -> Vec<Step> {
    let mut path = finding.path.clone();
    if !path.iter().any(|s| s.event == Event::Alloc) && !finding.alloc.file.is_empty() {
        path.insert(0, alloc_step(&finding.alloc));
    }
    if path.last().is_none_or(|s| s.event != Event::Leak) {
        path.push(leak_step(finding));
    }
    drop_repeated_end(&mut path);
    let number = |(i, step)| Step { number: i + 1, step, folded_before: 0 };
    path.into_iter().enumerate().map(number).collect()
}

/// The loss of the last reference is the leak: one step says it, not two at one place.
fn drop_repeated_end(path: &mut Vec<PathStep>) {
    if let [.., before, leak] = path.as_slice()
        && before.event == Event::Drop
        && (&before.file, before.line, before.column) == (&leak.file, leak.line, leak.column)
    {
        path.remove(path.len() - 2);
    }
}

fn alloc_step(site: &AllocSite) -> PathStep {
    PathStep {
        file: site.file.clone(),
        line: site.line,
        column: site.column,
        function: site.function.clone(),
        event: Event::Alloc,
        note: String::new(),
    }
}

fn leak_step(finding: &Finding) -> PathStep {
    let leak = &finding.leak;
    PathStep {
        file: leak.file.clone(),
        line: leak.line,
        column: leak.column,
        function: leak.function.clone(),
        event: Event::Leak,
        note: String::new(),
    }
}

/// A long path without the steps that explain least: see `weight`.
pub(crate) fn folded_path(finding: &Finding) -> Vec<Step> {
    let path = full_path(finding);
    if path.len() <= FOLD_ABOVE {
        return path;
    }
    let keep = keep_mask(&path);
    let mut kept = Vec::new();
    let mut folded = 0;
    for (mut step, keep) in path.into_iter().zip(keep) {
        if keep {
            step.folded_before = std::mem::take(&mut folded);
            kept.push(step);
        } else {
            folded += 1;
        }
    }
    kept
}

/// Marks the steps to keep: the heaviest, and of equals those nearest to the leak.
fn keep_mask(path: &[Step]) -> Vec<bool> {
    let alloc = path.iter().position(|s| s.step.event == Event::Alloc).unwrap_or(0);
    let mut order: Vec<usize> = (0..path.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse((weight(path, i, alloc), i)));
    let mut mask = vec![false; path.len()];
    for i in order.into_iter().take(FOLD_TO) {
        mask[i] = true;
    }
    mask
}

/// How much a step explains. What happens after the allocation decides the leak; how the program
/// got to the allocation hardly ever does.
fn weight(path: &[Step], index: usize, alloc: usize) -> u8 {
    match path[index].step.event {
        Event::Leak => 5,
        Event::Alloc if index == alloc => 5,
        Event::Drop => 4,
        Event::Branch if index > alloc => 3,
        Event::Store | Event::Alloc => 2,
        Event::Call if index > alloc => 1,
        Event::Branch | Event::Call => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::Location;

    fn step(event: Event, line: u32) -> PathStep {
        PathStep {
            file: "a.c".into(),
            line,
            column: 1,
            function: "f".into(),
            event,
            note: String::new(),
        }
    }

    fn finding(path: Vec<PathStep>) -> Finding {
        Finding {
            function: "f".into(),
            alloc: AllocSite { file: "a.c".into(), line: 1, ..AllocSite::default() },
            leak: Location { file: "a.c".into(), line: 9, ..Location::default() },
            path,
            ..Finding::default()
        }
    }

    #[test]
    fn an_empty_path_gets_both_ends() {
        let events: Vec<_> =
            full_path(&finding(Vec::new())).iter().map(|s| (s.step.event, s.step.line)).collect();
        assert_eq!(events, [(Event::Alloc, 1), (Event::Leak, 9)]);
    }

    #[test]
    fn the_loss_of_the_last_reference_is_said_once() {
        let steps = vec![step(Event::Alloc, 1), step(Event::Drop, 9), step(Event::Leak, 9)];
        let events: Vec<_> = full_path(&finding(steps)).iter().map(|s| s.step.event).collect();
        assert_eq!(events, [Event::Alloc, Event::Leak]);
    }

    #[test]
    fn short_paths_are_whole_and_long_ones_fold() {
        let mut path = vec![step(Event::Alloc, 1)];
        path.extend((2..30).map(|line| step(Event::Branch, line)));
        path.push(step(Event::Leak, 30));
        let kept = folded_path(&finding(path));
        let numbers: Vec<_> = kept.iter().map(|s| s.number).collect();
        assert_eq!(numbers, [1, 24, 25, 26, 27, 28, 29, 30]);
        assert_eq!(kept[1].folded_before, 22);
        let total: usize = kept.len() + kept.iter().map(|s| s.folded_before).sum::<usize>();
        assert_eq!(total, 30);
    }

    #[test]
    fn what_happens_after_the_allocation_is_kept_first() {
        let mut path: Vec<_> = (1..9).map(|line| step(Event::Branch, line)).collect();
        path.push(step(Event::Alloc, 9));
        path.extend([step(Event::Call, 10), step(Event::Branch, 11), step(Event::Drop, 12)]);
        path.push(step(Event::Leak, 13));
        let numbers: Vec<_> = folded_path(&finding(path)).iter().map(|s| s.number).collect();
        assert_eq!(numbers, [6, 7, 8, 9, 10, 11, 12, 13]);
    }
}
