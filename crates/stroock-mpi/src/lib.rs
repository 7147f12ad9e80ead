//! Training of [`stroock`]'s models in several processes over MPI.
//!
//! [`launch`] finds out whether a launcher (`mpirun`, Slurm's `srun`) has started this process as one of several, and
//! makes them a [`World`](stroock::training::World) that `Trainer::run_over` and `FitPlan::fit_over` train in:
//!
//! ```no_run
//! use stroock::training::World;
//! let launched = stroock_mpi::launch()?;
//! let world = launched.world();
//! println!("process {} of {}", world.rank() + 1, world.size());
//! # Ok::<(), stroock_mpi::LaunchError>(())
//! ```
//!
//! MPI itself is behind the feature `mpi`, which is off by default. Without it, a process that nobody has launched is
//! alone, and one of several is an error: each of them would train the whole model.

#[cfg(feature = "mpi")]
mod communicator;
mod launcher;
mod meter;
mod threads;

pub use launcher::{LaunchError, Launched, launch};
pub use meter::{Meter, Traffic};
