//! Where the points of a batch stand among those that the encoder sees.

use super::Batch;

/// Two times that differ by rounding are one.
const SAME: f64 = 1e-9;

/// Where a point of a batch stands among those that the encoder sees of its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At this point of the input.
    At(usize),
    /// At a time of its own, behind this point of the input, or before all of them.
    Behind(Option<usize>),
}

impl Batch {
    /// The places of its points among those of the input, `[Q]`, for batches whose input and grid have the same time axis.
    ///
    /// ```
    /// use stroock::batch::{Batcher, GridKind, InputChoice, Place, TargetChoice, TimeAxis};
    /// use stroock::series::{Dataset, Observation, Series};
    ///
    /// let series = Series { times: vec![1.0, 3.0], values: vec![1.0, 2.0], ..Series::default() };
    /// let data = Dataset::new(Observation::Vector { channels: 1 }, vec![series])?;
    /// let axis = TimeAxis { start: 0.0, end: 4.0, horizon: 1.0 };
    /// let batcher = Batcher {
    ///     input_axis: axis,
    ///     grid_axis: axis,
    ///     grid: GridKind::Regular { points: 5 },
    ///     input: InputChoice::All,
    ///     targets: TargetChoice::All,
    /// };
    /// let places = batcher.ask(&data, &[0], &[vec![0.0, 1.0, 2.0, 3.0]])?.places();
    /// assert_eq!(places, [Place::Behind(None), Place::At(0), Place::Behind(Some(0)), Place::At(1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn places(&self) -> Vec<Place> {
        let times = self.request_times();
        let input = &self.input;
        let mut places = Vec::with_capacity(times.len());
        for (points, asked) in input.point_offsets.windows(2).zip(self.requests.offsets.windows(2)) {
            let own: Vec<f64> = (points[0]..points[1]).map(|point| input.time(point)).collect();
            for time in &times[asked[0]..asked[1]] {
                let before = own.partition_point(|observed| *observed < time - SAME);
                places.push(match own.get(before) {
                    Some(observed) if *observed <= time + SAME => Place::At(points[0] + before),
                    _ => Place::Behind(before.checked_sub(1).map(|last| points[0] + last)),
                });
            }
        }
        places
    }
}
