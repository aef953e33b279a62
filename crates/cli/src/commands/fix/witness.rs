//! Witnesses of findings, replayed on the program as it will be: the last line of a certificate.
//!
//! `leakproof validate` keeps a witness per finding, by its id. A fix whose witness does not run clean is not
//! safe, whatever was proven.

use anyhow::Result;
use leakproof_findings::Applicability;
use leakproof_fix::{Outcome, Proposal};
use leakproof_frontend::clang::Clang;
use leakproof_validate::{Afterwards, NOTE_FILE, WitnessNote, replay_patched};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Replays what there is for the safe fixes, and puts the result into their certificates.
pub fn replay(outcome: &mut Outcome, folder: &Path, root: &Path) -> Result<()> {
    let witnesses = witnesses(folder);
    let is_safe = |p: &Proposal| p.applicability == Applicability::Safe;
    if !outcome.proposals.iter().any(|p| is_safe(p) && witnesses.contains_key(&p.finding.id)) {
        return Ok(());
    }
    let changed = outcome.line_by_line(is_safe);
    let files: Vec<(PathBuf, Vec<u8>)> =
        changed.into_iter().map(|c| (root.join(&c.file), c.after)).collect();
    let compiler = Clang::locate()?.path;
    for proposal in outcome.proposals.iter_mut().filter(|p| is_safe(p)) {
        let Some(witness) = witnesses.get(&proposal.finding.id) else { continue };
        let name = witness.display();
        let certificate = &mut proposal.certificate;
        let trouble = match replay_patched(witness, &compiler, &files)? {
            Afterwards::Clean => {
                let clean = "runs clean with AddressSanitizer and LeakSanitizer";
                certificate.proven.push(format!("the witness {name} {clean}"));
                continue;
            }
            Afterwards::Leaks => format!("the witness {name} still leaks"),
            Afterwards::Broken(error) => {
                format!("the witness {name} stops with AddressSanitizer's {error}")
            }
            Afterwards::DoesNotBuild(why) => format!("the witness {name} does not build: {why}"),
        };
        certificate.open.push(trouble);
        proposal.applicability = Applicability::Suggested;
    }
    Ok(())
}

/// Folders of witnesses, by the finding that they show.
fn witnesses(folder: &Path) -> BTreeMap<String, PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let noted = entries.filter_map(|entry| {
        let text = std::fs::read(entry.path().join(NOTE_FILE)).ok()?;
        let note: WitnessNote = serde_json::from_slice(&text).ok()?;
        Some((note.warning, entry.path()))
    });
    noted.collect()
}
