//! The source files that fixes may touch: their text, their tree, and why some may not be touched.

use crate::op::{Op, TextEdit, render};
use crate::style::Style;
use crate::view::View;
use leakproof_findings::Sources;
use std::collections::BTreeMap;
use std::path::Path;

/// Files by the name that findings give them.
#[derive(Default)]
pub struct Files {
    views: BTreeMap<String, Result<View, String>>,
}

impl Files {
    /// The file, or why it is not edited.
    pub fn get(&mut self, name: &str, sources: &Sources, cxx: bool) -> Result<&View, String> {
        if !self.views.contains_key(name) {
            self.views.insert(name.to_owned(), open(name, sources, cxx));
        }
        match &self.views[name] {
            Ok(view) => Ok(view),
            Err(reason) => Err(reason.clone()),
        }
    }

    pub fn known(&self, name: &str) -> Option<&View> {
        self.views.get(name).and_then(|v| v.as_ref().ok())
    }
}

fn open(name: &str, sources: &Sources, cxx: bool) -> Result<View, String> {
    if Path::new(name).is_absolute() {
        return Err(format!("{name} does not belong to the project"));
    }
    if matches!(
        Path::new(name).extension().and_then(|e| e.to_str()),
        Some("i" | "ii" | "bc" | "ll")
    ) {
        return Err(format!("{name} is the output of another tool"));
    }
    let file = sources.get(name).ok_or_else(|| format!("{name} cannot be read"))?;
    let view =
        View::new(file.bytes().to_vec(), cxx).ok_or_else(|| format!("{name} cannot be parsed"))?;
    if view.is_generated() {
        return Err(format!("{name} says that it is generated"));
    }
    Ok(view)
}

/// The text edits for ops of one file.
pub fn edits(view: &View, ops: &[Op]) -> Vec<TextEdit> {
    let style = |offset: usize| match view.function(offset) {
        Some(function) => Style::of(view, function),
        None => Style { newline: "\n", unit: "    ".to_owned(), brace_below: false },
    };
    render(view, &style, ops)
}
