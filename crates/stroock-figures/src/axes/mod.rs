//! From numbers to places: limits, ticks, panels, legends.

mod bar;
mod frame;
mod grid;
mod legend;
mod limits;
mod scale;
mod stack;
mod ticks;

pub(crate) use bar::{BAR_HEIGHT, draw_bar};
pub(crate) use frame::Frame;
pub(crate) use grid::{BETWEEN, Grid, Placed, at_most_wide, size};
pub(crate) use legend::{Entry, Key, Legend};
pub(crate) use limits::Limits;
pub(crate) use scale::{Axis, Scale};
pub(crate) use stack::{Row, Stack};
pub(crate) use ticks::{Tick, Ticks, evenly, pi_ticks, plain};

/// Space around a picture.
pub(crate) const MARGIN: f64 = 10.0;
