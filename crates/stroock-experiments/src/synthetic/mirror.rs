//! Pictures and what they show, from the other side.

use stroock::series::{Dataset, Labels, Observation, Series};

use super::{SplitData, SyntheticError};

impl SplitData {
    /// The same data with the mirror images of the training series beside them, as further training series.
    ///
    /// Columns of a picture change places, and `(sin, cos)` of an angle becomes `(-sin, cos)`: a pendulum swings to the
    /// left as it does to the right.
    ///
    /// # Errors
    /// When the series are no pictures.
    pub fn with_mirrored_training(self) -> Result<Self, SyntheticError> {
        let SplitData { data, mut split } = self;
        let observation = data.observation();
        let width = match observation {
            Observation::Image { width, .. } => width,
            Observation::Vector { .. } => 1,
        };
        let mut series = data.series().to_vec();
        for number in split.train.clone() {
            split.train.push(series.len());
            series.push(mirrored(&series[number], width));
        }
        Ok(SplitData { data: Dataset::new(observation, series)?, split })
    }
}

fn mirrored(series: &Series, width: usize) -> Series {
    let mut mirrored = series.clone();
    mirrored.id += ", mirrored";
    mirrored.values.chunks_exact_mut(width).for_each(<[f32]>::reverse);
    if let Labels::RealPerTime { width: 2, values } = &mut mirrored.labels {
        values.iter_mut().step_by(2).for_each(|sine| *sine = -*sine);
    }
    mirrored
}
