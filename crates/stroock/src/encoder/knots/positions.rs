//! Where knots lie.

use serde::{Deserialize, Serialize};

use crate::batch::EncoderInput;

/// Where the knots of a series lie: at its observed times, and at evenly spaced times of the model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KnotPositions {
    /// Whether observed times are knots.
    pub observed: bool,
    /// Evenly spaced knots on `[0, end]`, both ends included; 2 at least.
    pub even: usize,
    /// Model time of the last of them.
    pub end: f64,
}

impl Default for KnotPositions {
    fn default() -> Self {
        Self { observed: true, even: 33, end: 1.0 }
    }
}

/// An even knot this close to an observed one, as a share of the distance between even ones, gives way to it.
const TOO_CLOSE: f64 = 0.25;

impl KnotPositions {
    /// Offsets `[B + 1]` and times `[N]` of the knots of the series of a batch.
    ///
    /// ```
    /// use stroock::batch::{EncoderInput, InputPoints};
    /// use stroock::encoder::KnotPositions;
    /// use stroock::series::Observation;
    ///
    /// let points = InputPoints { times: vec![0.3, 0.51], values: vec![1.0, 2.0], seen: vec![true; 2] };
    /// let input = EncoderInput::new(Observation::Vector { channels: 1 }, &[points]);
    /// let positions = KnotPositions { observed: true, even: 3, end: 1.0 };
    /// assert_eq!(positions.of_input(&input), (vec![0, 4], vec![0.0, 0.3, 0.51, 1.0]));
    /// ```
    pub fn of_input(&self, input: &EncoderInput) -> (Vec<usize>, Vec<f64>) {
        let last = self.even.max(2) - 1;
        let step = self.end / last as f64;
        let even: Vec<f64> = (0..=last).map(|k| step * k as f64).collect();
        let (mut offsets, mut times) = (vec![0], Vec::new());
        for pair in input.point_offsets.windows(2) {
            let observed: Vec<f64> = match self.observed {
                true => (pair[0]..pair[1]).map(|point| input.time(point)).collect(),
                false => Vec::new(),
            };
            join(&even, &observed, TOO_CLOSE * step, &mut times);
            offsets.push(times.len());
        }
        (offsets, times)
    }
}

/// Appends both lists in order, without the even times that are within `margin` of an observed one and without
/// repetitions.
fn join(even: &[f64], observed: &[f64], margin: f64, times: &mut Vec<f64>) {
    let first = times.len();
    let near = |time: f64| {
        let next = observed.partition_point(|&t| t < time - margin);
        observed.get(next).is_some_and(|&t| t <= time + margin)
    };
    times.extend(even.iter().filter(|&&time| !near(time)));
    times.extend_from_slice(observed);
    times[first..].sort_by(f64::total_cmp);
    let mut kept = first;
    for i in first..times.len() {
        if kept == first || times[i] > times[kept - 1] {
            times[kept] = times[i];
            kept += 1;
        }
    }
    times.truncate(kept);
}
