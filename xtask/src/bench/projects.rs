//! Fetching, configuring and building a real program, and recording how it is compiled.

use super::work_folder;
use anyhow::{Context, Result, bail};
use leakproof_frontend::watch::watch;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that is fetched, configured and built.
pub struct BenchProject {
    /// The Debian source package.
    pub name: &'static str,
    /// The release of Debian whose version is meant, when another one would not do.
    pub release: Option<&'static str>,
    pub build_system: &'static str,
    /// Debian packages that its build needs besides a compiler and make.
    pub packages: &'static [&'static str],
    /// Shell commands that come before the build; they are not watched.
    pub configure: &'static str,
    /// The build, run by a shell and watched.
    pub build: &'static str,
}

impl BenchProject {
    /// The folder with the project's compile database; fetched and built when it is not there yet.
    pub fn prepare(&self) -> Result<PathBuf> {
        let folder = work_folder().join(self.name);
        let database = folder.join("compile_commands.json");
        if !database.is_file() {
            std::fs::create_dir_all(&folder)?;
            let tree = self.fetch(&folder)?;
            shell(&tree, self.configure).with_context(|| format!("{}: configure", self.name))?;
            let build: Vec<OsString> = ["sh", "-c", self.build].map(OsString::from).to_vec();
            let recording = watch(&build, &tree, true)?;
            if let Some(status) = &recording.failure {
                bail!("{}: its build failed: {status}", self.name);
            }
            recording.keep(&database)?;
        }
        Ok(folder)
    }

    /// The source package as apt is asked for it.
    fn version(&self) -> String {
        let release = self.release.map(|r| format!("/{r}"));
        format!("{}{}", self.name, release.unwrap_or_default())
    }

    /// The unpacked source tree.
    fn fetch(&self, folder: &Path) -> Result<PathBuf> {
        if let Some(tree) = source_tree(folder)? {
            return Ok(tree);
        }
        eprintln!("fetching {} from Debian", self.name);
        if !self.packages.is_empty() {
            let install = format!(
                "apt-get install -qq -y --no-install-recommends {}",
                self.packages.join(" ")
            );
            shell(folder, &install).context("as root: apt-get install")?;
        }
        shell(folder, &format!("apt-get source -qq {}", self.version()))
            .context("apt-get source (it needs a deb-src line in the sources of apt)")?;
        source_tree(folder)?.with_context(|| format!("{}: no source tree came", self.name))
    }
}

fn source_tree(folder: &Path) -> Result<Option<PathBuf>> {
    let mut trees: Vec<PathBuf> =
        std::fs::read_dir(folder)?.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    trees.sort();
    Ok(trees.into_iter().next())
}

/// Runs a line of shell; its output goes to a log and is shown when it fails.
fn shell(folder: &Path, line: &str) -> Result<()> {
    let output =
        Command::new("sh").args(["-c", line]).current_dir(folder).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        bail!("`{line}` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
