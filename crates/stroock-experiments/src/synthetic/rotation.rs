//! Rotating an image: a cubic spline through its pixels, read at rotated places.

/// The cubic spline surface through the pixels of an image.
///
/// `s(y, x) = sum_{ij} c_ij B(y - i) B(x - j)` with the cubic B-spline `B`. The coefficients `c` are those
/// for which the surface passes through every pixel, where the image goes on beyond its border as in a mirror
/// at the outermost pixels. They come from a recursive filter along every column and every row.
#[derive(Clone, Debug, PartialEq)]
pub struct CubicSpline {
    height: usize,
    width: usize,
    coefficients: Vec<f64>,
}

/// A linear map of places (row, column).
pub(super) type Map = [[f64; 2]; 2];

impl CubicSpline {
    /// The spline through an image `[height, width]`, row by row from the top; `None` when there are not
    /// `height width` pixels or there is none.
    pub fn through(image: &[f64], height: usize, width: usize) -> Option<Self> {
        if image.is_empty() || height.checked_mul(width) != Some(image.len()) {
            return None;
        }
        let mut coefficients = image.to_vec();
        coefficients.chunks_exact_mut(width).for_each(filter);
        let mut column = vec![0.0; height];
        for x in 0..width {
            for (y, value) in column.iter_mut().enumerate() {
                *value = coefficients[y * width + x];
            }
            filter(&mut column);
            for (y, value) in column.iter().enumerate() {
                coefficients[y * width + x] = *value;
            }
        }
        Some(Self { height, width, coefficients })
    }

    /// The value at row `y` and column `x`; zero outside the rectangle of the pixel centres.
    pub fn at(&self, y: f64, x: f64) -> f64 {
        let inside = |place: f64, extent: usize| (0.0..=(extent - 1) as f64).contains(&place);
        if !inside(y, self.height) || !inside(x, self.width) {
            return 0.0;
        }
        let (rows, row_weights) = support(y, self.height);
        let (columns, column_weights) = support(x, self.width);
        let mut value = 0.0;
        for (row, row_weight) in rows.into_iter().zip(row_weights) {
            let line = &self.coefficients[row * self.width..];
            let along: f64 =
                columns.into_iter().zip(column_weights).map(|(column, weight)| weight * line[column]).sum();
            value += row_weight * along;
        }
        value
    }

    /// The image turned clockwise about its centre, as seen with row 0 on top, on the same canvas,
    /// `[height, width]`.
    ///
    /// What comes from outside the canvas is zero. The spline overshoots at edges: values are not clipped.
    ///
    /// ```
    /// use stroock_experiments::synthetic::CubicSpline;
    /// let spline = CubicSpline::through(&[1.0, 2.0, 3.0, 4.0], 2, 2).expect("four pixels");
    /// let turned = spline.turned_clockwise(90.0);
    /// assert!(turned.iter().zip([3.0, 1.0, 4.0, 2.0]).all(|(a, b)| (a - b).abs() < 1e-12));
    /// ```
    pub fn turned_clockwise(&self, degrees: f64) -> Vec<f64> {
        // Where a pixel was before: turned back. Rows go down, so this is a rotation by -degrees.
        self.pulled_back(back(degrees))
    }

    /// The image whose pixel at `p`, row and column counted from the centre, is this one at `map p`,
    /// `[height, width]`.
    pub(super) fn pulled_back(&self, map: Map) -> Vec<f64> {
        let middle = [(self.height - 1) as f64 / 2.0, (self.width - 1) as f64 / 2.0];
        let mut image = Vec::with_capacity(self.coefficients.len());
        for row in 0..self.height {
            let y = row as f64 - middle[0];
            for column in 0..self.width {
                let x = column as f64 - middle[1];
                let [row, column] = map.map(|line| line[0] * y + line[1] * x);
                image.push(self.at(row + middle[0], column + middle[1]));
            }
        }
        image
    }
}

/// The rotation that takes a place to where it was before a clockwise turn.
pub(super) fn back(degrees: f64) -> Map {
    let (sine, cosine) = sin_cos_of_degrees(degrees);
    [[cosine, -sine], [sine, cosine]]
}

/// Sine and cosine, exact at right angles: rounding would move pixels of the border off the canvas.
fn sin_cos_of_degrees(degrees: f64) -> (f64, f64) {
    let turned = degrees.rem_euclid(360.0);
    match turned / 90.0 {
        0.0 | 4.0 => (0.0, 1.0),
        1.0 => (1.0, 0.0),
        2.0 => (0.0, -1.0),
        3.0 => (-1.0, 0.0),
        _ => turned.to_radians().sin_cos(),
    }
}

/// From values to the coefficients of the spline through them, in place.
///
/// The inverse of (1, 4, 1)/6 is a forward and a backward recursion with the pole `z = sqrt(3) - 2`; both
/// start as the mirrored, endlessly repeated sequence demands.
fn filter(values: &mut [f64]) {
    let n = values.len();
    if n < 2 {
        return;
    }
    let z = 3f64.sqrt() - 2.0;
    let period = 2 * n - 2;
    let mut power = 1.0;
    let mut first = 0.0;
    for k in 0..period {
        first += power * values[if k < n { k } else { period - k }];
        power *= z;
    }
    values[0] = first / (1.0 - power);
    for k in 1..n {
        values[k] += z * values[k - 1];
    }
    values[n - 1] = z / (z * z - 1.0) * (z * values[n - 2] + values[n - 1]);
    for k in (0..n - 1).rev() {
        values[k] = z * (values[k + 1] - values[k]);
    }
    values.iter_mut().for_each(|value| *value *= 6.0);
}

/// The four coefficients that reach a place, and their weights.
fn support(place: f64, extent: usize) -> ([usize; 4], [f64; 4]) {
    let floor = place.floor();
    let t = place - floor;
    let u = 1.0 - t;
    let weights = [
        u * u * u / 6.0,
        (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0,
        (4.0 - 6.0 * u * u + 3.0 * u * u * u) / 6.0,
        t * t * t / 6.0,
    ];
    let last = extent as isize - 1;
    let mirrored = |offset: isize| {
        let index = (floor as isize + offset).abs();
        let index = if index > last { 2 * last - index } else { index };
        index.clamp(0, last) as usize
    };
    ([-1, 0, 1, 2].map(mirrored), weights)
}
