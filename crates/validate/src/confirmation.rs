//! Witnesses are tried before they count: the original program must show the leak too.

use crate::error::ValidateError;
use crate::leaks::{Confirmation, Leak};
use crate::source::Program;
use crate::verdict::Qualifier;
use crate::warning::Warning;
use crate::witness::{Shown, Strictness, Witness, replay};
use std::path::Path;

/// Where and of what a witness is made.
pub struct Confirmer<'a> {
    pub program: &'a Program,
    pub warning: &'a Warning,
    pub compiler: &'a Path,
    /// Where the witness stays when it shows the leak.
    pub folder: &'a Path,
    /// Keeps what witnesses build, so that the sources are compiled once for all of them.
    pub kept: &'a Path,
}

impl Confirmer<'_> {
    /// Writes the witness and runs it. The folder is removed when it does not show the leak.
    pub fn confirmation(&self, leak: &Leak) -> Result<Confirmation, ValidateError> {
        for (strictness, qualifier) in self.ways_to_show(leak.qualifier) {
            let witness = Witness {
                program: self.program,
                warning: self.warning,
                input: &leak.input,
                qualifier,
                compiler: self.compiler,
            };
            witness.write(self.folder, strictness)?;
            let replayed = replay(self.folder, Some(self.kept))?;
            match replayed.shown {
                Shown::Yes => return Ok(Confirmation::Shown(qualifier)),
                Shown::No => {}
                Shown::DoesNotBuild => {
                    self.remove()?;
                    let why = format!("its witness does not build: {}", replayed.complaint);
                    return Ok(Confirmation::Impossible(why));
                }
            }
        }
        self.remove()?;
        let why = "a build with LeakSanitizer does not show it".to_owned();
        Ok(Confirmation::NotShown(why))
    }

    /// What LeakSanitizer may be told, and how an object is left that it then reports. What we saw lost it may find by
    /// chance in memory that we know to be dead: that the object was never freed still shows. A harness keeps
    /// all it was given, so there this would say nothing.
    fn ways_to_show(&self, seen: Qualifier) -> Vec<(Strictness, Qualifier)> {
        let unfreed = (Strictness::Unfreed, Qualifier::StillReferenced);
        if seen == Qualifier::StillReferenced {
            return vec![unfreed];
        }
        let mut ways = vec![(Strictness::Unreferenced, seen), (Strictness::NoStack, seen)];
        if self.program.harness.is_none() {
            ways.push(unfreed);
        }
        ways
    }

    fn remove(&self) -> Result<(), ValidateError> {
        std::fs::remove_dir_all(self.folder).map_err(|e| ValidateError::io(self.folder, &e))
    }
}
