//! Lowering of what clang makes of C and C++ snippets.

mod control;
mod cpp;
mod data;
mod debug_info;
mod instructions;
mod robustness;
mod support;
