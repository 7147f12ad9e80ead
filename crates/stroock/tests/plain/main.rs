//! Every operation with a kernel of its own against its reference implementation in plain tensor operations.

#[path = "../numbers/mod.rs"]
mod numbers;

mod agreement;
mod attention;
mod flow;
mod image;
mod likelihood;
mod path;
mod recurrence;
