//! Spaces of every kind with a point on each, and reproducible numbers.

#![allow(dead_code)] // every test file uses its part

use nalgebra::DMatrix;
use stroock_geometry::{GeneralLinear, HomogeneousSpace, Hyperbolic, QuadraticGroup, Real, Sphere};

pub struct Sample<T: Real> {
    pub name: String,
    pub space: Box<dyn HomogeneousSpace<T>>,
    pub point: Vec<T>,
}

/// Not symmetric, not antisymmetric, and not singular.
pub const GENERAL_FORM: [f64; 16] =
    [2.0, 0.5, -1.0, 0.25, -0.5, 1.0, 0.75, 0.0, 0.5, -0.25, 1.5, 1.0, 0.0, 0.5, -1.0, -2.0];

/// Symmetric and indefinite, with no zeros.
pub const SYMMETRIC_FORM: [f64; 9] = [2.0, 0.5, -1.0, 0.5, -1.0, 0.25, -1.0, 0.25, 3.0];

pub fn general_quadratic<T: Real>(n: usize, form: &[f64], point: &[f64]) -> Sample<T> {
    let level = (0..n * n).map(|k| point[k / n] * form[k] * point[k % n]).sum();
    let space = QuadraticGroup::new(n, &of(form), T::of(level)).unwrap();
    Sample {
        name: format!("G(P), n = {n}, m = {}", space.algebra_dim()),
        space: Box::new(space),
        point: of(point),
    }
}

/// One sample of every kind of space and several dimensions.
pub fn samples<T: Real>() -> Vec<Sample<T>> {
    let mut samples = vec![
        general_quadratic(3, &SYMMETRIC_FORM, &[1.0, -0.5, 0.75]),
        general_quadratic(4, &GENERAL_FORM, &[1.0, -0.5, 0.75, 0.25]),
    ];
    let mut at_first_axis = |name: String, space: Box<dyn HomogeneousSpace<T>>| {
        let mut point = vec![T::zero(); space.ambient_dim()];
        point[0] = T::one();
        samples.push(Sample { name, space, point });
    };
    for n in [2, 3, 5, 16] {
        at_first_axis(format!("sphere {n}"), Box::new(Sphere::new(n).unwrap()));
    }
    for n in [2, 3, 5] {
        at_first_axis(format!("hyperbolic {n}"), Box::new(Hyperbolic::new(n).unwrap()));
    }
    for n in [2, 4] {
        at_first_axis(format!("GL({n})"), Box::new(GeneralLinear::new(n).unwrap()));
        at_first_axis(format!("Sp({n})"), Box::new(QuadraticGroup::symplectic(n).unwrap()));
    }
    for (p, q) in [(3, 0), (1, 1), (1, 3), (2, 2)] {
        let space = QuadraticGroup::indefinite_orthogonal(p, q).unwrap();
        at_first_axis(format!("O({p},{q})"), Box::new(space));
    }
    samples
}

/// Numbers between -1 and 1 (splitmix64).
pub fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Coefficients whose algebra element has the given 2-norm.
pub fn coefficients_of_norm<T: Real>(space: &dyn HomogeneousSpace<T>, seed: u64, norm: f64) -> Vec<T> {
    let direction = numbers(seed, space.algebra_dim());
    let a = matrix(space, &of(&direction));
    let scale = norm / a.singular_values().max();
    direction.iter().map(|&c| T::of(c * scale)).collect()
}

pub fn matrix<T: Real>(space: &dyn HomogeneousSpace<T>, coefficients: &[T]) -> DMatrix<f64> {
    let n = space.ambient_dim();
    let mut entries = vec![T::zero(); n * n];
    space.matrix(coefficients, &mut entries).unwrap();
    DMatrix::from_row_slice(n, n, &as_f64(&entries))
}

pub fn basis<T: Real>(space: &dyn HomogeneousSpace<T>) -> Vec<DMatrix<f64>> {
    let m = space.algebra_dim();
    let unit = |k| (0..m).map(|l| if l == k { T::one() } else { T::zero() }).collect::<Vec<T>>();
    (0..m).map(|k| matrix(space, &unit(k))).collect()
}

pub fn row_major(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().as_slice().to_vec()
}

pub fn of<T: Real>(x: &[f64]) -> Vec<T> {
    x.iter().map(|&x| T::of(x)).collect()
}

pub fn as_f64<T: Real>(x: &[T]) -> Vec<f64> {
    x.iter().map(|x| x.as_f64()).collect()
}
