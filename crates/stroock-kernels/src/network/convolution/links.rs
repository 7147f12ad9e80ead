//! Which pixels a convolution links, and by which entry (tap) of its kernel.
//!
//! A strided convolution stands between a fine and a coarse grid of pixels. The tap `k` links the coarse
//! pixel `o` to the fine pixel `i` where, on each axis,
//!
//! ```text
//! i = o s - p + k          (stride s, padding p).
//! ```
//!
//! A convolution carries numbers along the links from fine to coarse, a transposed convolution from coarse
//! to fine, and the adjoint of either is the other one. Read towards the coarse grid, every pixel has all
//! taps; read towards the fine grid, the pixels fall into `s x s` phases, and a pixel has only the taps with
//! `k = i + p (mod s)`. No zero between the pixels is ever multiplied.

/// The pixels of one grid that share their taps.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    /// The taps, as places in the kernel, row by row.
    pub taps: Vec<u32>,
    /// The pixels that the links lead to.
    pub destinations: Vec<u32>,
    /// The pixels that they come from: `[destination, tap]`, [`Links::outside`] for the zero padding.
    pub sources: Vec<u32>,
}

/// All links, read towards one of the two grids.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    pub phases: Vec<Phase>,
    /// Stands for every source pixel in the zero padding: the number of source pixels.
    pub outside: u32,
}

/// The links along one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub fine: usize,
    pub coarse: usize,
    pub kernel: usize,
    pub stride: usize,
    pub padding: usize,
}

/// The phase of an axis: taps, destinations, and the sources `[destination, tap]`.
type AxisPhase = (Vec<usize>, Vec<usize>, Vec<Option<usize>>);

impl Links {
    /// From the fine grid to the coarse one.
    pub fn to_coarse([y, x]: [Axis; 2]) -> Self {
        Self::product(&[y.to_coarse()], &[x.to_coarse()], x.kernel, x.coarse, [y.fine, x.fine])
    }

    /// From the coarse grid to the fine one.
    pub fn to_fine([y, x]: [Axis; 2]) -> Self {
        Self::product(&y.to_fine(), &x.to_fine(), x.kernel, x.fine, [y.coarse, x.coarse])
    }

    fn product(
        rows: &[AxisPhase],
        columns: &[AxisPhase],
        kernel_width: usize,
        destination_width: usize,
        source_size: [usize; 2],
    ) -> Self {
        let outside = (source_size[0] * source_size[1]) as u32;
        let pairs = |rows: &[usize], columns: &[usize], width: usize| -> Vec<u32> {
            rows.iter().flat_map(|y| columns.iter().map(move |x| (y * width + x) as u32)).collect()
        };
        let mut phases = Vec::with_capacity(rows.len() * columns.len());
        for (tap_rows, destination_rows, source_rows) in rows {
            for (tap_columns, destination_columns, source_columns) in columns {
                let taps = pairs(tap_rows, tap_columns, kernel_width);
                let destinations = pairs(destination_rows, destination_columns, destination_width);
                let mut sources = Vec::with_capacity(destinations.len() * taps.len());
                // An axis phase without taps has no sources either: the loops below are then empty.
                for source_rows in source_rows.chunks_exact(tap_rows.len().max(1)) {
                    for source_columns in source_columns.chunks_exact(tap_columns.len().max(1)) {
                        for y in source_rows {
                            sources.extend(source_columns.iter().map(|x| match (y, x) {
                                (Some(y), Some(x)) => (y * source_size[1] + x) as u32,
                                _ => outside,
                            }));
                        }
                    }
                }
                phases.push(Phase { taps, destinations, sources });
            }
        }
        Self { phases, outside }
    }
}

impl Axis {
    fn to_coarse(self) -> AxisPhase {
        let source =
            |o: usize, k: usize| (o * self.stride + k).checked_sub(self.padding).filter(|&i| i < self.fine);
        let taps: Vec<usize> = (0..self.kernel).collect();
        let sources = (0..self.coarse).flat_map(|o| taps.iter().map(move |&k| source(o, k))).collect();
        (taps, (0..self.coarse).collect(), sources)
    }

    fn to_fine(self) -> Vec<AxisPhase> {
        let source = |i: usize, k: usize| {
            let reached = (i + self.padding).checked_sub(k)?;
            Some(reached / self.stride).filter(|&o| o < self.coarse)
        };
        // A stride beyond the grid has phases without pixels.
        (0..self.stride.min(self.fine))
            .map(|first| {
                let phase = (first + self.padding) % self.stride;
                let taps: Vec<usize> = (phase..self.kernel).step_by(self.stride).collect();
                let pixels: Vec<usize> = (first..self.fine).step_by(self.stride).collect();
                let sources = pixels.iter().flat_map(|&i| taps.iter().map(move |&k| source(i, k))).collect();
                (taps, pixels, sources)
            })
            .collect()
    }
}
