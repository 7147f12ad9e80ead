//! What a world costs: bytes, and time.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use stroock::training::{World, WorldError};

/// What has gone through a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Operations.
    pub operations: u64,
    /// Bytes that this process has sent to others.
    pub sent: u64,
    /// Time until all processes had come to the same operation.
    pub waiting: Duration,
    /// Time of the operations from then on.
    pub moving: Duration,
}

/// A world with a meter. Every operation is done twice as often as needed: the first one, of a byte, lets all processes
/// come to the second at the same time.
#[derive(Debug)]
pub struct Meter<'a> {
    world: &'a dyn World,
    traffic: RefCell<Traffic>,
}

impl<'a> Meter<'a> {
    /// Measures a world.
    pub fn new(world: &'a dyn World) -> Self {
        Self { world, traffic: RefCell::default() }
    }

    /// What has gone through it since the last time that this was asked.
    pub fn take(&self) -> Traffic {
        self.traffic.take()
    }

    fn measure(
        &self,
        sent: usize,
        operation: impl FnOnce() -> Result<(), WorldError>,
    ) -> Result<(), WorldError> {
        let began = Instant::now();
        self.world.any(false)?;
        let met = Instant::now();
        operation()?;
        let mut traffic = self.traffic.borrow_mut();
        traffic.operations += 1;
        traffic.sent += sent as u64;
        traffic.waiting += met - began;
        traffic.moving += met.elapsed();
        Ok(())
    }
}

impl World for Meter<'_> {
    fn rank(&self) -> usize {
        self.world.rank()
    }

    fn size(&self) -> usize {
        self.world.size()
    }

    fn all_gather(&self, part: &[u8], lengths: &[usize], all: &mut [u8]) -> Result<(), WorldError> {
        let sent = part.len() * (self.size() - 1);
        self.measure(sent, || self.world.all_gather(part, lengths, all))
    }

    fn all_to_all(
        &self,
        parts: &[u8],
        sent: &[usize],
        all: &mut [u8],
        received: &[usize],
    ) -> Result<(), WorldError> {
        let to_others = parts.len() - sent[self.rank()];
        self.measure(to_others, || self.world.all_to_all(parts, sent, all, received))
    }
}
