//! Handwritten digits that turn once around.

use serde::{Deserialize, Serialize};
use stroock::series::{Dataset, Labels, Observation, Series, shuffled};
use stroock_kernels::noise::{NoiseKey, Purpose, Stage};

use super::draw::{Normals, choose};
use super::error::require;
use super::parts::{self, Part};
use super::rotation::{Map, back};
use super::{CubicSpline, Sizes, SplitData, SyntheticError};

const NAME: &str = "rotating digits";
const TAG: &[u8; 8] = b"rotating";

/// Rows and columns of a digit.
pub const DIGIT_SIDE: usize = 28;
const PIXELS: usize = DIGIT_SIDE * DIGIT_SIDE;

/// Frames that sequences for training do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// The frame that no sequence for training has: the one that is to be predicted.
    pub always: usize,
    /// How many more are dropped at random, never frame 0, drawn once a sequence.
    pub random: usize,
}

/// More digits for training, each made of one for training by a linear map close to the identity: as another hand
/// would slant, stretch and turn it.
///
/// A variant is the digit at `(I + s G) p` instead of `p`, with standard normal entries in the 2 x 2 matrix `G`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variants {
    /// How many of each digit, beside the digit itself.
    pub each: usize,
    /// `s`, how different they are.
    pub spread: f64,
}

/// Digits that turn clockwise once around.
///
/// Frame `t` is the digit in [0, 1] turned by `360 t / (frames - 1)` degrees, read from a [`CubicSpline`] and
/// clipped to [0, 1]; its time is `t`. Sequences for validation and testing have all frames,
/// `[frames, 1, 28, 28]`; those for training lack the [`Dropped`] ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RotatingDigits {
    /// Number of digits.
    pub sizes: Sizes,
    /// Frames of a whole turn; the last one is the first one again.
    pub frames: usize,
    /// What sequences for training lack; `None` for nothing.
    pub dropped: Option<Dropped>,
    /// More sequences for training; `None` for no more.
    pub variants: Option<Variants>,
    /// Whether the digits for testing are those for training, with all their frames, and not others. Frames that training
    /// lacks are withheld from encoders then, and as many of the digits for validation.
    pub transductive: bool,
}

impl Default for RotatingDigits {
    /// The paper's data: 360 sequences for training, 36 for validation, 360 for testing; 16 frames, of which
    /// frame 3 and four more are dropped.
    fn default() -> Self {
        let sizes = Sizes { train: 360, validation: 36, test: 360 };
        Self {
            sizes,
            frames: 16,
            dropped: Some(Dropped { always: 3, random: 4 }),
            variants: None,
            transductive: false,
        }
    }
}

impl RotatingDigits {
    /// Generates the sequences from digits `[count, 28, 28]`, one byte a pixel; which digit goes to which
    /// part is drawn at random.
    ///
    /// ```
    /// use stroock_experiments::synthetic::{RotatingDigits, Sizes};
    /// let few = RotatingDigits { sizes: Sizes { train: 2, validation: 1, test: 1 }, ..Default::default() };
    /// let set = few.generate(&[128; 5 * 28 * 28], 1)?;
    /// assert_eq!(set.data.series()[0].times.len(), 11);
    /// assert_eq!(set.data.series()[3].times.len(), 16);
    /// # Ok::<(), stroock_experiments::synthetic::SyntheticError>(())
    /// ```
    ///
    /// # Errors
    /// When the bytes are no digits, there are too few of them, or a parameter lies outside its range.
    pub fn generate(&self, digits: &[u8], seed: u64) -> Result<SplitData, SyntheticError> {
        self.check()?;
        if !digits.len().is_multiple_of(PIXELS) {
            return Err(SyntheticError::Images { bytes: digits.len(), side: DIGIT_SIDE });
        }
        let others = if self.transductive { 0 } else { self.sizes.test };
        let needed = self.sizes.train + self.sizes.validation + others;
        let given = digits.len() / PIXELS;
        if needed > given {
            return Err(SyntheticError::TooFewDigits { needed, given });
        }
        let order = shuffled(given, parts::key(seed, TAG, Stage::Split));
        let Sizes { train, validation, .. } = self.sizes;
        let of_training = parts::key(seed, TAG, Part::Train.stage());
        let sizes =
            Sizes { train: train * (1 + self.variants.map_or(0, |variants| variants.each)), ..self.sizes };
        let series = sizes.each(seed, TAG, |part, key, number| {
            let place = number as usize;
            let digit = order[match part {
                // The digits themselves, then one variant of each, then another one.
                Part::Train => place % train,
                Part::Validation => train + place,
                Part::Test if self.transductive => place % train,
                Part::Test => train + validation + place,
            }];
            let map = match (part, self.variants) {
                (Part::Train, Some(variants)) if place >= train => variants.map(key, number),
                _ => IDENTITY,
            };
            let kept = match part {
                Part::Test if self.transductive => self.kept(of_training, (place % train) as u32),
                Part::Validation | Part::Test if !self.transductive => vec![true; self.frames],
                _ => self.kept(key, number),
            };
            let is_there = |frame: &usize| part != Part::Train || kept[*frame];
            let times: Vec<f64> = (0..self.frames).filter(is_there).map(|frame| frame as f64).collect();
            let withheld = (part != Part::Train && kept.contains(&false))
                .then(|| kept.iter().flat_map(|kept| [!kept; PIXELS]).collect());
            Series {
                id: part.name(number),
                values: self.frames_of(&digits[digit * PIXELS..][..PIXELS], map, &times),
                times,
                observed: None,
                withheld,
                labels: Labels::None,
            }
        });
        let observation = Observation::Image { channels: 1, height: DIGIT_SIDE, width: DIGIT_SIDE };
        Ok(SplitData { data: Dataset::new(observation, series)?, split: sizes.split() })
    }

    fn check(&self) -> Result<(), SyntheticError> {
        self.sizes.check(NAME)?;
        require(self.frames >= 2, NAME, "frames", self.frames, "at least 2")?;
        if self.transductive {
            let train = self.sizes.train;
            require(train > 0, NAME, "sizes", train, "at least one digit for training, to test with")?;
        }
        if let Some(Variants { each, spread }) = self.variants {
            let most = u32::MAX as usize / self.sizes.total().max(1);
            require(each < most, NAME, "each", each, format!("fewer than {most} variants"))?;
            require((0.0..0.5).contains(&spread), NAME, "spread", spread, "from 0 to 0.5")?;
        }
        let Some(Dropped { always, random }) = self.dropped else { return Ok(()) };
        let range = format!("a frame from 1 to {}", self.frames - 1);
        require((1..self.frames).contains(&always), NAME, "always", always, range)?;
        let most = self.frames - 2;
        require(random <= most, NAME, "random", random, format!("at most {most} frames"))
    }

    /// Which frames are left of a sequence whose frames are dropped.
    fn kept(&self, key: NoiseKey, number: u32) -> Vec<bool> {
        let mut kept = vec![true; self.frames];
        if let Some(Dropped { always, random }) = self.dropped {
            kept[always] = false;
            let droppable: Vec<usize> = (1..self.frames).filter(|&frame| frame != always).collect();
            let mut words = key.stream(Purpose::Synthetic, number, 0);
            for place in choose(&mut words, random, droppable.len()) {
                kept[droppable[place]] = false;
            }
        }
        kept
    }

    /// The frames of a digit under a map at the given times, `[times, 28, 28]`.
    fn frames_of(&self, digit: &[u8], map: Map, times: &[f64]) -> Vec<f32> {
        let image: Vec<f64> = digit.iter().map(|&grey| f64::from(grey) / 255.0).collect();
        let mut values = Vec::with_capacity(times.len() * PIXELS);
        if let Some(spline) = CubicSpline::through(&image, DIGIT_SIDE, DIGIT_SIDE) {
            for time in times {
                let turn = back(360.0 * time / (self.frames - 1) as f64);
                let turned = spline.pulled_back(product(map, turn));
                values.extend(turned.iter().map(|x| x.clamp(0.0, 1.0) as f32));
            }
        }
        values
    }
}

const IDENTITY: Map = [[1.0, 0.0], [0.0, 1.0]];

fn product(a: Map, b: Map) -> Map {
    a.map(|line| [0, 1].map(|column| line[0] * b[0][column] + line[1] * b[1][column]))
}

impl Variants {
    /// The map of a variant, from a stream of its own.
    fn map(&self, key: NoiseKey, number: u32) -> Map {
        let (mut words, mut normals) = (key.stream(Purpose::Synthetic, number, 1), Normals::default());
        IDENTITY.map(|line| line.map(|entry| entry + self.spread * normals.next(&mut words)))
    }
}
