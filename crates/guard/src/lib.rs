//! Hash-consed terms and formulas over symbols, addresses and integers.
//!
//! A `Terms` arena owns every term of one function's analysis. Constructors simplify on the way
//! in, so that most questions are answered by looking at a term: `True`, `False`, a constant, an
//! address. What remains goes to the linear-time check (`linear`) and then to a solver.
//!
//! Booleans are terms of width 1; pointers are integers of width 64; null is zero.

mod area;
mod assume;
mod bits;
mod boolean;
mod choice;
mod distance;
mod eval;
mod found;
mod linear;
mod marks;
mod memo;
mod order;
mod propagate;
mod seen;
mod spare;
mod sums;
mod term;
mod units;
mod value;

pub use area::Area;
pub use assume::Assumption;
pub use eval::{Assignment, base_address, evaluate};
pub use linear::{is_contradiction, necessary};
pub use marks::Marks;
pub use propagate::is_refuted;
pub use seen::Seen;
pub use sums::fits_signed;
pub use term::*;
pub use units::{Mark, Units};
pub use value::{fold, holds};
