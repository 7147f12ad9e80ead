//! Buoys on their moorings: four channels of two hidden oscillators, irregular and with gaps.

use std::f64::consts::TAU;

use rand_core::Rng;
use serde::{Deserialize, Serialize};
use stroock::series::{Dataset, Labels, Observation, Series, Split};
use stroock_kernels::noise::{NoiseKey, Purpose};

use super::draw::{Normals, choose, uniform};
use super::error::require;
use super::parts::Part;
use super::{Sizes, SyntheticError};

const NAME: &str = "oscillators";
const TAG: &[u8; 8] = b"buoys   ";
/// Clocks of the instruments count hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// Unit of the times.
pub const TIME_UNIT: &str = "s";

/// What an instrument measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// Name.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Standard deviation of its noise, in its unit.
    pub noise: f64,
    /// Probability that it is read at a time of the buoy.
    pub rate: f64,
}

/// The four instruments of a buoy.
pub const CHANNELS: [Channel; 4] = [
    Channel { name: "heave", unit: "m", noise: 0.05, rate: 0.6 },
    Channel { name: "pitch", unit: "°", noise: 0.5, rate: 0.5 },
    Channel { name: "sway", unit: "m", noise: 0.06, rate: 0.4 },
    Channel { name: "mooring tension", unit: "kN", noise: 0.2, rate: 0.4 },
];

/// `amplitude cos(2 pi t / period + phase)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oscillation {
    /// Amplitude in metres.
    pub amplitude: f64,
    /// Period in seconds.
    pub period: f64,
    /// Phase at time 0.
    pub phase: f64,
}

impl Oscillation {
    /// The oscillation and what lags it by a quarter of a period.
    fn at(&self, t: f64) -> [f64; 2] {
        let (sine, cosine) = (TAU * t / self.period + self.phase).sin_cos();
        [self.amplitude * cosine, self.amplitude * sine]
    }
}

/// How one buoy moves: what is behind the observations of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// The swell that lifts it.
    pub swell: Oscillation,
    /// Its slow way about the anchor.
    pub sway: Oscillation,
    /// First and last time at which nothing is observed.
    pub gap: [f64; 2],
}

impl Motion {
    /// The four channels at a time, without noise: heave is the swell, pitch is its slope, sway is the second
    /// oscillator, and the tension grows exponentially with the stretch of both.
    pub fn at(&self, t: f64) -> [f64; 4] {
        let [heave, slope] = self.swell.at(t);
        let [sway, _] = self.sway.at(t);
        [heave, 8.0 * slope, sway, 4.0 * (0.4 * (heave + sway)).exp()]
    }

    /// The four channels at many times, `[times, 4]`.
    pub fn on(&self, times: &[f64]) -> Vec<f32> {
        times.iter().flat_map(|&t| self.at(t)).map(|x| x as f32).collect()
    }

    fn draw(words: &mut impl Rng, duration: f64) -> Self {
        let mut between = |low, high| uniform(words, low, high);
        let swell =
            Oscillation { amplitude: between(0.6, 1.4), period: between(3.5, 5.5), phase: between(0.0, TAU) };
        let sway = Oscillation {
            amplitude: between(0.6, 1.4),
            period: between(7.0, 11.0),
            phase: between(0.0, TAU),
        };
        let width = duration * between(0.15, 0.25);
        let start = between(0.1 * duration, 0.9 * duration - width);
        Self { swell, sway, gap: [start, start + width] }
    }
}

/// Irregular, gappy, noisy records of moored buoys.
///
/// Every buoy has its own amplitudes, periods and phases of two oscillators, which its [`CHANNELS`] are
/// smooth functions of. Its times are irregular; each channel is read at a random part of them, and nothing
/// is observed in one contiguous gap. Values `[times, 4]` are in the units of the channels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Oscillators {
    /// Number of series.
    pub sizes: Sizes,
    /// Length of the records in seconds.
    pub duration: f64,
    /// Fewest and most times of a buoy, before the gap.
    pub times: [usize; 2],
}

/// Records of buoys, and the truth behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct OscillatorData {
    /// The records.
    pub data: Dataset,
    /// Which of them are for what.
    pub split: Split,
    /// The motion behind every series.
    pub motions: Vec<Motion>,
}

impl Default for Oscillators {
    /// 240 series for training, 30 for validation and 30 for testing, over 10 s, with 45 to 75 times.
    fn default() -> Self {
        Self { sizes: Sizes { train: 240, validation: 30, test: 30 }, duration: 10.0, times: [45, 75] }
    }
}

impl Oscillators {
    /// Generates the series.
    ///
    /// ```
    /// let buoys = stroock_experiments::synthetic::Oscillators::default().generate(1)?;
    /// let number = buoys.split.test[0];
    /// let grid: Vec<f64> = (0..=200).map(|i| 0.05 * f64::from(i)).collect();
    /// assert_eq!(buoys.motions[number].on(&grid).len(), 201 * 4);
    /// # Ok::<(), stroock_experiments::synthetic::SyntheticError>(())
    /// ```
    ///
    /// # Errors
    /// When a parameter lies outside its range.
    pub fn generate(&self, seed: u64) -> Result<OscillatorData, SyntheticError> {
        self.sizes.check(NAME)?;
        let ticks = (self.duration * TICKS_PER_SECOND).floor();
        require((1.0..1e9).contains(&ticks), NAME, "duration", self.duration, "0.01 to 10^7 seconds")?;
        let [fewest, most] = self.times;
        let ordered = 1 <= fewest && fewest <= most && most as f64 <= ticks + 1.0;
        let requirement = format!("1 <= fewest <= most <= {}, the hundredths of a second", ticks + 1.0);
        require(ordered, NAME, "times", self.times, requirement)?;
        let made = self.sizes.each(seed, TAG, |part, key, number| self.series(part, key, number));
        let (series, motions) = made.into_iter().unzip();
        let data = Dataset::new(Observation::Vector { channels: CHANNELS.len() }, series)?;
        Ok(OscillatorData { data, split: self.sizes.split(), motions })
    }

    fn series(&self, part: Part, key: NoiseKey, number: u32) -> (Series, Motion) {
        let stream = |sample| key.stream(Purpose::Synthetic, number, sample);
        let motion = Motion::draw(&mut stream(0), self.duration);
        let (mut when, mut noise, mut normals) = (stream(1), stream(2), Normals::default());
        let [fewest, most] = self.times;
        let count = fewest + (when.next_u64() % (most - fewest + 1) as u64) as usize;
        let ticks = (self.duration * TICKS_PER_SECOND).floor() as usize + 1;
        let (mut times, mut values, mut observed) = (Vec::new(), Vec::new(), Vec::new());
        for tick in choose(&mut when, count, ticks) {
            let t = tick as f64 / TICKS_PER_SECOND;
            let read = CHANNELS.map(|channel| uniform(&mut when, 0.0, 1.0) < channel.rate);
            let in_gap = (motion.gap[0]..=motion.gap[1]).contains(&t);
            if in_gap || !read.contains(&true) {
                continue;
            }
            times.push(t);
            for ((channel, truth), read) in CHANNELS.iter().zip(motion.at(t)).zip(read) {
                values.push(if read { truth + channel.noise * normals.next(&mut noise) } else { 0.0 } as f32);
                observed.push(read);
            }
        }
        let id = part.name(number);
        let series =
            Series { id, times, values, observed: Some(observed), withheld: None, labels: Labels::None };
        (series, motion)
    }
}
