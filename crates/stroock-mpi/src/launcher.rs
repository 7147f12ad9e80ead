//! Who has started this process, and with which others.

use std::env;

use stroock::training::{Alone, World};
use thiserror::Error;

#[cfg(feature = "mpi")]
use crate::communicator::Communicator;
use crate::threads;

/// Why processes cannot be used together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// Several processes, and no way for them to talk.
    #[error(
        "a launcher of MPI has started this program (`{variable}` is set), which was built without MPI: build it with \
         `--features mpi`, or start it without the launcher"
    )]
    WithoutMpi {
        /// The variable that says so.
        variable: &'static str,
    },
    /// MPI was started before.
    #[error("MPI is in use by this process already; launch it once")]
    Twice,
    /// The MPI that is installed calls for a single thread.
    #[error("this MPI does not allow programs with threads; install one that does (`MPI_THREAD_FUNNELED`)")]
    Threads,
}

/// What launchers tell their processes: Open MPI's `mpirun`; MPICH's, Intel's and Slurm's PMI; PMIx, of Slurm and others.
const VARIABLES: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK"];

/// The processes that were launched together, as one of them sees it. Dropping it waits for all others to do so, too.
#[derive(Debug)]
pub struct Launched {
    #[cfg(feature = "mpi")]
    communicator: Option<Communicator>,
    alone: Alone,
}

/// Joins the processes that a launcher has started together with this one. Without a launcher, this process is alone.
///
/// Only the thread that calls this may use the world.
///
/// # Errors
/// When there is a launcher and no MPI in this program, or when called twice.
pub fn launch() -> Result<Launched, LaunchError> {
    let variable = VARIABLES.into_iter().find(|name| env::var_os(name).is_some());
    #[cfg(feature = "mpi")]
    {
        let communicator = variable.map(|_| Communicator::start()).transpose()?;
        Ok(Launched { communicator, alone: Alone })
    }
    #[cfg(not(feature = "mpi"))]
    match variable {
        Some(variable) => Err(LaunchError::WithoutMpi { variable }),
        None => Ok(Launched { alone: Alone }),
    }
}

impl Launched {
    /// The processes.
    pub fn world(&self) -> &dyn World {
        #[cfg(feature = "mpi")]
        if let Some(communicator) = &self.communicator {
            return communicator;
        }
        &self.alone
    }

    /// Whether a launcher has started this process, be it as the only one.
    pub fn is_launched(&self) -> bool {
        #[cfg(feature = "mpi")]
        if self.communicator.is_some() {
            return true;
        }
        false
    }

    /// How many threads this process should have such that all processes of its machine share the cores; `None` where
    /// nobody has launched it.
    pub fn threads(&self) -> Option<usize> {
        #[cfg(feature = "mpi")]
        if let Some(communicator) = &self.communicator {
            return Some(threads::share_of_cores(communicator.on_this_machine()));
        }
        // The rule is the same in all builds, so that it is tested in all of them.
        self.is_launched().then(|| threads::share_of_cores(1))
    }
}
