//! A copy of a tree that may be edited.

use crate::bench::selection::Tree;
use crate::bench::work_folder;
use anyhow::{Context, Result, bail};
use std::process::Command;

/// Copies a tree once; its compile commands then speak of the copy.
pub fn copy(tree: &Tree) -> Result<Tree> {
    let folder = work_folder().join("copies").join(&tree.name);
    let database = folder.join("compile_commands.json");
    if !folder.join(".complete").is_file() {
        std::fs::remove_dir_all(&folder).ok();
        std::fs::create_dir_all(&folder)?;
        let mut command = Command::new("cp");
        command.args(["-a", "--"]).arg(tree.folder.join(".")).arg(&folder);
        if !command.status()?.success() {
            bail!("{}: cannot be copied", tree.folder.display());
        }
        let text = std::fs::read_to_string(&database).context("compile_commands.json")?;
        let (old, new) = (tree.folder.to_string_lossy(), folder.to_string_lossy());
        std::fs::write(&database, text.replace(old.as_ref(), new.as_ref()))?;
        std::fs::write(folder.join(".complete"), "")?;
    }
    Ok(Tree { name: tree.name.clone(), folder })
}
