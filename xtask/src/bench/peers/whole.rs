//! saber over the bitcode of a whole tree. Making the bitcode is not part of its time.

use super::run::{MEMORY_GIB, PeerRun, TIMES};
use super::tool::{Tool, saber};
use super::warning;
use crate::bench::compile::{compile_each, language};
use crate::bench::measure::{limited, run_measured};
use crate::bench::selection::Tree;
use crate::bench::{machine, work_folder};
use anyhow::{Context, Result};
use leakproof_frontend::Unit;
use leakproof_frontend::clang::Clang;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub fn measure(tree: &Tree, version: String) -> Result<PeerRun> {
    let program = saber().context("saber is not there")?;
    let project = tree.project()?;
    let compile: f64 = compile_each(&project)?.into_iter().flatten().sum();
    let folder = work_folder().join(format!("{}.bitcode", tree.name));
    let files = bitcode(&project.units, &folder)?;
    let mut command = Command::new(program);
    command.current_dir(&folder).args(["-leak", "-stat=false"]).args(&files);
    let limit = compile * TIMES;
    let (output, cost) = run_measured(&mut limited(&command, limit, MEMORY_GIB))?;
    let stopped = cost.cpu() >= limit * 0.98 || cost.peak_mib > MEMORY_GIB as f64 * 1024.0 * 0.9;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let directories = project.units.iter().map(|u| u.directory.clone()).collect();
    std::fs::remove_dir_all(&folder).ok();
    let all = |yes: bool| if yes { vec![Tool::Saber.title().to_owned()] } else { Vec::new() };
    Ok(PeerRun {
        version,
        day: machine::today(),
        compile,
        cpu: cost.cpu(),
        peak_mib: cost.peak_mib,
        units: files.len(),
        stopped: all(stopped),
        failed: all(!stopped && !output.status.success()),
        warnings: warning::parse_saber(&text, &directories, &tree.folder),
    })
}

/// The bitcode of all units, unoptimised and with debug information, as SVF wants it.
fn bitcode(units: &[Unit], folder: &Path) -> Result<Vec<PathBuf>> {
    let clang = Clang::locate()?;
    std::fs::create_dir_all(folder)?;
    let mut files = Vec::new();
    for (i, unit) in units.iter().enumerate() {
        let file = folder.join(format!("{i}.bc"));
        let mut command = Command::new(&clang.path);
        command.current_dir(&unit.directory).args(&unit.flags);
        command.args(["-O0", "-Xclang", "-disable-O0-optnone", "-g", "-w", "-Wno-everything"]);
        command.args(["-emit-llvm", "-c", "-x", language(unit), "-o"]).arg(&file);
        command.arg(&unit.source).stdin(Stdio::null()).stderr(Stdio::null());
        if command.status()?.success() {
            files.push(file);
        }
    }
    Ok(files)
}
