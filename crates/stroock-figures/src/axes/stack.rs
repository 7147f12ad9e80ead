//! Panels of different heights above each other.

use super::MARGIN;
use super::grid::{LEAST, size};
use crate::FigureError;
use crate::picture::Area;

/// One panel of a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Space above the panel.
    pub above: f64,
    /// Height of the panel without its axis and title.
    pub height: f64,
}

/// How panels with one horizontal axis for all of them are laid out.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// Width of the picture.
    pub width: f64,
    /// Space left of the panels.
    pub left: f64,
    /// The panels from top to bottom.
    pub rows: Vec<Row>,
    /// Space below the lowest panel.
    pub below: f64,
}

impl Stack {
    /// Where the panels are, and the height of the picture.
    pub fn place(&self) -> Result<(Vec<Area>, f64), FigureError> {
        size("width", self.width)?;
        let panel = self.width - 2.0 * MARGIN - self.left;
        if panel < LEAST {
            let requirement = format!("at least {:.0}", self.width - panel + LEAST);
            return Err(FigureError::invalid("width", self.width, requirement));
        }
        let mut bottom = MARGIN;
        let mut areas = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let area = Area::sized(MARGIN + self.left, bottom + row.above, panel, row.height);
            bottom = area.bottom;
            areas.push(area);
        }
        Ok((areas, bottom + self.below + MARGIN))
    }
}
