//! Pictures of time series fits, latent paths and training runs, as SVG or PNG.
//!
//! A figure is a plain struct: fill in its fields, borrow the numbers, and save it. The extension of the file
//! tells the kind of picture. Fields that make no sense give a [`FigureError`] that names them.
//!
//! | figure | shows |
//! |---|---|
//! | [`FitFigure`] | series with their fit, intervals and forecasts |
//! | [`FollowingFigure`] | fits above what leads their paths, over one axis of time |
//! | [`SphereFigure`] | latent paths on S^2, and what they follow |
//! | [`HistogramFigure`] | values of several groups |
//! | [`StripFigure`] | images in time |
//! | [`CurvesFigure`] | training against epochs and wall time |
//! | [`GrowthFigure`] | costs against sizes |
//! | [`DensityFigure`] | the density of an angle in time |
//! | [`Paths3dFigure`] | many paths in R^3 |
//!
//! The same figure gives the same bytes. Text in a PNG is drawn with the embedded typeface, which has Latin,
//! Greek and mathematical signs; an SVG leaves the letters to the reader's machine. See [`theme`] for colours
//! and sizes, and the example `gallery` for all figures.

mod axes;
mod curves;
mod density;
mod error;
mod fit;
mod following;
mod growth;
mod histogram;
mod numbers;
mod paths3d;
mod picture;
mod sphere;
mod strip;
pub mod theme;
mod view;

pub use curves::{CurvesFigure, Published, Run};
pub use density::{DensityFigure, DensityPanel};
pub use error::FigureError;
pub use fit::{Band, FitFigure, FitPanel};
pub use following::{FollowingFigure, Quantity, QuantityCurve};
pub use growth::{GrowthCurve, GrowthFigure, GrowthPanel};
pub use histogram::{HistogramFigure, HistogramGroup};
pub use numbers::{Numbers, Points};
pub use paths3d::{Paths3dFigure, Paths3dPanel};
pub use picture::Picture;
pub use sphere::{Colouring, Globe, SphereFigure, SpherePath, SphereTarget};
pub use strip::{StripFigure, StripRow};
