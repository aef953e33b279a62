//! The project's units as a linker would see them.

use crate::inputs::Input;
use leakproof_ir::{Linkage, Module};
use leakproof_validate::{SourceUnit, Sources};
use std::path::Path;

pub fn sources(input: &Input) -> Sources {
    let mut modules = input.loaded.modules.iter().peekable();
    let mut units = Vec::new();
    for unit in &input.project.units {
        let name = input.project.name(unit);
        // Units that did not compile have no module.
        if let Some(module) = modules.next_if(|m| m.name == name) {
            units.push(SourceUnit {
                unit: unit.clone(),
                name,
                defines: defines(module),
                needs: needs(module),
                files: module
                    .files
                    .values()
                    .map(|f| leakproof_frontend::normalize(&input.project.cwd.join(Path::new(f))))
                    .map(|f| std::fs::canonicalize(&f).unwrap_or(f))
                    .collect(),
            });
        }
    }
    Sources { units, links: input.project.links.clone() }
}

fn is_visible(linkage: Linkage) -> bool {
    !matches!(linkage, Linkage::Internal | Linkage::AvailableExternally)
}

fn defines(module: &Module) -> Vec<String> {
    let functions = module
        .functions
        .values()
        .filter(|f| f.is_definition() && is_visible(f.linkage))
        .map(|f| f.name.clone());
    let globals = module
        .globals
        .values()
        .filter(|g| g.init.is_some() && is_visible(g.linkage))
        .map(|g| g.name.clone());
    let aliases = module.aliases.iter().filter(|a| is_visible(a.linkage)).map(|a| a.name.clone());
    functions.chain(globals).chain(aliases).collect()
}

fn needs(module: &Module) -> Vec<String> {
    let elsewhere = |defined: bool, linkage| !defined || linkage == Linkage::AvailableExternally;
    let functions = module
        .functions
        .values()
        .filter(|f| elsewhere(f.is_definition(), f.linkage))
        .map(|f| f.name.clone());
    let globals = module
        .globals
        .values()
        .filter(|g| elsewhere(g.init.is_some(), g.linkage))
        .map(|g| g.name.clone());
    functions.chain(globals).collect()
}
