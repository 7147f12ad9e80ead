//! Linear regressions of growing size from one factorisation.

/// The regressions of a target on the first `1, 2, .. , K` of `K` columns.
///
/// With `X^T X = L L^T` and `z = L^{-1} X^T y`, the first `k` columns leave the residual sum of squares
/// `y^T y - z_1^2 - .. - z_k^2`: one factorisation compares all sizes.
#[derive(Clone)]
pub struct NestedRegressions {
    columns: usize,
    rows: usize,
    /// The factor `L`, row by row.
    factor: Vec<f64>,
    projected: Vec<f64>,
    squares: f64,
}

/// Sums `X^T X` and `X^T y`, row by row.
pub struct NormalEquations {
    columns: usize,
    rows: usize,
    products: Vec<f64>,
    targets: Vec<f64>,
    squares: f64,
}

impl NormalEquations {
    pub fn new(columns: usize) -> Self {
        Self {
            columns,
            rows: 0,
            products: vec![0.0; columns * columns],
            targets: vec![0.0; columns],
            squares: 0.0,
        }
    }

    /// Adds a row of the design and its target.
    pub fn add(&mut self, row: &[f64], target: f64) {
        self.rows += 1;
        self.squares += target * target;
        for (i, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            self.targets[i] += x * target;
            let products = &mut self.products[i * self.columns..=i * self.columns + i];
            products.iter_mut().zip(row).for_each(|(sum, &other)| *sum += x * other);
        }
    }

    pub fn solve(self) -> NestedRegressions {
        let Self { columns, rows, products, targets, squares } = self;
        let mut factor = vec![0.0; columns * columns];
        let mut projected = vec![0.0; columns];
        let at = |i: usize, j: usize| i * columns + j;
        for i in 0..columns {
            for j in 0..=i {
                let inner: f64 = (0..j).map(|k| factor[at(i, k)] * factor[at(j, k)]).sum();
                let rest = products[at(i, j)] - inner;
                factor[at(i, j)] = match i == j {
                    // A column that says nothing new is left out: its row of the factor is zero.
                    true if rest <= 1e-9 * products[at(i, i)].abs() || rest <= 0.0 => 0.0,
                    true => rest.sqrt(),
                    false if factor[at(j, j)] == 0.0 => 0.0,
                    false => rest / factor[at(j, j)],
                };
            }
            let diagonal = factor[at(i, i)];
            if diagonal > 0.0 {
                let inner: f64 = (0..i).map(|k| factor[at(i, k)] * projected[k]).sum();
                projected[i] = (targets[i] - inner) / diagonal;
            }
        }
        NestedRegressions { columns, rows, factor, projected, squares }
    }
}

impl NestedRegressions {
    /// Rows that the regressions are made from.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Sum of the squared residuals of the regression on the first `size` columns.
    pub fn residual(&self, size: usize) -> f64 {
        let explained: f64 = self.projected[..size].iter().map(|z| z * z).sum();
        (self.squares - explained).max(1e-12 * self.squares)
    }

    /// Akaike's criterion, corrected for short samples, of the regression on the first `size` columns.
    pub fn criterion(&self, size: usize) -> f64 {
        let (rows, numbers) = (self.rows as f64, size as f64 + 1.0);
        match rows > numbers + 1.0 {
            true => {
                let penalty = 2.0 * numbers * rows / (rows - numbers - 1.0);
                rows * (self.residual(size) / rows).max(1e-300).ln() + penalty
            }
            false => f64::INFINITY,
        }
    }

    /// The coefficients of the regression on the first `size` columns.
    pub fn coefficients(&self, size: usize) -> Vec<f64> {
        let at = |i: usize, j: usize| i * self.columns + j;
        let mut solution = vec![0.0; size];
        for i in (0..size).rev() {
            let diagonal = self.factor[at(i, i)];
            if diagonal > 0.0 {
                let inner: f64 = (i + 1..size).map(|k| self.factor[at(k, i)] * solution[k]).sum();
                solution[i] = (self.projected[i] - inner) / diagonal;
            }
        }
        solution
    }
}

#[cfg(test)]
mod tests {
    use super::NormalEquations;

    #[test]
    fn every_size_is_the_regression_of_its_own() {
        // y = 2 + 3 x exactly; a third column repeats the second.
        let mut equations = NormalEquations::new(3);
        for x in 0..10 {
            let x = f64::from(x);
            equations.add(&[1.0, x, 2.0 * x], 2.0 + 3.0 * x);
        }
        let regressions = equations.solve();
        let mean = regressions.coefficients(1)[0];
        assert!((mean - 15.5).abs() < 1e-12);
        let spread: f64 = (0..10).map(|x| (3.0 * f64::from(x) - 13.5).powi(2)).sum();
        assert!((regressions.residual(1) - spread).abs() < 1e-8 * spread);
        let line = regressions.coefficients(3);
        assert!((line[0] - 2.0).abs() < 1e-9 && (line[1] - 3.0).abs() < 1e-9 && line[2] == 0.0, "{line:?}");
        assert!(regressions.residual(2) < 1e-6);
    }
}
