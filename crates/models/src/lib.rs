//! Declarative models of library functions: the language, its parser and the shipped library.
//!
//! In: model files (text). Out: a [`Library`] that maps a function name to its [`Model`].
//! A library is checked when it is built, so whoever interprets a model need not doubt it:
//! outcomes are never empty, conditions come first, families are declared.

mod ast;
mod check;
mod clause;
mod error;
mod layer;
mod lexer;
mod library;
mod parser;
mod print;
mod shipped;

pub use ast::*;
pub use error::{ErrorKind, ModelError, Pos, closest};
pub use library::{Family, FamilyKind, Library};
