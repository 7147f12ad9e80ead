//! Paths in `R^n` whose drift is a small network, all series and samples side by side, one step after the other.

use burn::tensor::activation::sigmoid;
use burn::tensor::{Int, Tensor, TensorData};
use stroock_kernels::argument::{check_length, check_not_empty};
use stroock_kernels::flow::{Activation, Diffusion, FlowError, Network};

use super::dense::DensePlan;
use crate::latent::{ContextTimes, DrivenPlan, FlowPlan, PathNoise, PathStates};

/// The states `[S, Q, n]` of `z' = f(z)` by `z_{j+1} = z_j + f(z_j) dt_j`: see [`latent::flow`](crate::latent::flow()).
///
/// # Errors
/// When the plan and the tensors do not fit.
pub fn flow(plan: FlowPlan, start: Tensor<3>, drift: Tensor<1>) -> Result<Tensor<3>, FlowError> {
    let plan = DrivenPlan {
        flow: plan,
        diffusion_hidden: 0,
        noise: PathNoise::Given(Vec::new()),
        contexts: ContextTimes::Constant,
    };
    Ok(advance(&plan, start, drift, None, None)?.states)
}

/// The states `[S, Q, n]` of `dz = f(z) dt + g(z) dW` by `z_{j+1} = z_j + f(z_j) dt_j + g(z_j) sqrt(dt_j) xi_j`.
///
/// # Errors
/// When the plan and the tensors do not fit.
pub fn driven_flow(
    plan: DrivenPlan,
    start: Tensor<3>,
    drift: Tensor<1>,
    diffusion: Tensor<1>,
) -> Result<Tensor<3>, FlowError> {
    Ok(advance(&plan, start, drift, Some(diffusion), None)?.states)
}

/// The same with the drift `f(z, c)`, and the divergence `1/2 sum_j dt_j |(f - h) / max(g, 1e-7)|^2` from the prior `h`.
///
/// # Errors
/// When the plan and the tensors do not fit.
pub fn posterior_flow(
    plan: DrivenPlan,
    start: Tensor<3>,
    drift: Tensor<1>,
    context: Tensor<2>,
    prior: Tensor<1>,
    diffusion: Tensor<1>,
) -> Result<PathStates, FlowError> {
    advance(&plan, start, drift, Some(diffusion), Some((context, prior)))
}

fn advance(
    plan: &DrivenPlan,
    start: Tensor<3>,
    drift: Tensor<1>,
    diffusion: Option<Tensor<1>>,
    posterior: Option<(Tensor<2>, Tensor<1>)>,
) -> Result<PathStates, FlowError> {
    let flow = &plan.flow;
    let [samples, series, n] = start.dims();
    let options = (&start.device(), start.dtype());
    check_not_empty([("start", series), ("samples", samples)])?;
    check_length("start", "[samples, series, dim]", flow.samples * series * flow.dim, samples * series * n)?;
    let normals = if diffusion.is_some() { n } else { 0 };
    let extents = [samples, series, normals];
    let dense = DensePlan::new((&flow.grid, &flow.requests), &plan.noise, extents, start.dtype())?;
    let context_width = posterior.as_ref().map_or(0, |(context, _)| context.dims()[1]);
    let drift = Layers::new("drift.parameters", flow, n + context_width, drift)?;
    let posterior = match posterior {
        Some((context, prior)) => Some((context, Layers::new("prior.parameters", flow, n, prior)?)),
        None => None,
    };
    if let Some(diffusion) = &diffusion {
        let expected = Diffusion::<f64>::parameters(n, plan.diffusion_hidden);
        check_length("diffusion.parameters", "[dim (3 hidden + 1)]", expected, diffusion.dims()[0])?;
    }
    let rows = samples * series;
    let of_rows = |of_series: Tensor<2>| {
        let columns = of_series.dims()[1];
        of_series.unsqueeze_dim::<3>(0).expand([samples, series, columns]).reshape([rows, columns])
    };
    let times = dense.times(series, options);

    let mut z = start.reshape([rows, n]);
    let mut kl = Tensor::<2>::zeros([rows, 1], options);
    let mut states = vec![z.clone()];
    for j in 0..dense.steps {
        let dt = of_rows(times.clone().narrow(1, j + 1, 1) - times.clone().narrow(1, j, 1));
        let input = match &posterior {
            Some((context, _)) => {
                let own = context_of_step(plan, &dense, j, context.clone(), series)?;
                Tensor::cat(vec![z.clone(), of_rows(own)], 1)
            }
            None => z.clone(),
        };
        let f = drift.value(input);
        let mut next = z.clone() + f.clone() * dt.clone();
        if let Some(diffusion) = &diffusion {
            let g = diagonal(diffusion.clone(), n, plan.diffusion_hidden, z.clone());
            let xi = dense.noise(j, [samples, series, n], options).reshape([rows, n]);
            next = next + g.clone() * xi * dt.clone().sqrt();
            if let Some((_, prior)) = &posterior {
                let ratio = (f - prior.value(z)) / g.clamp_min(1e-7);
                kl = kl + ratio.powi_scalar(2).sum_dim(1) * dt.mul_scalar(0.5);
            }
        }
        z = next;
        states.push(z.clone());
    }

    let kl = kl.reshape([samples, series]);
    let requests = dense.requests.len();
    if requests == 0 {
        return Ok(PathStates { states: Tensor::zeros([samples, 0, n], options), kl });
    }
    let of_time = |z: Tensor<2>| z.reshape([samples, 1, series, n]);
    let all = Tensor::cat(states.into_iter().map(of_time).collect(), 1);
    let all = all.reshape([samples, (dense.steps + 1) * series, n]);
    Ok(PathStates { states: all.select(1, dense.requests(options.0)), kl })
}

/// The contexts `[B, C]` that step `j` reads.
fn context_of_step(
    plan: &DrivenPlan,
    dense: &DensePlan,
    j: usize,
    contexts: Tensor<2>,
    series: usize,
) -> Result<Tensor<2>, FlowError> {
    let ContextTimes::Next(ragged) = &plan.contexts else { return Ok(contexts) };
    check_length("context.offsets", "[series + 1]", series + 1, ragged.offsets.len())?;
    let mut rows = Vec::with_capacity(series);
    for (b, run) in ragged.offsets.windows(2).enumerate() {
        let own = &ragged.times[run[0]..run[1]];
        if own.is_empty() {
            return Err(FlowError::NoContext { series: b });
        }
        let start = dense.times[b * (dense.steps + 1) + j];
        let next = own.iter().position(|&time| time > start).unwrap_or(own.len() - 1);
        rows.push((run[0] + next) as i64);
    }
    let rows = Tensor::<1, Int>::from_data(TensorData::new(rows, [series]), &contexts.device());
    Ok(contexts.select(0, rows))
}

/// A network with its parameters cut into layers.
struct Layers {
    activation: Activation,
    /// Weights `[inputs, outputs]` and biases `[1, outputs]`.
    layers: Vec<(Tensor<2>, Tensor<2>)>,
}

impl Layers {
    fn new(
        argument: &'static str,
        plan: &FlowPlan,
        inputs: usize,
        parameters: Tensor<1>,
    ) -> Result<Self, FlowError> {
        let expected = Network::<f64>::parameters(inputs, &plan.hidden, plan.dim);
        check_length(argument, "[inputs + 1, outputs] of every layer", expected, parameters.dims()[0])?;
        let widths = [&[inputs], &plan.hidden[..], &[plan.dim]].concat();
        let (mut layers, mut first) = (Vec::new(), 0);
        for pair in widths.windows(2) {
            let [inputs, outputs] = [pair[0], pair[1]];
            let weight = parameters.clone().narrow(0, first, inputs * outputs).reshape([inputs, outputs]);
            first += inputs * outputs;
            let bias = parameters.clone().narrow(0, first, outputs).reshape([1, outputs]);
            first += outputs;
            layers.push((weight, bias));
        }
        Ok(Self { activation: plan.activation, layers })
    }

    /// Outputs at the inputs `[rows, inputs]`.
    fn value(&self, x: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        self.layers.iter().enumerate().fold(x, |x, (l, (weight, bias))| {
            let sum = x.matmul(weight.clone()) + bias.clone();
            match (l < last, self.activation) {
                (false, _) => sum,
                (true, Activation::Elu) => {
                    sum.clone().clamp_min(0.0) + sum.clamp_max(0.0).exp().sub_scalar(1.0)
                }
                (true, Activation::Softplus) => softplus(sum),
                (true, Activation::Tanh) => sum.tanh(),
            }
        })
    }
}

/// `max(x, 0) + ln(1 + e^-|x|)`.
fn softplus<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    x.clone().clamp_min(0.0) + x.abs().neg().exp().add_scalar(1.0).log()
}

/// `g_i(z_i)` of every coordinate of the states `[rows, n]`.
fn diagonal(parameters: Tensor<1>, n: usize, hidden: usize, z: Tensor<2>) -> Tensor<2> {
    let rows = z.dims()[0];
    let of_units =
        |part: usize| parameters.clone().narrow(0, part * n * hidden, n * hidden).reshape([1, n, hidden]);
    let units = softplus(z.reshape([rows, n, 1]) * of_units(0) + of_units(1));
    let sums = (units * of_units(2)).sum_dim(2).reshape([rows, n]);
    sigmoid(sums + parameters.narrow(0, 3 * n * hidden, n).reshape([1, n]))
}
