//! What the paths of a globe follow: a curve, how wide paths are about it, and where it is known best.

use std::f64::consts::{FRAC_PI_2, TAU};

use super::globe::{BALL, Ball, VEIL};
use super::{SpherePath, on_sphere};
use crate::axes::{Entry, Key};
use crate::picture::{Picture, Point, Stroke};
use crate::theme::{Colour, INK, LINE_WIDTH, PAPER};
use crate::view::{between, unit};
use crate::{FigureError, Numbers};

/// The curve that the paths of a globe are drawn to.
#[derive(Clone, Copy, Debug, Default)]
pub struct SphereTarget<'a> {
    /// Points of norm 1, `[T, 3]`, in order of time.
    pub points: Numbers<'a>,
    /// Where paths are on average, `[M, 3]`, in order of time.
    pub means: Numbers<'a>,
    /// How wide they are about that, in radians, `[M]`; at most a right angle.
    pub widths: Numbers<'a>,
    /// Points of norm 1 that are marked, `[K, 3]`: where the target is when something is observed.
    pub observed: Numbers<'a>,
}

/// Corners of a disc.
const CORNERS: usize = 40;
/// From one disc of the band to the next, as a share of the radius: its rim looks smooth.
const STEP: f64 = 0.2;
/// Most discs from one mean to the next.
const MOST: f64 = 100.0;
/// Radius of a mark.
const MARK: f64 = 2.6;

impl SphereTarget<'_> {
    pub(super) fn check(&self, field: &str) -> Result<(), FigureError> {
        on_sphere(&format!("{field}.points"), &self.points)?;
        let count = on_sphere(&format!("{field}.means"), &self.means)?;
        let widths = format!("{field}.widths");
        self.widths.check(&widths, count)?;
        if let Some(place) = self.widths.iter().position(|width| !(0.0..=FRAC_PI_2).contains(&width)) {
            let requirement = "between 0 and a right angle, in radians";
            return Err(FigureError::invalid(
                format!("{widths}[{place}]"),
                self.widths.at(place),
                requirement,
            ));
        }
        if !self.observed.is_empty() {
            on_sphere(&format!("{field}.observed"), &self.observed)?;
        }
        Ok(())
    }

    /// What its marks mean.
    pub(super) fn legend() -> [Entry; 3] {
        [
            Entry::new(Key::Line(curve_stroke()), "target"),
            Entry::new(Key::Disc(INK, None), "observed"),
            Entry::new(Key::Patch(BAND, None), "width of the paths"),
        ]
    }

    /// Discs about the means, on one side, which together are a band.
    pub(super) fn draw_band(&self, picture: &mut Picture, ball: &Ball, near: bool) {
        let colour = if near { BAND } else { BAND.mixed(BALL, VEIL) };
        for (centre, width) in self.discs() {
            if let Some(rim) = disc(ball, centre, width, near) {
                picture.polygon(rim, colour.into());
            }
        }
    }

    /// Centres and radii of discs that overlap as much as it takes for a smooth band, and no more.
    fn discs(&self) -> Vec<([f64; 3], f64)> {
        let mut discs: Vec<([f64; 3], f64)> = Vec::new();
        for (index, width) in self.widths.iter().enumerate() {
            let Some(centre) = unit(self.means.point(index)) else { continue };
            let Some(&(before, radius)) = discs.last() else {
                discs.push((centre, width));
                continue;
            };
            let moved = (0..3).map(|axis| (centre[axis] - before[axis]).powi(2)).sum::<f64>().sqrt();
            let steps = (moved + (width - radius).abs()) / (STEP * radius.min(width)).max(1e-3);
            if steps < 1.0 && index + 1 < self.widths.len() {
                continue;
            }
            let steps = steps.ceil().clamp(1.0, MOST);
            for step in 1..=steps as usize {
                let share = step as f64 / steps;
                discs.push((between(before, centre, share), radius + share * (width - radius)));
            }
        }
        discs
    }

    /// The curve, on one side.
    pub(super) fn draw_curve(&self, picture: &mut Picture, ball: &Ball, near: bool) {
        let path = SpherePath { points: self.points, ..SpherePath::default() };
        let runs: Vec<_> = ball.runs(&path, &|_, _| INK).into_iter().filter(|run| run.near == near).collect();
        let stroke = curve_stroke();
        if !near {
            for run in runs {
                picture.line(run.points, Stroke::new(INK.mixed(BALL, VEIL), stroke.width));
            }
            return;
        }
        // A light rim keeps it apart from the paths.
        for run in &runs {
            picture.line(run.points.clone(), Stroke::new(PAPER, stroke.width + 1.6));
        }
        for run in runs {
            picture.line(run.points, stroke);
        }
    }

    /// The marked points, on one side.
    pub(super) fn draw_observed(&self, picture: &mut Picture, ball: &Ball, near: bool) {
        for index in 0..self.observed.len() / 3 {
            let Some(point) = unit(self.observed.point(index)) else { continue };
            let projected = ball.view.project(point);
            if (projected[2] >= 0.0) == near {
                let ink = if near { INK } else { INK.mixed(BALL, VEIL) };
                let rim = Stroke::new(PAPER, 0.9);
                picture.disc(ball.place(projected), MARK, ink.into(), Some(rim));
            }
        }
    }
}

/// In the manner of the intervals of fits.
const BAND: Colour = Colour::hex(0xc5dcee);

fn curve_stroke() -> Stroke {
    Stroke::new(INK, 0.9 * LINE_WIDTH)
}

/// The rim of the part on one side of a disc on the sphere, with its radius in radians. What lies on the other side is
/// moved to the horizon.
fn disc(ball: &Ball, centre: [f64; 3], radius: f64, near: bool) -> Option<Vec<Point>> {
    // Two directions across the centre.
    let axis = (0..3).min_by(|a, b| centre[*a].abs().total_cmp(&centre[*b].abs())).unwrap_or(0);
    let mut other = [0.0; 3];
    other[axis] = 1.0;
    let u = unit(cross(centre, other))?;
    let v = cross(centre, u);
    let (sin, cos) = radius.sin_cos();
    let mut any = false;
    let rim = (0..CORNERS).map(|corner| {
        let (s, c) = (TAU * corner as f64 / CORNERS as f64).sin_cos();
        let point = [0, 1, 2].map(|i| cos * centre[i] + sin * (c * u[i] + s * v[i]));
        let [x, y, depth] = ball.view.project(point);
        let is_here = (depth >= 0.0) == near;
        any |= is_here;
        let norm = x.hypot(y);
        if is_here || norm < 1e-9 { [x, y, depth] } else { [x / norm, y / norm, 0.0] }
    });
    let rim: Vec<Point> = rim.map(|point| ball.place(point)).collect();
    any.then_some(rim)
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;

    #[test]
    fn discs_of_a_band_overlap_from_the_first_to_the_last() {
        let means = [1.0, 0.0, 0.0, 1.0, 1e-4, 0.0, 0.0, 1.0, 0.0];
        let target = SphereTarget {
            means: (&means).into(),
            widths: (&[0.1, 0.1, 0.3]).into(),
            ..SphereTarget::default()
        };
        let discs = target.discs();
        assert_eq!(discs[0], ([1.0, 0.0, 0.0], 0.1));
        let (last, width) = discs[discs.len() - 1];
        assert!((last[1] - 1.0).abs() < 1e-12 && (width - 0.3).abs() < 1e-12);
        for pair in discs.windows(2) {
            let gap = (0..3).map(|i| (pair[1].0[i] - pair[0].0[i]).powi(2)).sum::<f64>().sqrt();
            assert!(gap < 0.5 * pair[0].1, "{gap}");
        }
        assert!(discs.len() < 100, "{}", discs.len());
    }

    #[test]
    fn a_disc_has_its_radius_and_ends_at_the_horizon() {
        let view = View::over(20.0, 10.0);
        let ball = Ball { centre: [0.0, 0.0], radius: 100.0, view: &view };
        let distances = |rim: Vec<Point>| rim.into_iter().map(|[x, y]| x.hypot(y)).collect::<Vec<_>>();
        let middle = distances(disc(&ball, view.towards, 0.3, true).unwrap());
        assert!(middle.iter().all(|d| (d - 100.0 * 0.3f64.sin()).abs() < 1e-9));
        assert!(disc(&ball, view.towards, 0.3, false).is_none());

        let edge = unit(cross(view.towards, [0.0, 0.0, 1.0])).unwrap();
        for near in [false, true] {
            let rim = distances(disc(&ball, edge, 0.3, near).unwrap());
            assert!(rim.iter().all(|d| *d < 100.0 + 1e-9));
            let at_horizon = rim.iter().filter(|d| (**d - 100.0).abs() < 1e-9).count();
            assert!((CORNERS / 3..CORNERS).contains(&at_horizon), "{at_horizon}");
        }
    }
}
