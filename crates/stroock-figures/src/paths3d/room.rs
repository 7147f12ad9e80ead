//! The box in perspective, with its axes on the walls behind the paths.

use crate::Numbers;
use crate::axes::{Axis, Limits, Scale, Ticks};
use crate::picture::{Anchor, Area, Label, Picture, Point, Stroke, VAlign, Weight, shortened};
use crate::theme::{AXIS, AXIS_WIDTH, Colour, ColourMap, FAINT, INK, LABEL_SIZE, TICK_SIZE, TITLE_SIZE};
use crate::view::{Vector, View};

/// Distance of the eye, in half sides of the box.
const DISTANCE: f64 = 7.5;
const WALL: Colour = Colour::hex(0xf8f9fa);
const EDGE: Colour = Colour::hex(0xc9d0d6);
/// Steps of colour along a path.
const STEPS: usize = 40;
/// Layers of depth.
const LAYERS: usize = 24;

/// The eye and what it sees, larger where it is near.
#[derive(Clone, Copy, Debug)]
pub(super) struct Camera(View);

impl From<[f64; 2]> for Camera {
    fn from([around, above]: [f64; 2]) -> Self {
        Camera(View::over(around, above))
    }
}

impl Camera {
    /// To the right and upwards.
    fn project(&self, point: Vector) -> Point {
        let [right, up, towards] = self.0.project(point);
        [right, up].map(|length| length * DISTANCE / (DISTANCE - towards))
    }

    /// How near a point is.
    fn nearness(&self, point: Vector) -> f64 {
        self.0.project(point)[2]
    }

    /// Side of the box along each axis that faces the eye: 1 or -1.
    fn near(&self) -> Vector {
        self.0.towards.map(|direction| if direction >= 0.0 { 1.0 } else { -1.0 })
    }
}

/// The box on a panel.
pub(super) struct Room {
    camera: Camera,
    limits: [Limits; 3],
    area: Area,
    /// Where the middle of the projected box goes.
    centre: Point,
    /// Middle of the projected box, and how large it is drawn.
    middle: Point,
    zoom: f64,
}

/// An axis with its ticks, and its numbers and name.
struct DrawnAxis {
    lines: Vec<Vec<Point>>,
    labels: Vec<Label>,
}

impl Room {
    /// The largest box whose numbers and names stay inside of `area`.
    pub fn new(camera: Camera, limits: [Limits; 3], names: [&str; 3], area: Area) -> Room {
        let corners = (0..8).map(|corner| {
            let side = |axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
            camera.project([side(0), side(1), side(2)])
        });
        let corners: Vec<Point> = corners.collect();
        let along = |axis: usize| Limits::of(corners.iter().map(|corner| corner[axis]));
        let unit = Limits { low: -1.0, high: 1.0 };
        let (x, y) = (along(0).unwrap_or(unit), along(1).unwrap_or(unit));
        let middle = [(x.low + x.high) / 2.0, (y.low + y.high) / 2.0];
        let mut inside = area;
        let mut room = Room { camera, limits, area, centre: area.centre(), middle, zoom: 1.0 };
        // How far letters stick out changes little when the box gets smaller.
        for _ in 0..4 {
            room.zoom = (inside.width() / x.span()).min(inside.height() / y.span()).max(10.0);
            room.centre = inside.centre();
            let letters = room.axes(names).into_iter().flat_map(|axis| axis.labels);
            let boxes: Vec<Area> = letters.map(|label| label.area()).collect();
            let over = |side: fn(&Area) -> f64| boxes.iter().map(side).fold(f64::NEG_INFINITY, f64::max);
            inside.left += (area.left + over(|label| -label.left)).max(0.0);
            inside.top += (area.top + over(|label| -label.top)).max(0.0);
            inside.right -= (over(|label| label.right) - area.right).max(0.0);
            inside.bottom -= (over(|label| label.bottom) - area.bottom).max(0.0);
        }
        room
    }

    /// Place of a point of the box [-1, 1]^3.
    fn place(&self, point: Vector) -> Point {
        let [x, y] = self.camera.project(point);
        let [cx, cy] = self.centre;
        [cx + self.zoom * (x - self.middle[0]), cy - self.zoom * (y - self.middle[1])]
    }

    fn unit(&self, axis: usize, value: f64) -> f64 {
        let limits = self.limits[axis];
        2.0 * (value - limits.low) / limits.span() - 1.0
    }

    fn ticks(&self, axis: usize) -> Ticks {
        Ticks::new(Scale::Linear, self.limits[axis], 4)
    }

    /// The three walls behind the paths, with lines at the ticks, and the axes.
    pub fn draw_walls(&self, picture: &mut Picture, names: [&str; 3]) {
        let near = self.camera.near();
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let corner = |a: f64, b: f64| {
                let mut point = [0.0; 3];
                (point[axis], point[u], point[v]) = (-near[axis], a, b);
                self.place(point)
            };
            let rim = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            picture.polygon(rim.clone(), WALL.into());
            let mut lines = Vec::new();
            for tick in self.ticks(u).major {
                let place = self.unit(u, tick.value);
                lines.push(vec![corner(place, -1.0), corner(place, 1.0)]);
            }
            for tick in self.ticks(v).major {
                let place = self.unit(v, tick.value);
                lines.push(vec![corner(-1.0, place), corner(1.0, place)]);
            }
            picture.lines(lines, Stroke::new(FAINT, 0.7));
            let mut closed = rim;
            closed.push(closed[0]);
            picture.line(closed, Stroke::new(EDGE, 0.8));
        }
        for axis in self.axes(names) {
            picture.lines(axis.lines, Stroke::new(AXIS, AXIS_WIDTH));
            for label in axis.labels {
                picture.text(label);
            }
        }
    }

    /// Ends of the edge of the box where an axis is drawn: on the rim of what is seen, below or to the left.
    fn edge(&self, axis: usize) -> [Vector; 2] {
        let near = self.camera.near();
        [-1.0, 1.0].map(|side| match axis {
            0 => [side, near[1], -near[2]],
            1 => [near[0], side, -near[2]],
            _ => {
                let candidates = [[near[0], -near[1], side], [-near[0], near[1], side]];
                let [a, b] = candidates.map(|point| self.place(point)[0]);
                candidates[usize::from(b < a)]
            }
        })
    }

    /// The axes, without numbers that would lie on others.
    fn axes(&self, names: [&str; 3]) -> Vec<DrawnAxis> {
        let mut taken: Vec<Area> = Vec::new();
        let mut axes = Vec::new();
        for axis in [2, 0, 1] {
            let mut drawn = self.axis(axis, names[axis]);
            drawn.labels.retain(|label| {
                let area = label.area();
                let free = taken.iter().all(|other| !area.touches(other));
                if free {
                    taken.push(area);
                }
                free
            });
            axes.push(drawn);
        }
        axes
    }

    fn axis(&self, axis: usize, name: &str) -> DrawnAxis {
        let [from, to] = self.edge(axis);
        let at = |share: f64| self.place([0, 1, 2].map(|i| from[i] + share * (to[i] - from[i])));
        let (start, end) = (at(0.0), at(1.0));
        // Outwards: across the edge, away from the middle of the box.
        let along = [end[0] - start[0], end[1] - start[1]];
        let norm = (along[0].powi(2) + along[1].powi(2)).sqrt().max(1e-9);
        let mut out = [-along[1] / norm, along[0] / norm];
        let (middle, centre) = (at(0.5), self.place([0.0; 3]));
        if out[0] * (middle[0] - centre[0]) + out[1] * (middle[1] - centre[1]) < 0.0 {
            out = out.map(|x| -x);
        }
        let place = Axis { scale: Scale::Linear, limits: self.limits[axis], from: 0.0, to: 1.0 };
        let ticks = self.ticks(axis);
        let mut lines = vec![vec![start, end]];
        let mut labels = Vec::new();
        for tick in &ticks.major {
            let [x, y] = at(place.place(tick.value));
            lines.push(vec![[x, y], [x + 3.0 * out[0], y + 3.0 * out[1]]]);
            labels.push(beside([x + 6.0 * out[0], y + 6.0 * out[1]], out, &tick.label, TICK_SIZE));
        }
        // A number lies in the way as far as it reaches outwards.
        let reach = 12.0 + ticks.width() * out[0].abs() + TICK_SIZE * out[1].abs();
        let at = [middle[0] + reach * out[0], middle[1] + reach * out[1]];
        labels.push(match axis {
            // A single letter is turned for nothing, and may be taken for another one.
            2 if name.chars().count() > 2 => {
                Label::upwards([at[0] - LABEL_SIZE / 2.0, at[1]], name, LABEL_SIZE)
            }
            _ => beside(at, out, name, LABEL_SIZE),
        });
        DrawnAxis { lines, labels }
    }

    /// Paths from dark to light in the course of time, the far pieces first.
    pub fn draw_paths(&self, picture: &mut Picture, paths: &[Numbers], times: Numbers) {
        // Pieces of the same layer of depth and of the same colour make one shape, which keeps files small.
        let mut layers = vec![Vec::new(); LAYERS * STEPS];
        for path in paths {
            let count = path.len() / 3;
            let step = |index: usize| {
                let (value, low, high) = match times.is_empty() {
                    true => (index as f64, 0.0, (count - 1) as f64),
                    false => (times.at(index), times.at(0), times.at(count - 1)),
                };
                let share = if high > low { (value - low) / (high - low) } else { 0.0 };
                ((share * STEPS as f64) as usize).min(STEPS - 1)
            };
            let point = |index: usize| {
                let point = path.point(index);
                [0, 1, 2].map(|axis| self.unit(axis, point[axis]))
            };
            let mut start = 0;
            while start + 1 < count {
                let mut end = start + 1;
                while end + 1 < count && step(end) == step(start) {
                    end += 1;
                }
                let depth = (self.camera.nearness(point((start + end) / 2)) / 3f64.sqrt() + 1.0) / 2.0;
                let layer = ((depth * LAYERS as f64) as usize).min(LAYERS - 1);
                let line: Vec<Point> = (start..=end).map(|index| self.place(point(index))).collect();
                layers[layer * STEPS + step(start)].push(line);
                start = end;
            }
        }
        for (index, lines) in layers.into_iter().enumerate().filter(|(_, lines)| !lines.is_empty()) {
            let colour = ColourMap::Dusk.at((index % STEPS) as f64 / (STEPS - 1) as f64);
            picture.lines(lines, Stroke::new(colour.with_opacity(0.8), 0.9));
        }
    }

    pub fn draw_title(&self, picture: &mut Picture, title: &str) {
        let text = shortened(title, TITLE_SIZE, Weight::SemiBold, self.area.width());
        let at = [self.area.centre()[0], self.area.top - 7.0];
        picture.text(Label::new(at, text, TITLE_SIZE, Anchor::Middle, VAlign::Baseline).bold());
    }
}

/// A text at a place, lying in the direction `out` from it.
fn beside(at: Point, out: Point, text: &str, size: f64) -> Label {
    let anchor = match out[0] {
        ..-0.35 => Anchor::End,
        0.35.. => Anchor::Start,
        _ => Anchor::Middle,
    };
    let align = if out[1] > 0.5 { VAlign::Top } else { VAlign::Middle };
    Label::new(at, text, size, anchor, align).colour(INK)
}
