//! Forecasts of single series, with their distributions, in plain numbers.
//!
//! The way of the data:
//!
//! 1. [`History`]: what is known of a series, on a grid with gaps or at times of its own;
//! 2. [`season`]: which periods it has;
//! 3. [`Method`]: from a history to a [`Projection`] (smoothing, autoregression, ARIMA, harmonics and
//!    plain rules);
//! 4. [`Forecast`]: the distribution that a weighted average of methods gives, with quantiles and sample paths;
//! 5. [`backtest`]: the same from earlier origins, beside what came true;
//! 6. [`Choice`]: which methods answer at which horizon, and how wide their intervals have to be;
//! 7. [`Regression`]: what variables that are known ahead of time say, before methods forecast what it leaves.
//!
//! ```
//! use stroock_forecast::{Choice, History, Settings};
//!
//! // Ten years of months with a season.
//! let season = |month: usize| (month as f64 * std::f64::consts::TAU / 12.0).sin();
//! let values: Vec<f64> = (0..120).map(|month| 50.0 + 0.1 * month as f64 + 5.0 * season(month)).collect();
//! let history = History::regular(&values);
//! let choice = Choice::from_backtests(std::slice::from_ref(&history), &Settings { periods: vec![12.0] });
//! let ahead: Vec<f64> = (1..=24).map(f64::from).collect();
//! let forecast = choice.forecast(&history, &ahead);
//! let truth = 50.0 + 0.1 * 131.0 + 5.0 * season(131);
//! assert!((forecast.mean(11) - truth).abs() < 0.5);
//! assert!(forecast.quantile(11, 0.05) <= forecast.quantile(11, 0.95));
//! ```

mod backtest;
mod calibration;
mod choice;
mod forecast;
mod history;
mod least_squares;
mod method;
mod minimise;
mod normal;
mod projection;
mod regression;
pub mod season;
mod tails;

pub use backtest::{Backtest, Origin, backtest, origins, rungs};
pub use choice::{Choice, MethodScore, Rung, Settings, Weight};
pub use forecast::Forecast;
pub use history::History;
pub use method::{Kind, Method, autoregressive_weights, smoothing_weights};
pub use normal::{normal_probability, normal_quantile};
pub use projection::{Errors, Projection};
pub use regression::{Explained, Regression};
