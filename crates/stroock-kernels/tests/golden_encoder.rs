//! Attention and recurrent unit composed to the encoder of an independent implementation: values and the
//! gradients of every parameter. What stands around the two kernels is written out in plain loops.

mod encoder;

use std::collections::BTreeMap;

use encoder::Ragged;
use stroock_kernels::attention::{AttentionReal, AttentionSolver, ValueGradient};
use stroock_kernels::gru::{Direction, GruProblem, GruReal, GruSolver, Requested, Weights};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::assert_close;
use stroock_testing::golden::{array, golden};

fn numbers<T: AttentionReal>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| T::of(x)).collect()
}

fn doubles<T: AttentionReal>(values: &[T]) -> Vec<f64> {
    values.iter().map(|x| x.as_f64()).collect()
}

/// Parameters by name, and the gradients that are gathered for them.
struct Parameters {
    values: BTreeMap<String, Vec<f64>>,
    gradients: BTreeMap<String, Vec<f64>>,
}

impl Parameters {
    fn new(values: BTreeMap<String, Vec<f64>>) -> Self {
        let gradients = values.iter().map(|(name, value)| (name.clone(), vec![0.0; value.len()])).collect();
        Self { values, gradients }
    }

    fn add(&mut self, name: &str, gradient: &[f64]) {
        let sum = self.gradients.get_mut(name).unwrap();
        sum.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g);
    }

    /// `y = W x + b` for every row of `x`.
    fn linear(&self, layer: &str, x: &[f64]) -> Vec<f64> {
        let [weight, bias] =
            [&self.values[&format!("{layer}.weight")], &self.values[&format!("{layer}.bias")]];
        let width = weight.len() / bias.len();
        let row = |x: &[f64]| -> Vec<f64> {
            let dot = |w: &[f64]| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
            weight.chunks(width).zip(bias).map(|(w, b)| b + dot(w)).collect()
        };
        x.chunks(width).flat_map(row).collect()
    }

    /// The adjoint of [`linear`](Self::linear): gathers gradients and returns that of `x`.
    fn pull_back_linear(&mut self, layer: &str, x: &[f64], of_y: &[f64]) -> Vec<f64> {
        let weight = self.values[&format!("{layer}.weight")].clone();
        let height = self.values[&format!("{layer}.bias")].len();
        let width = weight.len() / height;
        let mut of_x = vec![0.0; x.len()];
        let mut of_weight = vec![0.0; weight.len()];
        let mut of_bias = vec![0.0; height];
        for ((x, of_x), of_y) in x.chunks(width).zip(of_x.chunks_mut(width)).zip(of_y.chunks(height)) {
            for i in 0..height {
                of_bias[i] += of_y[i];
                for j in 0..width {
                    of_weight[i * width + j] += of_y[i] * x[j];
                    of_x[j] += of_y[i] * weight[i * width + j];
                }
            }
        }
        self.add(&format!("{layer}.weight"), &of_weight);
        self.add(&format!("{layer}.bias"), &of_bias);
        of_x
    }

    /// `phi(t) = [linear(t), sin(periodic(t))]` for every time.
    fn embed(&self, times: &[f64]) -> Vec<f64> {
        let embed = |t: &f64| {
            let sines = self.linear("periodic", &[*t]).into_iter().map(f64::sin);
            self.linear("linear", &[*t]).into_iter().chain(sines).collect::<Vec<_>>()
        };
        times.iter().flat_map(embed).collect()
    }

    fn pull_back_embed(&mut self, times: &[f64], of_phi: &[f64]) {
        for (t, of_phi) in times.iter().zip(of_phi.chunks(of_phi.len() / times.len())) {
            let angles = self.linear("periodic", &[*t]);
            let of_angles: Vec<f64> = angles.iter().zip(&of_phi[1..]).map(|(a, g)| a.cos() * g).collect();
            self.pull_back_linear("linear", &[*t], &of_phi[..1]);
            self.pull_back_linear("periodic", &[*t], &of_angles);
        }
    }
}

fn golden_encoder<T: AttentionReal + GruReal>(level: Level, tolerance: f64) {
    let file = golden("mtan_encoder.json");
    let names = file["parameters"].as_object().expect("parameters by name").keys();
    let mut parameters =
        Parameters::new(names.map(|name| (name.clone(), array(&file["parameters"], name).entries)).collect());
    let [x, mask, t, query] = ["x", "mask", "t", "query"].map(|key| array(&file, key));
    let [series, points, channels] = x.shape[..] else { panic!("x is not [series, points, channels]") };

    // Every (series, point) has a time of its own.
    let (phi_query, phi_key) = (parameters.embed(&query.entries), parameters.embed(&t.entries));
    let queries = parameters.linear("att.linears.0", &phi_query);
    let keys = parameters.linear("att.linears.1", &phi_key);
    let (mut offsets, mut observed) = (vec![0], Vec::new());
    for b in 0..series {
        for c in 0..channels {
            let own = b * points..(b + 1) * points;
            observed.extend(own.filter(|p| mask.entries[p * channels + c] > 0.0).map(|p| p as u32));
            offsets.push(observed.len());
        }
    }
    let references = query.entries.len();
    let ragged = Ragged::<T> {
        width: queries.len() / references,
        channels,
        queries: numbers(&queries),
        keys: numbers(&keys),
        values: numbers(&x.entries),
        offsets: offsets.clone(),
        points: observed,
        times: (0..(series * points) as u32).collect(),
        point_offsets: (0..=series).map(|b| b * points).collect(),
    };
    let attention = AttentionSolver { level };
    let attended = attention.forward(&ragged.problem()).unwrap();

    // The mask channels attend to ones, so they say whether the channel is observed at all.
    let mut both = Vec::new();
    for (row, attended) in doubles(&attended.output).chunks(channels).enumerate() {
        let first = row / references * channels;
        let is_observed = |c: usize| if offsets[first + c] < offsets[first + c + 1] { 1.0 } else { 0.0 };
        both.extend_from_slice(attended);
        both.extend((0..channels).map(is_observed));
    }
    let inputs = numbers::<T>(&parameters.linear("att.linears.2", &both));
    let gru_names =
        ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"].map(|n| format!("gru_rnn.{n}"));
    let [w_ih, w_hh, b_ih, b_hh] = gru_names.each_ref().map(|name| numbers::<T>(&parameters.values[name]));
    let hidden = w_hh.len() / b_hh.len();
    let steps: Vec<usize> = (0..=series).map(|b| b * references).collect();
    let problem = GruProblem {
        offsets: &steps,
        direction: Direction::Forward,
        requested: Requested::Last,
        width: inputs.len() / (series * references),
        hidden,
        inputs: &inputs,
        weights: Weights { w_ih: &w_ih, w_hh: &w_hh, b_ih: &b_ih, b_hh: &b_hh },
    };
    let gru = GruSolver { level };
    let recurrence = gru.forward(&problem).unwrap();
    assert_close("output", &doubles(&recurrence.states), &array(&file, "output").entries, tolerance);

    let of_last = numbers::<T>(&array(&file, "loss_weights").entries);
    let of_gru = gru.backward(&problem, &recurrence.tape, &of_last).unwrap();
    for (name, gradient) in gru_names.iter().zip([&of_gru.w_ih, &of_gru.w_hh, &of_gru.b_ih, &of_gru.b_hh]) {
        parameters.add(name, &doubles(gradient));
    }
    let of_both = parameters.pull_back_linear("att.linears.2", &both, &doubles(&of_gru.inputs));
    let of_output: Vec<f64> = of_both.chunks(2 * channels).flat_map(|row| row[..channels].to_vec()).collect();
    let of_attention = attention
        .backward(&ragged.problem(), &attended.tape, &numbers::<T>(&of_output), ValueGradient::Skipped)
        .unwrap();
    let of_query = parameters.pull_back_linear("att.linears.0", &phi_query, &doubles(&of_attention.queries));
    let of_key = parameters.pull_back_linear("att.linears.1", &phi_key, &doubles(&of_attention.keys));
    parameters.pull_back_embed(&query.entries, &of_query);
    parameters.pull_back_embed(&t.entries, &of_key);
    for (name, gradient) in &parameters.gradients {
        assert_close(name, gradient, &array(&file["gradients"], name).entries, tolerance);
    }
}

#[test]
fn golden_encoder_in_double_precision() {
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        golden_encoder::<f64>(level, 1e-13);
    }
}

#[test]
fn golden_encoder_in_single_precision() {
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        golden_encoder::<f32>(level, 2e-6);
    }
}
