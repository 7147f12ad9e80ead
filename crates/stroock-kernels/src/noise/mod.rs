//! Noise as a function of its place: (seed, epoch, series, sample, step, coefficient).
//!
//! Nothing is stored and nothing is drawn in order: the backward pass regenerates the numbers of the
//! forward pass, any number of threads sees the same ones, and a resumed run continues exactly.

pub(crate) mod box_muller;
mod increments;
mod philox;
mod stream;

pub use increments::increments;
pub(crate) use increments::{Increments, fill_step};
pub use philox::philox;
pub(crate) use philox::{MULTIPLIERS, RoundKeys, round_keys_in_lanes};
pub use stream::{NoiseKey, Purpose, Stage, Stream};
pub(crate) use stream::{PLACES, standard_normals};
