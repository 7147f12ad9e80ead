//! Addresses of random numbers, and a sequential stream for code that draws in order.

use std::convert::Infallible;

use rand_core::TryRng;

use super::{box_muller, philox};

/// What random numbers are used for: numbers of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Increments of the driving Wiener process.
    Path = 0,
    /// Start points.
    Start = 1,
    /// Everything a caller draws for itself: shuffling, subsampling, initial weights.
    Other = 2,
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

    /// The words that key the generator.
    pub fn words(self) -> [u32; 2] {
        self.words
    }

    /// The numbers of one series and sample for one purpose, in order.
    #[inline]
    pub fn stream(self, purpose: Purpose, series: u32, sample: u32) -> Stream {
        Stream { key: self.words, purpose, series, sample, block: 0, words: [0; 4], used: 4 }
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
    // Two bits of purpose leave 2^30 blocks of four coefficients a step.
    [block | (purpose as u32) << 30, step, sample, series]
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
    purpose: Purpose,
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
    /// let u = NoiseKey::new(7, 0).stream(Purpose::Other, 0, 0).uniform();
    /// assert!(0.0 < u && u < 1.0);
    /// ```
    pub fn uniform(&mut self) -> f64 {
        (f64::from(self.word()) + 0.5) / 2f64.powi(32)
    }

    #[inline]
    fn word(&mut self) -> u32 {
        if self.used == 4 {
            let (block, step) = (self.block as u32 & 0x3FFF_FFFF, (self.block >> 30) as u32);
            self.words = philox(counter(self.purpose, block, step, self.sample, self.series), self.key);
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
