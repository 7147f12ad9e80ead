//! Where a filter stops: at the inputs of a series and at its asked times, in the order of time.

use burn::tensor::{Int, Tensor, TensorData};

use crate::batch::Batch;
use crate::latent::PathGrid;

/// Model times that rounding alone tells apart are one point.
const SAME: f64 = 1e-6;

/// The points of a batch that a filter goes through, `P` in all.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterPoints {
    /// `[B + 1]`: where the points of a series begin.
    pub offsets: Vec<usize>,
    /// Model time since the point before, `[P]`; 0 for the first point of a series.
    pub gaps: Vec<f64>,
    /// Which points are inputs, in the order of the inputs, `[P]`.
    pub observed: Vec<bool>,
    /// The point of every asked time, `[Q]`.
    pub requests: Vec<usize>,
}

impl FilterPoints {
    /// The inputs and the asked times of the series of a batch. An asked time at which there is an input is that point,
    /// so that its belief has seen the input. Where all series share a grid, inputs lie on its points, as asked times do.
    pub fn of(batch: &Batch) -> Self {
        let (input, asked) = (&batch.input, batch.request_times());
        let mut points =
            Self { offsets: vec![0], gaps: Vec::new(), observed: Vec::new(), requests: vec![0; asked.len()] };
        for b in 0..batch.numbers.len() {
            let inputs = input.point_offsets[b]..input.point_offsets[b + 1];
            let inputs: Vec<f64> = inputs.map(|point| on_grid(&batch.grid, input.time(point))).collect();
            let own = batch.requests.offsets[b]..batch.requests.offsets[b + 1];
            points.push(&inputs, own.start, &asked[own]);
        }
        points
    }

    /// Adds a series with increasing `inputs` and the `asked` times of the requests from `first` on.
    fn push(&mut self, inputs: &[f64], first: usize, asked: &[f64]) {
        let mut last: Option<f64> = None;
        let mut inputs = inputs.iter().copied().peekable();
        let mut order: Vec<usize> = (0..asked.len()).collect();
        order.sort_by(|&i, &j| asked[i].total_cmp(&asked[j]));
        for request in order {
            let time = asked[request];
            while let Some(input) = inputs.next_if(|&input| input <= time + SAME) {
                self.add(&mut last, input, true);
            }
            if last.is_none_or(|last| time - last > SAME) {
                self.add(&mut last, time, false);
            }
            self.requests[first + request] = self.gaps.len() - 1;
        }
        // Nobody asks for what comes after: the past is all that a belief knows.
        inputs.for_each(|input| self.add(&mut last, input, true));
        self.offsets.push(self.gaps.len());
    }

    fn add(&mut self, last: &mut Option<f64>, time: f64, observed: bool) {
        self.gaps.push(last.map_or(0.0, |last| (time - last).max(0.0)));
        self.observed.push(observed);
        *last = Some(last.map_or(time, |last| time.max(last)));
    }

    /// The beliefs `[Q, 5d]` at the asked times, of those at all points, `[P, 5d]`.
    pub fn requested(&self, beliefs: Tensor<2>) -> Tensor<2> {
        if self.requests.iter().copied().eq(0..self.gaps.len()) {
            return beliefs;
        }
        let places: Vec<i64> = self.requests.iter().map(|&point| point as i64).collect();
        let count = places.len();
        let places = Tensor::<1, Int>::from_data(TensorData::new(places, [count]), &beliefs.device());
        beliefs.select(0, places)
    }
}

/// The time of a shared grid that is nearest to `time`; on grids of single series, `time` itself.
fn on_grid(grid: &PathGrid, time: f64) -> f64 {
    let PathGrid::Shared(times) = grid else { return time };
    let after = times.partition_point(|&t| t < time);
    let neighbours = [after.saturating_sub(1), after.min(times.len().saturating_sub(1))];
    let [before, after] = neighbours.map(|index| times.get(index).copied().unwrap_or(time));
    if (time - before).abs() < (after - time).abs() { before } else { after }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(inputs: &[f64], asked: &[f64]) -> FilterPoints {
        let mut points = FilterPoints {
            offsets: vec![0],
            gaps: Vec::new(),
            observed: Vec::new(),
            requests: vec![0; asked.len()],
        };
        points.push(inputs, 0, asked);
        points
    }

    #[test]
    fn inputs_and_asked_times_are_merged() {
        let merged = points(&[0.25, 0.5, 1.0], &[0.0, 0.5, 0.75]);
        assert_eq!(merged.gaps, [0.0, 0.25, 0.25, 0.25, 0.25]);
        assert_eq!(merged.observed, [false, true, true, false, true]);
        assert_eq!(merged.requests, [0, 2, 3]);
        assert_eq!(merged.offsets, [0, 5]);
    }

    #[test]
    fn times_in_any_order_and_more_than_once() {
        let merged = points(&[0.5, 0.5 + 1e-9], &[0.75, 0.5 - 1e-9, 0.75, 0.25]);
        assert_eq!(merged.observed, [false, true, true, false]);
        assert_eq!(merged.requests, [3, 2, 3, 0]);
        assert!(merged.gaps.iter().all(|&gap| gap >= 0.0));
    }

    #[test]
    fn series_without_inputs_or_without_questions() {
        assert_eq!(points(&[], &[0.5]).observed, [false]);
        assert_eq!(points(&[0.5], &[]).observed, [true]);
        assert_eq!(points(&[], &[]).offsets, [0, 0]);
    }

    #[test]
    fn inputs_lie_on_a_shared_grid() {
        let grid = PathGrid::Shared(vec![0.0, 0.5, 1.0]);
        assert_eq!(
            [-1.0, 0.2, 0.26, 0.5, 0.8, 3.0].map(|t| on_grid(&grid, t)),
            [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]
        );
        let own = PathGrid::PerSeries { offsets: vec![0, 1], times: vec![0.0] };
        assert_eq!(on_grid(&own, 0.2), 0.2);
    }
}
