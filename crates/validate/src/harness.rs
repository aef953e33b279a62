//! Code without `main`: which function to call, and the C file that calls it.
//!
//! In: the project's modules and a warning. Out: the unit to replace, the function, and the text of a
//! file that includes the unit's source, makes arguments of standard input (see `arguments`) and calls
//! the function. The file goes into the witness as it is. Invariant: whatever the harness makes or gets
//! stays referenced by it, so an object that is lost was lost by the function.

mod arguments;
mod graph;

use crate::warning::{Spot, Warning};
use graph::CallGraph;
use leakproof_ir::Module;
use std::path::Path;
use thiserror::Error;

/// A function called from a `main` of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harness {
    /// As the programmer spells it.
    pub function: String,
    /// The file with our `main`.
    pub text: String,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum HarnessError {
    #[error("{place}: no function of the project has code on this line{hint}")]
    NoFunction { place: String, hint: String },
    #[error("no function calls both {0} and {1}")]
    NoCommonCaller(String, String),
    #[error("`{0}` cannot be called by a harness: {1}")]
    Unsupported(String, &'static str),
}

/// The module and function to call for a warning: the one that leaks, or the nearest caller from which
/// both the allocation and the leak point can be reached.
pub fn choose_function(
    modules: &[Module],
    root: &Path,
    warning: &Warning,
) -> Result<(usize, String), HarnessError> {
    let graph = CallGraph::new(modules, root);
    let function = |spot: &Spot| {
        graph.function_at(&spot.file, spot.line).ok_or_else(|| HarnessError::NoFunction {
            place: format!("{}:{}", spot.file.display(), spot.line),
            hint: graph.hint(&spot.file, spot.line),
        })
    };
    let leak = function(&warning.leak)?;
    let allocation = function(warning.allocation.first().unwrap_or(&warning.leak))?;
    let common = graph.nearest_with(&[leak, allocation]).ok_or_else(|| {
        HarnessError::NoCommonCaller(graph.name(leak).into(), graph.name(allocation).into())
    })?;
    let (module, _) = graph.place(common);
    Ok((module, graph.name(common).to_owned()))
}

/// The harness that calls `function` of `module`, whose main file is `source`.
pub fn write(module: &Module, function: &str, source: &Path) -> Result<Harness, HarnessError> {
    let unsupported = |why| HarnessError::Unsupported(function.to_owned(), why);
    if source.extension().is_none_or(|e| e != "c") {
        return Err(unsupported("only C can be called so far"));
    }
    let found = module.functions.values().find(|f| f.name == function && f.is_definition());
    let found = found.ok_or_else(|| unsupported("it has no body"))?;
    let text = arguments::harness_text(module, found, source).map_err(unsupported)?;
    Ok(Harness { function: found.source_name.clone(), text })
}
