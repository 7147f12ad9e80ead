//! The public data sets, as their publishers lay them out.
//!
//! 1. [`source`]: which data sets there are, their files and publishers; [`folder`]: where they live;
//! 2. [`download`], [`mod@fetch`]: from the publishers into the data folder; [`mod@check`], [`content`]:
//!    are they whole?
//! 3. [`physionet`], [`mnist`], [`activity`]: the raw files, read to plain records and then to series;
//! 4. [`cache`]: the series once they are made, keyed by the content of the raw files and the settings.
//!
//! ```no_run
//! use stroock_experiments::data::physionet::{self, PhysionetSettings, ScaleOver};
//! use stroock_experiments::data::{Cache, DataFolder};
//! let folder = DataFolder::find(None)?;
//! let settings = PhysionetSettings::six_minutes();
//! let prepared = physionet::load(&folder, &settings, ScaleOver::All, &Cache::find())?;
//! assert_eq!(prepared.dataset.series().len(), 8_000);
//! # Ok::<(), stroock_experiments::data::DataError>(())
//! ```

pub mod activity;
pub mod cache;
pub mod check;
pub mod content;
#[cfg(feature = "download")]
pub mod download;
mod error;
#[cfg(feature = "download")]
pub mod fetch;
pub mod folder;
mod gzip;
pub mod mnist;
pub mod physionet;
mod placement;
pub mod source;

pub use cache::Cache;
pub use check::{CheckReport, check};
pub use error::{DataError, FileProblem, LineProblem};
#[cfg(feature = "download")]
pub use fetch::{FetchEvent, FetchSettings, fetch};
pub use folder::DataFolder;
