//! Lowers bitcode files and checks the result; `--dump` prints the text form instead, `--time` only
//! measures.

use leakproof_frontend::{PathStyle, lower_bitcode};
use std::time::Instant;

fn main() {
    let has = |flag: &str| std::env::args().any(|a| a == flag);
    let (dump, time) = (has("--dump"), has("--time"));
    let cwd = std::env::current_dir().unwrap_or_default();
    let style = PathStyle { cwd: cwd.clone(), comp_dir: cwd };
    for file in std::env::args().skip(1).filter(|a| !a.starts_with("--")) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let start = Instant::now();
        match lower_bitcode(&bytes, &file, &style) {
            Err(error) => println!("{file}: {error}"),
            Ok(module) if dump => println!("{}", leakproof_ir::print_module(&module)),
            Ok(module) => {
                report(&file, &module, start.elapsed().as_secs_f64() * 1e3);
                if !time {
                    verify(&module);
                }
            }
        }
    }
}

fn report(file: &str, module: &leakproof_ir::Module, milliseconds: f64) {
    let bodies = module.functions.values().filter_map(|f| f.body.as_ref());
    let insts: usize = bodies.clone().map(|b| b.insts.len()).sum();
    let (functions, bodies) = (module.functions.len(), bodies.count());
    println!(
        "{file}: {functions} functions, {bodies} bodies, {insts} instructions, {milliseconds:.1} ms"
    );
}

fn verify(module: &leakproof_ir::Module) {
    if let Err(errors) = leakproof_ir::verify(module) {
        println!("  {} errors", errors.len());
        errors.iter().take(20).for_each(|error| println!("  {error}"));
    }
}
