//! The same paths one number after the other, from the formulas alone.

use stroock_kernels::flow::Activation;
use stroock_kernels::noise::{NoiseKey, increments};
use stroock_kernels::simd::Level;

use crate::batch::{Batch, Contexts, KEY};

fn softplus(x: f64) -> f64 {
    (1.0 + x.exp()).ln()
}

fn network(
    parameters: &[f64],
    hidden: &[usize],
    activation: Activation,
    x: &[f64],
    outputs: usize,
) -> Vec<f64> {
    let mut x = x.to_vec();
    let mut rest = parameters;
    let widths = [hidden, &[outputs]].concat();
    for (l, &width) in widths.iter().enumerate() {
        let (weights, after) = rest.split_at(x.len() * width);
        let (bias, after) = after.split_at(width);
        rest = after;
        let sum =
            |i: usize| bias[i] + x.iter().enumerate().map(|(k, x)| weights[k * width + i] * x).sum::<f64>();
        let value = |i: usize| match (l + 1 < widths.len(), activation) {
            (false, _) => sum(i),
            (true, Activation::Elu) if sum(i) > 0.0 => sum(i),
            (true, Activation::Elu) => sum(i).exp_m1(),
            (true, Activation::Softplus) => softplus(sum(i)),
            (true, Activation::Tanh) => sum(i).tanh(),
        };
        x = (0..width).map(value).collect();
    }
    x
}

/// States at the requests and divergences.
pub fn simulate(batch: &Batch<f64>) -> (Vec<f64>, Vec<f64>) {
    let (n, problem) = (batch.dim, batch.problem());
    let (mut states, mut divergences) = (Vec::new(), Vec::new());
    let mut given = batch.driven.as_ref().and_then(|driven| driven.noise.as_deref()).unwrap_or_default();
    for sample in 0..batch.samples {
        for b in 0..batch.series {
            let times = match &batch.time_offsets {
                None => &batch.times[..],
                Some(offsets) => &batch.times[offsets[b]..offsets[b + 1]],
            };
            let steps = times.len() - 1;
            let mut z = batch.start[(sample * batch.series + b) * n..][..n].to_vec();
            let mut path = vec![z.clone()];
            let mut kl = 0.0;
            let key = NoiseKey::new(KEY.0, KEY.1);
            let drawn: Vec<f64> =
                increments(Level::detect(), key, batch.numbers[b], 4 + sample as u32, steps, n);
            let own = if given.is_empty() { &drawn[..] } else { given.split_off(..steps * n).unwrap() };
            for j in 0..steps {
                let dt = times[j + 1] - times[j];
                let context: &[f64] = match &batch.contexts {
                    Contexts::None => &[],
                    Contexts::Constant(values) => &values[b * batch.width..(b + 1) * batch.width],
                    Contexts::Next { offsets, times: of_contexts, values } => {
                        let own = &of_contexts[offsets[b]..offsets[b + 1]];
                        let next = own.iter().position(|&t| t > times[j]).unwrap_or(own.len() - 1);
                        &values[(offsets[b] + next) * batch.width..][..batch.width]
                    }
                };
                let input = [&z[..], context].concat();
                let f = network(&batch.drift, &batch.hidden, batch.activation, &input, n);
                let mut next: Vec<f64> = z.iter().zip(&f).map(|(z, f)| z + f * dt).collect();
                if let Some(driven) = &batch.driven {
                    let h = driven
                        .prior
                        .as_ref()
                        .map(|prior| network(prior, &batch.hidden, batch.activation, &z, n));
                    let (units, p) = (driven.hidden, &driven.diffusion);
                    for i in 0..n {
                        let unit = |k: usize| {
                            let place = i * units + k;
                            p[2 * n * units + place] * softplus(p[place] * z[i] + p[n * units + place])
                        };
                        let sum = p[3 * n * units + i] + (0..units).map(unit).sum::<f64>();
                        let g = 1.0 / (1.0 + (-sum).exp());
                        next[i] += g * dt.sqrt() * own[j * n + i];
                        if let Some(h) = &h {
                            kl += 0.5 * dt * ((f[i] - h[i]) / g.max(1e-7)).powi(2);
                        }
                    }
                }
                z = next;
                path.push(z.clone());
            }
            for &j in &batch.requests[batch.request_offsets[b]..batch.request_offsets[b + 1]] {
                states.extend_from_slice(&path[j]);
            }
            divergences.push(kl);
        }
    }
    assert_eq!(problem.samples * problem.dim * batch.requests.len(), states.len());
    (states, divergences)
}
