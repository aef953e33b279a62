//! Instruments one unit's bitcode so that the runtime (crate `rt`) sees what it computes.
//!
//! In: bitcode with debug information, and the orders for the unit. Out: bitcode that calls the runtime,
//! and the program map. Only the small program `leakproof-instrument` uses this crate, so that nothing
//! else depends on LLVM's library and a crash of it is the crash of one child process. Invariant: the
//! unit computes what it computed before.

#![expect(unsafe_code, reason = "LLVM's C interface")]

mod builder;
mod calls;
mod error;
mod llvm;
mod marks;
mod shadow;
mod survey;
mod words;

pub use error::InstrumentError;

use leakproof_rt::map::{Orders, UnitMap};
use llvm::Module;
use std::path::Path;

const PRELUDE: &str = include_str!("prelude.ll");

/// Functions of the prelude that get a body in every unit.
const INLINED: &[&str] = &[
    "lp_load",
    "lp_store",
    "lp_use",
    "lp_bin",
    "lp_cast",
    "lp_select",
    "lp_gep",
    "lp_branch",
    "lp_switch",
    "lp_copy",
    "lp_set",
    "lp_extern",
    "lp_point",
    "lp_keep",
];

/// Reads `input`, writes the instrumented unit to `output`.
pub fn instrument(
    input: &Path,
    output: &Path,
    orders: &Orders,
) -> Result<UnitMap, InstrumentError> {
    let module = Module::read(input)?;
    // Numbers are given before anything changes, marks while every line has its instructions.
    let survey = survey::Survey::of(module, orders.unit);
    let own: Vec<llvm::Value> = module
        .functions()
        .into_iter()
        .filter(|f| !f.is_declaration() && !f.is_available_externally())
        .collect();
    module.link_text(PRELUDE)?;
    let marks = marks::place(module, &survey, &orders.watch);
    // Locals as SSA values: their shadows are then SSA values too, and cost nothing in memory.
    module.run_passes("mem2reg")?;
    let context = shadow::Context {
        module,
        ids: &survey.ids,
        marks: &marks,
        defined: orders.defined.iter().map(String::as_str).collect(),
    };
    calls::rename_modelled(&context);
    for function in own {
        shadow::instrument(&context, function);
    }
    INLINED.iter().filter_map(|n| module.function(n)).for_each(llvm::Value::make_internal);
    module.strip_debug_info();
    module.verify()?;
    module.write(output)?;
    Ok(survey.map)
}

/// The whole of the program `leakproof-instrument`: `IN.bc OUT.bc ORDERS.json MAP.json`.
pub fn run(arguments: &[String]) -> Result<(), InstrumentError> {
    let [input, output, orders, map] = arguments else {
        return Err(InstrumentError::Orders("expected IN.bc OUT.bc ORDERS.json MAP.json".into()));
    };
    let text = std::fs::read(orders).map_err(|e| InstrumentError::Orders(e.to_string()))?;
    let orders: Orders =
        serde_json::from_slice(&text).map_err(|e| InstrumentError::Orders(e.to_string()))?;
    let drawn = instrument(Path::new(input), Path::new(output), &orders)?;
    let text = serde_json::to_vec(&drawn).map_err(|e| InstrumentError::Orders(e.to_string()))?;
    std::fs::write(map, text).map_err(|_| InstrumentError::Write(map.into()))
}
