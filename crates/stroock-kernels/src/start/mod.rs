//! Start points of a batch of paths, one distribution a file.
//!
//! A distribution is a type with the parameters of `B` series that implements [`StartDistribution`], with a line in
//! `starts!` below; which one a space has is said by the space. The numbers of a row are a function of (seed, epoch,
//! series, sample), as everywhere; the backward pass draws them again instead of keeping them.

mod power_spherical;
mod wrapped_normal;

pub use power_spherical::{PowerSphericalStart, uniform};
pub use wrapped_normal::WrappedNormalStart;

use stroock_geometry::{DistributionError, Real};
use thiserror::Error;

use crate::argument::ArgumentError;
use crate::noise::{NoiseKey, Purpose};

/// Why start points cannot be drawn.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StartError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The parameters of a series are not those of a distribution.
    #[error("start of series {series}: {source}")]
    Parameters {
        /// Index of the series in the batch.
        series: usize,
        /// What is wrong with them.
        source: DistributionError,
    },
    /// The space has no such dimension.
    #[error("start points need an ambient dimension of at least {least}, not {dim}")]
    Dimension {
        /// Given dimension.
        dim: usize,
        /// Smallest dimension.
        least: usize,
    },
    /// A scale is not a positive number.
    #[error("start of series {series}: `scale` is {scale}, but it must be positive and finite")]
    Scale {
        /// Index of the series in the batch.
        series: usize,
        /// Given value.
        scale: f64,
    },
    /// A point lies so far away that its coordinates leave the range of the numbers.
    #[error(
        "start of series {series}: a distance of {distance} from the origin; coordinates overflow beyond {limit}"
    )]
    TooFar {
        /// Index of the series in the batch.
        series: usize,
        /// Distance from the origin of the space.
        distance: f64,
        /// Largest one.
        limit: f64,
    },
}

/// Where the random numbers of a batch of start points come from.
#[derive(Clone, Copy, Debug)]
pub struct Draws<'a> {
    /// Seed and epoch.
    pub key: NoiseKey,
    /// `[B]`: the number of each series in the data set.
    pub series: &'a [u32],
    /// Start points `S` per series.
    pub samples: usize,
    /// The number of the first sample, for draws that continue earlier ones.
    pub first_sample: u32,
}

impl Draws<'_> {
    #[inline]
    fn stream(&self, sample: usize, series: usize) -> crate::noise::Stream {
        let sample = self.first_sample.wrapping_add(sample as u32);
        self.key.stream(Purpose::Start, self.series[series], sample)
    }
}

/// Gradients of a loss with respect to the parameters of the start points.
#[derive(Clone, Debug)]
pub struct StartGradients<T> {
    /// With respect to where the distributions lie, `[B, ..]`.
    pub location: Vec<T>,
    /// With respect to how far they spread, `[B]`.
    pub spread: Vec<T>,
}

/// The distributions of the start points of `B` series.
pub trait StartDistribution<T: Real> {
    /// The start points, `[S, B, n]`.
    ///
    /// # Errors
    /// When a shape does not fit or a series has no distribution.
    fn sample(&self, draws: Draws<'_>) -> Result<Vec<T>, StartError>;

    /// The divergence of each distribution from the start of the prior, `[B]`.
    ///
    /// # Errors
    /// When a shape does not fit or a series has no distribution.
    fn divergence(&self) -> Result<Vec<T>, StartError>;

    /// Pulls gradients back to the parameters.
    ///
    /// `of_points` (`[S, B, n]`) and `of_kl` (`[B]`) are the gradients of the loss with respect to the start
    /// points that [`sample`](Self::sample) drew with the same `draws`, and to the divergences.
    ///
    /// # Errors
    /// When a shape does not fit or a series has no distribution.
    fn pull_back(
        &self,
        draws: Draws<'_>,
        of_points: &[T],
        of_kl: &[T],
    ) -> Result<StartGradients<T>, StartError>;
}

/// What a distribution says about itself without parameters.
trait Family {
    /// Length of the location in ambient dimension `n`.
    fn location_dim(n: usize) -> usize;

    /// Location and spread of the start of the prior.
    fn prior(n: usize) -> (Vec<f64>, f64);
}

macro_rules! starts {
    ($($(#[$doc:meta])* $kind:ident = $start:ident { $location:ident, $spread:ident };)*) => {
        /// A distribution of start points.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum StartKind {
            $($(#[$doc])* $kind,)*
        }

        impl StartKind {
            /// Length of the location of a series in ambient dimension `n`.
            pub fn location_dim(self, n: usize) -> usize {
                match self {
                    $(StartKind::$kind => $start::<f64>::location_dim(n),)*
                }
            }

            /// Location and spread of the start of the prior.
            pub fn prior(self, n: usize) -> (Vec<f64>, f64) {
                match self {
                    $(StartKind::$kind => $start::<f64>::prior(n),)*
                }
            }

            /// The distributions with the given locations (`[B, ..]`) and spreads (`[B]`).
            pub fn distribution<'a, T: Real>(
                self,
                dim: usize,
                location: &'a [T],
                spread: &'a [T],
            ) -> Box<dyn StartDistribution<T> + 'a> {
                match self {
                    $(StartKind::$kind => Box::new($start { dim, $location: location, $spread: spread }),)*
                }
            }
        }
    };
}

starts! {
    /// Power spherical about a mean direction, compared with the uniform distribution on the sphere.
    PowerSpherical = PowerSphericalStart { mu, kappa };
    /// A normal distribution in the tangent space at the origin of hyperbolic space, wrapped around it by the
    /// exponential map and compared with the standard one.
    WrappedNormal = WrappedNormalStart { mean, scale };
}
