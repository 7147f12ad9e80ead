//! The numbers that the script of the page draws.

use serde::Serialize;

use super::colours::Sphere;
use super::content::Content;
use crate::{Fit, PathGroup, Points, Report};

/// Coordinates of paths are whole numbers of this part of the radius.
const PARTS: f32 = 1e4;

#[derive(Serialize)]
pub(super) struct Data<'a> {
    time: Time<'a>,
    fits: Vec<FitData<'a>>,
    curves: Option<CurvesData<'a>>,
    paths: Option<PathsData<'a>>,
}

#[derive(Serialize)]
struct Time<'a> {
    label: &'a str,
    date: bool,
    zone: &'a str,
}

#[derive(Serialize)]
struct FitData<'a> {
    series: &'a str,
    variable: &'a str,
    unit: &'a str,
    seen: PointsData<'a>,
    withheld: PointsData<'a>,
    t: &'a [f64],
    mean: &'a [f64],
    bands: Vec<BandData<'a>>,
    from: Option<f64>,
    note: String,
}

#[derive(Serialize)]
struct PointsData<'a> {
    t: &'a [f64],
    y: &'a [f64],
}

#[derive(Serialize)]
struct BandData<'a> {
    level: f64,
    lower: &'a [f64],
    upper: &'a [f64],
}

#[derive(Serialize)]
struct CurvesData<'a> {
    runs: Vec<RunData<'a>>,
    best: Option<f64>,
    log: bool,
    limits: [f64; 2],
}

#[derive(Serialize)]
struct RunData<'a> {
    name: &'a str,
    x: &'a [f64],
    y: &'a [f64],
}

#[derive(Serialize)]
struct PathsData<'a> {
    groups: Vec<GroupData<'a>>,
    inside: bool,
    light: Sphere,
    dark: Sphere,
}

#[derive(Serialize)]
struct GroupData<'a> {
    name: &'a str,
    t: &'a [f64],
    paths: Vec<Vec<i32>>,
}

impl<'a> Data<'a> {
    pub(super) fn new(report: &'a Report, content: &'a Content) -> Self {
        let fits = content.fits.iter();
        let [light, dark] = Sphere::day_and_night();
        Data {
            time: Time { label: content.time(), date: report.time_is_date, zone: &report.time_zone },
            fits: fits.map(|drawn| FitData::new(&drawn.fit, drawn.thinned)).collect(),
            curves: (!content.curves.is_empty()).then(|| CurvesData {
                runs: content
                    .curves
                    .iter()
                    .map(|curve| RunData { name: &curve.name, x: &curve.epochs, y: &curve.values })
                    .collect(),
                best: report.best_epoch.filter(|epoch| epoch.is_finite()),
                log: content.loss_axis.logarithmic,
                limits: content.loss_axis.limits,
            }),
            paths: content.paths.as_ref().map(|paths| PathsData {
                groups: paths.groups.iter().map(GroupData::new).collect(),
                inside: paths.inside,
                light,
                dark,
            }),
        }
    }
}

impl<'a> FitData<'a> {
    fn new(fit: &'a Fit, thinned: usize) -> Self {
        let bands = fit.bands.iter();
        FitData {
            series: &fit.series,
            variable: &fit.variable,
            unit: &fit.unit,
            seen: PointsData::new(&fit.seen),
            withheld: PointsData::new(&fit.withheld),
            t: &fit.times,
            mean: &fit.mean,
            bands: bands
                .map(|band| BandData { level: band.level, lower: &band.lower, upper: &band.upper })
                .collect(),
            from: fit.forecast_from,
            note: match thinned {
                0 => String::new(),
                _ => format!("Thinned for this page: {thinned} places between the extremes are not drawn."),
            },
        }
    }
}

impl<'a> PointsData<'a> {
    fn new(points: &'a Points) -> Self {
        PointsData { t: &points.times, y: &points.values }
    }
}

impl<'a> GroupData<'a> {
    fn new(group: &'a PathGroup) -> Self {
        let whole =
            |path: &Vec<[f32; 3]>| path.iter().flatten().map(|x| (x * PARTS).round() as i32).collect();
        GroupData { name: &group.name, t: &group.times, paths: group.paths.iter().map(whole).collect() }
    }
}
