//! The bar beside a picture that tells which colour stands for which number.

use super::{MARGIN, Tick};
use crate::picture::{Anchor, Area, Image, Label, Picture, Stroke, VAlign, Weight, shortened, width_of};
use crate::theme::{AXIS, AXIS_WIDTH, ColourMap, LABEL_SIZE, TICK_SIZE};

/// Height of a bar with its numbers and the space below it.
pub(crate) const BAR_HEIGHT: f64 = 36.0;
/// Height of the colours alone.
const THICK: f64 = 8.0;

/// Draws a horizontal bar with its name to the left, the right end of the colours at `right`. Positions of the
/// ticks are shares of the bar.
pub(crate) fn draw_bar(
    picture: &mut Picture,
    [right, top]: [f64; 2],
    width: f64,
    map: ColourMap,
    name: &str,
    ticks: &[Tick],
) {
    let area = Area::sized(right - width, top + 2.0, width, THICK);
    let columns = 256;
    let colours = (0..columns).map(|column| map.at(f64::from(column) / f64::from(columns - 1)));
    let rgb = colours.flat_map(|colour| colour.rgb).collect();
    picture.image(Image { area, columns, rows: 1, rgb });
    let mut rim = area.corners().to_vec();
    rim.push(rim[0]);
    picture.line(rim, Stroke::new(AXIS, AXIS_WIDTH * 0.75));
    for tick in ticks {
        let x = area.left + tick.value * area.width();
        picture.line(vec![[x, area.bottom], [x, area.bottom + 2.5]], Stroke::new(AXIS, AXIS_WIDTH));
        let at = [x, area.bottom + 5.0];
        picture.text(Label::new(at, &tick.label, TICK_SIZE, Anchor::Middle, VAlign::Top));
    }
    let before = ticks.first().map_or(0.0, |tick| {
        (width_of(&tick.label, TICK_SIZE, Weight::Regular) / 2.0 - tick.value * area.width()).max(0.0)
    });
    let at = [area.left - before.max(2.0) - 6.0, area.centre()[1]];
    let name = shortened(name, LABEL_SIZE, Weight::Regular, at[0] - MARGIN);
    picture.text(Label::new(at, name, LABEL_SIZE, Anchor::End, VAlign::Middle));
}
