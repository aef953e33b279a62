//! Seeds: the inputs that the search starts from.

use anyhow::{Context, Result, bail};
use clap::Args;
use leakproof_validate::{Input, default_seeds, harness_seeds};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct SeedArgs {
    /// Arguments of the program to start from, as in `--run-args='-v 3'`; may be repeated
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    run_args: Vec<String>,
    /// Standard input to start from; may be repeated
    #[arg(long, value_name = "FILE")]
    stdin: Vec<PathBuf>,
    /// A file that the program finds in its folder, with its first content from SEED
    #[arg(long = "file", value_name = "NAME=SEED")]
    files: Vec<String>,
    /// An environment variable to vary
    #[arg(long = "env", value_name = "NAME=VALUE")]
    environment: Vec<String>,
}

/// Words as a shell would split them.
pub fn split(line: &str) -> Result<Vec<OsString>> {
    let mut words = Vec::new();
    let (mut word, mut open, mut quote) = (String::new(), false, None);
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => (quote, open) = (Some(c), true),
            ('\\', None | Some('"')) => {
                word.extend(rest.next());
                open = true;
            }
            (c, None) if c.is_whitespace() => {
                if open {
                    words.push(std::mem::take(&mut word).into());
                }
                open = false;
            }
            (c, _) => {
                word.push(c);
                open = true;
            }
        }
    }
    if quote.is_some() {
        bail!("`{line}`: a quote is not closed");
    }
    if open {
        words.push(word.into());
    }
    Ok(words)
}

impl SeedArgs {
    /// Every combination of arguments and standard inputs that the user gave, then our own.
    pub fn inputs(&self, harnessed: bool) -> Result<Vec<Input>> {
        let mut base = Input::default();
        for pair in &self.files {
            let Some((name, seed)) = pair.split_once('=') else {
                bail!("--file {pair}: expected NAME=SEED");
            };
            if name.starts_with('/') || name.split('/').any(|part| part == "..") {
                bail!("--file {pair}: the name must stay within the program's folder");
            }
            let content = std::fs::read(seed).with_context(|| seed.to_owned())?;
            base.files.insert(name.to_owned(), content);
        }
        for pair in &self.environment {
            let Some((name, value)) = pair.split_once('=') else {
                bail!("--env {pair}: expected NAME=VALUE");
            };
            base.environment.insert(name.to_owned(), value.as_bytes().to_vec());
        }
        let mut stdins = Vec::new();
        for file in &self.stdin {
            stdins.push(std::fs::read(file).with_context(|| file.display().to_string())?);
        }
        let mut lines = Vec::new();
        for line in &self.run_args {
            let words = split(line)?;
            lines.push(words.iter().map(|w| w.as_encoded_bytes().to_vec()).collect::<Vec<_>>());
        }
        let mut seeds = Vec::new();
        for arguments in if lines.is_empty() && !stdins.is_empty() { vec![vec![]] } else { lines } {
            let argc = arguments.len() as u32 + 1;
            let given = Input { arguments, argc, ..base.clone() };
            for stdin in if stdins.is_empty() { vec![vec![]] } else { stdins.clone() } {
                seeds.push(Input { stdin, ..given.clone() });
            }
        }
        let own = if harnessed { harness_seeds() } else { default_seeds() };
        seeds.extend(own.into_iter().map(|seed| seed.beside(&base)));
        Ok(seeds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let words = |line: &str| split(line).unwrap();
        assert_eq!(words("-a 'b c' d\\ e \"f'g\" ''"), ["-a", "b c", "d e", "f'g", ""]);
        assert!(words("  ").is_empty());
        assert!(split("'a").is_err());
    }
}
