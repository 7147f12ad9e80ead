//! Densities of an angle in the course of time.

use std::f64::consts::{PI, TAU};
use std::path::Path;

use crate::axes::{
    Axis, BAR_HEIGHT, Entry, Frame, Grid, Key, Legend, Limits, MARGIN, Placed, Scale, Tick, Ticks, draw_bar,
    pi_ticks,
};
use crate::numbers::not_empty;
use crate::picture::{Area, Image, Picture, Stroke};
use crate::theme::{Colour, ColourMap, PALETTE, PAPER, PIXELS, TITLE_SIZE, WIDTH};
use crate::{FigureError, Numbers, Points};

const TRUTH: Colour = PALETTE[1];

/// Density of an angle in (-π, π] at each time, estimated from draws, with the true angles on top.
///
/// The estimate is a Gaussian kernel around the circle. All panels share one scale of colours, whose upper end
/// is the density that only one in 200 places exceeds.
///
/// ```
/// use stroock_figures::{DensityFigure, DensityPanel, Points};
/// let draws = [3.0, 3.1, -3.1, -2.9, -2.8, -2.7];
/// let figure = DensityFigure {
///     panels: vec![DensityPanel {
///         title: "pendulum 7",
///         times: (&[0.0, 0.05]).into(),
///         draws: (&draws).into(),
///         truth: Some(Points { times: (&[0.0, 0.05]).into(), values: (&[3.1, -2.8]).into() }),
///     }],
///     time: "time (s)",
///     ..DensityFigure::default()
/// };
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("angle.svg");
/// figure.save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DensityFigure<'a> {
    /// The panels, row by row.
    pub panels: Vec<DensityPanel<'a>>,
    /// Panels beside each other.
    pub columns: usize,
    /// Name of the angle.
    pub angle: &'a str,
    /// Name of the time, with its unit.
    pub time: &'a str,
    /// Standard deviation of the kernel, in radians.
    pub bandwidth: f64,
    /// Width of the picture in CSS pixels.
    pub width: f64,
    /// Height of a panel without its title and axis.
    pub panel_height: f64,
}

/// One series.
#[derive(Clone, Copy, Debug, Default)]
pub struct DensityPanel<'a> {
    /// Name of the series.
    pub title: &'a str,
    /// Times, in order, `[T]`.
    pub times: Numbers<'a>,
    /// Angles drawn at each time, `[T, draws]`, in radians; taken modulo 2π.
    pub draws: Numbers<'a>,
    /// The true angles, if they are known.
    pub truth: Option<Points<'a>>,
}

impl Default for DensityFigure<'_> {
    /// One column without panels.
    fn default() -> Self {
        DensityFigure {
            panels: Vec::new(),
            columns: 1,
            angle: "angle (rad)",
            time: "time",
            bandwidth: 0.06,
            width: WIDTH,
            panel_height: 170.0,
        }
    }
}

impl DensityFigure<'_> {
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
        let ticks = pi_ticks();
        let left = Frame::left_of(&ticks, !self.angle.is_empty());
        let titled = self.panels.iter().any(|panel| !panel.title.is_empty());
        let grid = Grid {
            columns: self.columns,
            width: self.width,
            panel_height: self.panel_height,
            above: if titled { TITLE_SIZE + 10.0 } else { 4.0 },
            left: vec![left; self.panels.len()],
            below: Frame::below(false) + 6.0,
            below_last: Frame::below(!self.time.is_empty()),
        };
        let Placed { areas, left, lowest, height } = grid.place()?.lowered(BAR_HEIGHT);
        let mut picture = Picture::new(self.width, height);
        let rows = (self.panel_height * f64::from(PIXELS)) as usize;
        let densities: Vec<Vec<f64>> =
            self.panels.iter().map(|panel| panel.densities(rows, self.bandwidth)).collect();
        let most = upper_end(densities.iter().flatten().copied());

        let legend = Legend::new(self.legend(), self.width);
        legend.draw(&mut picture, areas[0].left, MARGIN - 2.0);
        let scale = Ticks::new(Scale::Linear, Limits { low: 0.0, high: most }, 3).major.into_iter();
        let scale: Vec<Tick> = scale.map(|tick| Tick { value: tick.value / most, ..tick }).collect();
        let right = [self.width - MARGIN - 12.0, MARGIN];
        draw_bar(&mut picture, right, 130.0, ColourMap::Depth, "density (1/rad)", &scale);

        for (index, panel) in self.panels.iter().enumerate() {
            let cells = Cells::of(panel.times);
            let y = Limits { low: -PI, high: PI };
            let mut frame = Frame::new(areas[index], (Scale::Linear, cells.limits()), (Scale::Linear, y));
            frame.y_ticks = ticks.clone();
            picture.image(heat(areas[index], &frame.x, &cells, &densities[index], most));
            picture.clipped(areas[index], |picture| draw_truth(picture, panel, &frame));
            let time = if lowest[index] { self.time } else { "" };
            frame.draw_axes(&mut picture, time, self.angle, left[index]);
            frame.draw_title(&mut picture, panel.title);
        }
        Ok(picture)
    }

    fn check(&self) -> Result<(), FigureError> {
        not_empty("panels", self.panels.len())?;
        if !(1e-3..=PI).contains(&self.bandwidth) {
            return Err(FigureError::invalid("bandwidth", self.bandwidth, "between 0.001 and π"));
        }
        for (index, panel) in self.panels.iter().enumerate() {
            let field = format!("panels[{index}]");
            panel.times.times(&format!("{field}.times"))?;
            let draws = format!("{field}.draws");
            panel.draws.filled(&draws)?;
            // The least multiple that holds all of them, so that a wrong length is one to be told.
            let each = panel.draws.len().div_ceil(panel.times.len());
            panel.draws.check(&draws, each * panel.times.len())?;
            if let Some(truth) = &panel.truth {
                truth.check(&format!("{field}.truth"))?;
            }
        }
        Ok(())
    }

    fn legend(&self) -> Vec<Entry> {
        if self.panels.iter().all(|panel| panel.truth.is_none()) {
            return Vec::new();
        }
        vec![Entry::new(Key::Disc(TRUTH, None), "true angle")]
    }
}

fn draw_truth(picture: &mut Picture, panel: &DensityPanel, frame: &Frame) {
    for (time, angle) in panel.truth.iter().flat_map(|truth| truth.iter()) {
        let rim = Stroke::new(PAPER, 0.6);
        picture.disc(frame.place(time, wrapped(angle)), 2.0, TRUTH.into(), Some(rim));
    }
}

impl DensityPanel<'_> {
    /// Densities `[T, rows]` on equal cells of (-π, π], by a kernel around the circle.
    fn densities(&self, rows: usize, bandwidth: f64) -> Vec<f64> {
        let (count, each) = (self.times.len(), self.draws.len() / self.times.len());
        let cell = TAU / rows as f64;
        let reach = ((4.0 * bandwidth / cell).ceil() as usize).min(rows / 2);
        let kernel: Vec<f64> =
            (0..=reach).map(|step| (-0.5 * (step as f64 * cell / bandwidth).powi(2)).exp()).collect();
        let weight = kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>();
        let mut densities = vec![0.0; count * rows];
        for (time, density) in densities.chunks_mut(rows).enumerate() {
            let mut counts = vec![0.0; rows];
            for draw in 0..each {
                let share = (wrapped(self.draws.at(time * each + draw)) + PI) / TAU;
                counts[((share * rows as f64) as usize).min(rows - 1)] += 1.0;
            }
            for (row, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                let unit = count / (each as f64 * cell * weight);
                density[row] += unit * kernel[0];
                for step in 1..=reach {
                    density[(row + step) % rows] += unit * kernel[step];
                    density[(row + rows - step) % rows] += unit * kernel[step];
                }
            }
        }
        densities
    }
}

/// The angle modulo 2π in (-π, π].
fn wrapped(angle: f64) -> f64 {
    let turned = (angle + PI).rem_euclid(TAU) - PI;
    if turned <= -PI { PI } else { turned }
}

/// Times that each density stands for: up to half of the way to its neighbours.
struct Cells {
    edges: Vec<f64>,
}

impl Cells {
    fn of(times: Numbers) -> Cells {
        let last = times.len() - 1;
        let middle = |index: usize| (times.at(index - 1) + times.at(index)) / 2.0;
        let mut edges: Vec<f64> = (1..=last).map(middle).collect();
        // The first and the last reach outwards by half of the median step.
        let mut steps: Vec<f64> = (1..=last).map(|index| times.at(index) - times.at(index - 1)).collect();
        steps.sort_by(f64::total_cmp);
        let half = steps.get(steps.len() / 2).map_or(0.0, |step| step / 2.0);
        let ends = Limits { low: times.at(0) - half, high: times.at(last) + half }.opened();
        edges.insert(0, ends.low);
        edges.push(ends.high);
        Cells { edges }
    }

    fn limits(&self) -> Limits {
        Limits { low: self.edges[0], high: self.edges[self.edges.len() - 1] }
    }

    /// The cell that holds a time.
    fn at(&self, time: f64) -> usize {
        let behind = self.edges.partition_point(|edge| *edge <= time);
        behind.clamp(1, self.edges.len() - 1) - 1
    }
}

/// The densities as an image with one column for each pixel of a PNG.
fn heat(area: Area, axis: &Axis, cells: &Cells, densities: &[f64], most: f64) -> Image {
    let rows = densities.len() / (cells.edges.len() - 1);
    let columns = (area.width() * f64::from(PIXELS)).ceil() as usize;
    let colours: Vec<Colour> = (0..256).map(|step| ColourMap::Depth.at(f64::from(step) / 255.0)).collect();
    let of_column: Vec<usize> = (0..columns)
        .map(|column| (column as f64 + 0.5) / columns as f64)
        .map(|share| cells.at(axis.limits.low + share * axis.limits.span()))
        .collect();
    let mut rgb = Vec::with_capacity(3 * rows * columns);
    for row in (0..rows).rev() {
        for cell in &of_column {
            let share = densities[cell * rows + row] / most;
            rgb.extend(colours[(share * 255.0).clamp(0.0, 255.0) as usize].rgb);
        }
    }
    Image { area, columns: columns as u32, rows: rows as u32, rgb }
}

/// The number that one in 200 exceeds.
fn upper_end(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() - 1) * 199 / 200].max(1.0 / TAU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_wrapped() {
        for (angle, expected) in [(PI, PI), (-PI, PI), (1.5 * PI, -0.5 * PI), (7.0 * PI, PI), (0.25, 0.25)] {
            assert!((wrapped(angle) - expected).abs() < 1e-12, "{angle}");
        }
    }

    #[test]
    fn a_density_has_area_one_and_goes_around_the_circle() {
        let panel =
            DensityPanel { times: (&[0.0]).into(), draws: (&[PI, PI, PI]).into(), ..DensityPanel::default() };
        let density = panel.densities(200, 0.1);
        assert!((density.iter().sum::<f64>() * TAU / 200.0 - 1.0).abs() < 1e-12);
        assert!((density[0] - density[198]).abs() < 1e-12 && density[0] > 3.0 && density[100] == 0.0);
        let exact = 1.0 / (0.1 * TAU.sqrt());
        assert!((density[199] - exact).abs() < 1e-3 * exact, "{} {exact}", density[199]);
    }

    #[test]
    fn times_between_belong_to_the_nearest() {
        let cells = Cells::of((&[0.0, 1.0, 3.0, 4.0]).into());
        assert_eq!([-0.4, 0.4, 0.6, 1.9, 2.1, 4.4].map(|time| cells.at(time)), [0, 0, 1, 1, 2, 3]);
        assert_eq!(cells.limits(), Limits { low: -0.5, high: 4.5 });
        assert!(Cells::of((&[2.0]).into()).limits().span() > 0.0);
    }
}
