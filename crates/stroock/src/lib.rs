//! Latent SDEs on homogeneous spaces, for irregularly sampled time series.
//!
//! The folders follow the way of the data:
//!
//! 1. [`series`]: time series as they are, ragged and with gaps;
//! 2. [`batch`]: what the encoder sees and what the likelihood is scored on, without padding;
//! 3. [`encoder`]: from the observed points of a series to a representation;
//! 4. [`latent`]: from a representation to the law of a path on a homogeneous space, and to its states;
//! 5. [`decoder`]: from states to the parameters of observations;
//! 6. [`likelihood`]: how observations scatter;
//! 7. [`objective`]: the weighted evidence lower bound;
//! 8. [`model`]: all of these together;
//! 9. [`training`]: from a loss to better parameters;
//! 10. [`run`]: the folder of a training run, its files, and what the person in front of it sees.
//!
//! [`fused`] makes operations with their own kernels out of `stroock-kernels`.

pub mod batch;
pub mod decoder;
pub mod encoder;
pub mod fused;
pub mod latent;
pub mod likelihood;
pub mod model;
pub mod objective;
pub mod run;
pub mod series;
pub mod training;
