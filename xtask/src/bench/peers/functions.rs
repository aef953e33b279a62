//! Which function a source line belongs to, from the positions in our IR.

use leakproof_ir::Module;
use std::collections::BTreeMap;

/// Where functions begin, by file.
#[derive(Default)]
pub struct Functions {
    starts: BTreeMap<String, BTreeMap<u32, String>>,
}

impl Functions {
    pub fn new(modules: &[Module]) -> Self {
        let mut functions = Self::default();
        for module in modules {
            for function in module.functions.values().filter(|f| f.body.is_some()) {
                let file = function.loc.file().and_then(|id| module.files.get(id));
                let Some(file) = file else { continue };
                let starts = functions.starts.entry(file.clone()).or_default();
                starts.insert(function.loc.line, function.source_name.clone());
            }
        }
        functions
    }

    /// The function that starts last at or before this line; functions of C do not nest.
    pub fn at(&self, file: &str, line: u32) -> Option<&str> {
        let starts = self.starts.get(file)?;
        starts.range(..=line).next_back().map(|(_, name)| name.as_str())
    }
}
