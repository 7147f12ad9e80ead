//! Clean pictures of a pendulum, about half of which the encoder does not see.

use serde::{Deserialize, Serialize};
use stroock::series::{Dataset, Labels, Observation, Series};
use stroock_kernels::noise::{NoiseKey, Purpose};

use super::draw::uniform;
use super::error::require;
use super::parts::Part;
use super::{PICTURE_SIDE, PictureBook, Recording, Sizes, SplitData, SyntheticError};

const NAME: &str = "pendulum interpolation";
const TAG: &[u8; 8] = b"pend.int";

/// Pictures of a pendulum, some of which the encoder sees and all of which are to be drawn.
///
/// A series holds the kept frames `[kept, 1, 24, 24]` in [0, 1] and their recorded steps as times. The frames
/// that are no input are marked in [`Series::withheld`]; that is drawn once a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendulumInterpolation {
    /// Number of series.
    pub sizes: Sizes,
    /// How the pendulum is recorded.
    pub recording: Recording,
    /// Probability that a kept frame is an input.
    pub input: f64,
    /// How many of the first recorded steps are inputs whenever they are kept.
    pub always: usize,
    /// Whether all frames of training series can be inputs, for batches to choose.
    #[serde(default)]
    pub redrawn: bool,
}

impl Default for PendulumInterpolation {
    /// The paper's data: 2 000 series for training, 1 000 for validation, 1 000 for testing; 50 of 100 steps
    /// of 0.05 s, half of them inputs, and the first five steps always.
    fn default() -> Self {
        let sizes = Sizes { train: 2000, validation: 1000, test: 1000 };
        Self { sizes, recording: Recording::every(0.05), input: 0.5, always: 5, redrawn: false }
    }
}

impl PendulumInterpolation {
    /// Generates the series.
    ///
    /// ```
    /// use stroock_experiments::synthetic::{PendulumInterpolation, Sizes};
    /// let sizes = Sizes { train: 2, validation: 0, test: 0 };
    /// let set = PendulumInterpolation { sizes, ..Default::default() }.generate(1)?;
    /// let withheld = set.data.series()[0].withheld.as_ref().expect("there is a mask");
    /// assert_eq!(withheld.len(), 50 * 24 * 24);
    /// # Ok::<(), stroock_experiments::synthetic::SyntheticError>(())
    /// ```
    ///
    /// # Errors
    /// When a parameter lies outside its range.
    pub fn generate(&self, seed: u64) -> Result<SplitData, SyntheticError> {
        self.sizes.check(NAME)?;
        self.recording.check(NAME)?;
        require((0.0..=1.0).contains(&self.input), NAME, "input", self.input, "a probability")?;
        let book = PictureBook::default();
        let series = self.sizes.each(seed, TAG, |part, key, number| self.series(part, key, number, &book));
        let observation = Observation::Image { channels: 1, height: PICTURE_SIDE, width: PICTURE_SIDE };
        Ok(SplitData { data: Dataset::new(observation, series)?, split: self.sizes.split() })
    }

    fn series(&self, part: Part, key: NoiseKey, number: u32, book: &PictureBook) -> Series {
        let stream = |sample| key.stream(Purpose::Synthetic, number, sample);
        let (swings, kept) = self.recording.draw(&mut stream(0), &mut stream(1));
        let mut inputs = stream(2);
        let pixels = PICTURE_SIDE * PICTURE_SIDE;
        let mut values = Vec::with_capacity(kept.len() * pixels);
        let mut withheld = Vec::with_capacity(kept.len() * pixels);
        for &index in &kept {
            let drawn = uniform(&mut inputs, 0.0, 1.0) < self.input;
            withheld.resize(withheld.len() + pixels, !drawn && index >= self.always);
            values.extend(book.picture(swings[index].angle).iter().map(|&grey| f32::from(grey) / 255.0));
        }
        Series {
            id: part.name(number),
            times: kept.iter().map(|&index| index as f64).collect(),
            values,
            observed: None,
            withheld: (!(self.redrawn && part == Part::Train)).then_some(withheld),
            labels: Labels::None,
        }
    }
}
