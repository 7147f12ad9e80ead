//! The world of MPI.

use std::fmt;
use std::thread;
use std::time::Duration;

use mpi::Threading;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _};
use stroock::training::{World, WorldError};

use crate::LaunchError;

/// How often a process that has nothing left to do looks for the others.
const LOOK: Duration = Duration::from_millis(5);

/// All processes of a job.
pub struct Communicator {
    world: SimpleCommunicator,
    on_this_machine: usize,
    /// Dropped last: it ends MPI.
    _universe: Universe,
}

impl Communicator {
    /// Starts MPI.
    pub fn start() -> Result<Self, LaunchError> {
        let (universe, threading) =
            mpi::initialize_with_threading(Threading::Funneled).ok_or(LaunchError::Twice)?;
        if threading < Threading::Funneled {
            return Err(LaunchError::Threads);
        }
        let world = universe.world();
        let on_this_machine = world.split_shared(world.rank()).size() as usize;
        Ok(Self { world, on_this_machine, _universe: universe })
    }

    /// Processes that share a machine with this one, and itself.
    pub fn on_this_machine(&self) -> usize {
        self.on_this_machine
    }
}

impl World for Communicator {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    // Failures inside MPI never return: they end all processes of the job, which is MPI's default.
    fn all_gather(&self, part: &[u8], lengths: &[usize], all: &mut [u8]) -> Result<(), WorldError> {
        let (counts, places) = layout(lengths)?;
        self.world.all_gather_varcount_into(part, &mut PartitionMut::new(all, counts, places));
        Ok(())
    }

    fn all_to_all(
        &self,
        parts: &[u8],
        sent: &[usize],
        all: &mut [u8],
        received: &[usize],
    ) -> Result<(), WorldError> {
        let ((sent, from), (received, to)) = (layout(sent)?, layout(received)?);
        let parts = Partition::new(parts, sent, from);
        self.world.all_to_all_varcount_into(&parts, &mut PartitionMut::new(all, received, to));
        Ok(())
    }
}

/// Lengths and beginnings of parts that follow each other, as MPI wants them.
fn layout(lengths: &[usize]) -> Result<(Vec<i32>, Vec<i32>), WorldError> {
    let total: usize = lengths.iter().sum();
    if i32::try_from(total).is_err() {
        return Err(WorldError::TooLong { bytes: total });
    }
    let counts: Vec<i32> = lengths.iter().map(|&length| length as i32).collect();
    let begins = counts.iter().scan(0, |end, count| {
        let begin = *end;
        *end += count;
        Some(begin)
    });
    Ok((counts.clone(), begins.collect()))
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if thread::panicking() {
            // The others would wait for this one for ever.
            self.world.abort(101);
        }
        // MPI waits with all its might, which a process that still works may need.
        let mut all_are_here = self.world.immediate_barrier();
        while let Err(not_yet) = all_are_here.test() {
            all_are_here = not_yet;
            thread::sleep(LOOK);
        }
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Communicator({} of {})", self.rank(), self.size())
    }
}
