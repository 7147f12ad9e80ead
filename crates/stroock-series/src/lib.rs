//! Time series as they are: ragged, partly observed, vector- or image-valued; and the tables they come in.
//!
//! [`Dataset`] is the data model of everything that follows. [`table`] reads it from CSV and Parquet files in the
//! units of the user, describes it, and writes predictions back.

mod dataset;
pub mod expansion;
mod quantile;
mod scaler;
mod selection;
mod source;
mod split;
mod store;
pub mod table;

pub use dataset::{Dataset, Labels, Observation, Series, SeriesError};
pub use quantile::quantile;
pub use scaler::{Logarithm, Scaler};
pub use selection::Selection;
pub use source::{SeriesSource, Visitor};
pub use split::{Split, shuffled};
pub use store::{SeriesStore, StoreWriter};
