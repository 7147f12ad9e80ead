//! Everything that a page is made of.

use crate::{Calibration, Confusion, Curve, Fit, LatentPaths, ReportError, Table, page};

/// Everything that a page is made of. Parts that are empty are left out of the page.
///
/// Numbers that are not finite are not drawn; the page says how many there were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The title of the page.
    pub title: String,
    /// A line below the title: the names of the data files.
    pub subtitle: String,
    /// What was fitted to what, as names and values: series, variables, parameters, epochs, time taken, seed.
    pub facts: Vec<(String, String)>,
    /// What the reader should know before trusting the numbers.
    pub warnings: Vec<String>,
    /// Name of the time axis, with its unit, such as `time (h)`. Empty for `time`.
    pub time: String,
    /// Whether times are dates, in seconds since the beginning of 1970 UTC.
    pub time_is_date: bool,
    /// Name of the zone in which dates are shown, such as `Europe/Vienna`. Empty, or unknown to the browser,
    /// for UTC.
    pub time_zone: String,
    /// Losses in the course of training.
    pub curves: Vec<Curve>,
    /// The epoch whose model was kept.
    pub best_epoch: Option<f64>,
    /// Fits of variables of series, in the order in which the reader can choose them.
    pub fits: Vec<Fit>,
    /// Scores.
    pub tables: Vec<Table>,
    /// Calibration of the intervals: the one of all variables first, then those of single variables.
    pub calibration: Vec<Calibration>,
    /// True against predicted classes.
    pub confusion: Option<Confusion>,
    /// Paths on the sphere.
    pub paths: Option<LatentPaths>,
    /// The resolved configuration, as TOML.
    pub configuration: String,
    /// The command that made the run.
    pub command: String,
}

impl Report {
    /// The page, as one HTML document that needs no other file.
    ///
    /// The same report gives the same page. Long series are thinned, keeping their extremes, so that the page
    /// stays at a few megabytes; the page says where this was done.
    ///
    /// # Errors
    /// When lists that belong together differ in length, times go back, or a level is not between 0 and 1.
    pub fn html(&self) -> Result<String, ReportError> {
        page::document(self)
    }
}
