//! One self-contained HTML page about a fitted latent SDE.
//!
//! Fill in a [`Report`], which is plain data, and ask for its [`html`](Report::html): one file without any
//! reference to the network, that reads well on a screen, on a phone and on paper. A part of the report without
//! data has no section on the page.
//!
//! | part | shows |
//! |---|---|
//! | [`Report::facts`], [`Report::warnings`] | what was fitted to what |
//! | [`Curve`] | losses in the course of training |
//! | [`Fit`] | series with their fit, intervals and forecasts; the reader chooses series and variable |
//! | [`Table`] | scores, one row for each variable |
//! | [`Calibration`] | how often intervals of each level hold the value |
//! | [`Confusion`] | true against predicted classes |
//! | [`LatentPaths`] | paths on the sphere, which the reader can turn |
//!
//! The view is kept in the address: `report.html#series=132539&variable=HR` opens the page at this fit, so that
//! a view can be linked. Without scripts, and on paper, the page shows the first fits as still pictures.
//!
//! ```
//! use stroock_report::{Curve, Fit, Points, Report};
//! let report = Report {
//!     title: "Vital signs".into(),
//!     subtitle: "stays.csv".into(),
//!     facts: vec![("series".into(), "128".into()), ("seed".into(), "1".into())],
//!     time: "hours".into(),
//!     curves: vec![Curve { name: "training".into(), epochs: vec![1.0, 2.0], values: vec![0.9, 0.4] }],
//!     fits: vec![Fit {
//!         series: "132539".into(),
//!         variable: "temperature".into(),
//!         unit: "°C".into(),
//!         seen: Points { times: vec![0.0, 2.0], values: vec![36.9, 37.3] },
//!         times: vec![0.0, 1.0, 2.0],
//!         mean: vec![36.8, 37.2, 37.3],
//!         ..Fit::default()
//!     }],
//!     ..Report::default()
//! };
//! let html = report.html()?;
//! assert!(html.starts_with("<!doctype html>") && html.contains("132539"));
//! # Ok::<(), stroock_report::ReportError>(())
//! ```

mod calibration;
mod classes;
mod error;
mod fits;
mod latent;
mod page;
mod points;
mod report;
mod table;
mod thin;
mod training;

pub use calibration::{Calibration, CalibrationPoint};
pub use classes::Confusion;
pub use error::ReportError;
pub use fits::{Band, Fit};
pub use latent::{LatentPaths, PathGroup};
pub use points::Points;
pub use report::Report;
pub use table::{Row, Table};
pub use training::Curve;
