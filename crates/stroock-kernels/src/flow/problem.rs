//! What a flow is computed from, and the checks that it makes sense.

use stroock_geometry::Real;

use super::{Activation, FlowError};
use crate::argument::{ArgumentError, check_finite, check_length, check_not_empty};
use crate::path::{Grid, Noise, Requests, check_offsets};

/// A network: linear layers with an activation between them.
///
/// Its parameters stand layer by layer, the weights `[inputs, outputs]` before the bias `[outputs]`.
#[derive(Clone, Copy, Debug)]
pub struct Network<'a, T> {
    /// Widths of the hidden layers.
    pub hidden: &'a [usize],
    /// What stands between the layers.
    pub activation: Activation,
    /// All parameters: see [`Network::parameters`].
    pub parameters: &'a [T],
}

impl<T> Network<'_, T> {
    /// Inputs and outputs of every layer of a network with these widths.
    pub(super) fn extents(inputs: usize, hidden: &[usize], outputs: usize) -> Vec<[usize; 2]> {
        let widths = [&[inputs], hidden, &[outputs]].concat();
        widths.windows(2).map(|pair| [pair[0], pair[1]]).collect()
    }

    /// How many parameters a network with these widths has.
    ///
    /// ```
    /// use stroock_kernels::flow::Network;
    /// // 16 numbers to 32, to 32, and back to 16.
    /// assert_eq!(Network::<f32>::parameters(16, &[32, 32], 16), 2128);
    /// ```
    pub fn parameters(inputs: usize, hidden: &[usize], outputs: usize) -> usize {
        let of_layer = |[inputs, outputs]: [usize; 2]| outputs.saturating_mul(inputs.saturating_add(1));
        Self::extents(inputs, hidden, outputs).into_iter().map(of_layer).fold(0, usize::saturating_add)
    }
}

/// The diagonal of the diffusion: `g_i(z_i) = sigmoid(b'_i + sum_k w'_ik softplus(w_ik z_i + b_ik))`, a network for every
/// coordinate, between 0 and 1.
#[derive(Clone, Copy, Debug)]
pub struct Diffusion<'a, T> {
    /// Units `H` of every coordinate.
    pub hidden: usize,
    /// `w` (`[n, H]`), `b` (`[n, H]`), `w'` (`[n, H]`) and `b'` (`[n]`), one after the other.
    pub parameters: &'a [T],
}

impl<T> Diffusion<'_, T> {
    /// How many parameters it has in dimension `n` with `hidden` units a coordinate: `n (3 H + 1)`.
    pub fn parameters(n: usize, hidden: usize) -> usize {
        hidden.saturating_mul(3).saturating_add(1).saturating_mul(n)
    }
}

/// What drives a path beside its drift.
#[derive(Clone, Copy, Debug)]
pub struct Driving<'a, T> {
    /// How the noise moves the path.
    pub diffusion: Diffusion<'a, T>,
    /// Noise, `n` normals a step.
    pub noise: Noise<'a, T>,
    /// Drift of the process that the divergence is taken from, which has the same diffusion and reads the state alone;
    /// without it, the divergence is 0.
    pub prior: Option<Network<'a, T>>,
}

/// What the drift reads beside the state.
#[derive(Clone, Copy, Debug)]
pub enum Context<'a, T> {
    /// Nothing.
    None,
    /// The same numbers at all times, `[B, C]`.
    Constant {
        /// Numbers `C` of a context.
        width: usize,
        /// All of them.
        values: &'a [T],
    },
    /// Of several contexts at times of the series, the first that lies after the start of a step; the last one beyond
    /// all of them.
    Next {
        /// Numbers `C` of a context.
        width: usize,
        /// Series `b` has the contexts `offsets[b] .. offsets[b + 1]`, at least one, `[B + 1]`.
        offsets: &'a [usize],
        /// Their times, which do not decrease within a series, `[N]`.
        times: &'a [T],
        /// All of them, `[N, C]`.
        values: &'a [T],
    },
}

impl<'a, T> Context<'a, T> {
    /// Numbers of a context.
    pub fn width(&self) -> usize {
        match self {
            Context::None => 0,
            Context::Constant { width, .. } | Context::Next { width, .. } => *width,
        }
    }

    /// All numbers of all contexts.
    pub fn values(&self) -> &'a [T] {
        match self {
            Context::None => &[],
            Context::Constant { values, .. } | Context::Next { values, .. } => values,
        }
    }
}

/// A batch of `B` series with `S` paths each in `R^n`.
#[derive(Clone, Copy, Debug)]
pub struct FlowProblem<'a, T> {
    /// Dimension `n`.
    pub dim: usize,
    /// Paths `S` per series.
    pub samples: usize,
    /// Times.
    pub grid: Grid<'a, T>,
    /// Start points `[S, B, n]`.
    pub start: &'a [T],
    /// Drift, a network from the state and its context, `n + C` numbers, to `n` numbers.
    pub drift: Network<'a, T>,
    /// What the drift reads beside the state.
    pub context: Context<'a, T>,
    /// Diffusion, noise and prior; none of them for an ordinary differential equation.
    pub driving: Option<Driving<'a, T>>,
    /// Where states are asked for.
    pub requests: Requests<'a>,
}

/// The extents of a problem that has passed its checks.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Number of series `B`.
    pub series: usize,
    /// `[B + 1]`: steps of all series before series `b`.
    pub step_offsets: Vec<usize>,
    /// `[B + 1]`: requests of all series before series `b`.
    pub request_offsets: Vec<usize>,
    /// `[B + 1]`: contexts of all series before series `b`.
    pub context_offsets: Vec<usize>,
    /// The context of every step of every series, of all contexts; empty where a series has one at most.
    pub context_of_step: Vec<usize>,
}

impl<T: Real> FlowProblem<'_, T> {
    /// Checks every argument.
    pub(super) fn layout(&self) -> Result<Layout, FlowError> {
        let (n, samples) = (self.dim, self.samples);
        check_not_empty([("dim", n), ("samples", samples)])?;
        let row = samples.saturating_mul(n);
        let series = self.start.len() / row;
        check_not_empty([("start", series)])?;
        check("start", "[samples, series, dim]", series * row, self.start)?;
        let step_offsets = self.grid.step_offsets(series)?;
        let request_offsets = self.requests.offsets(&step_offsets)?;
        self.check_context(series)?;
        check_network(["drift.hidden", "drift.parameters"], &self.drift, n + self.context.width(), n)?;
        if let Some(Driving { diffusion, noise, prior }) = &self.driving {
            check_not_empty([("diffusion.hidden", diffusion.hidden)])?;
            let expected = Diffusion::<T>::parameters(n, diffusion.hidden);
            check("diffusion.parameters", "[dim (3 hidden + 1)]", expected, diffusion.parameters)?;
            if let Some(prior) = prior {
                check_network(["prior.hidden", "prior.parameters"], prior, n, n)?;
            }
            noise.check(series, row.saturating_mul(step_offsets[series]))?;
        }
        let context_offsets = match self.context {
            Context::None => vec![0; series + 1],
            Context::Constant { .. } => (0..=series).collect(),
            Context::Next { offsets, .. } => offsets.to_vec(),
        };
        let context_of_step = self.context_of_step(&step_offsets);
        Ok(Layout { series, step_offsets, request_offsets, context_offsets, context_of_step })
    }

    fn check_context(&self, series: usize) -> Result<(), FlowError> {
        match self.context {
            Context::None => {}
            Context::Constant { width, values } => {
                check_not_empty([("context.width", width)])?;
                check("context.values", "[series, width]", series.saturating_mul(width), values)?;
            }
            Context::Next { width, offsets, times, values } => {
                check_not_empty([("context.width", width)])?;
                check_offsets("context.offsets", offsets, series, times.len(), "context.times")?;
                check_finite("context.times", times)?;
                check("context.values", "[contexts, width]", times.len().saturating_mul(width), values)?;
                for (series, run) in offsets.windows(2).enumerate() {
                    let own = &times[run[0]..run[1]];
                    if own.is_empty() {
                        return Err(FlowError::NoContext { series });
                    }
                    if let Some(index) = own.windows(2).position(|pair| pair[1] < pair[0]) {
                        let (argument, index) = ("context.times", index + 1);
                        let error = crate::path::PathError::TimesNotIncreasing { argument, series, index };
                        return Err(error.into());
                    }
                }
            }
        }
        Ok(())
    }

    /// The context of every step.
    fn context_of_step(&self, step_offsets: &[usize]) -> Vec<usize> {
        let Context::Next { offsets, times, .. } = self.context else { return Vec::new() };
        let mut rows = Vec::with_capacity(step_offsets[step_offsets.len() - 1]);
        for (series, run) in offsets.windows(2).enumerate() {
            let own = &times[run[0]..run[1]];
            let starts = self.grid.of_series(series).iter();
            for &start in starts.take(step_offsets[series + 1] - step_offsets[series]) {
                let after = own.partition_point(|&time| time <= start);
                rows.push(run[0] + after.min(own.len() - 1));
            }
        }
        rows
    }
}

fn check_network<T: Real>(
    [hidden, parameters]: [&'static str; 2],
    network: &Network<'_, T>,
    inputs: usize,
    outputs: usize,
) -> Result<(), ArgumentError> {
    check_not_empty(network.hidden.iter().map(|&width| (hidden, width)))?;
    let expected = Network::<T>::parameters(inputs, network.hidden, outputs);
    check(parameters, "[inputs + 1, outputs] of every layer", expected, network.parameters)
}

/// Checks that an argument has as many entries as it should and that they are finite.
pub(super) fn check<T: Real>(
    argument: &'static str,
    shape: &'static str,
    expected: usize,
    values: &[T],
) -> Result<(), ArgumentError> {
    check_length(argument, shape, expected, values.len())?;
    check_finite(argument, values)
}
