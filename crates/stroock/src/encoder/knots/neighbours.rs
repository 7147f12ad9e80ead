//! What is observed next to a knot, before and after it.

use burn::tensor::{Int, Tensor, TensorData};

use crate::batch::{EncoderInput, InputEntries};

/// Two times that differ by rounding are one.
const SAME: f64 = 1e-9;

/// Numbers of a channel next to a knot: value before and after, closeness of both, and the straight line between.
const PER_CHANNEL: usize = 5;
/// Numbers beside those of the channels: the time.
const OF_TIME: usize = 1;
/// Numbers beside the features of frames: closeness and gap, before and after, and the time.
const OF_GAPS: usize = 5;

/// Numbers of a knot for vectors.
pub(super) fn channel_width(channels: usize) -> usize {
    PER_CHANNEL * channels + OF_TIME
}

/// Channels of vectors whose knots have so many numbers.
pub(super) fn channels_of(width: usize) -> usize {
    (width - OF_TIME) / PER_CHANNEL
}

/// Numbers of a knot for frames: the features before and after, and these times their closeness.
pub(super) fn frame_width(features: usize) -> usize {
    4 * features + OF_GAPS
}

/// How close a neighbour is: `exp(-gap / nearness)`.
fn closeness(gap: f64, nearness: f64) -> f32 {
    (-gap.max(0.0) / nearness).exp() as f32
}

/// Time in the range of the other numbers.
fn centred(time: f64) -> f32 {
    (2.0 * time - 1.0) as f32
}

/// The points of its series next to every knot.
pub(super) struct Neighbours {
    /// The point before and the point after, `[N]` each; the other one where there is none.
    points: [Vec<i64>; 2],
    /// Closeness and gap, before and after, and the time, `[N, 5]`.
    gaps: Vec<f32>,
}

/// A gap beyond this share of the model's time is as good as none.
const FARTHEST: f64 = 0.2;

impl Neighbours {
    /// For points that are observed as a whole.
    pub fn of_points(input: &EncoderInput, offsets: &[usize], times: &[f64], nearness: f64) -> Self {
        let (mut points, mut gaps) = ([Vec::new(), Vec::new()], Vec::new());
        for (knots, pair) in offsets.windows(2).zip(input.point_offsets.windows(2)) {
            let (mut before, mut after) = (None, pair[0]);
            for &time in &times[knots[0]..knots[1]] {
                while after < pair[1] && input.time(after) < time - SAME {
                    before = Some(after);
                    after += 1;
                }
                let after = (after < pair[1]).then_some(after);
                // A point at the knot is on both sides.
                let at = after.filter(|&point| input.time(point) <= time + SAME);
                let before = at.or(before);
                // A series without any point reads the first one of the batch, at no closeness.
                let some = before.or(after).unwrap_or(0);
                points[0].push(before.unwrap_or(some) as i64);
                points[1].push(after.unwrap_or(some) as i64);
                for point in [before, after] {
                    let gap = point.map(|point| (time - input.time(point)).abs());
                    gaps.push(gap.map_or(0.0, |gap| closeness(gap, nearness)));
                    gaps.push(gap.map_or(1.0, |gap| (gap.min(FARTHEST) / FARTHEST) as f32));
                }
                gaps.push(centred(time));
            }
        }
        Self { points, gaps }
    }
}

/// `[N, 4 F + 5]` from features `[P, F]` of the points.
pub(super) fn frame_neighbours(neighbours: &Neighbours, features: Tensor<2>) -> Tensor<2> {
    let knots = neighbours.points[0].len();
    let (device, dtype) = (features.device(), features.dtype());
    let gaps = TensorData::new(neighbours.gaps.clone(), [knots, OF_GAPS]);
    let gaps = Tensor::<2>::from_data(gaps, (&device, dtype));
    let mut parts = Vec::with_capacity(5);
    for (side, points) in neighbours.points.iter().enumerate() {
        let points = Tensor::<1, Int>::from_data(TensorData::new(points.clone(), [knots]), &device);
        let seen = features.clone().select(0, points);
        parts.push(seen.clone());
        parts.push(seen * gaps.clone().narrow(1, 2 * side, 1));
    }
    parts.push(gaps);
    Tensor::cat(parts, 1)
}

/// `[N, 5 C + 1]` for points whose channels are observed one by one.
pub(super) fn channel_neighbours(
    input: &EncoderInput,
    offsets: &[usize],
    times: &[f64],
    nearness: f64,
) -> Vec<f32> {
    let channels = input.channels();
    let width = channel_width(channels);
    let mut found = vec![0.0; times.len() * width];
    let InputEntries::PerChannel { offsets: entries, points } = &input.entries else { return found };
    for (b, knots) in offsets.windows(2).enumerate() {
        let rows = &mut found[knots[0] * width..knots[1] * width];
        for c in 0..channels {
            let own = &points[entries[b * channels + c]..entries[b * channels + c + 1]];
            let mut after = 0;
            for (row, &time) in rows.chunks_exact_mut(width).zip(&times[knots[0]..knots[1]]) {
                while after < own.len() && input.time(own[after] as usize) < time - SAME {
                    after += 1;
                }
                let seen = |i: usize| {
                    let point = own[i] as usize;
                    (input.values[point * channels + c], (time - input.time(point)).abs())
                };
                let next = (after < own.len()).then(|| seen(after));
                let at = next.filter(|(_, gap)| *gap <= SAME);
                let before = at.or_else(|| after.checked_sub(1).map(seen));
                let line = match (before, next) {
                    (Some((from, gone)), Some((to, left))) if gone + left > 0.0 => {
                        (f64::from(from) * left + f64::from(to) * gone) / (gone + left)
                    }
                    (Some((value, _)), _) | (None, Some((value, _))) => f64::from(value),
                    (None, None) => 0.0,
                };
                let [(value_before, near_before), (value_after, near_after)] = [before, next]
                    .map(|side| side.map_or((0.0, 0.0), |(value, gap)| (value, closeness(gap, nearness))));
                let numbers = [value_before, near_before, value_after, near_after, line as f32];
                row[PER_CHANNEL * c..PER_CHANNEL * (c + 1)].copy_from_slice(&numbers);
            }
        }
        for (row, &time) in rows.chunks_exact_mut(width).zip(&times[knots[0]..knots[1]]) {
            row[width - 1] = centred(time);
        }
    }
    found
}
