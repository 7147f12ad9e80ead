//! Noisy pictures of a pendulum, and its angle.

use rand_core::Rng;
use serde::{Deserialize, Serialize};
use stroock::series::{Dataset, Labels, Observation, Series};
use stroock_kernels::noise::{NoiseKey, Purpose};

use super::parts::Part;
use super::{FactorWalk, PICTURE_SIDE, Picture, PictureBook, Recording, Sizes, SplitData, SyntheticError};

const NAME: &str = "pendulum regression";
const TAG: &[u8; 8] = b"pend.reg";

/// Pictures of a pendulum under noise that comes and goes; the label is the angle.
///
/// A frame is `f image + (1 - f) noise` with the factor `f` of a [`FactorWalk`] and noise that is uniform in
/// every pixel, stored as 8 bit. A series holds the kept frames `[kept, 1, 24, 24]` in [0, 1], their recorded
/// steps as times, and (sin, cos) of the true angle as [`Labels::RealPerTime`] of width 2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendulumRegression {
    /// Number of series.
    pub sizes: Sizes,
    /// How the pendulum is recorded.
    pub recording: Recording,
    /// Visibility of the recorded frames.
    pub visibility: FactorWalk,
}

impl Default for PendulumRegression {
    /// The paper's data: 2 000 series for training, 1 000 for validation, 1 000 for testing; 50 of 100 steps
    /// of 0.01 s.
    fn default() -> Self {
        let sizes = Sizes { train: 2000, validation: 1000, test: 1000 };
        Self { sizes, recording: Recording::every(0.01), visibility: FactorWalk::default() }
    }
}

impl PendulumRegression {
    /// Generates the series.
    ///
    /// ```
    /// use stroock_experiments::synthetic::{PendulumRegression, Sizes};
    /// let sizes = Sizes { train: 2, validation: 1, test: 1 };
    /// let set = PendulumRegression { sizes, ..Default::default() }.generate(1)?;
    /// assert_eq!(set.data.series()[0].times.len(), 50);
    /// assert_eq!(set.split.test, [3]);
    /// # Ok::<(), stroock_experiments::synthetic::SyntheticError>(())
    /// ```
    ///
    /// # Errors
    /// When a parameter lies outside its range.
    pub fn generate(&self, seed: u64) -> Result<SplitData, SyntheticError> {
        self.sizes.check(NAME)?;
        self.recording.check(NAME)?;
        self.visibility.check(NAME)?;
        let book = PictureBook::default();
        let series = self.sizes.each(seed, TAG, |part, key, number| self.series(part, key, number, &book));
        let observation = Observation::Image { channels: 1, height: PICTURE_SIDE, width: PICTURE_SIDE };
        Ok(SplitData { data: Dataset::new(observation, series)?, split: self.sizes.split() })
    }

    fn series(&self, part: Part, key: NoiseKey, number: u32, book: &PictureBook) -> Series {
        let stream = |sample| key.stream(Purpose::Synthetic, number, sample);
        let (swings, kept) = self.recording.draw(&mut stream(0), &mut stream(1));
        let factors = self.visibility.draw(swings.len(), &mut stream(2));
        let mut pixels = stream(3);
        let mut values = Vec::with_capacity(kept.len() * PICTURE_SIDE * PICTURE_SIDE);
        let mut labels = Vec::with_capacity(kept.len() * 2);
        for &index in &kept {
            let (sine, cosine) = swings[index].angle.sin_cos();
            labels.extend([sine as f32, cosine as f32]);
            noisy(book.picture(swings[index].angle), factors[index], &mut pixels, &mut values);
        }
        Series {
            id: part.name(number),
            times: kept.iter().map(|&index| index as f64).collect(),
            values,
            observed: None,
            withheld: None,
            labels: Labels::RealPerTime { width: 2, values: labels },
        }
    }
}

/// Appends a picture seen through noise.
fn noisy(picture: &Picture, factor: f64, words: &mut impl Rng, values: &mut Vec<f32>) {
    let mut noise = || (1.0 - factor) * (255.0 / 2f64.powi(32)) * f64::from(words.next_u32());
    values.extend(picture.iter().map(|&grey| {
        let grey = if factor < 1.0 { (factor * f64::from(grey) + noise()) as u8 } else { grey };
        f32::from(grey) / 255.0
    }));
}
