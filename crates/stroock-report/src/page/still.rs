//! Still pictures, for paper and for readers without scripts.

use stroock_figures::{
    Band, Colouring, CurvesFigure, FitFigure, FitPanel, Globe, Points, Run, SphereFigure, SpherePath,
};

use super::ball;
use super::content::Content;
use crate::latent::DrawnPaths;
use crate::{Fit, Report, ReportError};

/// Panels of fits.
pub(super) const PANELS: usize = 6;
/// Globes, and paths on each.
pub(super) const GLOBES: usize = 3;
const PATHS: usize = 10;

/// Times as still pictures show them: dates become days, since their axes know numbers only.
struct Clock {
    start: f64,
    unit: f64,
    name: String,
}

impl Clock {
    fn new(report: &Report, content: &Content, start: f64) -> Self {
        if !report.time_is_date {
            return Clock { start: 0.0, unit: 1.0, name: content.time().to_owned() };
        }
        let day = 86_400.0;
        let start = (start / day).floor() * day;
        Clock { start, unit: day, name: format!("days since {} UTC", date(start)) }
    }

    fn times(&self, times: &[f64]) -> Vec<f64> {
        times.iter().map(|time| (time - self.start) / self.unit).collect()
    }
}

/// The first fits, as SVG.
pub(super) fn fits(report: &Report, content: &Content) -> Result<String, ReportError> {
    let shown = &content.fits[..content.fits.len().min(PANELS)];
    let first = |fit: &Fit| {
        [&fit.times, &fit.seen.times, &fit.withheld.times]
            .into_iter()
            .filter_map(|times| times.first().copied())
            .fold(f64::INFINITY, f64::min)
    };
    let start = shown.iter().map(|drawn| first(&drawn.fit)).fold(f64::INFINITY, f64::min);
    let clock = Clock::new(report, content, start);
    let times: Vec<[Vec<f64>; 3]> = shown
        .iter()
        .map(|drawn| {
            [&drawn.fit.times, &drawn.fit.seen.times, &drawn.fit.withheld.times].map(|list| clock.times(list))
        })
        .collect();
    let panels = shown.iter().zip(&times).map(|(drawn, [times, seen, withheld])| {
        let fit = &drawn.fit;
        let points = |times, values| Points { times, values };
        let bands = fit.bands.iter();
        FitPanel {
            series: &fit.series,
            variable: &fit.variable,
            unit: &fit.unit,
            seen: points(seen.into(), (&fit.seen.values).into()),
            withheld: points(withheld.into(), (&fit.withheld.values).into()),
            truth: None,
            times: times.into(),
            mean: (&fit.mean).into(),
            bands: match times.is_empty() {
                true => Vec::new(),
                false => bands
                    .map(|band| Band {
                        level: band.level,
                        lower: (&band.lower).into(),
                        upper: (&band.upper).into(),
                    })
                    .collect(),
            },
            forecast_from: fit.forecast_from.map(|from| (from - clock.start) / clock.unit),
        }
    });
    let columns = if shown.len() == 1 { 1 } else { 2 };
    let figure = FitFigure { panels: panels.collect(), columns, time: &clock.name, ..FitFigure::default() };
    let picture = figure.picture().map_err(ReportError::figure("fits"))?;
    picture.to_svg().map_err(ReportError::figure("fits"))
}

/// The training curves, as SVG.
pub(super) fn curves(content: &Content) -> Result<String, ReportError> {
    let runs = content.curves.iter().map(|curve| Run {
        name: &curve.name,
        epochs: (&curve.epochs).into(),
        values: (&curve.values).into(),
        ..Run::default()
    });
    let figure = CurvesFigure {
        runs: runs.collect(),
        label: "loss",
        logarithmic: content.loss_axis.logarithmic,
        range: Some(content.loss_axis.limits),
        panel_height: 180.0,
        ..CurvesFigure::default()
    };
    let picture = figure.picture().map_err(ReportError::figure("curves"))?;
    picture.to_svg().map_err(ReportError::figure("curves"))
}

/// The latent paths of the first groups, as SVG.
pub(super) fn paths(report: &Report, content: &Content, paths: &DrawnPaths) -> Result<String, ReportError> {
    let shown = &paths.groups[..paths.groups.len().min(GLOBES)];
    let start = shown.iter().filter_map(|group| group.times.first().copied()).fold(f64::INFINITY, f64::min);
    let clock = Clock::new(report, content, start);
    if paths.inside {
        return Ok(ball::svg(shown, PATHS, &clock.name, |time| (time - clock.start) / clock.unit));
    }
    let times: Vec<Vec<f64>> = shown.iter().map(|group| clock.times(&group.times)).collect();
    let globes = shown.iter().zip(&times).map(|(group, times)| Globe {
        title: &group.name,
        paths: group.paths[..group.paths.len().min(PATHS)]
            .iter()
            .map(|path| SpherePath { points: path.as_flattened().into(), times: times.into(), classes: &[] })
            .collect(),
        ..Globe::default()
    });
    let figure = SphereFigure {
        globes: globes.collect(),
        colouring: Colouring::Time { label: &clock.name },
        ..SphereFigure::default()
    };
    let picture = figure.picture().map_err(ReportError::figure("paths"))?;
    picture.to_svg().map_err(ReportError::figure("paths"))
}

/// The day of a time in seconds since 1970, by the civil calendar (Hinnant's algorithm).
fn date(time: f64) -> String {
    let days = (time / 86_400.0).floor() as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_have_their_dates() {
        for (time, text) in [
            (0.0, "1970-01-01"),
            (951_782_400.0, "2000-02-29"),
            (-1.0, "1969-12-31"),
            (1_709_251_199.0, "2024-02-29"),
        ] {
            assert_eq!(date(time), text);
        }
    }
}
