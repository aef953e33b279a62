//! What the analysis looks for and how hard, from the command line and the configuration.

use crate::config::{Config, check_families};
use anyhow::Result;
use clap::{Args, ValueEnum};
use leakproof_detect::{Also, Options};
use leakproof_frontend::usage::Usage;
use leakproof_models::Library;

#[derive(Debug, Args)]
pub struct AnalysisArgs {
    /// 0: every path, 1: one report per allocation and leak point, 2: one per allocation
    /// [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=2))]
    level: Option<u8>,
    /// Resources reported besides memory (`leakproof models families` lists them), or `all`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    families: Vec<String>,
    /// Report other misuses of released memory, too: `double-free`, `use-after-free`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    also: Vec<Misuse>,
    /// Report what is still referenced when `main` returns
    #[arg(long)]
    at_exit: bool,
}

/// What can be reported besides leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Misuse {
    DoubleFree,
    UseAfterFree,
}

impl AnalysisArgs {
    /// The command line wins over the configuration, and that over the defaults.
    pub fn options(&self, config: &Config, models: &Library, jobs: usize) -> Result<Options> {
        let meter = || Usage::now().peak_mib;
        let mut options = Options { jobs, meter, ..Options::default() };
        options.level = self.level.or(config.level).unwrap_or(options.level);
        options.also = Also {
            double_free: self.also.contains(&Misuse::DoubleFree),
            use_after_free: self.also.contains(&Misuse::UseAfterFree),
        };
        options.at_exit = self.at_exit || config.at_exit.unwrap_or(options.at_exit);
        options.families = families(self.wanted(config), models)?.into_iter().collect();
        let budget = config.budget;
        options.budget.steps = budget.steps.unwrap_or(options.budget.steps);
        options.budget.cheap_steps = budget.cheap_steps.unwrap_or(options.budget.cheap_steps);
        options.budget.terms = budget.terms.unwrap_or(options.budget.terms);
        options.solver.milliseconds = budget.solver_ms.unwrap_or(options.solver.milliseconds);
        options.solver.resources = budget.solver_resources.unwrap_or(options.solver.resources);
        Ok(options)
    }

    fn wanted<'a>(&'a self, config: &'a Config) -> &'a [String] {
        if self.families.is_empty() { &config.families } else { &self.families }
    }
}

fn families(wanted: &[String], models: &Library) -> Result<Vec<String>> {
    let known: Vec<&str> = models.families().map(|f| f.name.as_str()).collect();
    if wanted == ["all"] {
        return Ok(known.into_iter().map(str::to_owned).collect());
    }
    check_families(wanted, &known)?;
    Ok(wanted.to_vec())
}
