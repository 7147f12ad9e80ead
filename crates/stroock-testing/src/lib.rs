//! What the tests of several crates share: golden values computed by independent code, finite
//! differences in double precision, and honest statistical bounds; and faults of the disk, with runs that are killed.

pub mod allocation;
#[cfg(target_os = "linux")]
pub mod faults;
pub mod finite_difference;
pub mod golden;
#[cfg(target_os = "linux")]
pub mod kills;
pub mod statistics;
