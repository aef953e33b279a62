//! The instrumenter as a program of its own: it is the only one that needs LLVM's library, and
//! `leakproof` starts it once per unit.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match leakproof_instrument::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("leakproof-instrument: {error}");
            ExitCode::from(2)
        }
    }
}
