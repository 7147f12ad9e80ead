//! Which series run side by side, and where their steps stand in memory.
//!
//! Series are ordered by length, the longest first, and cut into groups. The series of a group that are
//! still running at a step are then the first ones: a step has as many rows as series that run, without
//! masks and without padding. The rows of a group stand step by step, and by series within a step.

use std::cmp::Reverse;
use std::ops::Range;

use super::problem::{Direction, GruProblem, Requested};

/// Series that a thread runs side by side. Sums over the batch are made within a group first, so the number
/// must not depend on the threads.
pub(super) const GROUP: usize = 5;

/// Steps whose inputs, and backward their gradients in front of the gates, stay in the cache for the products
/// of all of them at once.
const WINDOW: usize = 16;

/// A series of a group.
#[derive(Clone, Debug)]
struct Member {
    /// Its index in the batch.
    series: usize,
    /// Its rows of the inputs; at least one.
    rows: Range<usize>,
}

/// Series that run side by side, the longest first.
#[derive(Clone, Debug)]
pub(super) struct Group {
    members: Vec<Member>,
    direction: Direction,
    requested: Requested,
    /// Where each step starts, and where the last one ends.
    starts: Vec<usize>,
}

/// The groups of a problem. A series without rows is in none of them.
pub(super) fn groups<T>(problem: &GruProblem<'_, T>) -> Vec<Group> {
    let &GruProblem { offsets, direction, requested, .. } = problem;
    let rows = offsets.windows(2).map(|ends| ends[0]..ends[1]);
    let mut members: Vec<Member> = rows
        .enumerate()
        .filter(|(_, rows)| !rows.is_empty())
        .map(|(series, rows)| Member { series, rows })
        .collect();
    members.sort_by_key(|member| Reverse(member.rows.len()));
    let group = |members: &[Member]| {
        let mut starts = vec![0];
        for t in 0..members[0].rows.len() {
            let running = members.partition_point(|member| member.rows.len() > t);
            starts.push(starts[t] + running);
        }
        Group { members: members.to_vec(), direction, requested, starts }
    };
    members.chunks(GROUP).map(group).collect()
}

impl Group {
    /// How many series there are.
    pub fn series(&self) -> usize {
        self.members.len()
    }

    /// How many rows all steps have.
    pub fn rows(&self) -> usize {
        self.starts[self.steps()]
    }

    /// Steps of the longest series.
    fn steps(&self) -> usize {
        self.starts.len() - 1
    }

    /// The steps, some at a time.
    pub fn windows(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + use<> {
        let steps = self.steps();
        (0..steps.div_ceil(WINDOW)).map(move |i| i * WINDOW..steps.min((i + 1) * WINDOW))
    }

    /// The rows of some steps.
    pub fn span(&self, steps: &Range<usize>) -> Range<usize> {
        self.starts[steps.start]..self.starts[steps.end]
    }

    /// The rows of step `t`.
    pub fn step(&self, t: usize) -> Range<usize> {
        self.starts[t]..self.starts[t + 1]
    }

    /// The states before step `t`, where all states stand from the zero state of every series on: those after
    /// the step before it, as far as the series are still running.
    pub fn before(&self, t: usize) -> Range<usize> {
        let first = if t == 0 { 0 } else { self.after(t - 1).start };
        first..first + self.step(t).len()
    }

    /// The states after step `t`, where all states stand.
    pub fn after(&self, t: usize) -> Range<usize> {
        let Range { start, end } = self.step(t);
        self.series() + start..self.series() + end
    }

    /// Step and series for every row of some steps.
    pub fn places(&self, steps: &Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        steps.clone().flat_map(move |t| (0..self.step(t).len()).map(move |i| (t, i)))
    }

    /// The row that series `i` reads at step `t`, of its own rows.
    pub fn own_row(&self, t: usize, i: usize) -> usize {
        match self.direction {
            Direction::Forward => t,
            Direction::Backward => self.members[i].rows.len() - 1 - t,
        }
    }

    /// The row that series `i` reads at step `t`, of all inputs.
    pub fn row(&self, t: usize, i: usize) -> usize {
        self.members[i].rows.start + self.own_row(t, i)
    }

    /// Where the state of series `i` after step `t` is returned, of the states of this series, if at all.
    pub fn own_output(&self, t: usize, i: usize) -> Option<usize> {
        match self.requested {
            Requested::All => Some(self.own_row(t, i)),
            Requested::Last => (t + 1 == self.members[i].rows.len()).then_some(0),
        }
    }

    /// Where the state of series `i` after step `t` is returned, of all states, if at all.
    pub fn output(&self, t: usize, i: usize) -> Option<usize> {
        let own = self.own_output(t, i)?;
        Some(match self.requested {
            Requested::All => self.members[i].rows.start + own,
            Requested::Last => self.members[i].series,
        })
    }
}

/// Hands the parts of `data`, of which series `b` has `lengths[b]` entries, to the groups.
pub(super) fn deal<'a, T>(
    groups: &[Group],
    mut data: &'a mut [T],
    lengths: impl Iterator<Item = usize>,
) -> Vec<Vec<&'a mut [T]>> {
    let mut parts = Vec::new();
    for length in lengths {
        let (part, rest) = data.split_at_mut(length);
        parts.push(part);
        data = rest;
    }
    let mut own = |member: &Member| std::mem::take(&mut parts[member.series]);
    groups.iter().map(|group| group.members.iter().map(&mut own).collect()).collect()
}
