//! The option that chooses functions of the program by name.

use anyhow::{Result, bail};
use clap::Args;
use leakproof_program::{FuncRef, Program};

#[derive(Debug, Args)]
pub struct ChosenFunctions {
    /// Only this function; may be repeated
    #[arg(long = "function", value_name = "NAME")]
    functions: Vec<String>,
}

impl ChosenFunctions {
    /// The functions of these names, or all; a name that no function has is refused.
    pub fn of(&self, program: &Program) -> Result<Vec<FuncRef>> {
        for name in &self.functions {
            if !program.definitions().any(|f| program.display_name(f) == name) {
                bail!(
                    "no function of the program is named `{name}`; without --function all are shown"
                );
            }
        }
        let is_chosen = |f: &FuncRef| {
            self.functions.is_empty()
                || self.functions.iter().any(|n| n == program.display_name(*f))
        };
        Ok(program.definitions().filter(is_chosen).collect())
    }
}
