//! Fix by fix: show it, ask, remember the answer.

use anyhow::Result;
use leakproof_fix::{FileChange, Outcome, Proposal};
use std::io::{BufRead, Write};

/// The changes of the proposals that the user said yes to.
pub fn chosen(outcome: &Outcome, wanted: impl Fn(&Proposal) -> bool) -> Result<Vec<FileChange>> {
    let mut accepted: Vec<&str> = Vec::new();
    let mut rest = false;
    for proposal in outcome.proposals.iter().filter(|p| wanted(p)) {
        let id = proposal.finding.id.as_str();
        if rest {
            accepted.push(id);
            continue;
        }
        show(outcome, proposal)?;
        match answer()? {
            Answer::Yes => accepted.push(id),
            Answer::No => {}
            Answer::All => {
                rest = true;
                accepted.push(id);
            }
            Answer::Quit => break,
        }
    }
    Ok(outcome.changes(|p| wanted(p) && accepted.contains(&p.finding.id.as_str())))
}

fn show(outcome: &Outcome, proposal: &Proposal) -> Result<()> {
    let changes = outcome.changes(|p| p.finding.id == proposal.finding.id);
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{}", proposal.reason)?;
    for line in &proposal.certificate.open {
        writeln!(out, "Not proven: {line}.")?;
    }
    out.write_all(&leakproof_fix::unified(&changes))?;
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    All,
    Quit,
}

/// The end of input means no more.
fn answer() -> Result<Answer> {
    let mut input = std::io::stdin().lock();
    loop {
        let mut out = std::io::stdout().lock();
        write!(out, "Apply this fix? [y]es, [n]o, [a]ll, [q]uit: ")?;
        out.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(Answer::Quit);
        }
        if let Some(answer) = read(&line) {
            return Ok(answer);
        }
    }
}

fn read(line: &str) -> Option<Answer> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(Answer::Yes),
        "n" | "no" | "" => Some(Answer::No),
        "a" | "all" => Some(Answer::All),
        "q" | "quit" => Some(Answer::Quit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert_eq!(read("Y\n"), Some(Answer::Yes));
        assert_eq!(read("\n"), Some(Answer::No));
        assert_eq!(read("maybe"), None);
    }
}
