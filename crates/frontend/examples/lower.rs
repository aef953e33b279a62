//! Lowers one bitcode or textual IR file: prints the module (`--dump`) or how long it took.

use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let dump = std::env::args().any(|a| a == "--dump");
    let cwd = std::env::current_dir().unwrap_or_default();
    for file in std::env::args().skip(1).filter(|a| !a.starts_with("--")) {
        let style =
            leakproof_frontend::PathStyle { cwd: cwd.clone(), comp_dir: PathBuf::from(&cwd) };
        let bytes = std::fs::read(&file).unwrap_or_default();
        let start = Instant::now();
        match leakproof_frontend::lower_bitcode(&bytes, &file, &style) {
            Err(error) => println!("{file}: {error}"),
            Ok(module) if dump => println!("{module:#?}"),
            Ok(module) => {
                let bodies = module.functions.values().filter_map(|f| f.body.as_ref());
                let insts: usize = bodies.clone().map(|b| b.insts.len()).sum();
                println!(
                    "{file}: {} functions, {} bodies, {insts} instructions, {} types, {:.1} ms",
                    module.functions.len(),
                    bodies.count(),
                    module.types.len(),
                    start.elapsed().as_secs_f64() * 1e3
                );
            }
        }
    }
}
