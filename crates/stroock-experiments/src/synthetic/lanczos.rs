//! Shrinking a picture with the window of Lanczos.
//!
//! Output pixel `i` is centred at `c = (i + 1/2) r` of the input, where `r` is the ratio of the extents, and
//! takes the pixels `k` with the weight `L((k + 1/2 - c) / r)`, normalised to sum one, where
//! `L(x) = sinc(x) sinc(x/3)` for `|x| < 3`. The window is as many times wider as the picture gets smaller,
//! which is what keeps edges from aliasing.

/// Lobes of the window.
const LOBES: f64 = 3.0;

/// The weights of one axis.
#[derive(Clone, Debug)]
pub(super) struct Lanczos {
    /// First input pixel and weights of every output pixel.
    windows: Vec<(usize, Vec<f64>)>,
}

impl Lanczos {
    /// From `from` pixels to fewer, `to`.
    pub(super) fn new(from: usize, to: usize) -> Self {
        let ratio = from as f64 / to as f64;
        let windows = (0..to).map(|i| {
            let centre = (i as f64 + 0.5) * ratio;
            let first = (centre - LOBES * ratio + 0.5).max(0.0) as usize;
            let end = ((centre + LOBES * ratio + 0.5) as usize).min(from);
            let mut weights: Vec<f64> =
                (first..end).map(|k| window((k as f64 - centre + 0.5) / ratio)).collect();
            let sum: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= sum);
            (first, weights)
        });
        Self { windows: windows.collect() }
    }

    /// A square picture, row by row, shrunk along both axes: first along the rows.
    pub(super) fn shrink(&self, picture: &[f32], side: usize) -> Vec<f32> {
        let rows = self.along_rows_transposed(picture, side);
        self.along_rows_transposed(&rows, side)
    }

    /// Shrinks every row, and turns rows into columns.
    fn along_rows_transposed(&self, picture: &[f32], side: usize) -> Vec<f32> {
        let rows = picture.len() / side;
        let mut out = vec![0.0; self.windows.len() * rows];
        for (row, pixels) in picture.chunks_exact(side).enumerate() {
            for (column, (first, weights)) in self.windows.iter().enumerate() {
                let products = weights.iter().zip(&pixels[*first..]).map(|(w, &x)| w * f64::from(x));
                out[column * rows + row] = products.sum::<f64>() as f32;
            }
        }
        out
    }
}

fn window(x: f64) -> f64 {
    if x.abs() < LOBES { sinc(x) * sinc(x / LOBES) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    let x = x * std::f64::consts::PI;
    if x == 0.0 { 1.0 } else { x.sin() / x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_stay_and_axes_are_not_confused() {
        let lanczos = Lanczos::new(128, 24);
        let flat = lanczos.shrink(&vec![0.25; 128 * 128], 128);
        assert!(flat.iter().all(|x| (x - 0.25).abs() < 1e-6));
        // Bright upper half: bright upper rows.
        let half: Vec<f32> = (0..128 * 128).map(|i| if i < 64 * 128 { 1.0 } else { 0.0 }).collect();
        let half = lanczos.shrink(&half, 128);
        assert!((half[2 * 24 + 20] - 1.0).abs() < 0.05 && half[20 * 24 + 2].abs() < 0.05);
    }
}
