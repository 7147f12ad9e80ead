//! Addresses of random numbers, and a sequential stream for code that draws in order.

use std::convert::Infallible;

use rand_core::TryRng;

use super::{box_muller, philox};

/// What random numbers are used for.
///
/// Numbers of [`Path`](Purpose::Path), of [`Start`](Purpose::Start), of [`Marginal`](Purpose::Marginal), of
/// [`Divergence`](Purpose::Divergence), of [`Simulation`](Purpose::Simulation), of [`Field`](Purpose::Field) and of all
/// others are independent under one key. The others share their counters: [`Inputs`](Purpose::Inputs), [`Targets`](Purpose::Targets) and
/// [`Order`](Purpose::Order) have addresses of their own among them, the rest are kept apart by the [`Stage`] of their
/// key. This list and that of the stages are the only ones: which numbers are drawn for what is decided here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Increments of the driving Wiener process.
    Path,
    /// Start points.
    Start,
    /// States at requested times, drawn from marginals; a place is a request.
    Marginal,
    /// Random times and the states at them, for divergences in continuous time; a place is a stratum.
    Divergence,
    /// Paths of a process that is known by its marginals; a place is a step.
    Simulation,
    /// The weights of random vector fields.
    Field,
    /// Which points and values of a series an encoder sees.
    Inputs,
    /// Which points of a series are targets.
    Targets,
    /// The order of series: shuffles and splits. The number of the series is without meaning.
    Order,
    /// Which entries of a series are held out; the sample is the channel.
    HoldOut,
    /// Initial weights.
    Weights,
    /// The noise of observations in predictions.
    Observations,
    /// Generated data.
    Synthetic,
    /// Whatever a test, a benchmark or an example draws for itself.
    Caller,
}

/// How many places a purpose has.
pub(crate) const PLACES: u32 = 1 << 30;

impl Purpose {
    /// The domain of the counters: two bits.
    #[inline(always)]
    const fn domain(self) -> u32 {
        match self {
            Purpose::Path => 0,
            Purpose::Start => 1,
            Purpose::Marginal | Purpose::Divergence | Purpose::Simulation | Purpose::Field => 3,
            _ => 2,
        }
    }

    /// The step of the counters that a place begins with: purposes of one domain have [`PLACES`] steps each.
    const fn step(self, place: u32) -> u32 {
        let part = match self {
            Purpose::Divergence => 1,
            Purpose::Simulation => 2,
            Purpose::Field => 3,
            _ => 0,
        };
        part * PLACES + place % PLACES
    }

    /// The series and the sample of the counters.
    fn address(self, series: u32, sample: u32) -> [u32; 2] {
        match self {
            Purpose::Targets => [series, sample + 1],
            Purpose::Order => [u32::MAX, sample],
            _ => [series, sample],
        }
    }
}

/// What a key is for: an epoch of training, or something beside them that has an epoch of its own.
///
/// Two stages of one number draw for different purposes, or share their numbers because results that have been
/// published do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// An epoch of training.
    Epoch(u64),
    /// Draws of a fitted model; they share the numbers of the first epoch.
    Prediction,
    /// The split into training, validation and test series.
    Split,
    /// Validation: the same numbers in every epoch.
    Validation,
    /// Initial weights.
    Weights,
    /// What is held out of series.
    HoldOut,
    /// The noise of observations of a channel.
    Observations {
        /// The channel.
        channel: u64,
    },
    /// The test of an experiment.
    Test,
    /// The figures of an experiment.
    Figures,
    /// Codes of new series, and what they leave over.
    Codes,
}

impl Stage {
    /// The number of the epoch.
    const fn epoch(self) -> u64 {
        match self {
            Stage::Epoch(epoch) => epoch,
            Stage::Prediction => 0,
            Stage::Split | Stage::Validation => u64::MAX,
            Stage::Weights | Stage::HoldOut => u64::MAX - 1,
            Stage::Observations { channel } => u64::MAX - 2 - (channel << 32),
            Stage::Test => u64::MAX - 4,
            Stage::Figures => u64::MAX - 5,
            Stage::Codes => u64::MAX - 6,
        }
    }
}

/// The seed of an experiment and the epoch in it.
///
/// ```
/// use stroock_kernels::noise::NoiseKey;
/// assert_ne!(NoiseKey::new(1, 0), NoiseKey::new(1, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoiseKey {
    words: [u32; 2],
}

impl NoiseKey {
    /// The key of `epoch` in the experiment with `seed`; distinct pairs get distinct streams up to the
    /// chance of a 64-bit collision.
    pub fn new(seed: u64, epoch: u64) -> Self {
        let mixed = mix(mix(seed).wrapping_add(epoch));
        Self { words: [mixed as u32, (mixed >> 32) as u32] }
    }

    /// The key of a stage of the experiment with `seed`.
    ///
    /// ```
    /// use stroock_kernels::noise::{NoiseKey, Stage};
    /// assert_eq!(NoiseKey::of(1, Stage::Epoch(3)), NoiseKey::new(1, 3));
    /// assert_ne!(NoiseKey::of(1, Stage::Test), NoiseKey::of(1, Stage::Validation));
    /// ```
    pub fn of(seed: u64, stage: Stage) -> Self {
        Self::new(seed, stage.epoch())
    }

    /// A key that depends on this one, for a stage that is derived from it.
    pub fn derive(self, stage: Stage) -> Self {
        let [low, high] = self.words;
        Self::of(u64::from(high) << 32 | u64::from(low), stage)
    }

    /// The words that key the generator.
    pub fn words(self) -> [u32; 2] {
        self.words
    }

    /// The numbers of one series and sample for one purpose, in order.
    #[inline]
    pub fn stream(self, purpose: Purpose, series: u32, sample: u32) -> Stream {
        self.stream_at(purpose, series, sample, 0)
    }

    /// The numbers of one place of a series and a sample, in order: up to 2^32 of them before those of the next place.
    #[inline]
    pub fn stream_at(self, purpose: Purpose, series: u32, sample: u32, place: u32) -> Stream {
        let [series, sample] = purpose.address(series, sample);
        let block = u64::from(purpose.step(place)) << 30;
        Stream { key: self.words, domain: purpose.domain(), series, sample, block, words: [0; 4], used: 4 }
    }
}

/// The finaliser of SplitMix64: a bijection of 64 bits that spreads every input bit over all of them.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The counter of a block of four random words: block and purpose, step, sample, series.
#[inline(always)]
pub(crate) fn counter(purpose: Purpose, block: u32, step: u32, sample: u32, series: u32) -> [u32; 4] {
    counter_in(purpose.domain(), block, step, sample, series)
}

#[inline(always)]
fn counter_in(domain: u32, block: u32, step: u32, sample: u32, series: u32) -> [u32; 4] {
    // Two bits of purpose leave 2^30 blocks of four coefficients a step.
    [block | domain << 30, step, sample, series]
}

/// A sequential generator over the counters of one series and sample; implements [`rand_core::Rng`].
///
/// ```
/// use rand_core::Rng;
/// use stroock_kernels::noise::{NoiseKey, Purpose};
/// let mut a = NoiseKey::new(7, 0).stream(Purpose::Start, 3, 0);
/// let mut b = a.clone();
/// assert_eq!(a.next_u64(), b.next_u64());
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    domain: u32,
    series: u32,
    sample: u32,
    block: u64,
    words: [u32; 4],
    used: usize,
}

impl Stream {
    /// A number from the uniform distribution on (0, 1), with 32 random bits.
    ///
    /// ```
    /// use stroock_kernels::noise::{NoiseKey, Purpose};
    /// let u = NoiseKey::new(7, 0).stream(Purpose::Caller, 0, 0).uniform();
    /// assert!(0.0 < u && u < 1.0);
    /// ```
    pub fn uniform(&mut self) -> f64 {
        (f64::from(self.word()) + 0.5) / 2f64.powi(32)
    }

    /// Fills a slice with standard normals, four from every four words.
    ///
    /// ```
    /// use stroock_kernels::noise::{NoiseKey, Purpose};
    /// let mut normals = [0.0; 6];
    /// NoiseKey::new(7, 0).stream(Purpose::Caller, 0, 0).normals(&mut normals);
    /// assert!(normals.iter().all(|xi| *xi != 0.0 && xi.abs() < 7.0));
    /// ```
    pub fn normals(&mut self, out: &mut [f64]) {
        standard_normals(self, out);
    }

    #[inline]
    fn word(&mut self) -> u32 {
        if self.used == 4 {
            let (block, step) = (self.block as u32 & 0x3FFF_FFFF, (self.block >> 30) as u32);
            self.words = philox(counter_in(self.domain, block, step, self.sample, self.series), self.key);
            self.block += 1;
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }
}

/// Fills a slice with standard normals, four from every four words.
pub(crate) fn standard_normals(stream: &mut Stream, out: &mut [f64]) {
    for out in out.chunks_mut(4) {
        let words = [stream.word(), stream.word(), stream.word(), stream.word()];
        let count = out.len();
        out.copy_from_slice(&box_muller::normals_f64(words)[..count]);
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.word())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from(self.word()) | u64::from(self.word()) << 32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(4) {
            chunk.copy_from_slice(&self.word().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs that have been published are drawn from these: they must never change.
    #[test]
    fn names_stand_for_the_numbers_that_results_were_drawn_from() {
        let stages = [
            (Stage::Epoch(5), 5),
            (Stage::Prediction, 0),
            (Stage::Split, u64::MAX),
            (Stage::Validation, u64::MAX),
            (Stage::Weights, u64::MAX - 1),
            (Stage::HoldOut, u64::MAX - 1),
            (Stage::Observations { channel: 0 }, u64::MAX - 2),
            (Stage::Observations { channel: 3 }, u64::MAX - 2 - (3 << 32)),
            (Stage::Test, u64::MAX - 4),
            (Stage::Figures, u64::MAX - 5),
            (Stage::Codes, u64::MAX - 6),
        ];
        for (stage, epoch) in stages {
            assert_eq!(NoiseKey::of(9, stage), NoiseKey::new(9, epoch), "{stage:?}");
        }
        let first = |purpose, series, sample| NoiseKey::new(7, 2).stream(purpose, series, sample).word();
        let raw = |domain: u32, series, sample| {
            philox([domain << 30, 0, sample, series], NoiseKey::new(7, 2).words)[0]
        };
        assert_eq!(first(Purpose::Path, 4, 1), raw(0, 4, 1));
        assert_eq!(first(Purpose::Start, 4, 1), raw(1, 4, 1));
        assert_eq!(first(Purpose::Marginal, 4, 1), raw(3, 4, 1));
        assert_eq!(first(Purpose::Inputs, 4, 0), raw(2, 4, 0));
        assert_eq!(first(Purpose::Targets, 4, 0), raw(2, 4, 1));
        assert_eq!(first(Purpose::Order, 0, 0), raw(2, u32::MAX, 0));
        for purpose in
            [Purpose::HoldOut, Purpose::Weights, Purpose::Observations, Purpose::Synthetic, Purpose::Caller]
        {
            assert_eq!(first(purpose, 4, 3), raw(2, 4, 3), "{purpose:?}");
        }
    }

    #[test]
    fn places_are_steps_of_the_counter() {
        let key = NoiseKey::new(7, 2);
        let purposes = [Purpose::Marginal, Purpose::Divergence, Purpose::Simulation, Purpose::Field];
        for (purpose, part) in purposes.into_iter().zip(0..) {
            for place in [0, 1, 77, PLACES - 1] {
                let raw = philox([3 << 30, part * PLACES + place, 1, 4], key.words);
                let mut stream = key.stream_at(purpose, 4, 1, place);
                assert_eq!([0; 4].map(|_| stream.word()), raw, "{purpose:?} {place}");
            }
        }
    }
}
