//! The data sets that are generated, by physics or by rule.
//!
//! | data set | what is observed | what it is for |
//! |---|---|---|
//! | [`PendulumRegression`] | noisy 24 x 24 pictures of a swinging rod | the angle at every time |
//! | [`PendulumInterpolation`] | clean pictures of the rod, half of them withheld | the pictures between |
//! | [`RotatingDigits`] | a handwritten digit in 16 rotations | the rotations that were left out |
//! | [`StochasticLorenz`] | three channels of a chaotic diffusion | sample paths |
//! | [`IrregularSine`] | one channel at 16 irregular times | paths on a sphere that one can look at |
//! | [`Oscillators`] | four channels of a moored buoy, with gaps | a demonstration with a known truth |
//!
//! Every set is a function of its parameters and a seed. Series are made in parallel, each from random
//! numbers of its own, so the number of threads does not matter.

mod draw;
mod error;
mod factor_walk;
mod lanczos;
mod lorenz;
mod mirror;
mod oscillators;
mod parts;
mod pendulum;
mod pendulum_interpolation;
mod pendulum_regression;
mod render;
mod rotating_digits;
mod rotation;
mod sine;

pub use error::SyntheticError;
pub use factor_walk::FactorWalk;
pub use lorenz::{LorenzData, Normaliser, StochasticLorenz};
pub use oscillators::{CHANNELS, Channel, Motion, Oscillation, OscillatorData, Oscillators, TIME_UNIT};
pub use parts::{Sizes, SplitData};
pub use pendulum::{Pendulum, Recording, Swing};
pub use pendulum_interpolation::PendulumInterpolation;
pub use pendulum_regression::PendulumRegression;
pub use render::{PICTURE_SIDE, Picture, PictureBook, picture};
pub use rotating_digits::{DIGIT_SIDE, Dropped, RotatingDigits, Variants};
pub use rotation::CubicSpline;
pub use sine::IrregularSine;
