//! One globe: shaded ball, graticule, paths on both sides.

use super::{Colouring, Globe, STEPS, SphereFigure, SpherePath};
use crate::axes::Limits;
use crate::picture::{
    Anchor, Area, Fill, Label, Outline, Picture, Point, Shape, Stroke, VAlign, Weight, shortened,
};
use crate::theme::{Colour, ColourMap, INK, LINE_WIDTH, PAPER, TITLE_SIZE, palette};
use crate::view::{View, between, unit};

/// Colour of the ball in the middle, with which the far side is veiled.
pub(super) const BALL: Colour = Colour::hex(0xf1f4f7);
const RIM: Colour = Colour::hex(0x9aa4ae);
const GRATICULE: Colour = Colour::hex(0xc6ced6);
const FAR_GRATICULE: Colour = Colour::hex(0xe0e5ea);
/// Share of the ball's colour in what lies on the far side.
pub(super) const VEIL: f64 = 0.68;
/// Longest piece of a path that is drawn straight, in radians.
const PIECE: f64 = 0.04;

/// A piece of a path on one side of the globe and of one colour.
pub(super) struct Run {
    pub near: bool,
    colour: Colour,
    pub points: Vec<Point>,
}

pub(super) fn draw(
    picture: &mut Picture,
    figure: &SphereFigure,
    globe: &Globe,
    times: Limits,
    view: &View,
    area: Area,
) {
    let radius = area.width() / 2.0 - 4.0;
    let ball = Ball { centre: area.centre(), radius, view };
    ball.draw(picture);
    let paint = |path: &SpherePath, index: usize| colour(&figure.colouring, path, index, times);
    let runs: Vec<Run> = globe.paths.iter().flat_map(|path| ball.runs(path, &paint)).collect();
    // Paths about a target step back behind it.
    let line = if globe.target.is_some() { 0.65 * LINE_WIDTH } else { LINE_WIDTH };
    ball.draw_graticule(picture, false);
    if let Some(target) = &globe.target {
        target.draw_band(picture, &ball, false);
    }
    for run in runs.iter().filter(|run| !run.near) {
        let colour = run.colour.mixed(BALL, VEIL);
        picture.line(run.points.clone(), Stroke::new(colour, 0.8 * line));
    }
    if let Some(target) = &globe.target {
        target.draw_curve(picture, &ball, false);
        target.draw_observed(picture, &ball, false);
        target.draw_band(picture, &ball, true);
    }
    ball.draw_graticule(picture, true);
    for run in runs.into_iter().filter(|run| run.near) {
        picture.line(run.points, Stroke::new(run.colour, line));
    }
    if let Some(target) = &globe.target {
        target.draw_curve(picture, &ball, true);
        target.draw_observed(picture, &ball, true);
    }
    let rim = Stroke::new(RIM, 0.9);
    let outline = Outline::Circle { centre: ball.centre, radius };
    picture.shape(Shape { outline, fill: None, stroke: Some(rim) });
    if figure.marked {
        for near in [false, true] {
            for path in &globe.paths {
                ball.draw_ends(picture, path, near);
            }
        }
    }
    let title = shortened(globe.title, TITLE_SIZE, Weight::SemiBold, area.width());
    let at = [area.centre()[0], area.top - 8.0];
    picture.text(Label::new(at, title, TITLE_SIZE, Anchor::Middle, VAlign::Baseline).bold());
}

/// Colour of point `index` of a path.
fn colour(colouring: &Colouring, path: &SpherePath, index: usize, times: Limits) -> Colour {
    match colouring {
        Colouring::Time { .. } => {
            let span = times.span();
            let share = if span > 0.0 { (path.times.at(index) - times.low) / span } else { 0.0 };
            // Few colours make long runs, and small files.
            let steps = (STEPS - 1) as f64;
            ColourMap::Dusk.at((share * steps).round() / steps)
        }
        Colouring::Class { .. } => palette(path.classes[if path.classes.len() == 1 { 0 } else { index }]),
    }
}

pub(super) struct Ball<'v> {
    pub centre: Point,
    pub radius: f64,
    pub view: &'v View,
}

impl Ball<'_> {
    fn draw(&self, picture: &mut Picture) {
        let [x, y] = self.centre;
        let fill = Fill::Radial {
            centre: [x - 0.3 * self.radius, y - 0.35 * self.radius],
            radius: 1.5 * self.radius,
            stops: vec![(0.0, PAPER), (0.45, Colour::hex(0xf4f6f8)), (1.0, Colour::hex(0xd3dae1))],
        };
        picture.disc(self.centre, self.radius, fill, None);
    }

    pub fn place(&self, projected: [f64; 3]) -> Point {
        [self.centre[0] + self.radius * projected[0], self.centre[1] - self.radius * projected[1]]
    }

    /// Parallels and meridians, 30 degrees apart, on one side.
    fn draw_graticule(&self, picture: &mut Picture, near: bool) {
        let mut circles: Vec<Vec<[f64; 3]>> = Vec::new();
        let round = (0..=180).map(|step| f64::from(2 * step).to_radians());
        for latitude in [-60.0, -30.0, 0.0, 30.0, 60.0f64] {
            let (sin, cos) = latitude.to_radians().sin_cos();
            circles.push(round.clone().map(|l| [cos * l.cos(), cos * l.sin(), sin]).collect());
        }
        for meridian in 0..12 {
            let (sin, cos) = f64::from(30 * meridian).to_radians().sin_cos();
            let arc = (-45..=45).map(|step| f64::from(2 * step).to_radians());
            circles.push(arc.map(|p| [p.cos() * cos, p.cos() * sin, p.sin()]).collect());
        }
        let mut lines = Vec::new();
        for circle in circles {
            let mut line = Vec::new();
            for point in circle {
                let projected = self.view.project(point);
                if (projected[2] >= 0.0) == near {
                    line.push(self.place(projected));
                } else if line.len() > 1 {
                    lines.push(std::mem::take(&mut line));
                } else {
                    line.clear();
                }
            }
            if line.len() > 1 {
                lines.push(line);
            }
        }
        picture.lines(lines, Stroke::new(if near { GRATICULE } else { FAR_GRATICULE }, 0.6));
    }

    /// The path in pieces of one side and one colour. Each half of a step has the colour of its end.
    pub fn runs(&self, path: &SpherePath, paint: &impl Fn(&SpherePath, usize) -> Colour) -> Vec<Run> {
        let count = path.points.len() / 3;
        let point = |index: usize| unit(path.points.point(index)).unwrap_or([0.0, 0.0, 1.0]);
        let mut runs: Vec<Run> = Vec::new();
        for index in 1..count {
            let (from, to) = (point(index - 1), point(index));
            let colours = [paint(path, index - 1), paint(path, index)];
            let chord = (0..3).map(|axis| (to[axis] - from[axis]).powi(2)).sum::<f64>().sqrt();
            let pieces = (chord / PIECE).ceil().max(1.0) as usize;
            let pieces = if colours[0] == colours[1] { pieces } else { pieces.next_multiple_of(2) };
            let mut start = self.view.project(from);
            for piece in 1..=pieces {
                let share = piece as f64 / pieces as f64;
                let end = self.view.project(between(from, to, share));
                let colour = colours[usize::from(2 * piece > pieces)];
                self.add(&mut runs, colour, start, end);
                start = end;
            }
        }
        runs
    }

    /// Adds a short piece, in two if it crosses the horizon.
    fn add(&self, runs: &mut Vec<Run>, colour: Colour, start: [f64; 3], end: [f64; 3]) {
        let sides = [start[2] >= 0.0, end[2] >= 0.0];
        if sides[0] == sides[1] {
            return self.add_on_side(runs, sides[0], colour, start, end);
        }
        let horizon = between(start, end, start[2] / (start[2] - end[2]));
        self.add_on_side(runs, sides[0], colour, start, horizon);
        self.add_on_side(runs, sides[1], colour, horizon, end);
    }

    fn add_on_side(&self, runs: &mut Vec<Run>, near: bool, colour: Colour, start: [f64; 3], end: [f64; 3]) {
        let (start, end) = (self.place(start), self.place(end));
        match runs.last_mut() {
            Some(run) if run.near == near && run.colour == colour && run.points.last() == Some(&start) => {
                run.points.push(end);
            }
            _ => runs.push(Run { near, colour, points: vec![start, end] }),
        }
    }

    fn draw_ends(&self, picture: &mut Picture, path: &SpherePath, near: bool) {
        let last = path.points.len() / 3 - 1;
        for (index, open) in [(0, true), (last, false)] {
            let Some(point) = unit(path.points.point(index)) else { continue };
            let projected = self.view.project(point);
            if (projected[2] >= 0.0) != near {
                continue;
            }
            let ink = if near { INK } else { INK.mixed(BALL, VEIL) };
            let fill = if open { PAPER } else { ink };
            let rim = if open { Stroke::new(ink, 1.1) } else { Stroke::new(PAPER, 0.7) };
            picture.disc(self.place(projected), 2.8, fill.into(), Some(rim));
        }
    }
}
