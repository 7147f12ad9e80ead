//! What the tests of several crates share: golden values computed by independent code, finite
//! differences in double precision, and honest statistical bounds.

pub mod allocation;
pub mod finite_difference;
pub mod golden;
pub mod statistics;
