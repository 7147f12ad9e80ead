//! Paths in R^3.

mod room;

use std::path::Path;

use crate::axes::{BAR_HEIGHT, BETWEEN, Grid, Limits, MARGIN, Placed, Tick, at_most_wide, draw_bar, plain};
use crate::numbers::not_empty;
use crate::picture::Picture;
use crate::theme::{ColourMap, TITLE_SIZE};
use crate::{FigureError, Numbers};
use room::{Camera, Room};

/// Many paths in R^3, in panels that share one box.
///
/// ```
/// use stroock_figures::{Paths3dFigure, Paths3dPanel};
/// let helix: Vec<f64> = (0..100)
///     .map(|step| 0.1 * f64::from(step))
///     .flat_map(|t| [t.cos(), t.sin(), 0.1 * t])
///     .collect();
/// let figure = Paths3dFigure {
///     panels: vec![Paths3dPanel { title: "posterior", paths: vec![(&helix).into()] }],
///     ..Paths3dFigure::default()
/// };
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("paths.svg");
/// figure.save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Paths3dFigure<'a> {
    /// The panels, row by row.
    pub panels: Vec<Paths3dPanel<'a>>,
    /// Panels beside each other.
    pub columns: usize,
    /// Names of the axes.
    pub axes: [&'a str; 3],
    /// Times of the points, the same for all paths; if empty, their numbers count.
    pub times: Numbers<'a>,
    /// Name of the time, with its unit.
    pub time: &'a str,
    /// Direction of the eye, in degrees: around the third axis, and above the plane of the first
    /// two (5 to 75).
    pub eye: [f64; 2],
    /// Width of a panel in CSS pixels.
    pub panel_width: f64,
}

/// Paths in one box.
#[derive(Clone, Debug, Default)]
pub struct Paths3dPanel<'a> {
    /// Its title.
    pub title: &'a str,
    /// The paths, each `[T, 3]`.
    pub paths: Vec<Numbers<'a>>,
}

impl Default for Paths3dFigure<'_> {
    /// Two columns without panels.
    fn default() -> Self {
        Paths3dFigure {
            panels: Vec::new(),
            columns: 2,
            axes: ["x", "y", "z"],
            times: Numbers::default(),
            time: "time",
            eye: [-58.0, 20.0],
            panel_width: 340.0,
        }
    }
}

impl Paths3dFigure<'_> {
    /// Writes the figure, as SVG or PNG by the extension of the file.
    ///
    /// # Errors
    /// When a field is malformed or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), FigureError> {
        self.picture()?.save(path)
    }

    /// Draws the figure.
    ///
    /// # Errors
    /// When a field is malformed.
    pub fn picture(&self) -> Result<Picture, FigureError> {
        self.check()?;
        let columns = self.columns.min(self.panels.len());
        let width = 2.0 * MARGIN + self.panel_width * columns as f64 + BETWEEN * (columns - 1) as f64;
        let timed = !self.times.is_empty();
        let grid = Grid {
            columns: self.columns,
            width,
            panel_height: 0.94 * self.panel_width,
            above: TITLE_SIZE + 14.0,
            left: vec![0.0; self.panels.len()],
            below: 8.0,
            below_last: if timed { BAR_HEIGHT + 8.0 } else { 4.0 },
        };
        let Placed { areas, height, .. } = grid.place()?;
        let mut picture = Picture::new(width, height);
        let limits = self.limits();
        for (panel, area) in self.panels.iter().zip(&areas) {
            let room = Room::new(Camera::from(self.eye), limits, self.axes, *area);
            room.draw_walls(&mut picture, self.axes);
            room.draw_paths(&mut picture, &panel.paths, self.times);
            room.draw_title(&mut picture, panel.title);
        }
        if timed {
            let ends = [(0.0, self.times.at(0)), (1.0, self.times.at(self.times.len() - 1))];
            let ticks = ends.map(|(value, time)| Tick { value, label: plain(time) });
            let foot = areas[areas.len() - 1].bottom + 10.0;
            draw_bar(&mut picture, [width / 2.0 + 90.0, foot], 140.0, ColourMap::Dusk, self.time, &ticks);
        }
        Ok(picture)
    }

    fn check(&self) -> Result<(), FigureError> {
        not_empty("panels", self.panels.len())?;
        if self.columns == 0 {
            return Err(FigureError::invalid("columns", 0, "at least 1"));
        }
        if !(100.0..=5000.0).contains(&self.panel_width) {
            return Err(FigureError::invalid("panel_width", self.panel_width, "between 100 and 5000"));
        }
        at_most_wide("panel_width", self.panel_width, self.columns.min(self.panels.len()))?;
        Numbers::from(&self.eye).finite("eye")?;
        if !(5.0..=75.0).contains(&self.eye[1]) {
            return Err(FigureError::invalid("eye[1]", self.eye[1], "between 5 and 75 degrees"));
        }
        if !self.times.is_empty() {
            self.times.times("times")?;
        }
        for (index, panel) in self.panels.iter().enumerate() {
            not_empty(&format!("panels[{index}].paths"), panel.paths.len())?;
            for (which, path) in panel.paths.iter().enumerate() {
                let field = format!("panels[{index}].paths[{which}]");
                path.filled(&field)?;
                let count = if self.times.is_empty() { path.len().div_ceil(3) } else { self.times.len() };
                path.check(&field, 3 * count)?;
            }
        }
        Ok(())
    }

    /// Limits of all paths along each axis.
    fn limits(&self) -> [Limits; 3] {
        [0, 1, 2].map(|axis| {
            let paths = self.panels.iter().flat_map(|panel| &panel.paths);
            let all = Limits::of(paths.flat_map(|path| path.iter().skip(axis).step_by(3)));
            all.unwrap_or(Limits { low: 0.0, high: 1.0 }).padded(0.03)
        })
    }
}
