//! A network in lanes: its value at a state, and the adjoint.

use stroock_geometry::Real;

use super::Activation;
use super::matrix::{Matrix, WINDOW, Window, add_outer_products, sum_over_lanes};
use super::problem::Network;
use crate::simd::{LaneKernel, Lanes};

/// The layers of a network, packed for products in lanes. All groups of rows share them.
pub(super) struct Layers<T> {
    activation: Activation,
    layers: Vec<Layer<T>>,
    /// From the context to the sums of the first layer, and back.
    context: [Matrix<T>; 2],
    context_width: usize,
}

struct Layer<T> {
    inputs: usize,
    outputs: usize,
    forward: Matrix<T>,
    backward: Matrix<T>,
    bias: Vec<T>,
}

impl<T: Real> Layers<T> {
    /// A network that reads a state of `n` numbers, then a context of `context` numbers, and gives `n` numbers.
    pub fn new(network: &Network<'_, T>, n: usize, context: usize) -> Self {
        let mut rest = network.parameters;
        let mut layers = Vec::new();
        let mut of_context = None;
        for [inputs, outputs] in Network::<T>::extents(n + context, network.hidden, n) {
            let (weights, after) = rest.split_at(inputs * outputs);
            let (bias, after) = after.split_at(outputs);
            rest = after;
            // The first layer reads the state before the context.
            let of_state = if layers.is_empty() { n } else { inputs };
            let weight = |k: usize, i: usize| weights[k * outputs + i];
            of_context.get_or_insert_with(|| {
                [
                    Matrix::new(outputs, context, |i, k| weight(n + k, i)),
                    Matrix::new(context, outputs, |k, i| weight(n + k, i)),
                ]
            });
            layers.push(Layer {
                inputs: of_state,
                outputs,
                forward: Matrix::new(outputs, of_state, |i, k| weight(k, i)),
                backward: Matrix::new(of_state, outputs, weight),
                bias: bias.to_vec(),
            });
        }
        let none = || [Matrix::new(0, 0, |_, _| T::zero()), Matrix::new(0, 0, |_, _| T::zero())];
        let context_maps = of_context.unwrap_or_else(none);
        Self { activation: network.activation, layers, context: context_maps, context_width: context }
    }
}

/// The value of a network at the current state of a group of rows.
pub(super) struct Evaluation<'l, V: Lanes> {
    layers: &'l Layers<V::Real>,
    /// What the sums of the first layer start from: its bias, and what the context adds.
    offset: Vec<V>,
    /// Values of every layer, the last without activation.
    values: Vec<Vec<V>>,
    /// Slopes of the activations; empty where nothing is pulled back.
    slopes: Vec<Vec<V>>,
}

impl<'l, V: Lanes> Evaluation<'l, V> {
    #[inline(always)]
    fn new(layers: &'l Layers<V::Real>, with_slopes: bool) -> Self {
        let mut values = Vec::with_capacity(layers.layers.len());
        let mut slopes = Vec::new();
        for layer in &layers.layers {
            values.push(vec![V::zero(); layer.outputs]);
            slopes.push(vec![V::zero(); if with_slopes { layer.outputs } else { 0 }]);
        }
        let mut evaluation =
            Self { layers, offset: vec![V::zero(); layers.layers[0].outputs], values, slopes };
        evaluation.reset_offset();
        evaluation
    }

    /// For values alone.
    #[inline(always)]
    pub fn forward(layers: &'l Layers<V::Real>) -> Self {
        Self::new(layers, false)
    }

    #[inline(always)]
    fn reset_offset(&mut self) {
        for (offset, bias) in self.offset.iter_mut().zip(&self.layers.layers[0].bias) {
            *offset = V::splat(*bias);
        }
    }

    /// Moves to another context, `[C]`.
    #[inline(always)]
    pub fn set_context(&mut self, context: &[V]) {
        self.reset_offset();
        self.layers.context[0].add_product(context, &mut self.offset);
    }

    /// Computes the value at the state `z`.
    #[inline(always)]
    pub fn evaluate(&mut self, z: &[V]) {
        V::call(Evaluate { evaluation: self, z });
    }

    /// The value at the state, `[n]`.
    #[inline(always)]
    pub fn value(&self) -> &[V] {
        match self.values.last() {
            Some(value) => value,
            None => &[],
        }
    }
}

/// A call of [`Evaluation::evaluate`]: networks of drifts and priors are compiled once.
struct Evaluate<'c, 'l, V: Lanes> {
    evaluation: &'c mut Evaluation<'l, V>,
    z: &'c [V],
}

impl<V: Lanes> LaneKernel for Evaluate<'_, '_, V> {
    #[inline(always)]
    fn run(self) {
        let Evaluation { layers, offset, values, slopes } = self.evaluation;
        let last = layers.layers.len() - 1;
        for (l, layer) in layers.layers.iter().enumerate() {
            let (before, now) = values.split_at_mut(l);
            let now = &mut now[0];
            if l == 0 {
                now.copy_from_slice(offset);
            } else {
                for (now, bias) in now.iter_mut().zip(&layer.bias) {
                    *now = V::splat(*bias);
                }
            }
            layer.forward.add_product(if l == 0 { self.z } else { &before[l - 1] }, now);
            if l < last && slopes[l].is_empty() {
                layers.activation.apply(now);
            } else if l < last {
                layers.activation.apply_with_slopes(now, &mut slopes[l]);
            }
        }
    }
}

/// The adjoint of a network along the steps of a group of rows, the last first.
pub(super) struct PullBack<'l, V: Lanes> {
    pub evaluation: Evaluation<'l, V>,
    /// Cotangents of the sums of every layer.
    of_sums: Vec<Vec<V>>,
    /// What the layers have read, and the cotangents of their sums, at the steps of the window.
    inputs: Vec<Vec<Window<V>>>,
    of_outputs: Vec<Vec<Window<V>>>,
    /// Filled steps of the window.
    filled: usize,
    /// Gradients of the weights of every layer, `[inputs, outputs]`, those of the context last, and of the biases.
    of_weights: Vec<Vec<V>>,
    of_biases: Vec<Vec<V>>,
    /// Cotangent of what the context adds, since it was set.
    of_offset: Vec<V>,
    /// Cotangent of the context, `[C]`.
    of_context: Vec<V>,
}

impl<'l, V: Lanes> PullBack<'l, V> {
    #[inline(always)]
    pub fn new(layers: &'l Layers<V::Real>) -> Self {
        let zeros = |count: usize| vec![V::zero(); count];
        let windows = |count: usize| vec![[V::zero(); WINDOW]; count];
        let (mut inputs, mut of_outputs, mut of_sums) = (Vec::new(), Vec::new(), Vec::new());
        let (mut of_weights, mut of_biases) = (Vec::new(), Vec::new());
        for (l, layer) in layers.layers.iter().enumerate() {
            let of_context = if l == 0 { layers.context_width } else { 0 };
            inputs.push(windows(layer.inputs));
            of_outputs.push(windows(layer.outputs));
            of_sums.push(zeros(layer.outputs));
            of_weights.push(zeros((layer.inputs + of_context) * layer.outputs));
            of_biases.push(zeros(layer.outputs));
        }
        Self {
            evaluation: Evaluation::new(layers, true),
            of_sums,
            inputs,
            of_outputs,
            filled: 0,
            of_weights,
            of_biases,
            of_offset: zeros(layers.layers[0].outputs),
            of_context: zeros(layers.context_width),
        }
    }

    /// Where the cotangent of the value at the evaluated state is written, `[n]`.
    #[inline(always)]
    pub fn cotangent(&mut self) -> &mut [V] {
        match self.of_sums.last_mut() {
            Some(cotangent) => cotangent,
            None => &mut [],
        }
    }

    /// Takes the cotangent of the value at the state `z` to the parameters, and adds that of the state to `of_state`.
    #[inline(always)]
    pub fn pull_back(&mut self, z: &[V], of_state: &mut [V]) {
        V::call(Propagate { pull_back: self, z, of_state });
    }

    /// Takes what has been summed for the `context` (`[C]`) of the lanes where `leaving` is 1, and not 0, to the
    /// parameters; the cotangent of that context, `[C]`, for these lanes.
    #[inline(always)]
    pub fn leave_context(&mut self, context: &[V], leaving: V) -> &[V] {
        let staying = V::splat(V::Real::of(1.0)).sub(leaving);
        let (layers, outputs) = (self.evaluation.layers, self.of_offset.len());
        let mut left = vec![V::zero(); outputs];
        for (left, sum) in left.iter_mut().zip(&mut self.of_offset) {
            *left = sum.mul(leaving);
            *sum = sum.mul(staying);
        }
        let of_weights = &mut self.of_weights[0][layers.layers[0].inputs * outputs..];
        for (of_weights, context) in of_weights.chunks_exact_mut(outputs).zip(context) {
            for (sum, left) in of_weights.iter_mut().zip(&left) {
                *sum = context.mul_add(*left, *sum);
            }
        }
        self.of_context.fill(V::zero());
        layers.context[1].add_product(&left, &mut self.of_context);
        &self.of_context
    }

    /// The gradients of all parameters, summed over the lanes, as [`Network`] has them.
    #[inline(always)]
    pub fn finish(mut self) -> Vec<V::Real> {
        for of_output in &mut self.of_outputs {
            for window in of_output {
                for step in &mut window[self.filled..] {
                    *step = V::zero();
                }
            }
        }
        V::call(EmptyWindow { pull_back: &mut self });
        let mut gradients = Vec::new();
        for (of_weights, of_bias) in self.of_weights.iter().zip(&self.of_biases) {
            gradients.extend(sum_over_lanes(of_weights));
            gradients.extend(sum_over_lanes(of_bias));
        }
        gradients
    }
}

/// A call of [`PullBack::pull_back`].
struct Propagate<'c, 'l, V: Lanes> {
    pull_back: &'c mut PullBack<'l, V>,
    z: &'c [V],
    of_state: &'c mut [V],
}

impl<V: Lanes> LaneKernel for Propagate<'_, '_, V> {
    #[inline(always)]
    fn run(self) {
        let Propagate { pull_back, z, of_state } = self;
        let PullBack { evaluation, of_sums, inputs, of_outputs, filled, of_offset, .. } = pull_back;
        let Evaluation { layers, values, slopes, .. } = evaluation;
        for l in (0..layers.layers.len()).rev() {
            let (before, now) = of_sums.split_at_mut(l);
            let now = &now[0];
            keep(if l == 0 { z } else { &values[l - 1] }, &mut inputs[l], *filled);
            keep(now, &mut of_outputs[l], *filled);
            if l == 0 {
                layers.layers[l].backward.add_product(now, of_state);
                for (sum, now) in of_offset.iter_mut().zip(now) {
                    *sum = sum.add(*now);
                }
            } else {
                let before = &mut before[l - 1];
                before.fill(V::zero());
                layers.layers[l].backward.add_product(now, before);
                for (before, slope) in before.iter_mut().zip(&slopes[l - 1]) {
                    *before = before.mul(*slope);
                }
            }
        }
        *filled += 1;
        if *filled == WINDOW {
            V::call(EmptyWindow { pull_back });
        }
    }
}

/// Notes the numbers of a step in a window.
#[inline(always)]
fn keep<V: Lanes>(numbers: &[V], windows: &mut [Window<V>], step: usize) {
    for (window, number) in windows.iter_mut().zip(numbers) {
        window[step] = *number;
    }
}

/// Adds the products of a window to the gradients.
struct EmptyWindow<'c, 'l, V: Lanes> {
    pull_back: &'c mut PullBack<'l, V>,
}

impl<V: Lanes> LaneKernel for EmptyWindow<'_, '_, V> {
    #[inline(always)]
    fn run(self) {
        let PullBack { inputs, of_outputs, of_weights, of_biases, filled, .. } = self.pull_back;
        for l in 0..inputs.len() {
            let of_state = inputs[l].len() * of_outputs[l].len();
            add_outer_products(&inputs[l], &of_outputs[l], &mut of_weights[l][..of_state]);
            for (sum, window) in of_biases[l].iter_mut().zip(&of_outputs[l]) {
                for step in window {
                    *sum = sum.add(*step);
                }
            }
        }
        *filled = 0;
    }
}
