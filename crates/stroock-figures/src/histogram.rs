//! Histograms of several groups on top of each other.

use std::path::Path;

use crate::axes::{Entry, Frame, Grid, Key, Legend, Limits, MARGIN, Placed, Scale, Ticks};
use crate::numbers::not_empty;
use crate::picture::{Picture, Point, Stroke};
use crate::theme::{TITLE_SIZE, palette};
use crate::{FigureError, Numbers};

const OPACITY: f64 = 0.35;

/// Histograms of several groups over the same bins.
///
/// ```
/// use stroock_figures::{HistogramFigure, HistogramGroup};
/// let figure = HistogramFigure {
///     groups: vec![
///         HistogramGroup { name: "with switches", values: (&[4.0, 5.5, 5.9, 7.0]).into() },
///         HistogramGroup { name: "without", values: (&[1.0, 1.2, 2.5]).into() },
///     ],
///     label: "path KL (nats)",
///     ..HistogramFigure::default()
/// };
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("kl.svg");
/// figure.save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HistogramFigure<'a> {
    /// The groups; later ones cover earlier ones.
    pub groups: Vec<HistogramGroup<'a>>,
    /// Title; may be empty.
    pub title: &'a str,
    /// What the values are, with their unit.
    pub label: &'a str,
    /// Number of bins; `None` chooses it by the rule of Freedman and Diaconis.
    pub bins: Option<usize>,
    /// Whether each group has area 1, so that groups of different sizes compare; otherwise values are counted.
    pub density: bool,
    /// Width of the picture in CSS pixels.
    pub width: f64,
    /// Height of the panel without its title and axis.
    pub panel_height: f64,
}

/// One group.
#[derive(Clone, Copy, Debug, Default)]
pub struct HistogramGroup<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its values.
    pub values: Numbers<'a>,
}

impl Default for HistogramFigure<'_> {
    /// Densities, without groups.
    fn default() -> Self {
        HistogramFigure {
            groups: Vec::new(),
            title: "",
            label: "value",
            bins: None,
            density: true,
            width: 420.0,
            panel_height: 190.0,
        }
    }
}

impl HistogramFigure<'_> {
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
        not_empty("groups", self.groups.len())?;
        for (index, group) in self.groups.iter().enumerate() {
            let field = format!("groups[{index}].values");
            group.values.filled(&field)?;
            group.values.finite(&field)?;
        }
        if let Some(bins) = self.bins.filter(|bins| !(1..=1000).contains(bins)) {
            return Err(FigureError::invalid("bins", bins, "between 1 and 1000"));
        }
        let bins = Bins::over(&self.groups, self.bins);
        let heights: Vec<Vec<f64>> =
            self.groups.iter().map(|group| bins.heights(group.values, self.density)).collect();
        let most = heights.iter().flatten().fold(0.0, |most: f64, height| most.max(*height));
        let y = (Scale::Linear, Limits { low: 0.0, high: 1.04 * most });
        let x = (Scale::Linear, bins.limits.padded(0.02));

        let y_name = if self.density { "density" } else { "count" };
        let left = Frame::left_of(&Ticks::up(y.0, y.1, self.panel_height), true);
        let grid = Grid {
            columns: 1,
            width: self.width,
            panel_height: self.panel_height,
            above: if self.title.is_empty() { 2.0 } else { TITLE_SIZE + 10.0 },
            left: vec![left],
            below: 0.0,
            below_last: Frame::below(!self.label.is_empty()),
        };
        let placed = grid.place()?;
        let legend = Legend::new(self.legend(), placed.legend_width(self.width));
        let Placed { areas, height, .. } = placed.lowered(legend.height());
        let mut picture = Picture::new(self.width, height);
        legend.draw(&mut picture, areas[0].left, MARGIN);
        let frame = Frame::new(areas[0], x, y);
        let outlines: Vec<Vec<Point>> = heights.iter().map(|heights| bins.outline(heights, &frame)).collect();
        for (group, outline) in outlines.iter().enumerate() {
            picture.polygon(outline.clone(), palette(group).with_opacity(OPACITY).into());
        }
        for (group, outline) in outlines.into_iter().enumerate() {
            picture.line(outline, Stroke::new(palette(group), 1.1));
        }
        frame.draw_axes(&mut picture, self.label, y_name, left);
        frame.draw_title(&mut picture, self.title);
        Ok(picture)
    }

    fn legend(&self) -> Vec<Entry> {
        let named = self.groups.iter().enumerate().filter(|(_, group)| !group.name.is_empty());
        let entry = |(index, group): (usize, &HistogramGroup)| {
            let rim = Stroke::new(palette(index), 1.1);
            let text = format!("{} (n = {})", group.name, plain_count(group.values.len()));
            Entry::new(Key::Patch(palette(index).with_opacity(OPACITY), Some(rim)), text)
        };
        named.map(entry).collect()
    }
}

fn plain_count(count: usize) -> String {
    crate::axes::plain(count as f64)
}

/// Bins of equal width.
#[derive(Clone, Copy, Debug)]
struct Bins {
    limits: Limits,
    count: usize,
}

impl Bins {
    fn over(groups: &[HistogramGroup], count: Option<usize>) -> Bins {
        let all = groups.iter().flat_map(|group| group.values.iter());
        let limits = Limits::of(all).unwrap_or(Limits { low: 0.0, high: 1.0 }).opened();
        let count = count.unwrap_or_else(|| {
            // A width that suits all groups, within what can be seen.
            let widths: Vec<f64> =
                groups.iter().filter_map(|group| freedman_diaconis(group.values)).collect();
            let width = widths.iter().sum::<f64>() / widths.len() as f64;
            if width.is_nan() { 20 } else { (limits.span() / width).ceil().clamp(8.0, 60.0) as usize }
        });
        Bins { limits, count }
    }

    fn heights(&self, values: Numbers, density: bool) -> Vec<f64> {
        let mut counts = vec![0.0; self.count];
        let width = self.limits.span() / self.count as f64;
        for value in values.iter() {
            let bin = ((value - self.limits.low) / width) as usize;
            counts[bin.min(self.count - 1)] += 1.0;
        }
        let unit = if density { values.len() as f64 * width } else { 1.0 };
        counts.iter().map(|count| count / unit).collect()
    }

    /// The steps from the axis over all bins that are not empty at the ends, and back to the axis.
    fn outline(&self, heights: &[f64], frame: &Frame) -> Vec<Point> {
        let first = heights.iter().position(|height| *height > 0.0).unwrap_or(0);
        let last = heights.iter().rposition(|height| *height > 0.0).unwrap_or(0);
        let edge = |bin: usize| self.limits.low + self.limits.span() * bin as f64 / self.count as f64;
        let mut outline = vec![frame.place(edge(first), 0.0)];
        for (bin, height) in heights.iter().enumerate().take(last + 1).skip(first) {
            outline.push(frame.place(edge(bin), *height));
            outline.push(frame.place(edge(bin + 1), *height));
        }
        outline.push(frame.place(edge(last + 1), 0.0));
        outline
    }
}

/// Width of bins, 2 IQR n^(-1/3); `None` where the quartiles are equal.
fn freedman_diaconis(values: Numbers) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().collect();
    sorted.sort_by(f64::total_cmp);
    let quantile = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let width = 2.0 * (quantile(0.75) - quantile(0.25)) / (sorted.len() as f64).cbrt();
    (width > 0.0).then_some(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_have_area_one() {
        let values: Vec<f64> = (0..500).map(|i| f64::from(i * i % 97)).collect();
        let group = HistogramGroup { name: "", values: (&values).into() };
        let bins = Bins::over(&[group], None);
        let area: f64 =
            bins.heights(group.values, true).iter().sum::<f64>() * bins.limits.span() / bins.count as f64;
        assert!((area - 1.0).abs() < 1e-12, "{area}");
        assert_eq!(bins.heights(group.values, false).iter().sum::<f64>(), 500.0);
    }

    #[test]
    fn equal_values_fall_into_one_bin() {
        let group = HistogramGroup { name: "", values: (&[2.0, 2.0, 2.0]).into() };
        let bins = Bins::over(&[group], None);
        assert_eq!(bins.heights(group.values, false).iter().filter(|count| **count > 0.0).count(), 1);
    }
}
