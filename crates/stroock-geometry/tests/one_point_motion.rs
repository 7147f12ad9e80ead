//! The reference path against golden values, its own definition, and what it must preserve.

mod sample;

use nalgebra::DVector;
use sample::{Sample, as_f64, matrix, numbers, of, samples};
use stroock_geometry::{GeneralLinear, GeometryError, HomogeneousSpace, OnePointMotion, Real, Sphere};
use stroock_testing::finite_difference::{assert_close, gradient};
use stroock_testing::golden::{Array, array, golden_cases, number};

/// The inputs of a golden case: start [S, B, n], drift [B, T, m], dt [T], noise [S, B, T, m].
#[derive(Clone)]
struct Batch {
    start: Array,
    drift: Array,
    sigma: f64,
    time_steps: Vec<f64>,
    noise: Array,
}

impl Batch {
    /// Paths [S, B, T + 1, n], and divergences [B] averaged over the samples.
    fn simulate(&self, space: &dyn HomogeneousSpace<f64>) -> (Vec<f64>, Vec<f64>) {
        let (samples, series, n) = (self.start.shape[0], self.start.shape[1], self.start.shape[2]);
        let coefficients = self.time_steps.len() * space.algebra_dim();
        let motion = OnePointMotion::new(space, self.sigma).unwrap();
        let (mut paths, mut divergences) = (Vec::new(), vec![0.0; series]);
        for row in 0..samples * series {
            let b = row % series;
            let drift = &self.drift.entries[b * coefficients..(b + 1) * coefficients];
            let noise = &self.noise.entries[row * coefficients..(row + 1) * coefficients];
            let start = &self.start.entries[row * n..(row + 1) * n];
            let path = motion.path(start, drift, &self.time_steps, noise).unwrap();
            divergences[b] +=
                motion.path_divergence(&path, drift, &self.time_steps).unwrap() / samples as f64;
            paths.extend(path);
        }
        (paths, divergences)
    }
}

#[test]
fn golden_paths_and_divergences_on_the_sphere() {
    for case in golden_cases("geometric_euler.json") {
        let n = number(&case, "n") as usize;
        let space = Sphere::new(n).unwrap();
        let batch = Batch {
            start: array(&case, "z0"),
            drift: array(&case, "drift"),
            sigma: number(&case, "sigma"),
            time_steps: array(&case, "dt").entries,
            noise: array(&case, "noise"),
        };
        let (paths, divergences) = batch.simulate(&space);
        assert_close(&format!("path, n = {n}"), &paths, &array(&case, "path").entries, 1e-13);
        assert_close(&format!("kl, n = {n}"), &divergences, &array(&case, "kl_path").entries, 1e-12);

        let weights = array(&case, "loss_weights").entries;
        let loss = |batch: &Batch| -> f64 {
            let (paths, divergences) = batch.simulate(&space);
            paths.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() + divergences.iter().sum::<f64>()
        };
        assert_close("loss", &[loss(&batch)], &[number(&case, "loss")], 1e-12);
        let mut varied = batch.clone();
        let by_start = gradient(&batch.start.entries, 1e-2, |x| {
            varied.start.entries.copy_from_slice(x);
            loss(&varied)
        });
        assert_close("grad_z0", &by_start, &array(&case, "grad_z0").entries, 1e-8);
        let by_sigma = gradient(&[batch.sigma], 1e-3, |x| loss(&Batch { sigma: x[0], ..batch.clone() }));
        assert_close("grad_sigma", &by_sigma, &[number(&case, "grad_sigma")], 1e-8);
        // A difference costs six paths: those of the last entries, of the last series and step, stand for all.
        let first = batch.drift.entries.len().saturating_sub(120);
        let mut varied = batch.clone();
        let by_drift = gradient(&batch.drift.entries[first..], 1e-2, |x| {
            varied.drift.entries[first..].copy_from_slice(x);
            loss(&varied)
        });
        assert_close("grad_drift", &by_drift, &array(&case, "grad_drift").entries[first..], 1e-8);
    }
}

#[test]
fn golden_paths_of_the_general_linear_group() {
    for case in golden_cases("geometric_euler_gl.json") {
        let n = number(&case, "n") as usize;
        let batch = Batch {
            start: array(&case, "z0"),
            drift: array(&case, "drift"),
            sigma: number(&case, "sigma"),
            time_steps: array(&case, "dt").entries,
            noise: array(&case, "noise"),
        };
        let (paths, _) = batch.simulate(&GeneralLinear::new(n).unwrap());
        assert_close(&format!("path, n = {n}"), &paths, &array(&case, "path").entries, 1e-13);
    }
}

/// Drift, time steps and noise of a motion of `steps` steps on the space of `sample`.
fn inputs<T: Real>(sample: &Sample<T>, steps: usize, dt: f64) -> (Vec<T>, Vec<T>, Vec<T>) {
    let m = sample.space.algebra_dim();
    (of(&numbers(1, steps * m)), vec![T::of(dt); steps], of(&numbers(2, steps * m)))
}

#[test]
fn steps_are_dense_exponentials() {
    let sigma = 0.4;
    for sample in samples::<f64>() {
        let (n, m) = (sample.space.ambient_dim(), sample.space.algebra_dim());
        let (drift, time_steps, noise) = inputs(&sample, 3, 0.2);
        let motion = OnePointMotion::new(&*sample.space, sigma).unwrap();
        let path = motion.path(&sample.point, &drift, &time_steps, &noise).unwrap();
        let mut z = DVector::from_column_slice(&sample.point);
        for (j, &dt) in time_steps.iter().enumerate() {
            let row = j * m..(j + 1) * m;
            let omega: Vec<f64> = drift[row.clone()]
                .iter()
                .zip(&noise[row])
                .map(|(k, xi)| k * dt + sigma * dt.sqrt() * xi)
                .collect();
            z = matrix(&*sample.space, &omega).exp() * z;
            assert_close(&sample.name, &path[(j + 1) * n..(j + 2) * n], z.as_slice(), 1e-12);
        }
    }
}

/// `1/2 sum dt |K z|^2/sigma^2` on the sphere and `1/2 sum dt |K z|^2/(sigma |z|)^2` for GL(n).
#[test]
fn divergences_have_their_closed_forms() {
    let sigma = 0.4;
    for sample in samples::<f64>() {
        let (n, m) = (sample.space.ambient_dim(), sample.space.algebra_dim());
        let squared_length = |z: &DVector<f64>| match sample.name.as_str() {
            name if name.starts_with("sphere") => Some(1.0),
            name if name.starts_with("GL") => Some(z.norm_squared()),
            _ => None,
        };
        let (drift, time_steps, noise) = inputs(&sample, 4, 0.1);
        let motion = OnePointMotion::new(&*sample.space, sigma).unwrap();
        let path = motion.path(&sample.point, &drift, &time_steps, &noise).unwrap();
        let divergence = motion.path_divergence(&path, &drift, &time_steps).unwrap();
        assert!(divergence > 0.0, "{}", sample.name);
        let mut expected = Some(0.0);
        for (j, dt) in time_steps.iter().enumerate() {
            let z = DVector::from_column_slice(&path[j * n..(j + 1) * n]);
            let velocity = matrix(&*sample.space, &drift[j * m..(j + 1) * m]) * &z;
            let rate = squared_length(&z).map(|l| velocity.norm_squared() / (sigma * sigma * l));
            expected = expected.zip(rate).map(|(sum, rate)| sum + 0.5 * dt * rate);
        }
        if let Some(expected) = expected {
            assert_close(&sample.name, &[divergence], &[expected], 1e-13);
        }
    }
}

#[test]
fn the_divergence_grows_with_the_square_of_the_drift_over_the_noise() {
    for sample in samples::<f64>() {
        let (drift, time_steps, noise) = inputs(&sample, 4, 0.1);
        let motion = |sigma| OnePointMotion::new(&*sample.space, sigma).unwrap();
        let path = motion(0.5).path(&sample.point, &drift, &time_steps, &noise).unwrap();
        let divergence = |sigma: f64, factor: f64| {
            let drift: Vec<f64> = drift.iter().map(|k| factor * k).collect();
            motion(sigma).path_divergence(&path, &drift, &time_steps).unwrap()
        };
        let base = divergence(0.5, 1.0);
        let (doubled, quieter) = (divergence(0.5, 2.0), divergence(0.25, 1.0));
        assert_close(&sample.name, &[doubled, quieter], &[4.0 * base; 2], 1e-11);
        assert_eq!(divergence(0.5, 0.0), 0.0);
    }
}

fn stays_on_the_space<T: Real>(steps: usize, factor: f64) {
    for sample in samples::<T>() {
        let n = sample.space.ambient_dim();
        let (_, time_steps, noise) = inputs(&sample, steps, 1e-3);
        let still = vec![T::zero(); noise.len()];
        let motion = OnePointMotion::new(&*sample.space, T::of(0.2)).unwrap();
        let path = motion.path(&sample.point, &still, &time_steps, &noise).unwrap();
        let residual = sample.space.membership_residual(&path[steps * n..]).unwrap().as_f64();
        let bound = factor * steps as f64 * T::epsilon().as_f64();
        assert!(residual < bound, "{}: {residual:e} after {steps} steps", sample.name);
    }
}

#[test]
fn many_steps_stay_on_the_space_f64() {
    stays_on_the_space::<f64>(20_000, 1.0);
}

#[test]
fn many_steps_stay_on_the_space_f32() {
    stays_on_the_space::<f32>(2_000, 1.0);
}

#[test]
fn single_precision_follows_double() {
    for (single, double) in samples::<f32>().iter().zip(&samples::<f64>()) {
        let (drift, time_steps, noise) = inputs(single, 20, 0.05);
        let motion = OnePointMotion::new(&*single.space, 0.5).unwrap();
        let path = motion.path(&single.point, &drift, &time_steps, &noise).unwrap();
        let reference = OnePointMotion::new(&*double.space, 0.5).unwrap();
        let (drift, time_steps, noise) = (as_f64(&drift), as_f64(&time_steps), as_f64(&noise));
        let exact = reference.path(&double.point, &drift, &time_steps, &noise).unwrap();
        assert_close(&single.name, &as_f64(&path), &exact, 1e-4);
    }
}

#[test]
fn no_steps_leave_the_start() {
    let sphere = Sphere::new(2).unwrap();
    let motion = OnePointMotion::new(&sphere, 1.0).unwrap();
    assert_eq!(motion.path(&[0.6, 0.8], &[], &[], &[]).unwrap(), [0.6, 0.8]);
    assert_eq!(motion.path_divergence(&[0.6, 0.8], &[], &[]).unwrap(), 0.0);
}

#[test]
fn bad_input_is_refused() {
    let sphere = Sphere::new(3).unwrap();
    for sigma in [0.0, f64::NAN, f64::INFINITY] {
        let error = OnePointMotion::new(&sphere, sigma).unwrap_err();
        assert!(matches!(error, GeometryError::VanishingNoise { .. }));
    }
    let motion = OnePointMotion::new(&sphere, 1.0).unwrap();
    let (z, k, dt, xi) = ([1.0, 0.0, 0.0], [0.1; 6], [0.1; 2], [0.2; 6]);
    let mismatch = |argument, expected, actual| GeometryError::LengthMismatch { argument, expected, actual };
    assert_eq!(motion.path(&z[1..], &k, &dt, &xi).unwrap_err(), mismatch("start", 3, 2));
    assert_eq!(motion.path(&z, &k[1..], &dt, &xi).unwrap_err(), mismatch("drift", 6, 5));
    assert_eq!(motion.path(&z, &k, &dt, &xi[1..]).unwrap_err(), mismatch("noise", 6, 5));
    assert_eq!(motion.path_divergence(&z, &k, &dt).unwrap_err(), mismatch("path", 9, 3));
    let error = motion.path(&z, &k, &[0.1, -0.1], &xi).unwrap_err();
    assert_eq!(error, GeometryError::NegativeTimeStep { index: 1, value: -0.1 });
    let bad = f64::NAN;
    for (result, argument) in [
        (motion.path(&[bad, 0.0, 0.0], &k, &dt, &xi), "start"),
        (motion.path(&z, &[bad; 6], &dt, &xi), "drift"),
        (motion.path(&z, &k, &[bad; 2], &xi), "time_steps"),
        (motion.path(&z, &k, &dt, &[bad; 6]), "noise"),
    ] {
        assert!(matches!(result, Err(GeometryError::NonFinite { argument: a, .. }) if a == argument));
    }
    assert!(motion.path_divergence(&[bad; 9], &k, &dt).is_err());
}
