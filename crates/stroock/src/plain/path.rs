//! Paths, all series and samples side by side, one step after the other.

use burn::tensor::{DType, Device, Tensor, TensorData};
use stroock_kernels::argument::{check_length, check_not_empty, check_shape};
use stroock_kernels::path::{PathError, Scheme, Space};

use super::dense::DensePlan;
use crate::latent::{PathDrift, PathGrid, PathPlan, PathStates};

/// Simulates paths from `start` (`[S, B, n]`) with the drift coefficients `drift`, in the shape that
/// [`PathDrift`] says, and the diffusion scale `sigma` (`[1]`), and their divergence from paths with the drift
/// coefficients `prior`.
///
/// With the basis `E_k` of the Lie algebra, `K_k(t)` linear in the coefficients, the same for the prior `P`, and standard
/// normals `xi`,
///
/// ```text
/// Omega_j = sum_k (K_k(t_j) dt_j + sigma sqrt(dt_j) xi_jk) E_k,      z_{j+1} = exp(Omega_j) z_j,
/// KL = 1/(2 sigma^2) sum_j dt_j |(K(t_j) - P(t_j)) z_j|^2 / |z_j|^2.
/// ```
///
/// With noise along the space the normals are `<E_k, xi z^T> / |z|` instead. Paths that are steered have their own step:
/// see [`Scheme::Steered`]. On the sphere `|z| = 1` is not computed.
/// Every step ends with a projection to the space, which takes rounding away and is no part of the gradient.
///
/// # Errors
/// When the plan and the tensors do not fit, or a path diverges.
pub fn simulate(
    plan: PathPlan,
    start: Tensor<3>,
    drift: Tensor<3>,
    sigma: Tensor<1>,
    prior: Option<Tensor<3>>,
) -> Result<PathStates, PathError> {
    let [samples, series, n] = start.dims();
    let (device, dtype) = (start.device(), start.dtype());
    let (options, m) = ((&device, dtype), plan.solver.scheme.drift_len(plan.space, plan.dim));
    check_not_empty([("start", series), ("samples", samples)])?;
    check_length("start", "[samples, series, dim]", plan.samples * series * n, samples * series * n)?;
    check_length("start", "[samples, series, dim]", samples * series * plan.dim, samples * series * n)?;
    check_length("sigma", "[1]", 1, sigma.dims()[0])?;
    let scheme = plan.solver.scheme;
    let normals = if scheme == Scheme::TangentNoise { n } else { m };
    let dense =
        DensePlan::new((&plan.grid, &plan.requests), &plan.noise, [plan.samples, series, normals], dtype)?;
    let at_time = AtTime::new(&plan, &dense, series, m)?;
    let shape = "[series, m, terms] or [series, values, m]";
    check_shape("drift.coefficients", shape, &at_time.shape, &drift.dims())?;
    if let Some(prior) = &prior {
        match scheme.is_steered() {
            true => {
                let expected = [series, n + 2 * (n / 2), 1];
                check_shape("prior.coefficients", "[series, n + 2 (n / 2), 1]", &expected, &prior.dims())?;
            }
            false => check_shape("prior.coefficients", shape, &at_time.shape, &prior.dims())?,
        }
    }
    let (times, basis) = (dense.times(series, options), basis(plan.space, n, options));
    let rows = samples * series;
    let noise_scale = sigma.clone().reshape([1, 1, 1]);

    let mut z = start.reshape([rows, n, 1]);
    let mut kl = Tensor::<3>::zeros([rows, 1, 1], options);
    let mut states = vec![z.clone()];
    for j in 0..dense.steps {
        let now = times.clone().narrow(1, j, 1);
        let dt = times.clone().narrow(1, j + 1, 1) - now.clone();
        let drift = at_time.value(j, now.clone(), &drift, options);
        let excess = match &prior {
            Some(prior) if !scheme.is_steered() => drift.clone() - at_time.value(j, now, prior, options),
            _ => drift.clone(),
        };
        let dt = dt.reshape([1, series, 1]);
        let dt_of_rows = dt.clone().expand([samples, series, 1]).reshape([rows, 1, 1]);
        let noise =
            dense.noise(j, [samples, series, normals], options) * noise_scale.clone() * dt.clone().sqrt();
        let (moved, speed) = if scheme.is_steered() {
            let own = (drift * dt).expand([samples, series, n]).reshape([rows, n, 1]);
            let all = match &prior {
                Some(prior) => own.clone() + attract(prior.clone(), z.clone(), samples) * dt_of_rows.clone(),
                None => own.clone(),
            };
            let end = flow(all, z.clone());
            let way = norm_squared(flow(own, z.clone()) - z);
            // Steps of length 0 go no way.
            let speed = way / dt_of_rows.clone().powi_scalar(2).clamp_min(1e-30);
            (scatter(end, noise.reshape([rows, n, 1])), speed)
        } else {
            let noise = match scheme == Scheme::TangentNoise {
                true => {
                    let noise = noise.reshape([rows, n, 1]);
                    lift(plan.space, &basis, noise, z.clone()).reshape([samples, series, m])
                }
                false => noise,
            };
            let matrix = |coefficients: Tensor<3>| {
                let flat = coefficients.expand([samples, series, m]).reshape([rows, m]);
                flat.matmul(basis.clone()).reshape([rows, n, n])
            };
            let speed = speed_squared(plan.space, matrix(excess), z.clone());
            (act(matrix(drift * dt + noise), z, series)?, speed)
        };
        kl = kl + speed * dt_of_rows.clone();
        z = moved;
        z = project(plan.space, z, dt_of_rows);
        states.push(z.clone());
    }

    let kl = kl.reshape([samples, series]) / sigma.powi_scalar(2).mul_scalar(2.0).unsqueeze_dim(0);
    let requests = dense.requests.len();
    if requests == 0 {
        return Ok(PathStates { states: Tensor::zeros([samples, 0, n], options), kl });
    }
    let of_time = |z: Tensor<3>| z.reshape([samples, 1, series, n]);
    let all = Tensor::cat(states.into_iter().map(of_time).collect(), 1);
    let all = all.reshape([samples, (dense.steps + 1) * series, n]);
    Ok(PathStates { states: all.select(1, dense.requests(&device)), kl })
}

/// `T_0(s), .., T_{terms - 1}(s)` at `s = (t - a) / (b - a)` by `T_d = 2 s T_{d-1} - T_{d-2}`, `[B, terms]`.
fn chebyshev(times: Tensor<2>, (start, end): (f64, f64), terms: usize) -> Tensor<2> {
    let s = times.sub_scalar(start).mul_scalar(1.0 / (end - start));
    let mut polynomials = vec![s.ones_like(), s.clone()];
    while polynomials.len() < terms {
        let [before, last] = [2, 1].map(|back| polynomials[polynomials.len() - back].clone());
        polynomials.push(s.clone().mul_scalar(2.0) * last - before);
    }
    polynomials.truncate(terms);
    Tensor::cat(polynomials, 1)
}

/// The basis of the Lie algebra, a matrix in each row, `[m, n n]`.
fn basis(space: Space, n: usize, options: (&Device, DType)) -> Tensor<2> {
    let m = space.algebra_dim(n);
    let mut entries = vec![0f32; m * n * n];
    match space {
        Space::GeneralLinear => (0..m).for_each(|k| entries[k * m + k] = 1.0),
        Space::Sphere | Space::Hyperbolic => {
            let below = (1..n).flat_map(|row| (0..row).map(move |column| (row, column)));
            for (k, (row, column)) in below.enumerate() {
                let boost = space == Space::Hyperbolic && column == 0;
                entries[k * n * n + row * n + column] = 1.0;
                entries[k * n * n + column * n + row] = if boost { 1.0 } else { -1.0 };
            }
        }
    }
    Tensor::from_data(TensorData::new(entries, [m, n * n]), options)
}

/// `|D z|^2 / |z|^2`, with `|z| = 1` on the sphere, `[rows, 1, 1]`.
fn speed_squared(space: Space, excess: Tensor<3>, z: Tensor<3>) -> Tensor<3> {
    let speed = norm_squared(excess.matmul(z.clone()));
    match space {
        Space::Sphere => speed,
        Space::GeneralLinear | Space::Hyperbolic => speed / norm_squared(z),
    }
}

/// Where the flow of `P_z b` ends after the way `v = b dt`, `[rows, n, 1]`: with `psi = tanh(|v| / 2) v / |v|` and
/// `s = z + psi`, at `(1 - |psi|^2) / |s|^2 s + psi`.
fn flow(v: Tensor<3>, z: Tensor<3>) -> Tensor<3> {
    let length = norm_squared(v.clone()).add_scalar(1e-30).sqrt();
    let psi = v * (length.clone().mul_scalar(0.5).tanh() / length);
    let s = z + psi.clone();
    let q = norm_squared(psi.clone()).neg().add_scalar(1.0) / norm_squared(s.clone());
    q * s + psi
}

/// `y + x - <x, y> y`, normalised.
fn scatter(y: Tensor<3>, x: Tensor<3>) -> Tensor<3> {
    let along = (x.clone() * y.clone()).sum_dim(1);
    let w = y.clone() + x - along * y;
    w.clone() / norm_squared(w).sqrt()
}

/// The drift `pull + A z` of an attractor, `[rows, n, 1]`, for coefficients `[B, n + 2 (n / 2), 1]`.
fn attract(coefficients: Tensor<3>, z: Tensor<3>, samples: usize) -> Tensor<3> {
    let ([series, count, _], [rows, n, _]) = (coefficients.dims(), z.dims());
    let of_rows = coefficients.reshape([1, series, count]).expand([samples, series, count]);
    let of_rows = of_rows.reshape([rows, count, 1]);
    let planes = n / 2;
    let pairs = z.narrow(1, 0, 2 * planes).reshape([rows, planes, 2]);
    let (x, y) = (pairs.clone().narrow(2, 0, 1), pairs.narrow(2, 1, 1));
    let rates = of_rows.clone().narrow(1, n, planes);
    let frequencies = of_rows.clone().narrow(1, n + planes, planes);
    let turned = Tensor::cat(
        vec![rates.clone() * x.clone() - frequencies.clone() * y.clone(), frequencies * x + rates * y],
        2,
    );
    let turned = turned.reshape([rows, 2 * planes, 1]);
    let turned = match n % 2 {
        0 => turned,
        _ => Tensor::cat(vec![turned.clone(), turned.narrow(1, 0, 1).zeros_like()], 1),
    };
    of_rows.narrow(1, 0, n) + turned
}

/// The normals `<E_k, xi z^T> / |z|` of noise along the space, `[rows, m]`, from `xi` and `z`, `[rows, n, 1]`.
fn lift(space: Space, basis: &Tensor<2>, xi: Tensor<3>, z: Tensor<3>) -> Tensor<2> {
    let [rows, n, _] = z.dims();
    let unit = match space {
        Space::Sphere => z,
        Space::GeneralLinear | Space::Hyperbolic => z.clone() / norm_squared(z).sqrt(),
    };
    xi.matmul(unit.swap_dims(1, 2)).reshape([rows, n * n]).matmul(basis.clone().transpose())
}

/// Takes the rounding of a step away where there was one, without a gradient.
fn project(space: Space, z: Tensor<3>, dt: Tensor<3>) -> Tensor<3> {
    let at = z.clone().detach();
    match space {
        Space::GeneralLinear => z,
        Space::Sphere => z * norm_squared(at).mul_scalar(-0.5).add_scalar(1.5),
        Space::Hyperbolic => {
            let [_, n, _] = at.dims();
            let first = norm_squared(at.clone().narrow(1, 1, n - 1)).add_scalar(1.0).sqrt();
            let moved = (first - at.clone().narrow(1, 0, 1)).mask_fill(dt.lower_equal_elem(0.0), 0.0);
            z + Tensor::cat(vec![moved, at.narrow(1, 1, n - 1).zeros_like()], 1)
        }
    }
}

/// The value of a drift at a step, linear in its coefficients.
struct AtTime {
    drift: PathDrift,
    /// The shape of the coefficients.
    shape: [usize; 3],
    /// Weights of the values at knots or steps, `[T, B, values]`; empty for polynomials.
    weights: Vec<f64>,
    series: usize,
    m: usize,
}

impl AtTime {
    fn new(plan: &PathPlan, dense: &DensePlan, series: usize, m: usize) -> Result<Self, PathError> {
        let steps = dense.steps;
        let new = |shape, weights| Self { drift: plan.drift.clone(), shape, weights, series, m };
        match &plan.drift {
            PathDrift::Chebyshev { terms, interval: (start, end) } => {
                check_not_empty([("drift.terms", *terms)])?;
                if start >= end {
                    return Err(PathError::Interval { argument: "drift.interval", start: *start, end: *end });
                }
                Ok(new([series, m, *terms], Vec::new()))
            }
            PathDrift::PerStep => {
                let (count, offsets): (usize, Vec<usize>) = match &plan.grid {
                    PathGrid::Shared(_) => (steps, vec![0; series]),
                    PathGrid::PerSeries { offsets, times } => {
                        (times.len() - series, (0..series).map(|b| offsets[b] - b).collect())
                    }
                };
                let mut weights = vec![0.0; steps * series * count];
                for (place, of_row) in weights.chunks_exact_mut(count.max(1)).enumerate() {
                    // What a series that has ended takes does not matter.
                    let (j, b) = (place / series, place % series);
                    of_row[(offsets[b] + j).min(count - 1)] = 1.0;
                }
                let rows = if let PathGrid::Shared(_) = plan.grid { series } else { 1 };
                Ok(new([rows, count, m], weights))
            }
            PathDrift::PiecewiseLinear { knots } => {
                let lists: Vec<(usize, &[f64])> = match knots {
                    PathGrid::Shared(times) => vec![(0, &times[..]); series],
                    PathGrid::PerSeries { offsets, times } => {
                        offsets.windows(2).map(|run| (run[0], &times[run[0]..run[1]])).collect()
                    }
                };
                let (rows, count) = match knots {
                    PathGrid::Shared(times) => (series, times.len()),
                    PathGrid::PerSeries { times, .. } => (1, times.len()),
                };
                let mut weights = vec![0.0; steps * series * count];
                for (place, of_row) in weights.chunks_exact_mut(count.max(1)).enumerate() {
                    let (j, b) = (place / series, place % series);
                    let (offset, knots) = lists[b];
                    let time = dense.times[b * (steps + 1) + j];
                    let right = knots.partition_point(|&knot| knot <= time);
                    if right == 0 || right == knots.len() {
                        of_row[offset + right.min(knots.len() - 1)] = 1.0;
                        continue;
                    }
                    let weight = (time - knots[right - 1]) / (knots[right] - knots[right - 1]);
                    of_row[offset + right - 1] = 1.0 - weight;
                    of_row[offset + right] = weight;
                }
                Ok(new([rows, count, m], weights))
            }
        }
    }

    /// `[1, B, m]` at step `j`, whose times are `now` (`[B, 1]`).
    fn value(
        &self,
        j: usize,
        now: Tensor<2>,
        coefficients: &Tensor<3>,
        options: (&Device, DType),
    ) -> Tensor<3> {
        let (series, m) = (self.series, self.m);
        if let PathDrift::Chebyshev { terms, interval } = self.drift {
            let polynomials = chebyshev(now, interval, terms).unsqueeze_dim::<3>(2);
            return coefficients.clone().matmul(polynomials).reshape([1, series, m]);
        }
        let [rows, count, _] = self.shape;
        let weights = self.weights[j * series * count..(j + 1) * series * count].to_vec();
        let weights = Tensor::<3>::from_data(TensorData::new(weights, [rows, series / rows, count]), options);
        weights.matmul(coefficients.clone()).reshape([1, series, m])
    }
}

fn norm_squared(x: Tensor<3>) -> Tensor<3> {
    x.powi_scalar(2).sum_dim(1)
}

/// Largest norm of a step; beyond it single precision leaves no digits of the angle.
const LIMIT: f64 = 1e5;

/// Largest norm of a part of a step: the terms of a longer one would cancel.
const PART: f64 = 2.0;

/// `exp(Omega) z = sum_k Omega^k z / k!`, in equal parts of the step that are short enough for the series, with as
/// many terms as double precision can see.
fn act(omega: Tensor<3>, mut z: Tensor<3>, series: usize) -> Result<Tensor<3>, PathError> {
    let squares = omega.clone().detach().powi_scalar(2).sum_dim(2).sum_dim(1).into_data();
    let squares: Vec<f64> = squares.convert::<f64>().try_into_vec().unwrap_or_default();
    let (row, square) = (0..squares.len())
        .map(|row| (row, squares[row]))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or_default();
    let norm = square.sqrt();
    if norm > LIMIT || norm.is_nan() {
        return Err(PathError::StepTooLarge { series: row % series.max(1), norm, limit: LIMIT });
    }
    let parts = (norm / PART).ceil().max(1.0);
    let omega = omega.mul_scalar(1.0 / parts);
    for _ in 0..parts as usize {
        let mut term = z.clone();
        let (mut k, mut bound) = (1.0, norm / parts);
        while bound > f64::EPSILON * 1e-3 {
            term = omega.clone().matmul(term).mul_scalar(1.0 / k);
            z = z + term.clone();
            k += 1.0;
            bound *= norm / parts / k;
        }
    }
    Ok(z)
}
