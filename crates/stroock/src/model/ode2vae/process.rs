//! Paths of a second-order equation and their log densities.

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};

use super::{DrawnField, SecondOrderConfig, StartDensity, UncertainField};
use crate::entries::entries;
use crate::initial::InitialWeights;
use crate::latent::{FlowError, NormalStart, PathGrid, PathNoise, PathRequests};
use crate::plain::DensePlan;

/// The equation `s' = v`, `v' = f_W(v, s)` with random weights `W`.
#[derive(Module, Debug)]
pub struct SecondOrderProcess {
    /// `f_W`.
    pub field: UncertainField,
    #[module(skip)]
    config: SecondOrderConfig,
}

/// States of paths at the requested times, and the logarithms of their densities there.
#[derive(Clone, Debug)]
pub struct DensePaths {
    /// `(v, s)`, `[S, Q, 2q]`.
    pub states: Tensor<3>,
    /// `ln q(z_t)`, `[S, Q]`.
    pub ln_density: Tensor<2>,
}

/// Shares of the slopes in a step of Runge and Kutta.
const SHARES: [f64; 4] = [1.0 / 6.0, 2.0 / 6.0, 2.0 / 6.0, 1.0 / 6.0];

impl SecondOrderProcess {
    /// Initialises the equation.
    pub fn new(config: SecondOrderConfig, weights: &mut InitialWeights) -> Self {
        let field = UncertainField::new(config.dim, config.hidden, config.variance, weights);
        Self { field, config }
    }

    /// The choices that it was made with.
    pub fn config(&self) -> &SecondOrderConfig {
        &self.config
    }

    /// Paths from the points `mean + e^ln_scale xi` for standard normals `xi` (`[S, B, 2q]`), each sample along a field of
    /// its own.
    ///
    /// # Errors
    /// When grid and requests do not fit the start, or a path leaves the range of the numbers.
    pub fn paths(
        &self,
        start: &NormalStart,
        normals: Tensor<3>,
        fields: &[DrawnField],
        (grid, requests): (&PathGrid, &PathRequests),
    ) -> Result<DensePaths, FlowError> {
        let [series, width] = start.mean.dims();
        let points = start.points(normals.clone());
        let nothing = PathNoise::Given(Vec::new());
        let dense = DensePlan::new((grid, requests), &nothing, [1, series, 0], points.dtype())?;
        let of_start = self.ln_density_of_start(start, normals);
        if requests.indices.is_empty() {
            let options = (&points.device(), points.dtype());
            let (states, ln_density) = ([fields.len(), 0, width], [fields.len(), 0]);
            return Ok(DensePaths {
                states: Tensor::zeros(states, options),
                ln_density: Tensor::zeros(ln_density, options),
            });
        }
        let of_sample = |(sample, field): (usize, &DrawnField)| {
            let own = points.clone().narrow(0, sample, 1).reshape([series, width]);
            let (states, expansion) = self.integrate(own, field, &dense);
            let before = of_start.clone().narrow(0, sample, 1);
            let frames = expansion.dims()[0];
            let ln_density = (before - expansion).reshape([frames * series, 1]);
            let rows = dense.requests(&states.device());
            let both = Tensor::cat(vec![states, ln_density], 1).select(0, rows);
            both.unsqueeze_dim::<3>(0)
        };
        let both = Tensor::cat(fields.iter().enumerate().map(of_sample).collect(), 0);
        let [samples, requested, _] = both.dims();
        let states = both.clone().narrow(2, 0, width);
        check_finite(&states, &requests.offsets)?;
        Ok(DensePaths { states, ln_density: both.narrow(2, width, 1).reshape([samples, requested]) })
    }

    /// `ln q(z_0)`, `[S, B]`.
    fn ln_density_of_start(&self, start: &NormalStart, normals: Tensor<3>) -> Tensor<2> {
        let [samples, series, _] = normals.dims();
        let of_noise = ln_standard_normal(normals);
        match self.config.density {
            StartDensity::Released => of_noise,
            StartDensity::Exact => {
                let ln_volume = start.ln_scale.clone().sum_dim(1).reshape([1, series]);
                of_noise - ln_volume.expand([samples, series])
            }
        }
    }

    /// States `[frames B, 2q]` at all times of the grid up to the last one that is asked for, and the integrals
    /// `[frames, B]` of the trace of `df/dv` up to them.
    fn integrate(&self, start: Tensor<2>, field: &DrawnField, dense: &DensePlan) -> (Tensor<2>, Tensor<2>) {
        let (series, q) = (start.dims()[0], self.config.dim);
        let options = (&start.device(), start.dtype());
        let substeps = self.config.substeps;
        let last = dense.requests.iter().max().map_or(0, |&row| row as usize / series.max(1));
        let times = dense.times(series, options);
        let mut active = [Vec::new(), Vec::new()];
        let mut slope = |z: Tensor<2>| {
            let velocity = z.clone().narrow(1, 0, q);
            let at = field.evaluate(z);
            active.iter_mut().zip(at.active).for_each(|(all, one)| all.push(one));
            Tensor::cat(vec![at.value, velocity], 1)
        };
        let (mut z, mut states, mut steps) = (start.clone(), vec![start], Vec::new());
        for j in 0..last {
            let gap = times.clone().narrow(1, j + 1, 1) - times.clone().narrow(1, j, 1);
            let dt = gap.mul_scalar(1.0 / substeps as f64);
            let half = dt.clone().mul_scalar(0.5);
            for _ in 0..substeps {
                let k1 = slope(z.clone());
                let k2 = slope(z.clone() + k1.clone() * half.clone());
                let k3 = slope(z.clone() + k2.clone() * half.clone());
                let k4 = slope(z.clone() + k3.clone() * dt.clone());
                let sum = k1 + (k2 + k3).mul_scalar(2.0) + k4;
                z = z + sum * dt.clone().mul_scalar(1.0 / 6.0);
            }
            states.push(z.clone());
            steps.push(dt.reshape([1, series]));
        }
        if last == 0 {
            return (Tensor::cat(states, 0), Tensor::zeros([1, series], options));
        }
        // The trace does not act on the path: all of them are taken at once.
        let traces = field.traces(active.map(|all| Tensor::cat(all, 0)));
        let shares: Vec<f64> = SHARES.repeat(substeps);
        let shares = Tensor::<3>::from_data(TensorData::new(shares, [1, 4 * substeps, 1]), options);
        let of_steps = (traces.reshape([last, 4 * substeps, series]) * shares).sum_dim(1);
        let of_steps = of_steps.reshape([last, series]) * Tensor::cat(steps, 0);
        let before: Vec<f64> = (0..=last)
            .flat_map(|frame| (0..last).map(move |step| f64::from(u8::from(step < frame))))
            .collect();
        let before = Tensor::<2>::from_data(TensorData::new(before, [last + 1, last]), options);
        (Tensor::cat(states, 0), before.matmul(of_steps))
    }
}

impl DensePaths {
    /// `sum_t [ln q(z_t) - ln N(z_t; 0, I)]` of each series, `[B]`, averaged over samples; series `b` has the points
    /// `offsets[b]..offsets[b + 1]`.
    pub fn divergence_from_prior(&self, offsets: &[usize]) -> Tensor<1> {
        let of_points = self.ln_density.clone() - ln_standard_normal(self.states.clone());
        sums_of_series(of_points, offsets)
    }

    /// `sum_t [ln q(z_t) - ln N(z_t; m_t, s_t^2)]` for normal distributions of all points, `[Q, 2q]`.
    pub fn divergence_from(&self, points: &NormalStart, offsets: &[usize]) -> Tensor<1> {
        let (mean, ln_scale) = (points.mean.clone(), points.ln_scale.clone());
        let distance = self.states.clone() - mean.unsqueeze_dim(0);
        let normals = distance * ln_scale.clone().neg().exp().unsqueeze_dim(0);
        let count = ln_scale.dims()[0];
        let ln_volume = ln_scale.sum_dim(1).reshape([1, count]);
        let of_points = self.ln_density.clone() - ln_standard_normal(normals) + ln_volume;
        sums_of_series(of_points, offsets)
    }
}

/// `ln N(x; 0, I)` of the vectors `[S, Q, n]`, `[S, Q]`.
fn ln_standard_normal(x: Tensor<3>) -> Tensor<2> {
    let [samples, points, n] = x.dims();
    let squares = x.powi_scalar(2).sum_dim(2).reshape([samples, points]);
    squares.mul_scalar(-0.5).sub_scalar(0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln())
}

/// Sums over the points of each series, means over samples: `[S, Q]` to `[B]`.
pub(in crate::model) fn sums_of_series(of_points: Tensor<2>, offsets: &[usize]) -> Tensor<1> {
    let mean = of_points.mean_dim(0);
    let sums = offsets.windows(2).map(|pair| match pair[1] - pair[0] {
        0 => Tensor::zeros([1, 1], (&mean.device(), mean.dtype())),
        count => mean.clone().narrow(1, pair[0], count).sum_dim(1),
    });
    let sums: Vec<Tensor<2>> = sums.collect();
    let series = sums.len();
    Tensor::cat(sums, 1).reshape([series])
}

/// Finds paths that have left the range of the numbers.
fn check_finite(states: &Tensor<3>, offsets: &[usize]) -> Result<(), FlowError> {
    let [_, points, width] = states.dims();
    let all = entries(states.clone());
    match all.iter().position(|x| !x.is_finite()) {
        Some(place) => {
            let point = place / width % points;
            let series = offsets.partition_point(|&first| first <= point).saturating_sub(1);
            Err(FlowError::StateNotFinite { series })
        }
        None => Ok(()),
    }
}
