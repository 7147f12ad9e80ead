//! Latent SDEs on homogeneous spaces, for irregularly sampled time series.
//!
//! The folders follow the way of the data:
//!
//! 1. [`series`]: time series as they are, ragged and with gaps;
//! 2. [`batch`]: what the encoder sees and what the likelihood is scored on, without padding;
//! 3. [`encoder`]: from the observed points of a series to a representation;
//! 4. [`latent`]: from a representation to the process of a path on a homogeneous space, and to its states;
//! 5. [`decoder`]: from states to the parameters of observations;
//! 6. [`likelihood`]: how observations scatter;
//! 7. [`task`]: what is predicted beside the observations;
//! 8. [`objective`]: the weighted evidence lower bound;
//! 9. [`model`]: what any model must do, and latent SDEs made of these parts;
//! 10. [`training`]: from a loss to better parameters;
//! 11. [`predict`]: what a trained model says about series;
//! 12. [`residual`]: how observations scatter around decoded paths together;
//! 13. [`score`]: how good predictions are;
//! 14. [`forecast`]: what comes after the end of a series, by plain methods that backtests choose among;
//! 15. [`classifier`]: classes of whole series in closed form;
//! 16. [`sampler`]: new series like those that a model was fitted to;
//! 17. [`estimator`]: from a table to a fitted model and to predictions in the units of the user;
//! 18. [`run`]: the folder of a training run, its files, and what the person in front of it sees.
//!
//! [`prelude`] has what most programs need. [`fused`] makes operations with their own kernels out of `stroock-kernels`, [`image`] has the layers that encoders
//! and decoders of images share, [`initial`] draws the weights that training starts from, and
//! [`entries`] has the numbers of a tensor, and [`parameters`] walks through the tensors of a module.
//! [`plain`] has the same operations in plain tensor operations: on any backend, and to test the kernels against.

pub mod batch;
pub mod classifier;
pub mod decoder;
pub mod encoder;
pub mod entries;
pub mod estimator;
pub mod forecast;
pub mod foreign;
pub mod fused;
pub mod image;
pub mod initial;
pub mod latent;
pub mod likelihood;
pub mod model;
pub mod objective;
pub mod parameters;
pub mod plain;
pub mod predict;
pub mod prelude;
pub mod residual;
pub mod run;
pub mod sampler;
pub mod score;
pub mod task;
pub mod training;

pub use stroock_series as series;

/// The code of the book, compiled and run with the documentation tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../book/src/own-series.md")]
    struct OwnSeries;
    #[doc = include_str!("../../../book/src/own-parts.md")]
    struct OwnParts;
}
