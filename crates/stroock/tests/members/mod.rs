//! A world of threads, which talk through channels.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use stroock::training::{World, WorldError};

#[derive(Debug)]
struct Member {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

impl World for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn all_gather(&self, part: &[u8], lengths: &[usize], all: &mut [u8]) -> Result<(), WorldError> {
        let sent = vec![part.len(); self.size()];
        self.all_to_all(&part.repeat(self.size()), &sent, all, lengths)
    }

    fn all_to_all(
        &self,
        mut parts: &[u8],
        sent: &[usize],
        all: &mut [u8],
        received: &[usize],
    ) -> Result<(), WorldError> {
        for (to, &length) in self.to.iter().zip(sent) {
            let (part, rest) = parts.split_at(length);
            parts = rest;
            to.send(part.to_vec()).map_err(|_| WorldError::Gone)?;
        }
        let mut rest = all;
        for (from, &length) in self.from.iter().zip(received) {
            let (place, after) = rest.split_at_mut(length);
            place.copy_from_slice(&from.recv().map_err(|_| WorldError::Gone)?);
            rest = after;
        }
        Ok(())
    }
}

/// What each of so many members of a world makes of some work, in their order.
pub fn together<T: Send>(size: usize, work: impl Fn(&dyn World) -> T + Sync) -> Vec<T> {
    let mut from: Vec<Vec<Receiver<Vec<u8>>>> = (0..size).map(|_| Vec::new()).collect();
    let mut members = Vec::new();
    for rank in 0..size {
        let mut to = Vec::new();
        for receivers in &mut from {
            let (sender, receiver) = channel();
            to.push(sender);
            receivers.push(receiver);
        }
        members.push(Member { rank, to, from: Vec::new() });
    }
    members.iter_mut().zip(from).for_each(|(member, from)| member.from = from);
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = members.into_iter().map(|member| scope.spawn(move || work(&member))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
