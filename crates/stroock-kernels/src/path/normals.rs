//! The standard normals of a step, for a group of rows.

use super::drift::gather;
use super::problem::Noise;
use super::rows::Row;
use crate::noise::{RoundKeys, fill_step, round_keys_in_lanes};
use crate::simd::{LaneKernel, Lanes, MAX_WIDTH, Words};

/// Where the normals of the rows in the lanes come from, and those of the current step.
pub(crate) struct Normals<'p, V: Lanes> {
    source: Source<'p, V>,
    /// `[normals of a step]`.
    values: Vec<V>,
}

#[allow(clippy::large_enum_variant, reason = "there is one for each group of rows")]
enum Source<'p, V: Lanes> {
    Counter { keys: RoundKeys<V::Words>, series: V::Words, sample: V::Words, words: Vec<V::Words> },
    Given([&'p [V::Real]; MAX_WIDTH]),
}

impl<'p, V: Lanes> Normals<'p, V> {
    /// `count` normals a step, for series with the steps that `step_offsets` (`[B + 1]`) says.
    #[inline(always)]
    pub fn new(
        noise: Noise<'p, V::Real>,
        count: usize,
        step_offsets: &[usize],
        rows: &[Row; MAX_WIDTH],
    ) -> Self {
        let source = match noise {
            Noise::Counter { key, series, first_sample } => {
                let [mut series_words, mut sample_words] = [[0; MAX_WIDTH]; 2];
                for (l, row) in rows.iter().enumerate() {
                    series_words[l] = series[row.series];
                    sample_words[l] = first_sample.wrapping_add(row.sample as u32);
                }
                let (series, sample) = (V::Words::load(&series_words), V::Words::load(&sample_words));
                let words = vec![V::Words::splat(0); count.next_multiple_of(4)];
                let keys = round_keys_in_lanes(key.words());
                Source::Counter { keys, series, sample, words }
            }
            Noise::Given(values) => {
                let mut slices = [&[][..]; MAX_WIDTH];
                for (slice, row) in slices.iter_mut().zip(rows) {
                    let first = row.sample * step_offsets[step_offsets.len() - 1];
                    let [from, to] = [step_offsets[row.series], step_offsets[row.series + 1]];
                    *slice = &values[(first + from) * count..(first + to) * count];
                }
                Source::Given(slices)
            }
        };
        Self { source, values: vec![V::zero(); count] }
    }

    /// Moves to step `j`, behind a call where the code is `shared` by many loops.
    #[inline(always)]
    pub fn fill(&mut self, j: usize, shared: bool) {
        let fill = Fill { normals: self, j };
        if shared { V::call(fill) } else { V::inline(fill) }
    }

    /// The normals of the step.
    #[inline(always)]
    pub fn values(&self) -> &[V] {
        &self.values
    }
}

/// A part of the loops where speed matters most, and behind a call elsewhere.
struct Fill<'c, 'p, V: Lanes> {
    normals: &'c mut Normals<'p, V>,
    j: usize,
}

impl<V: Lanes> LaneKernel for Fill<'_, '_, V> {
    #[inline(always)]
    fn run(self) {
        let Normals { source, values } = self.normals;
        match source {
            Source::Counter { keys, series, sample, words } => {
                fill_step(keys, *series, *sample, V::Words::splat(self.j as u32), words, values);
            }
            Source::Given(slices) => gather(slices, self.j * values.len(), values),
        }
    }
}
