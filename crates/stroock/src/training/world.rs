//! The processes that train a model together.
//!
//! A run is the same program in every process of a [`World`]: all of them hold the whole model and take the same steps,
//! and each computes its [share](share) of a batch. What they tell each other goes through two operations, which MPI has
//! under the same names; everything else here is made of these.

use std::fmt::{Debug, Display};
use std::ops::Range;

use bytemuck::{cast_slice, pod_collect_to_vec};
use thiserror::Error;

/// Why processes cannot go on together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WorldError {
    /// Another process has failed.
    #[error("process {rank} of {size}: {reason}", rank = .rank + 1)]
    Elsewhere {
        /// Which one.
        rank: usize,
        /// How many there are.
        size: usize,
        /// What it says.
        reason: String,
    },
    /// Another process is not there any more.
    #[error(
        "another process has ended; the run goes on from its last saved state, on any number of processes"
    )]
    Gone,
    /// A message is longer than MPI allows.
    #[error(
        "{bytes} bytes are to be sent at once, and MPI allows for 2147483647: take a smaller model, or more chunks"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The parameters of a process are not those of the first one.
    #[error(
        "process {rank} of {size} has computed other parameters than process 1: all of them need the same program \
         and the same kind of processor",
        rank = .rank + 1
    )]
    Differs {
        /// Which one.
        rank: usize,
        /// How many there are.
        size: usize,
    },
}

/// The processes that train a model together, as one of them sees it.
///
/// Every process must call the same operations in the same order. [`Alone`] is the world of an ordinary run.
pub trait World: Debug {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;

    /// How many processes there are.
    fn size(&self) -> usize;

    /// Fills `all` with the parts of all processes in their order; that of process `r` has `lengths[r]` bytes.
    ///
    /// # Errors
    /// When a process is not there any more.
    fn all_gather(&self, part: &[u8], lengths: &[usize], all: &mut [u8]) -> Result<(), WorldError>;

    /// Sends the next `sent[r]` bytes of `parts` to process `r`, and fills `all` with what the processes have sent here, in
    /// their order: `received[r]` bytes from process `r`.
    ///
    /// # Errors
    /// When a process is not there any more.
    fn all_to_all(
        &self,
        parts: &[u8],
        sent: &[usize],
        all: &mut [u8],
        received: &[usize],
    ) -> Result<(), WorldError>;
}

/// A process on its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl World for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_gather(&self, part: &[u8], _: &[usize], all: &mut [u8]) -> Result<(), WorldError> {
        all.copy_from_slice(part);
        Ok(())
    }

    fn all_to_all(&self, parts: &[u8], _: &[usize], all: &mut [u8], _: &[usize]) -> Result<(), WorldError> {
        all.copy_from_slice(parts);
        Ok(())
    }
}

/// Which of `total` things in a row member `member` of `members` takes care of: neighbouring ones, as many as the others
/// have or one more, the first members first.
///
/// ```
/// use stroock::training::share;
/// assert_eq!([0, 1, 2].map(|member| share(7, 3, member)), [0..3, 3..5, 5..7]);
/// ```
pub fn share(total: usize, members: usize, member: usize) -> Range<usize> {
    let (least, more) = (total / members, total % members);
    let begin = |member: usize| member * least + member.min(more);
    begin(member)..begin(member + 1)
}

/// The length of a message, and in the highest bit whether it says why its sender has failed.
const FAILED: u64 = 1 << 63;

impl dyn World + '_ {
    /// Whether this is the process that writes and speaks for all.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// Which of `total` things in a row this process takes care of.
    pub fn share(&self, total: usize) -> Range<usize> {
        share(total, self.size(), self.rank())
    }

    /// Whether any process says so.
    ///
    /// # Errors
    /// When a process is not there any more.
    pub fn any(&self, here: bool) -> Result<bool, WorldError> {
        let mut all = vec![0; self.size()];
        self.all_gather(&[u8::from(here)], &vec![1; self.size()], &mut all)?;
        Ok(all.contains(&1))
    }

    /// What every process has to say, in their order, or why one of them has failed.
    ///
    /// # Errors
    /// The failure of this process, or else the first one of another.
    pub fn everyones<E>(&self, here: Result<Vec<u8>, E>) -> Result<Vec<Vec<u8>>, E>
    where
        E: Display + From<WorldError>,
    {
        let size = self.size();
        if size == 1 {
            return Ok(vec![here?]);
        }
        let (message, failure) = match here {
            Ok(message) => (message, None),
            Err(error) => (error.to_string().into_bytes(), Some(error)),
        };
        let head = message.len() as u64 | if failure.is_some() { FAILED } else { 0 };
        let mut heads = vec![0_u64; size];
        self.all_gather(&head.to_ne_bytes(), &vec![8; size], bytemuck::cast_slice_mut(&mut heads))?;
        let lengths: Vec<usize> = heads.iter().map(|head| (head & !FAILED) as usize).collect();
        let mut all = vec![0; lengths.iter().sum()];
        if !all.is_empty() {
            self.all_gather(&message, &lengths, &mut all)?;
        }
        let mut rest = &all[..];
        let messages: Vec<Vec<u8>> = lengths
            .iter()
            .map(|&length| rest.split_off(..length).map(<[u8]>::to_vec).unwrap_or_default())
            .collect();
        if let Some(error) = failure {
            return Err(error);
        }
        match heads.iter().position(|head| head & FAILED != 0) {
            Some(rank) => {
                let reason = String::from_utf8_lossy(&messages[rank]).into_owned();
                Err(WorldError::Elsewhere { rank, size, reason }.into())
            }
            None => Ok(messages),
        }
    }

    /// The result of this process, unless another one has failed: then all fail.
    ///
    /// # Errors
    /// The failure of this process, or else the first one of another.
    pub fn agree<T, E>(&self, here: Result<T, E>) -> Result<T, E>
    where
        E: Display + From<WorldError>,
    {
        match here {
            Ok(value) => self.everyones(Ok(Vec::new())).map(|_| value),
            Err(error) => match self.everyones::<E>(Err(error)) {
                // A failure is no agreement.
                Ok(_) => Err(WorldError::Gone.into()),
                Err(error) => Err(error),
            },
        }
    }

    /// Does some work in the first process before the others do it: what it leaves behind, such as files of a cache, is
    /// there for them.
    ///
    /// # Errors
    /// The failure of this process, or else the first one of another.
    pub fn first_before_others<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E>
    where
        E: Display + From<WorldError>,
    {
        if self.is_first() {
            let done = self.agree(work())?;
            return self.agree(Ok(done));
        }
        self.agree(Ok(()))?;
        self.agree(work())
    }

    /// What `work` gives for each of `total` things, every process doing its share of them.
    ///
    /// # Errors
    /// The failure of this process, or else the first one of another.
    pub fn map_in_shares<E>(
        &self,
        total: usize,
        mut work: impl FnMut(usize) -> Result<Vec<f64>, E>,
    ) -> Result<Vec<Vec<f64>>, E>
    where
        E: Display + From<WorldError>,
    {
        let mine = self.share(total).map(&mut work).collect::<Result<Vec<Vec<f64>>, E>>();
        if self.size() == 1 {
            return mine;
        }
        let message = mine.map(|results| {
            // The length of each result goes before it; as a double it is exact.
            let numbers: Vec<f64> =
                results.into_iter().flat_map(|result| [vec![result.len() as f64], result].concat()).collect();
            cast_slice(&numbers).to_vec()
        });
        let mut all = Vec::with_capacity(total);
        for message in self.everyones(message)? {
            let numbers: Vec<f64> = pod_collect_to_vec(&message);
            let mut rest = &numbers[..];
            while let Some((&length, after)) = rest.split_first() {
                let (result, after) = after.split_at((length as usize).min(after.len()));
                all.push(result.to_vec());
                rest = after;
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_neighbours_and_cover_everything() {
        for total in 0..20 {
            for members in 1..7 {
                let shares: Vec<Range<usize>> =
                    (0..members).map(|member| share(total, members, member)).collect();
                let all: Vec<usize> = shares.iter().cloned().flatten().collect();
                assert_eq!(all, (0..total).collect::<Vec<_>>());
                let lengths = shares.iter().map(Range::len);
                assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1);
            }
        }
    }
}
