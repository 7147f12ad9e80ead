//! Which instruction set the running processor has, and the call into the code compiled for it.

use stroock_geometry::Real;

use super::Lanes;
use super::array::Array;
#[cfg(target_arch = "x86_64")]
use super::x86::{F32x8, F32x16};
use crate::noise::Increments;

/// An instruction set that kernels are compiled for.
///
/// ```
/// use stroock_kernels::simd::Level;
/// let level = Level::detect();
/// assert!(level.is_available());
/// assert!(Level::Portable.is_available());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What every processor of the compilation target has.
    Portable,
    /// 256-bit vectors with fused multiply-add (x86-64).
    Avx2,
    /// 512-bit vectors (x86-64).
    Avx512,
}

impl Level {
    /// All levels, narrowest first.
    pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// The widest level of the running processor.
    pub fn detect() -> Level {
        let widest = Level::ALL.into_iter().rev().find(|level| level.is_available());
        widest.unwrap_or(Level::Portable)
    }

    /// This level, or [`Level::Portable`] where the running processor lacks it.
    pub fn or_portable(self) -> Level {
        if self.is_available() { self } else { Level::Portable }
    }

    /// Whether the running processor has this level.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return match self {
            Level::Portable => true,
            Level::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
            }
        };
        #[cfg(not(target_arch = "x86_64"))]
        return self == Level::Portable;
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A real number that kernels are compiled for: `f32` or `f64`.
///
/// Vectors stay inside this crate. Their instructions are those of a [`Level`], and only `dispatch`, which
/// asks the processor first, lets code reach them.
pub trait SimdReal: Real + sealed::Sealed {
    /// How many series share a vector at `level`.
    fn width(level: Level) -> usize;

    #[doc(hidden)]
    fn increments(level: Level, increments: Increments<Self>) -> Vec<Self>;
}

/// A real number with vectors. Double precision is the measure of the single precision kernels and runs portably at
/// every level: each compiled kernel costs seconds of building.
pub(crate) trait LaneReal: SimdReal {
    /// Runs `kernel` with the vectors of `level`, or portably where the processor lacks them.
    fn run<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;
}

// A fused multiply-add is part of the baseline on these targets and a slow library call elsewhere.
const BASELINE_FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

type PortableSingles = Array<f32, 8, BASELINE_FUSED>;
type Doubles = Array<f64, 4, BASELINE_FUSED>;

impl SimdReal for f32 {
    fn width(level: Level) -> usize {
        match level {
            Level::Portable | Level::Avx2 => 8,
            Level::Avx512 => 16,
        }
    }

    fn increments(level: Level, increments: Increments<f32>) -> Vec<f32> {
        dispatch(level, increments)
    }
}

impl LaneReal for f32 {
    fn run<K: Kernel<f32>>(level: Level, kernel: K) -> K::Output {
        match level.or_portable() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is available, so the processor has the features that the function enables.
            Level::Avx512 => unsafe { kernel.with_avx512::<F32x16>() },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx2 => unsafe { kernel.with_avx2::<F32x8>() },
            _ => kernel.run::<PortableSingles>(),
        }
    }
}

impl SimdReal for f64 {
    fn width(_level: Level) -> usize {
        4
    }

    fn increments(level: Level, increments: Increments<f64>) -> Vec<f64> {
        dispatch(level, increments)
    }
}

impl LaneReal for f64 {
    fn run<K: Kernel<f64>>(level: Level, kernel: K) -> K::Output {
        let _ = level;
        kernel.run::<Doubles>()
    }
}

/// A computation over lanes, compiled once per level.
pub(crate) trait Kernel<T> {
    /// What it computes.
    type Output;

    /// Runs with lanes of type `V`. Every function on the way must be `#[inline(always)]`: code that is
    /// not inlined into the caller is compiled without the caller's instruction set.
    fn run<V: Lanes<Real = T>>(self) -> Self::Output;

    /// [`Self::run`] with 256-bit vectors. As a method it is compiled beside the kernel, not with all others in one unit.
    ///
    /// # Safety
    /// The processor has the features that it enables.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn with_avx2<V: Lanes<Real = T>>(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run::<V>()
    }

    /// [`Self::run`] with 512-bit vectors.
    ///
    /// # Safety
    /// The processor has the features that it enables.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")]
    unsafe fn with_avx512<V: Lanes<Real = T>>(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run::<V>()
    }
}

/// Runs `kernel` with the instructions of `level`, or portably where the processor lacks them.
pub(crate) fn dispatch<T: LaneReal, K: Kernel<T>>(level: Level, kernel: K) -> K::Output {
    T::run(level, kernel)
}
