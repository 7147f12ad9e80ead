//! Every space against its definition, and the closed forms against the provided methods.

mod sample;

use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use sample::{
    GENERAL_FORM, SYMMETRIC_FORM, as_f64, basis, coefficients_of_norm, general_quadratic, matrix, numbers,
    of, row_major, samples,
};
use stroock_geometry::{
    GeneralLinear, GeometryError, HomogeneousSpace, Hyperbolic, QuadraticGroup, Real, Sphere,
};
use stroock_testing::finite_difference::assert_close;

/// The required methods of another space and nothing else: what a new space has to supply.
#[derive(Debug)]
struct Essentials<'a, T: Real>(&'a dyn HomogeneousSpace<T>);

impl<T: Real> HomogeneousSpace<T> for Essentials<'_, T> {
    fn ambient_dim(&self) -> usize {
        self.0.ambient_dim()
    }
    fn algebra_dim(&self) -> usize {
        self.0.algebra_dim()
    }
    fn matrix(&self, coefficients: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        self.0.matrix(coefficients, out)
    }
    fn membership_residual(&self, z: &[T]) -> Result<T, GeometryError> {
        self.0.membership_residual(z)
    }
    fn group_residual(&self, g: &[T]) -> Result<T, GeometryError> {
        self.0.group_residual(g)
    }
}

/// A point of the space away from the axes.
fn moved_point(sample: &sample::Sample<f64>) -> Vec<f64> {
    let mut z = vec![0.0; sample.space.ambient_dim()];
    let c = coefficients_of_norm(&*sample.space, 11, 0.9);
    sample.space.exponential_action(&c, &sample.point, &mut z).unwrap();
    z
}

/// A method of a space, with all arguments but the result given.
type Method<'a, T> = &'a dyn Fn(&dyn HomogeneousSpace<T>, &mut [T]);

fn closed_forms_are_the_provided_methods<T: Real>(tolerance: f64) {
    for (sample, exact) in samples::<T>().iter().zip(&samples::<f64>()) {
        let (space, name) = (&*sample.space, &sample.name);
        let provided = Essentials(space);
        let (n, m) = (space.ambient_dim(), space.algebra_dim());
        let z: Vec<T> = of(&moved_point(exact));
        let c: Vec<T> = of(&numbers(1, m));
        let v: Vec<T> = of(&numbers(2, n));
        let square: Vec<T> = of(&numbers(3, n * n));
        let sigma = T::of(0.7);

        let agree = |what: &str, length: usize, f: Method<T>| {
            let (mut closed, mut plain) = (vec![T::nan(); length], vec![T::nan(); length]);
            f(space, &mut closed);
            f(&provided, &mut plain);
            assert_close(&format!("{name}: {what}"), &as_f64(&closed), &as_f64(&plain), tolerance);
        };
        agree("pullback", m, &|s, out| s.matrix_pullback(&square, out).unwrap());
        agree("projection", m, &|s, out| s.project_to_algebra(&square, out).unwrap());
        agree("action", n, &|s, out| s.infinitesimal_action(&c, &z, out).unwrap());
        agree("pinning drift", n, &|s, out| s.pinning_drift(sigma, &z, out).unwrap());
        agree("diffusion", n * n, &|s, out| s.diffusion_matrix(sigma, &z, out).unwrap());
        agree("pseudo-inverse", n, &|s, out| s.diffusion_pseudo_inverse(sigma, &z, &v, out).unwrap());
        agree("exponential", n, &|s, out| s.exponential_action(&c, &z, out).unwrap());
        agree("adjoint by z", n, &|s, out| {
            s.exponential_action_pullback(&c, &z, &v, &mut vec![T::zero(); m], out).unwrap();
        });
        agree("adjoint by coefficients", m, &|s, out| {
            s.exponential_action_pullback(&c, &z, &v, out, &mut vec![T::zero(); n]).unwrap();
        });
    }
}

#[test]
fn closed_forms_are_the_provided_methods_f64() {
    closed_forms_are_the_provided_methods::<f64>(1e-11);
}

#[test]
fn closed_forms_are_the_provided_methods_f32() {
    closed_forms_are_the_provided_methods::<f32>(1e-4);
}

#[test]
fn dimensions_of_the_algebras() {
    for n in 2..8 {
        assert_eq!(Sphere::new(n).unwrap().algebra_dim(), n * (n - 1) / 2);
        assert_eq!(GeneralLinear::new(n).unwrap().algebra_dim(), n * n);
        for p in 1..n {
            let space = QuadraticGroup::<f64>::indefinite_orthogonal(p, n - p).unwrap();
            assert_eq!(space.algebra_dim(), n * (n - 1) / 2);
        }
        assert_eq!(QuadraticGroup::<f64>::symplectic(2 * n).unwrap().algebra_dim(), n * (2 * n + 1));
    }
    // A form in general position: one plane of rotations or boosts for each pair of dimensions.
    assert_eq!(general_quadratic::<f64>(4, &GENERAL_FORM, &[1.0; 4]).space.algebra_dim(), 2);
}

#[test]
fn the_basis_of_the_sphere_has_the_fixed_order() {
    let pairs = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)];
    for (e_k, (i, j)) in basis::<f64>(&Sphere::new(4).unwrap()).iter().zip(pairs) {
        let mut expected = DMatrix::zeros(4, 4);
        expected[(i, j)] = 1.0;
        expected[(j, i)] = -1.0;
        assert_eq!(e_k, &expected);
    }
}

#[test]
fn the_quadratic_group_of_the_identity_is_the_sphere() {
    for n in [2, 3, 6] {
        let quadratic = QuadraticGroup::<f64>::indefinite_orthogonal(n, 0).unwrap();
        assert_eq!(basis::<f64>(&quadratic), basis::<f64>(&Sphere::new(n).unwrap()));
    }
}

/// Forms of every kind: `V^T P + P V = 0` for the basis, `G^T P G = P` for the exponentials.
#[test]
fn quadratic_groups_satisfy_their_definition() {
    let mut groups = vec![
        QuadraticGroup::new(3, &SYMMETRIC_FORM, 1.0).unwrap(),
        QuadraticGroup::new(4, &GENERAL_FORM, 1.0).unwrap(),
        QuadraticGroup::indefinite_orthogonal(1, 3).unwrap(),
        QuadraticGroup::symplectic(6).unwrap(),
    ];
    for n in 2..7 {
        groups.push(QuadraticGroup::new(n, &numbers(n as u64, n * n), 1.0).unwrap());
    }
    let antisymmetric =
        [0.0, 2.0, -1.0, 0.5, -2.0, 0.0, 3.0, 1.0, 1.0, -3.0, 0.0, -1.5, -0.5, -1.0, 1.5, 0.0];
    groups.push(QuadraticGroup::new(4, &antisymmetric, 0.0).unwrap());
    for group in groups {
        let n = group.ambient_dim();
        let p = DMatrix::from_row_slice(n, n, group.form());
        for v in basis(&group) {
            let defect = v.transpose() * &p + &p * &v;
            assert!(defect.norm() < 1e-13 * v.norm() * p.norm(), "n = {n}: {}", defect.norm());
        }
        let g = matrix(&group, &coefficients_of_norm(&group, 4, 1.5)).exp();
        assert!(group.group_residual(&row_major(&g)).unwrap() < 1e-13);
        assert!(group.group_residual(&numbers(9, n * n)).unwrap() > 1e-2);
    }
}

#[test]
fn the_general_basis_is_orthonormal() {
    let group = QuadraticGroup::new(4, &GENERAL_FORM, 1.0).unwrap();
    let basis = basis(&group);
    for (k, v) in basis.iter().enumerate() {
        for (l, w) in basis.iter().enumerate() {
            assert!((v.dot(w) - f64::from(u8::from(k == l))).abs() < 1e-13);
        }
    }
}

#[test]
fn exponentials_are_in_the_group_and_stay_on_the_space() {
    for sample in samples::<f64>() {
        let space = &*sample.space;
        assert!(space.membership_residual(&sample.point).unwrap() < 1e-15, "{}", sample.name);
        let g = matrix(space, &coefficients_of_norm(space, 6, 1.2)).exp();
        assert!(space.group_residual(&row_major(&g)).unwrap() < 1e-13, "{}", sample.name);
        assert!(space.ensure_member(&moved_point(&sample), 1e-14).is_ok(), "{}", sample.name);
    }
}

#[test]
fn residuals_see_what_is_outside() {
    let sphere = Sphere::new(3).unwrap();
    assert_eq!(sphere.membership_residual(&[0.0, 0.0, 0.0]).unwrap(), 1.0);
    let swap = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    assert!((sphere.group_residual(&swap).unwrap() - 2.0f64).abs() < 1e-15);
    let linear = GeneralLinear::new(2).unwrap();
    assert_eq!(linear.membership_residual(&[0.0, 0.0]).unwrap(), f64::INFINITY);
    assert_eq!(linear.group_residual(&[1.0, 2.0, 2.0, 4.0]).unwrap(), f64::INFINITY);
    assert_eq!(linear.group_residual(&[0.0; 4]).unwrap(), f64::INFINITY);
    let plane = QuadraticGroup::symplectic(2).unwrap();
    assert_eq!(plane.membership_residual(&[0.0, 0.0]).unwrap(), f64::INFINITY);
    assert_eq!(plane.membership_residual(&[0.0, 1e-3]).unwrap(), 0.0);
    let hyperboloid = QuadraticGroup::indefinite_orthogonal(1, 1).unwrap();
    let error = hyperboloid.ensure_member(&[1.0, 1.0], 1e-6).unwrap_err();
    assert_eq!(error, GeometryError::NotOnSpace { residual: 0.5, tolerance: 1e-6 });
}

#[test]
fn pinning_drift_is_half_the_sum_of_squares() {
    let sigma = 0.3;
    for sample in samples::<f64>() {
        let z = moved_point(&sample);
        let sum: DMatrix<f64> = basis(&*sample.space).iter().map(|e| e * e * (0.5 * sigma * sigma)).sum();
        let mut drift = vec![0.0; z.len()];
        sample.space.pinning_drift(sigma, &z, &mut drift).unwrap();
        assert_close(&sample.name, &drift, (sum * DVector::from_vec(z)).as_slice(), 1e-13);
    }
}

#[test]
fn the_pseudo_inverse_satisfies_the_equations_of_penrose() {
    for sample in samples::<f64>() {
        let (space, z) = (&*sample.space, moved_point(&sample));
        let n = z.len();
        for sigma in [0.35, -2.0, 1e-3] {
            let mut diffusion = vec![0.0; n * n];
            space.diffusion_matrix(sigma, &z, &mut diffusion).unwrap();
            let s = DMatrix::from_row_slice(n, n, &diffusion);
            let sum: DMatrix<f64> = basis(space)
                .iter()
                .map(|e| e * DVector::from_column_slice(&z) * sigma)
                .map(|v| &v * v.transpose())
                .sum();
            assert!((&s - sum).norm() < 1e-13 * s.norm(), "{}", sample.name);

            let mut inverse = DMatrix::zeros(n, n);
            for (i, mut column) in inverse.column_iter_mut().enumerate() {
                let unit: Vec<f64> = (0..n).map(|j| f64::from(u8::from(i == j))).collect();
                space.diffusion_pseudo_inverse(sigma, &z, &unit, column.as_mut_slice()).unwrap();
            }
            let (left, right) = (&s * &inverse, &inverse * &s);
            assert!((&left * &s - &s).norm() < 1e-12 * s.norm(), "{}: S S+ S", sample.name);
            assert!(
                (&right * &inverse - &inverse).norm() < 1e-12 * inverse.norm(),
                "{}: S+ S S+",
                sample.name
            );
            assert!((&left - left.transpose()).norm() < 1e-11, "{}: S S+", sample.name);
            assert!((&right - right.transpose()).norm() < 1e-11, "{}: S+ S", sample.name);
        }
    }
}

proptest! {
    #[test]
    fn coefficients_invert_the_matrix(seed: u64, magnitude in -8..8i32) {
        for sample in samples::<f64>() {
            let (n, m) = (sample.space.ambient_dim(), sample.space.algebra_dim());
            if n > 5 {
                continue; // the closed form is the same, the plain one slow
            }
            let scale = 10f64.powi(magnitude);
            let c: Vec<f64> = numbers(seed, m).iter().map(|c| c * scale).collect();
            let a = row_major(&matrix(&*sample.space, &c));
            for space in [&*sample.space, &Essentials(&*sample.space)] {
                let mut found = vec![0.0; m];
                space.coefficients(&a, &mut found).unwrap();
                for (found, given) in found.iter().zip(&c) {
                    prop_assert!((found - given).abs() < 1e-13 * scale, "{}", sample.name);
                }
            }
        }
    }

    #[test]
    fn projection_to_the_sphere_keeps_the_direction(z in prop::collection::vec(-1e30..1e30f64, 4)) {
        prop_assume!(z.iter().any(|&x| x != 0.0));
        let sphere = Sphere::new(4).unwrap();
        let mut projected = z.clone();
        sphere.project(&mut projected).unwrap();
        prop_assert!(sphere.membership_residual(&projected).unwrap() < 1e-15);
        let mut tangent = [0.0; 4];
        sphere.tangent(&projected, &z, &mut tangent).unwrap();
        let length = z.iter().fold(0.0, |l: f64, x| l.hypot(*x));
        prop_assert!(tangent.iter().all(|t| t.abs() < 1e-14 * length));
    }
}

#[test]
fn what_is_not_in_the_algebra_is_refused() {
    for sample in samples::<f64>() {
        let (n, m) = (sample.space.ambient_dim(), sample.space.algebra_dim());
        if m == n * n {
            continue;
        }
        let error = sample.space.coefficients(&numbers(5, n * n), &mut vec![0.0; m]).unwrap_err();
        assert!(matches!(error, GeometryError::NotInAlgebra { residual, .. } if residual > 1e-2));
    }
}

/// A space whose second basis matrix repeats the first.
#[derive(Debug)]
struct Repeated;

impl HomogeneousSpace<f64> for Repeated {
    fn ambient_dim(&self) -> usize {
        2
    }
    fn algebra_dim(&self) -> usize {
        2
    }
    fn matrix(&self, coefficients: &[f64], out: &mut [f64]) -> Result<(), GeometryError> {
        Sphere::new(2)?.matrix(&[coefficients[0] + coefficients[1]], out)
    }
    fn membership_residual(&self, z: &[f64]) -> Result<f64, GeometryError> {
        Sphere::new(2)?.membership_residual(z)
    }
    fn group_residual(&self, g: &[f64]) -> Result<f64, GeometryError> {
        Sphere::new(2)?.group_residual(g)
    }
}

#[test]
fn a_dependent_basis_is_refused() {
    let error = Repeated.coefficients(&[0.0, -1.0, 1.0, 0.0], &mut [0.0; 2]).unwrap_err();
    assert_eq!(error, GeometryError::DependentBasis { algebra_dim: 2 });
}

#[test]
fn bad_spaces_are_refused() {
    let too_small = |actual| GeometryError::DimensionTooSmall { minimum: 2, actual };
    for n in [0, 1] {
        assert_eq!(Sphere::new(n), Err(too_small(n)));
        assert_eq!(GeneralLinear::new(n), Err(too_small(n)));
        assert_eq!(Hyperbolic::new(n), Err(too_small(n)));
        assert_eq!(QuadraticGroup::new(n, &vec![1.0; n], 1.0), Err(too_small(n)));
        assert_eq!(QuadraticGroup::<f64>::indefinite_orthogonal(n, 0), Err(too_small(n)));
    }
    assert_eq!(QuadraticGroup::<f64>::symplectic(0), Err(too_small(0)));
    assert_eq!(QuadraticGroup::<f64>::symplectic(3), Err(GeometryError::OddDimension { actual: 3 }));
    assert_eq!(
        QuadraticGroup::new(2, &[1.0, 0.0, 0.0], 1.0),
        Err(GeometryError::LengthMismatch { argument: "form", expected: 4, actual: 3 })
    );
    let nan = QuadraticGroup::new(2, &[1.0, 0.0, f64::NAN, 1.0], 1.0);
    assert!(matches!(nan, Err(GeometryError::NonFinite { argument: "form", index: 2, .. })));
    let nan = QuadraticGroup::new(2, &[1.0, 0.0, 0.0, 1.0], f64::INFINITY);
    assert!(matches!(nan, Err(GeometryError::NonFinite { argument: "level", .. })));
    let singular = QuadraticGroup::new(2, &[1.0, 2.0, 2.0, 4.0], 1.0);
    assert!(matches!(singular, Err(GeometryError::SingularForm { .. })));
    let odd_antisymmetric = [0.0, 1.0, 2.0, -1.0, 0.0, 3.0, -2.0, -3.0, 0.0];
    let singular = QuadraticGroup::new(3, &odd_antisymmetric, 0.0);
    assert!(matches!(singular, Err(GeometryError::SingularForm { .. })));
    let empty = |level| Err(GeometryError::EmptyLevelSet { level });
    assert_eq!(QuadraticGroup::<f64>::indefinite_orthogonal(0, 3), empty(1.0));
    assert_eq!(QuadraticGroup::new(2, &[1.0, 0.0, 0.0, 1.0], -1.0), empty(-1.0));
    assert_eq!(QuadraticGroup::new(2, &[1.0, 0.0, 0.0, 1.0], 0.0), empty(0.0));
    assert_eq!(QuadraticGroup::new(2, &[0.0, 1.0, -1.0, 0.0], 1.0), empty(1.0));
    // A symmetric part of rank one beside an area form in the plane: a shear, and one dimension.
    let shear = QuadraticGroup::new(2, &[1.0, 1.0, -1.0, 0.0], 1.0).unwrap();
    assert_eq!(shear.algebra_dim(), 1);
}

#[test]
fn bad_arguments_are_refused() {
    for sample in samples::<f64>() {
        let (space, n, m) = (&*sample.space, sample.space.ambient_dim(), sample.space.algebra_dim());
        let (c, z, square) = (vec![0.1; m], sample.point.clone(), vec![0.0; n * n]);
        let (long_c, long_z) = (vec![0.1; m + 1], vec![0.1; n + 1]);
        let out = |length: usize| vec![0.0; length];
        let results = [
            space.matrix(&long_c, &mut out(n * n)),
            space.matrix(&c, &mut out(n)),
            space.matrix_pullback(&square[1..], &mut out(m)),
            space.matrix_pullback(&square, &mut out(m + 1)),
            space.coefficients(&square[1..], &mut out(m)),
            space.coefficients(&square, &mut out(m + 1)),
            space.infinitesimal_action(&long_c, &z, &mut out(n)),
            space.infinitesimal_action(&c, &long_z, &mut out(n)),
            space.infinitesimal_action(&c, &z, &mut out(n + 1)),
            space.exponential_action(&long_c, &z, &mut out(n)),
            space.exponential_action(&c, &long_z, &mut out(n)),
            space.exponential_action(&c, &z, &mut out(n + 1)),
            space.pinning_drift(1.0, &long_z, &mut out(n)),
            space.pinning_drift(1.0, &z, &mut out(n + 1)),
            space.diffusion_matrix(1.0, &long_z, &mut out(n * n)),
            space.diffusion_matrix(1.0, &z, &mut out(n)),
            space.diffusion_pseudo_inverse(1.0, &long_z, &z, &mut out(n)),
            space.diffusion_pseudo_inverse(1.0, &z, &long_z, &mut out(n)),
            space.diffusion_pseudo_inverse(1.0, &z, &z, &mut out(n + 1)),
            space.membership_residual(&long_z).map(drop),
            space.group_residual(&square[1..]).map(drop),
        ];
        for (i, result) in results.into_iter().enumerate() {
            let mismatch = matches!(result, Err(GeometryError::LengthMismatch { .. }));
            assert!(mismatch, "{}, call {i}: {result:?}", sample.name);
        }
        let (nan_z, nan_square) = (vec![f64::NAN; n], vec![f64::NAN; n * n]);
        let results = [
            space.coefficients(&nan_square, &mut out(m)),
            space.exponential_action(&c, &nan_z, &mut out(n)),
            space.diffusion_pseudo_inverse(1.0, &nan_z, &z, &mut out(n)),
            space.diffusion_pseudo_inverse(1.0, &z, &nan_z, &mut out(n)),
            space.membership_residual(&nan_z).map(drop),
            space.group_residual(&nan_square).map(drop),
        ];
        for (i, result) in results.into_iter().enumerate() {
            let non_finite = matches!(result, Err(GeometryError::NonFinite { index: 0, .. }));
            assert!(non_finite, "{}, call {i}: {result:?}", sample.name);
        }
        for sigma in [0.0, f64::NAN] {
            let error = space.diffusion_pseudo_inverse(sigma, &z, &z, &mut out(n)).unwrap_err();
            assert!(matches!(error, GeometryError::VanishingNoise { .. }));
        }
    }
    let origin = Sphere::new(3).unwrap().project(&mut [0.0; 3]);
    assert_eq!(origin, Err(GeometryError::ZeroVector { argument: "z" }));
}
