//! What of a report is drawn: checked, finite, thinned.

use crate::fits::Drawn;
use crate::latent::DrawnPaths;
use crate::training::LossAxis;
use crate::{Curve, Report, ReportError};

/// Numbers of all fits together, about; each takes seven letters or so.
const MOST_NUMBERS: usize = 500_000;
/// Times, or observations of a kind, of one fit: twice the pixels of a wide plot, and what is needed at least.
const MOST_TIMES: usize = 1600;
const FEWEST_TIMES: usize = 60;

pub(super) struct Content {
    pub fits: Vec<Drawn>,
    pub curves: Vec<Curve>,
    pub loss_axis: LossAxis,
    pub paths: Option<DrawnPaths>,
    /// The warnings of the report, and those that come from drawing it.
    pub warnings: Vec<String>,
    time: String,
}

impl Content {
    pub(super) fn new(report: &Report) -> Result<Self, ReportError> {
        check(report)?;
        let bands = report.fits.iter().map(|fit| fit.bands.len()).max().unwrap_or(0);
        // Times, mean, two ends of each band, and the observations.
        let lists = 2 + 2 * bands + 4;
        let most = MOST_NUMBERS / (lists * report.fits.len().max(1));
        let most = most.clamp(FEWEST_TIMES, MOST_TIMES);
        let mut fits: Vec<Drawn> = report.fits.iter().map(|fit| fit.drawn(most)).collect();
        let curves = report.curves.iter().map(Curve::drawn);
        let (mut curves, lost): (Vec<Curve>, Vec<usize>) = curves.unzip();
        let paths = report.paths.as_ref().map(|paths| paths.drawn());

        let mut warnings = report.warnings.clone();
        let mut warn = |count: usize, what: &str| {
            if count > 0 {
                warnings.push(format!("{what} that are not finite, and are not drawn: {count}."));
            }
        };
        warn(lost.iter().sum(), "Values of the training curves");
        warn(fits.iter().map(|drawn| drawn.lost).sum(), "Places of the fits");
        warn(paths.as_ref().map_or(0, |paths| paths.lost), "Latent paths");

        fits.retain(|drawn| !drawn.fit.is_empty());
        curves.retain(|curve| !curve.epochs.is_empty());
        let time = if report.time.is_empty() { "time" } else { &report.time };
        Ok(Content {
            loss_axis: LossAxis::of(&curves),
            paths: paths.filter(|paths| !paths.groups.is_empty()),
            fits,
            curves,
            warnings,
            time: time.to_owned(),
        })
    }

    /// Name of the time axis.
    pub(super) fn time(&self) -> &str {
        &self.time
    }

    /// All levels of bands, in rising order.
    pub(super) fn levels(&self) -> Vec<f64> {
        let bands = self.fits.iter().flat_map(|drawn| &drawn.fit.bands);
        let mut levels: Vec<f64> = bands.map(|band| band.level).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    }
}

fn check(report: &Report) -> Result<(), ReportError> {
    for (index, fit) in report.fits.iter().enumerate() {
        fit.check(&format!("fits[{index}]"))?;
    }
    for (index, curve) in report.curves.iter().enumerate() {
        curve.check(&format!("curves[{index}]"))?;
    }
    for (index, table) in report.tables.iter().enumerate() {
        table.check(&format!("tables[{index}]"))?;
    }
    for (index, calibration) in report.calibration.iter().enumerate() {
        calibration.check(&format!("calibration[{index}]"))?;
    }
    if let Some(confusion) = &report.confusion {
        confusion.check("confusion")?;
    }
    report.paths.as_ref().map_or(Ok(()), |paths| paths.check("paths"))
}
