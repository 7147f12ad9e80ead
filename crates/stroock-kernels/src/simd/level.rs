//! Which instruction set the running processor has, and the call into the code compiled for it.

use stroock_geometry::Real;

use super::Lanes;
use super::array::Array;

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

/// A real number with a vector type for every [`Level`].
pub trait SimdReal: Real {
    /// Lanes for [`Level::Portable`].
    type Portable: Lanes<Real = Self>;
    /// Lanes for [`Level::Avx2`].
    type Avx2: Lanes<Real = Self>;
    /// Lanes for [`Level::Avx512`].
    type Avx512: Lanes<Real = Self>;

    /// How many series share a vector at `level`.
    fn width(level: Level) -> usize {
        match level {
            Level::Portable => Self::Portable::WIDTH,
            Level::Avx2 => Self::Avx2::WIDTH,
            Level::Avx512 => Self::Avx512::WIDTH,
        }
    }
}

// A fused multiply-add is part of the baseline on these targets and a slow library call elsewhere.
const BASELINE_FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

#[cfg(target_arch = "x86_64")]
use super::x86::{F32x8, F32x16};
#[cfg(not(target_arch = "x86_64"))]
type F32x8 = Array<f32, 8, BASELINE_FUSED>;
#[cfg(not(target_arch = "x86_64"))]
type F32x16 = Array<f32, 16, BASELINE_FUSED>;

impl SimdReal for f32 {
    type Portable = Array<f32, 8, BASELINE_FUSED>;
    type Avx2 = F32x8;
    type Avx512 = F32x16;
}

/// Double precision is the measure of the single precision kernels: written plainly at every level.
impl SimdReal for f64 {
    type Portable = Array<f64, 4, BASELINE_FUSED>;
    type Avx2 = Array<f64, 4, true>;
    type Avx512 = Array<f64, 8, true>;
}

/// A computation over lanes, compiled once per level.
pub(crate) trait Kernel<T: SimdReal> {
    /// What it computes.
    type Output;

    /// Runs with lanes of type `V`. Every function on the way must be `#[inline(always)]`: code that is
    /// not inlined into the caller is compiled without the caller's instruction set.
    fn run<V: Lanes<Real = T>>(self) -> Self::Output;
}

/// Runs `kernel` with the instructions of `level`, or portably where the processor lacks them.
pub(crate) fn dispatch<T: SimdReal, K: Kernel<T>>(level: Level, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn avx2<T: SimdReal, K: Kernel<T>>(kernel: K) -> K::Output {
            kernel.run::<T::Avx2>()
        }

        #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")]
        fn avx512<T: SimdReal, K: Kernel<T>>(kernel: K) -> K::Output {
            kernel.run::<T::Avx512>()
        }

        match level {
            // SAFETY: the level is available, so the processor has the features the function enables.
            Level::Avx512 if level.is_available() => return unsafe { avx512(kernel) },
            // SAFETY: as above.
            Level::Avx2 if level.is_available() => return unsafe { avx2(kernel) },
            _ => {}
        }
    }
    let _ = level;
    kernel.run::<T::Portable>()
}
