//! Compiles the runtime (crate `rt` with its feature `runtime`) into the archive that instrumented
//! programs are linked with. It is not a dependency in cargo's sense: it must not be part of the tool,
//! whose allocator it would replace.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    let source = PathBuf::from(env("CARGO_MANIFEST_DIR")).join("../rt/src");
    println!("cargo::rerun-if-changed={}", source.display());
    let out = PathBuf::from(env("OUT_DIR")).join("libleakproof_rt.a");
    let mut rustc = Command::new(env("RUSTC"));
    rustc.args(["--edition", "2024", "--crate-name", "leakproof_rt", "--crate-type", "staticlib"]);
    rustc.args(["--cfg", "feature=\"runtime\"", "--cfg", "leakproof_standalone"]);
    rustc.args([
        "-C",
        "opt-level=3",
        "-C",
        "panic=abort",
        "-C",
        "lto=fat",
        "-C",
        "codegen-units=1",
    ]);
    rustc.args(["-C", "strip=debuginfo", "--cap-lints", "allow"]);
    rustc.arg("--target").arg(env("TARGET")).arg("-o").arg(&out).arg(source.join("lib.rs"));
    let status = rustc.status();
    assert!(status.is_ok_and(|s| s.success()), "the runtime does not compile");
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
