//! Which program each warning is about; code without a `main` gets one.

use super::verdicts::{Judged, Judgement};
use anyhow::Result;
use leakproof_ir::Module;
use leakproof_validate::{Program, Sources, ValidateError, Warning, choose};
use std::ffi::OsString;
use std::path::Path;

pub struct Project<'a> {
    pub units: &'a Sources,
    /// One for each unit, in the same order.
    pub modules: &'a [Module],
    /// For the linker.
    pub flags: &'a [OsString],
    pub root: &'a Path,
}

/// A program and the warnings (by position) about it.
pub struct Group {
    pub program: Program,
    pub members: Vec<usize>,
}

impl Project<'_> {
    /// Groups in the order of their first warnings, and the warnings that belong nowhere.
    pub fn group(
        &self,
        warnings: &[Warning],
        wanted: Option<&str>,
    ) -> Result<(Vec<Group>, Vec<Judged>)> {
        let programs = self.units.programs(self.flags);
        let mut groups: Vec<Group> = Vec::new();
        let mut rejected = Vec::new();
        for (i, warning) in warnings.iter().enumerate() {
            let program = match self.program(&programs, wanted, warning) {
                Ok(program) => program,
                Err(error) if wanted.is_some() => return Err(error.into()),
                Err(error) => {
                    let result = Judgement::Rejected(error.to_string());
                    rejected.push(Judged { warning: i, result });
                    continue;
                }
            };
            // By its unit, not by its name: one file may be the main unit of several programs.
            let same = |g: &&mut Group| {
                g.program.units[0].unit == program.units[0].unit
                    && g.program.harness == program.harness
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.members.push(i),
                None => groups.push(Group { program, members: vec![i] }),
            }
        }
        Ok((groups, rejected))
    }

    /// The program that contains the warning's places; else a harness for its function.
    fn program(
        &self,
        programs: &[Program],
        wanted: Option<&str>,
        warning: &Warning,
    ) -> Result<Program, ValidateError> {
        let files = [warning.allocation[0].file.as_path(), warning.leak.file.as_path()];
        match choose(programs, wanted, &files) {
            Ok(program) => Ok(program.clone()),
            Err(error @ (ValidateError::Program(_) | ValidateError::NoMain))
                if wanted.is_none() =>
            {
                self.harness(warning, error)
            }
            Err(error) => Err(error),
        }
    }

    /// A harness, unless there is a `main` in its place: then `otherwise`.
    fn harness(
        &self,
        warning: &Warning,
        otherwise: ValidateError,
    ) -> Result<Program, ValidateError> {
        let (at, function) = leakproof_validate::choose_function(self.modules, self.root, warning)?;
        if self.modules[at].functions.values().any(|f| f.name == "main" && f.is_definition()) {
            return Err(otherwise);
        }
        let source = self.units.units[at].unit.path();
        let harness = leakproof_validate::write_harness(&self.modules[at], &function, &source)?;
        Ok(self.units.harnessed(at, harness, self.flags))
    }
}

/// A program for a reader.
pub fn described(program: &Program) -> String {
    let units = crate::ui::count(program.units.len(), "unit");
    match &program.harness {
        Some(harness) => format!("{} ({units}, harness for `{}`)", program.name, harness.function),
        None => format!("{} ({units})", program.name),
    }
}
