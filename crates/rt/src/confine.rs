//! Becomes another program inside the sandbox: how witnesses are run by the tool.

use crate::sandbox::{Walls, isolate, limit};
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes `leakproof-instrument` do this.
pub const FLAG: &str = "--confined";

/// Returns only when that fails. Files change in `folder` only.
pub fn become_program(folder: &OsStr, program: &OsStr, arguments: &[OsString]) -> io::Error {
    let folder = match CString::new(folder.as_bytes()) {
        Ok(folder) => folder,
        Err(error) => return error.into(),
    };
    let walls = Walls {
        cpu_seconds: 60,
        file_mib: 256,
        memory_mib: 0,
        folder: folder.as_ptr(),
        network: true,
    };
    limit(&walls);
    isolate(&walls);
    Command::new(program).args(arguments).exec()
}
