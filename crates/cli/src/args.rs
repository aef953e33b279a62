//! The command line: options common to all subcommands, and compiler flags among them.
//!
//! Compiler flags may stand where options stand (`leakproof check a.c -DX -Iinc`). Before clap
//! reads the line they are turned into `--cflag=...`, so clap sees only what it knows.

use crate::commands::Command;
use clap::Parser;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Finds memory leaks in C and C++ programs.
#[derive(Debug, Parser)]
#[command(name = "leakproof", version, max_term_width = 100)]
pub struct Cli {
    /// Say nothing but results and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more; twice for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    #[command(subcommand)]
    pub command: Command,
}

/// Reads the process's own arguments; ends the process on `--help` and on mistakes (exit code 2).
pub fn parse() -> Cli {
    Cli::parse_from(mark_compiler_flags(std::env::args_os().collect()))
}

/// Rewrites compiler flags before `--` to `--cflag=FLAG`.
pub fn mark_compiler_flags(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut out = Vec::with_capacity(arguments.len());
    let mut rest = arguments.into_iter();
    // The program's name and the subcommand.
    out.extend(rest.by_ref().take(2));
    while let Some(argument) = rest.next() {
        if argument == "--" {
            out.push(argument);
            break;
        }
        if !is_compiler_flag(&argument) {
            out.push(argument);
            continue;
        }
        let pair = leakproof_frontend::takes_argument(&argument);
        out.push(marked(&argument));
        if pair {
            out.extend(rest.next().as_deref().map(marked));
        }
    }
    out.extend(rest);
    out
}

fn marked(flag: &OsStr) -> OsString {
    let mut word = OsString::from("--cflag=");
    word.push(flag);
    word
}

/// Whether an argument is the compiler's: everything with one dash that is not one of our own
/// short options, response files, and the long options that matter to what code means.
fn is_compiler_flag(argument: &OsStr) -> bool {
    let bytes = argument.as_bytes();
    match bytes {
        [b'@', _, ..] => true,
        // Ours, though it starts like one of the compiler's.
        b"--stdin" => false,
        [b'-', b'-', ..] if bytes.starts_with(b"--stdin=") => false,
        [b'-', b'-', ..] => ["--sysroot", "--target", "--std", "--gcc-toolchain", "--include"]
            .iter()
            .any(|p| bytes.starts_with(p.as_bytes())),
        [b'-', first, rest @ ..] => !is_own_short(*first, rest, argument),
        _ => false,
    }
}

fn is_own_short(first: u8, rest: &[u8], argument: &OsStr) -> bool {
    match first {
        b'h' | b'V' => rest.is_empty(),
        b'q' | b'v' => rest.iter().all(|b| matches!(b, b'q' | b'v')),
        b'j' => rest.iter().all(u8::is_ascii_digit),
        b'o' => true,
        b'p' => {
            let flags: [&[u8]; 4] = [b"-pthread", b"-pedantic", b"-pipe", b"-pg"];
            !flags.iter().any(|f| argument.as_bytes().starts_with(f))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let marked = mark_compiler_flags(words);
        marked.iter().map(|w| w.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn compiler_flags_are_told_from_options() {
        assert_eq!(
            mark("leakproof check a.c -DX -I inc -p build -o out -j4 -qv -pthread --format json"),
            "leakproof check a.c --cflag=-DX --cflag=-I --cflag=inc -p build -o out -j4 -qv \
             --cflag=-pthread --format json"
        );
    }

    #[test]
    fn the_build_command_is_left_alone() {
        assert_eq!(
            mark("leakproof check -std=c99 -- make -DX"),
            "leakproof check --cflag=-std=c99 -- make -DX"
        );
    }

    #[test]
    fn definitions_are_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
