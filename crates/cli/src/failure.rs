//! How a failed run ends: one line on standard error, exit code 2.

use leakproof_frontend::FrontendError;
use leakproof_frontend::watch::WatchError;
use std::io::ErrorKind;
use std::process::ExitCode;

/// Tells the user and gives the exit code. A reader that closed our output early is no failure.
pub fn report(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|e| e.kind() == ErrorKind::BrokenPipe);
    if broken_pipe {
        return ExitCode::SUCCESS;
    }
    if is_interruption(error) {
        return ExitCode::from(130);
    }
    eprintln!("leakproof: error: {}", one_line(&format!("{error:#}")));
    ExitCode::from(2)
}

/// A bug in the analysis of one unit or function is caught where that unit or function is given
/// up; here it becomes one line. `RUST_BACKTRACE=1` shows where it comes from.
pub fn install_panic_hook() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|v| v != "0") {
        return;
    }
    std::panic::set_hook(Box::new(|info| {
        let text = info.payload_as_str().unwrap_or("unknown");
        let at =
            info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        eprintln!("leakproof: internal error: {}{at}; please report it", one_line(text));
    }));
}

fn is_interruption(error: &anyhow::Error) -> bool {
    let frontend = error.downcast_ref::<FrontendError>();
    matches!(
        frontend,
        Some(FrontendError::Interrupted | FrontendError::Watch(WatchError::Interrupted))
    ) || matches!(error.downcast_ref::<WatchError>(), Some(WatchError::Interrupted))
}

/// File names may hold anything, also line ends and escape codes.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
