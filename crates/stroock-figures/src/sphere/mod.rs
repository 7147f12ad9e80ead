//! Latent paths on the sphere in R^3.

mod globe;
mod target;

pub use target::SphereTarget;

use std::path::Path;

use crate::axes::{
    BAR_HEIGHT, BETWEEN, Entry, Grid, Key, Legend, Limits, MARGIN, Placed, Tick, at_most_wide, draw_bar,
    plain,
};
use crate::numbers::{length, not_empty};
use crate::picture::{Picture, Stroke, Weight, width_of};
use crate::theme::{ColourMap, INK, LABEL_SIZE, LINE_WIDTH, PAPER, TITLE_SIZE, palette};
use crate::view::View;
use crate::{FigureError, Numbers};

/// Colours by time: steps from the first to the last.
const STEPS: usize = 64;

/// Paths on S^2 as globes beside each other, seen from far away.
///
/// What lies on the far side shines through faintly. A path starts at an open circle and ends at a disc.
///
/// ```
/// use stroock_figures::{Colouring, Globe, SphereFigure, SpherePath};
/// let points: Vec<f64> = (0..50)
///     .flat_map(|step| {
///         let angle = 0.1 * f64::from(step);
///         [angle.cos() * 0.8, angle.sin() * 0.8, 0.6]
///     })
///     .collect();
/// let times: Vec<f64> = (0..50).map(|step| f64::from(step) / 49.0).collect();
/// let path = SpherePath { points: (&points).into(), times: (&times).into(), classes: &[] };
/// let figure = SphereFigure {
///     globes: vec![Globe { title: "posterior", paths: vec![path], ..Globe::default() }],
///     colouring: Colouring::Time { label: "time" },
///     ..SphereFigure::default()
/// };
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sphere.svg");
/// figure.save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SphereFigure<'a> {
    /// The globes, row by row.
    pub globes: Vec<Globe<'a>>,
    /// Globes beside each other.
    pub columns: usize,
    /// What the colours of the paths mean.
    pub colouring: Colouring<'a>,
    /// Longitude and latitude, in degrees, of the point in the middle of each globe.
    pub centre: [f64; 2],
    /// Whether starts and ends of the paths are marked.
    pub marked: bool,
    /// Width of a globe with the space around it, in CSS pixels.
    pub globe_width: f64,
}

/// One globe.
#[derive(Clone, Debug, Default)]
pub struct Globe<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its paths; later ones cover earlier ones.
    pub paths: Vec<SpherePath<'a>>,
    /// What they follow, where they follow something.
    pub target: Option<SphereTarget<'a>>,
}

/// A path on the sphere.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpherePath<'a> {
    /// Points of norm 1, `[T, 3]`.
    pub points: Numbers<'a>,
    /// Times of the points, `[T]`; read only when paths are coloured by time.
    pub times: Numbers<'a>,
    /// Classes of the points, `[T]`, or a single one for all of them; read only when paths are coloured by
    /// class.
    pub classes: &'a [usize],
}

/// What the colours of paths mean.
#[derive(Clone, Debug)]
pub enum Colouring<'a> {
    /// From the first time, dark, to the last, light.
    Time {
        /// Name of the time, with its unit.
        label: &'a str,
    },
    /// One colour for each class.
    Class {
        /// Names of the classes.
        names: Vec<&'a str>,
    },
}

impl Default for SphereFigure<'_> {
    /// Three columns without globes, coloured by time.
    fn default() -> Self {
        SphereFigure {
            globes: Vec::new(),
            columns: 3,
            colouring: Colouring::Time { label: "time" },
            centre: [30.0, 25.0],
            marked: true,
            globe_width: 240.0,
        }
    }
}

impl SphereFigure<'_> {
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
        let times = self.time_limits();
        let columns = self.columns.min(self.globes.len());
        let width = 2.0 * MARGIN + self.globe_width * columns as f64 + BETWEEN * (columns - 1) as f64;
        let titled = self.globes.iter().any(|globe| !globe.title.is_empty());
        let legend = Legend::new(self.legend(), width - 2.0 * MARGIN);
        let bar = match self.colouring {
            Colouring::Time { label } => Some((Bar::beside(&legend, width, label), label)),
            Colouring::Class { .. } => None,
        };
        let foot = bar.as_ref().map_or(legend.height(), |(bar, _)| bar.height);
        let grid = Grid {
            columns: self.columns,
            width,
            panel_height: self.globe_width,
            above: if titled { TITLE_SIZE + 12.0 } else { 0.0 },
            left: vec![0.0; self.globes.len()],
            below: 8.0,
            below_last: 10.0 + foot,
        };
        let Placed { areas, height, .. } = grid.place()?;
        let mut picture = Picture::new(width, height);
        let view = View::over(self.centre[0], self.centre[1]);
        for (globe, area) in self.globes.iter().zip(&areas) {
            globe::draw(&mut picture, self, globe, times, &view, *area);
        }
        let top = areas[areas.len() - 1].bottom + 10.0;
        legend.draw(&mut picture, MARGIN, top);
        if let Some((bar, label)) = bar {
            let ends = [(0.0, times.low), (1.0, times.high)];
            let ticks = ends.map(|(value, time)| Tick { value, label: plain(time) });
            let right = [width - MARGIN - 16.0, top + bar.drop];
            draw_bar(&mut picture, right, bar.length, ColourMap::Dusk, label, &ticks);
        }
        Ok(picture)
    }

    fn check(&self) -> Result<(), FigureError> {
        not_empty("globes", self.globes.len())?;
        if self.columns == 0 {
            return Err(FigureError::invalid("columns", 0, "at least 1"));
        }
        if !(60.0..=5000.0).contains(&self.globe_width) {
            return Err(FigureError::invalid("globe_width", self.globe_width, "between 60 and 5000"));
        }
        at_most_wide("globe_width", self.globe_width, self.columns.min(self.globes.len()))?;
        Numbers::from(&self.centre).finite("centre")?;
        for (index, globe) in self.globes.iter().enumerate() {
            for (which, path) in globe.paths.iter().enumerate() {
                self.check_path(&format!("globes[{index}].paths[{which}]"), path)?;
            }
            if let Some(target) = &globe.target {
                target.check(&format!("globes[{index}].target"))?;
            }
        }
        Ok(())
    }

    fn check_path(&self, field: &str, path: &SpherePath) -> Result<(), FigureError> {
        let count = on_sphere(&format!("{field}.points"), &path.points)?;
        match &self.colouring {
            Colouring::Time { .. } => {
                path.times.times(&format!("{field}.times"))?;
                length(&format!("{field}.times"), count, path.times.len())
            }
            Colouring::Class { names } => {
                let field = format!("{field}.classes");
                if path.classes.len() != 1 {
                    length(&field, count, path.classes.len())?;
                }
                match path.classes.iter().position(|class| *class >= names.len()) {
                    None => Ok(()),
                    Some(place) => {
                        let requirement = format!("below {}, the number of names", names.len());
                        let field = format!("{field}[{place}]");
                        Err(FigureError::invalid(field, path.classes[place], requirement))
                    }
                }
            }
        }
    }

    fn time_limits(&self) -> Limits {
        let paths = self.globes.iter().flat_map(|globe| &globe.paths);
        Limits::of(paths.flat_map(|path| path.times.iter())).unwrap_or(Limits { low: 0.0, high: 1.0 })
    }

    fn legend(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        if let Colouring::Class { names } = &self.colouring {
            for (class, name) in names.iter().enumerate() {
                entries.push(Entry::new(Key::Line(Stroke::new(palette(class), 2.0 * LINE_WIDTH)), *name));
            }
        }
        if self.globes.iter().any(|globe| globe.target.is_some()) {
            entries.extend(SphereTarget::legend());
        }
        if self.marked {
            entries.push(Entry::new(Key::Disc(PAPER, Some(Stroke::new(INK, 1.1))), "start"));
            entries.push(Entry::new(Key::Disc(INK, None), "end"));
        }
        entries
    }
}

/// Refuses points `[T, 3]` that are not on the sphere, and gives their number.
fn on_sphere(field: &str, points: &Numbers) -> Result<usize, FigureError> {
    points.filled(field)?;
    let count = points.len().div_ceil(3);
    points.check(field, 3 * count)?;
    for index in 0..count {
        let norm = points.point(index).iter().map(|x| x * x).sum::<f64>().sqrt();
        if (norm - 1.0).abs() > 1e-2 {
            let requirement = "on the sphere, with norm 1";
            return Err(FigureError::invalid(
                format!("{field}[{index}]"),
                format!("a point of norm {norm:.3}"),
                requirement,
            ));
        }
    }
    Ok(count)
}

/// Where the bar of colours goes: beside the legend if there is room, otherwise below it.
struct Bar {
    length: f64,
    drop: f64,
    height: f64,
}

impl Bar {
    fn beside(legend: &Legend, width: f64, label: &str) -> Bar {
        // Room for the margins, and for the numbers at both ends.
        let room = width - 2.0 * MARGIN - 40.0 - width_of(label, LABEL_SIZE, Weight::Regular);
        let length = (0.35 * width).min(160.0).min(room.max(60.0));
        let fits = legend.width() + 24.0 + length <= room;
        let drop = if fits { 2.0 } else { legend.height() + 2.0 };
        Bar { length, drop, height: drop + BAR_HEIGHT - 6.0 }
    }
}
