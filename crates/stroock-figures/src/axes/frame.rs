//! One panel: its axes, their ticks and names.

use super::{Axis, Limits, Scale, Ticks};
use crate::picture::{Anchor, Area, Label, Picture, Point, Stroke, VAlign, Weight, shortened};
use crate::theme::{AXIS, AXIS_WIDTH, INK, LABEL_SIZE, TICK_SIZE, TITLE_SIZE};

/// Length of a tick.
const TICK: f64 = 3.5;
/// From the end of a tick to its number.
const GAP: f64 = 3.0;
/// Far outside of a panel.
const FAR: f64 = 1e4;

/// A panel with axes to the left and below.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub area: Area,
    pub x: Axis,
    pub y: Axis,
    pub x_ticks: Ticks,
    pub y_ticks: Ticks,
}

impl Frame {
    /// Space to the left of the panel for numbers as wide as these, and for the name of the axis.
    pub fn left_of(ticks: &Ticks, named: bool) -> f64 {
        TICK + GAP + ticks.width() + if named { 6.0 + LABEL_SIZE } else { 0.0 }
    }

    /// Space below the panel for the numbers, and for the name of the axis.
    pub fn below(named: bool) -> f64 {
        TICK + GAP + TICK_SIZE + if named { 5.0 + LABEL_SIZE } else { 0.0 }
    }

    /// A panel on `area` with ticks as they fit.
    pub fn new(area: Area, x: (Scale, Limits), y: (Scale, Limits)) -> Frame {
        let x = Axis { scale: x.0, limits: x.1, from: area.left, to: area.right };
        let y = Axis { scale: y.0, limits: y.1, from: area.bottom, to: area.top };
        let y_ticks = Ticks::up(y.scale, y.limits, y.length());
        Frame { area, x, y, x_ticks: Ticks::across(&x), y_ticks }
    }

    /// Place of a point. One that lies far outside is brought near enough for the arithmetic of pixels, where a
    /// line towards it still has the same direction.
    pub fn place(&self, x: f64, y: f64) -> Point {
        let Area { left, right, bottom, top } = self.area;
        [self.x.place(x).clamp(left - FAR, right + FAR), self.y.place(y).clamp(top - FAR, bottom + FAR)]
    }

    /// The title, above the left end of the panel.
    pub fn draw_title(&self, picture: &mut Picture, title: &str) {
        let text = shortened(title, TITLE_SIZE, Weight::SemiBold, self.area.width());
        let at = [self.area.left, self.area.top - 7.0];
        picture.text(Label::new(at, text, TITLE_SIZE, Anchor::Start, VAlign::Baseline).bold());
    }

    /// Axes, ticks, numbers and names; an empty name is left out. The name of the vertical axis stands at the
    /// distance `left` from the panel, for names of panels above each other to be in line.
    pub fn draw_axes(&self, picture: &mut Picture, x_name: &str, y_name: &str, left: f64) {
        let Area { left: x0, right, bottom, top } = self.area;
        let stroke = Stroke::new(AXIS, AXIS_WIDTH);
        let mut lines = vec![vec![[x0, top], [x0, bottom], [right, bottom]]];
        for (length, x) in marks(&self.x_ticks, &self.x) {
            lines.push(vec![[x, bottom], [x, bottom + length]]);
        }
        for (length, y) in marks(&self.y_ticks, &self.y) {
            lines.push(vec![[x0, y], [x0 - length, y]]);
        }
        picture.lines(lines, stroke);
        for tick in &self.x_ticks.major {
            let at = [self.x.place(tick.value), bottom + TICK + GAP];
            picture.text(Label::new(at, &tick.label, TICK_SIZE, Anchor::Middle, VAlign::Top).colour(INK));
        }
        for tick in &self.y_ticks.major {
            let at = [x0 - TICK - GAP, self.y.place(tick.value)];
            picture.text(Label::new(at, &tick.label, TICK_SIZE, Anchor::End, VAlign::Middle).colour(INK));
        }
        let text = shortened(x_name, LABEL_SIZE, Weight::Regular, self.area.width() + 30.0);
        let at = [self.area.centre()[0], bottom + Frame::below(true) - LABEL_SIZE];
        picture.text(Label::new(at, text, LABEL_SIZE, Anchor::Middle, VAlign::Top));
        let text = shortened(y_name, LABEL_SIZE, Weight::Regular, self.area.height() + 20.0);
        picture.text(Label::upwards([x0 - left + LABEL_SIZE / 2.0, self.area.centre()[1]], text, LABEL_SIZE));
    }
}

/// Lengths and places of ticks.
fn marks(ticks: &Ticks, axis: &Axis) -> impl Iterator<Item = (f64, f64)> {
    let major = ticks.major.iter().map(|tick| (TICK, axis.place(tick.value)));
    major.chain(ticks.minor.iter().map(|value| (0.6 * TICK, axis.place(*value))))
}
