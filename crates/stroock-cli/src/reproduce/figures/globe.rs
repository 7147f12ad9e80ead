//! Latent paths on the two-dimensional sphere, and what they follow.

use std::path::Path;

use stroock::latent::Steering;
use stroock_experiments::reproduce::{PreparedData, Reproduction};
use stroock_figures::{Colouring, Globe, SphereFigure, SpherePath, SphereTarget};

use super::spread::Spread;
use super::{between, draws, predictor, save, visible_times};
use crate::failure::Failure;

const PATHS: usize = 20;
/// Paths where there is something that they follow, which is to be seen between them.
const FOLLOWING: usize = 3;
/// Paths that their width is measured by.
const MEASURED: usize = 400;
const POINTS: usize = 201;
/// As many points of paths that keep together as can be told apart.
const POINTS_FOLLOWING: usize = 101;

/// Paths of one series from the posterior, and as many from the prior.
pub fn draw(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    let Some(&number) = prepared.split.test.first() else { return Ok(()) };
    let axis = run.description.data.batcher.grid_axis;
    let followed = Followed::by(run, prepared, number, &between(axis.start, axis.end, POINTS_FOLLOWING))?;
    let (points, count) = if followed.is_some() { (POINTS_FOLLOWING, FOLLOWING) } else { (POINTS, PATHS) };
    let (times, draws) = (between(axis.start, axis.end, points), draws(count));
    let posterior =
        predictor(run).posterior(&prepared.data, &[number], std::slice::from_ref(&times), draws)?;
    let prior = predictor(run).prior(prepared.data.observation(), &times, draws)?;
    let mut globes = Vec::new();
    if let Some(drawn) = posterior.first() {
        let mut globe = globe("posterior", &drawn.states, &times);
        globe.target = followed.as_ref().map(Followed::target);
        if followed.as_ref().is_some_and(|followed| !followed.coherent) {
            // States that belong to no path make no line.
            globe.paths.clear();
        }
        globes.push(globe);
    }
    globes.push(globe("prior", &prior.states, &times));
    let mut figure =
        SphereFigure { globes, colouring: Colouring::Time { label: "time" }, ..SphereFigure::default() };
    if let Some(followed) = &followed {
        figure.centre = followed.middle().unwrap_or(figure.centre);
        (figure.marked, figure.globe_width) = (false, 250.0);
    }
    save(&figure.picture()?, folder, "globe")
}

fn globe<'a>(title: &'a str, states: &'a [f32], times: &'a [f64]) -> Globe<'a> {
    let path = |points: &'a [f32]| SpherePath { points: points.into(), times: times.into(), classes: &[] };
    Globe { title, paths: states.chunks_exact(3 * times.len()).map(path).collect(), target: None }
}

/// What the paths of a series follow.
struct Followed {
    /// Where they are drawn to, `[T, 3]`.
    points: Vec<f64>,
    /// Where they are.
    spread: Spread,
    /// Where they are drawn to when something is observed, `[M, 3]`.
    observed: Vec<f64>,
    /// Whether states at several times are those of one path.
    coherent: bool,
}

impl Followed {
    fn by(
        run: &Reproduction,
        prepared: &PreparedData,
        number: usize,
        times: &[f64],
    ) -> Result<Option<Self>, Failure> {
        let observed = visible_times(prepared, number);
        let asked = [times.to_vec(), observed];
        let Some(steering) = predictor(run).steering(&prepared.data, &[number; 2], &asked)? else {
            return Ok(None);
        };
        let [course, observed] = &steering[..] else { return Ok(None) };
        let points = directions(course);
        let drawn = predictor(run).posterior(&prepared.data, &[number], &asked[..1], draws(MEASURED))?;
        let Some(drawn) = drawn.first().filter(|_| !points.is_empty()) else { return Ok(None) };
        Ok(Some(Self {
            points,
            spread: Spread::of(&drawn.states, drawn.times.len(), drawn.dim),
            observed: directions(observed),
            coherent: course.coherent,
        }))
    }

    fn target(&self) -> SphereTarget<'_> {
        SphereTarget {
            points: (&self.points).into(),
            means: (&self.spread.means).into(),
            widths: (&self.spread.widths).into(),
            observed: (&self.observed).into(),
        }
    }

    /// Longitude and latitude, in degrees, of the middle of the curve.
    fn middle(&self) -> Option<[f64; 2]> {
        let mut sum = [0.0; 3];
        for point in self.points.chunks_exact(3) {
            sum.iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
        }
        let [x, y, z] = sum;
        let flat = x.hypot(y);
        // A curve all around the globe has none.
        (flat.hypot(z) > 0.05 * (self.points.len() / 3) as f64)
            .then(|| [y.atan2(x).to_degrees(), z.atan2(flat).to_degrees()])
    }
}

/// The directions of a steering, where it has any.
fn directions(steering: &Steering) -> Vec<f64> {
    (0..steering.gains.len()).filter_map(|t| steering.direction(t)).flatten().collect()
}
