//! Panels in rows and columns.

use super::MARGIN;
use crate::FigureError;
use crate::picture::Area;

/// Space between columns.
pub(crate) const BETWEEN: f64 = 16.0;
/// Least width of a panel that can still be read.
pub(super) const LEAST: f64 = 40.0;

/// How panels are laid out.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// Number of columns; fewer are used when there are fewer panels.
    pub columns: usize,
    /// Width of the picture.
    pub width: f64,
    /// Height of a panel without its axis and title.
    pub panel_height: f64,
    /// Space above each panel, for its title.
    pub above: f64,
    /// Space left of each panel, in order of the panels.
    pub left: Vec<f64>,
    /// Space below the panels that have another one below them.
    pub below: f64,
    /// Space below the lowest panels.
    pub below_last: f64,
}

/// Where panels are.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub areas: Vec<Area>,
    /// Space left of each panel, the same in a column.
    pub left: Vec<f64>,
    /// Whether no panel is below.
    pub lowest: Vec<bool>,
    /// Height of the picture.
    pub height: f64,
}

impl Grid {
    /// Lays out as many panels as there are entries in `left`.
    pub fn place(&self) -> Result<Placed, FigureError> {
        size("width", self.width)?;
        size("panel_height", self.panel_height)?;
        if self.columns == 0 {
            return Err(FigureError::invalid("columns", 0, "at least 1"));
        }
        let count = self.left.len();
        let columns = self.columns.min(count).max(1);
        let mut lefts = vec![0.0f64; columns];
        for (index, left) in self.left.iter().enumerate() {
            lefts[index % columns] = lefts[index % columns].max(*left);
        }
        let taken = lefts.iter().sum::<f64>() + BETWEEN * (columns - 1) as f64 + 2.0 * MARGIN;
        let panel = (self.width - taken) / columns as f64;
        if panel < LEAST {
            let least = taken + LEAST * columns as f64;
            let requirement = format!("at least {least:.0} for {columns} columns; or take fewer columns");
            return Err(FigureError::invalid("width", self.width, requirement));
        }
        let row_height = self.above + self.panel_height + self.below;
        let mut areas = Vec::with_capacity(count);
        for index in 0..count {
            let (row, column) = (index / columns, index % columns);
            let before: f64 = lefts[..=column].iter().sum();
            let left = MARGIN + before + column as f64 * (panel + BETWEEN);
            let top = MARGIN + row as f64 * row_height + self.above;
            areas.push(Area::sized(left, top, panel, self.panel_height));
        }
        let rows = count.div_ceil(columns);
        let height = MARGIN + rows as f64 * row_height - self.below + self.below_last + MARGIN;
        let lowest = (0..count).map(|index| index + columns >= count).collect();
        let left = (0..count).map(|index| lefts[index % columns]).collect();
        Ok(Placed { areas, left, lowest, height })
    }
}

impl Placed {
    /// Makes room above the panels.
    pub fn lowered(mut self, by: f64) -> Placed {
        for area in &mut self.areas {
            area.top += by;
            area.bottom += by;
        }
        self.height += by;
        self
    }

    /// Width from the left end of the first panel to the margin.
    pub fn legend_width(&self, width: f64) -> f64 {
        width - MARGIN - self.areas.first().map_or(MARGIN, |area| area.left)
    }
}

/// Largest width of a picture, and height of a panel.
const MOST: f64 = 10_000.0;

/// Refuses a length that no picture can have.
pub(crate) fn size(field: &str, value: f64) -> Result<(), FigureError> {
    if (10.0..=MOST).contains(&value) {
        return Ok(());
    }
    Err(FigureError::invalid(field, value, format!("between 10 and {MOST}")))
}

/// Refuses panels that are too wide to stand beside each other.
pub(crate) fn at_most_wide(field: &str, panel: f64, columns: usize) -> Result<(), FigureError> {
    let most = (MOST - 2.0 * MARGIN) / columns as f64 - BETWEEN;
    if panel <= most {
        return Ok(());
    }
    let requirement = format!("at most {most:.0} for {columns} columns; or take fewer columns");
    Err(FigureError::invalid(field, panel, requirement))
}
