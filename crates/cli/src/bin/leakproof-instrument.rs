//! What `leakproof` starts beside itself: the instrumenter, once per unit, the only program that needs LLVM's
//! library; and, as `--confined FOLDER PROGRAM ARGUMENTS...`, the sandbox around a witness's program.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let [mode, folder, program, rest @ ..] = arguments.as_slice()
        && mode == leakproof_rt::confine::FLAG
    {
        return failure(&leakproof_rt::confine::become_program(folder, program, rest));
    }
    let arguments: Vec<String> =
        arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    match leakproof_instrument::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&error),
    }
}

fn failure(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("leakproof-instrument: {error}");
    ExitCode::from(2)
}
