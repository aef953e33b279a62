//! The `leakproof` command.
fn main() {}
