//! Declarative models of library functions: the language, its parser and the shipped library.

mod ast;

pub use ast::*;
