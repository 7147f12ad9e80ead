//! The exponential action against the dense matrix exponential, and its adjoint against finite
//! differences.

mod sample;

use nalgebra::DVector;
use sample::{as_f64, coefficients_of_norm, matrix, numbers, of, samples};
use stroock_geometry::{
    GeneralLinear, GeometryError, HomogeneousSpace, Real, Sphere, TaylorPlan, exponential_action,
    exponential_action_pullback,
};
use stroock_testing::finite_difference::{assert_close, gradient};

const NORMS: [f64; 8] = [1e-6, 1e-3, 0.1, 1.0, 1.5, 7.0, 20.0, 50.0];

/// The action differs from the dense exponential by no more than the rounding, which grows with the norm.
fn action_is_the_dense_exponential<T: Real>() {
    for sample in samples::<T>() {
        let (space, n) = (&*sample.space, sample.space.ambient_dim());
        for (seed, norm) in NORMS.into_iter().enumerate() {
            let c = coefficients_of_norm(space, seed as u64, norm);
            let z: Vec<T> = of(&numbers(100 + seed as u64, n));
            let mut moved = vec![T::zero(); n];
            space.exponential_action(&c, &z, &mut moved).unwrap();

            let g = matrix(space, &c).exp();
            let expected = &g * DVector::from_vec(as_f64(&z));
            let error = (DVector::from_vec(as_f64(&moved)) - expected).norm();
            let scale = g.norm() * DVector::from_vec(as_f64(&z)).norm();
            let relative = error / scale / T::epsilon().as_f64();
            assert!(relative < 8.0 * (1.0 + norm), "{}, norm {norm}: {relative} eps", sample.name);
        }
    }
}

#[test]
fn action_is_the_dense_exponential_f64() {
    action_is_the_dense_exponential::<f64>();
}

#[test]
fn action_is_the_dense_exponential_f32() {
    action_is_the_dense_exponential::<f32>();
}

#[test]
fn small_rotations_are_exact_to_the_last_digits() {
    let circle = Sphere::new(2).unwrap();
    for angle in [1e-300f64, 1e-160, 1e-20, 1e-9, 1e-4] {
        let mut z = [0.0; 2];
        circle.exponential_action(&[angle], &[1.0, 0.0], &mut z).unwrap();
        assert!((z[1] / angle.sin() - 1.0).abs() < 1e-15 && (z[0] - angle.cos()).abs() < 1e-15);
    }
}

#[test]
fn opposite_moves_cancel() {
    for sample in samples::<f64>() {
        let n = sample.space.ambient_dim();
        let c = coefficients_of_norm(&*sample.space, 3, 2.5);
        let back: Vec<f64> = c.iter().map(|x| -x).collect();
        let (mut there, mut home) = (vec![0.0; n], vec![0.0; n]);
        sample.space.exponential_action(&c, &sample.point, &mut there).unwrap();
        sample.space.exponential_action(&back, &there, &mut home).unwrap();
        assert_close(&sample.name, &home, &sample.point, 1e-12);
    }
}

/// `L = w^T exp(A) z`, by all coefficients and by `z`.
#[test]
fn adjoint_is_the_finite_difference() {
    for sample in samples::<f64>() {
        let (space, n, m) = (&*sample.space, sample.space.ambient_dim(), sample.space.algebra_dim());
        for (seed, norm) in [0.0, 1e-3, 0.8, 3.3].into_iter().enumerate() {
            let c = coefficients_of_norm(space, seed as u64, norm);
            let (z, w) = (numbers(7, n), numbers(8, n));
            let loss = |c: &[f64], z: &[f64]| -> f64 {
                let mut moved = vec![0.0; n];
                space.exponential_action(c, z, &mut moved).unwrap();
                moved.iter().zip(&w).map(|(x, w)| x * w).sum()
            };
            let (mut by_c, mut by_z) = (vec![f64::NAN; m], vec![f64::NAN; n]);
            space.exponential_action_pullback(&c, &z, &w, &mut by_c, &mut by_z).unwrap();
            let name = format!("{}, norm {norm}", sample.name);
            assert_close(&name, &by_c, &gradient(&c, 2e-3, |c| loss(c, &z)), 1e-9);
            assert_close(&name, &by_z, &gradient(&z, 2e-3, |z| loss(&c, z)), 1e-9);
        }
    }
}

#[test]
fn adjoint_in_single_precision_follows_the_double() {
    let (single, double) = (samples::<f32>(), samples::<f64>());
    for (sample, reference) in single.iter().zip(&double) {
        let (n, m) = (sample.space.ambient_dim(), sample.space.algebra_dim());
        let c = coefficients_of_norm(&*sample.space, 5, 2.0);
        let (z, w): (Vec<f32>, Vec<f32>) = (of(&numbers(7, n)), of(&numbers(8, n)));
        let (mut by_c, mut by_z) = (vec![0.0; m], vec![0.0; n]);
        sample.space.exponential_action_pullback(&c, &z, &w, &mut by_c, &mut by_z).unwrap();
        let (mut c64, mut z64) = (vec![0.0; m], vec![0.0; n]);
        reference
            .space
            .exponential_action_pullback(&as_f64(&c), &as_f64(&z), &as_f64(&w), &mut c64, &mut z64)
            .unwrap();
        // The basis of the general form is computed, and only rounded the same in both precisions.
        let scale = c64.iter().fold(1.0, |s: f64, x| s.max(x.abs()));
        let scaled = |x: &[f64]| x.iter().map(|x| x / scale).collect::<Vec<f64>>();
        assert_close(&sample.name, &scaled(&as_f64(&by_c)), &scaled(&c64), 1e-5);
        assert_close(&sample.name, &as_f64(&by_z), &z64, 1e-5);
    }
}

#[test]
fn the_plan_truncates_below_the_rounding() {
    for norm in NORMS {
        let plan = TaylorPlan::for_norm(norm).unwrap();
        let x = norm / plan.substeps as f64;
        let tail = |first: usize| -> f64 {
            (first..first + 30).map(|k| (1..=k).fold(1.0, |t, i| t * x / i as f64)).sum()
        };
        assert!(x <= 1.0 && tail(plan.terms + 1) < f64::EPSILON, "norm {norm}: {plan:?}");
        assert!(plan.terms == 1 || tail(plan.terms - 1) > f64::EPSILON / 2.0, "norm {norm}: {plan:?}");
    }
}

#[test]
fn what_is_not_finite_is_refused() {
    let sphere = Sphere::new(3).unwrap();
    let z = [1.0, 0.0, 0.0];
    let mut out = [0.0; 3];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = sphere.exponential_action(&[0.0, bad, 0.0], &z, &mut out).unwrap_err();
        assert!(matches!(error, GeometryError::NonFinite { argument: "coefficients", index: 1, .. }));
        let error = sphere.exponential_action(&[0.0; 3], &[1.0, 0.0, bad], &mut out).unwrap_err();
        assert!(matches!(error, GeometryError::NonFinite { argument: "z", index: 2, .. }));
    }
    for bound in [f64::NAN, f64::INFINITY] {
        let error = exponential_action(&[0.0; 9], bound, &z, &mut out).unwrap_err();
        assert!(matches!(error, GeometryError::NormTooLarge { .. }));
    }
    // Finite entries, whose squares need not be.
    for large in [1e200, 1e6] {
        let error = sphere.exponential_action(&[large, 0.0, 0.0], &z, &mut out).unwrap_err();
        assert!(matches!(error, GeometryError::NormTooLarge { .. }));
    }
}

#[test]
fn overflow_is_an_error() {
    let space = GeneralLinear::new(2).unwrap();
    let error = space.exponential_action(&[800.0, 0.0, 0.0, 0.0], &[1.0, 1.0], &mut [0.0; 2]).unwrap_err();
    assert!(matches!(error, GeometryError::NonFinite { argument: "exp(A) z", index: 0, .. }));
}

#[test]
fn wrong_lengths_are_errors() {
    let sphere = Sphere::new(3).unwrap();
    let mismatch =
        |argument, expected, actual| Err(GeometryError::LengthMismatch { argument, expected, actual });
    let (c, z) = ([0.1; 3], [1.0, 0.0, 0.0]);
    assert_eq!(sphere.exponential_action(&c[..2], &z, &mut [0.0; 3]), mismatch("coefficients", 3, 2));
    assert_eq!(sphere.exponential_action(&c, &z[..2], &mut [0.0; 3]), mismatch("z", 3, 2));
    assert_eq!(sphere.exponential_action(&c, &z, &mut [0.0; 4]), mismatch("out", 3, 4));
    let pullback = |cotangent: &[f64], by_c: &mut [f64], by_z: &mut [f64]| {
        sphere.exponential_action_pullback(&c, &z, cotangent, by_c, by_z)
    };
    assert_eq!(pullback(&[1.0], &mut [0.0; 3], &mut [0.0; 3]), mismatch("cotangent", 3, 1));
    assert_eq!(pullback(&z, &mut [0.0; 2], &mut [0.0; 3]), mismatch("out", 3, 2));
    assert_eq!(pullback(&z, &mut [0.0; 3], &mut [0.0; 2]), mismatch("z_cotangent", 3, 2));
    assert_eq!(exponential_action(&[0.0; 3], 0.0, &z, &mut [0.0; 3]), mismatch("matrix", 9, 3));
    let short = exponential_action_pullback(&[0.0; 9], 0.0, &z, &z, &mut [0.0; 8], &mut [0.0; 3]);
    assert_eq!(short, mismatch("matrix_cotangent", 9, 8));
    let nothing: [f64; 0] = [];
    let error = exponential_action(&nothing, 0.0, &nothing, &mut []).unwrap_err();
    assert_eq!(error, GeometryError::DimensionTooSmall { minimum: 1, actual: 0 });
}
