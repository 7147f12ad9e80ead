//! Every operation with a kernel of its own against its twin in plain tensor operations.

#[path = "../numbers/mod.rs"]
mod numbers;

mod attention;
mod image;
mod likelihood;
mod path;
mod recurrence;
mod twins;
