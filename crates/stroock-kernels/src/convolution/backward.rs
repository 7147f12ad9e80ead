//! The backward pass: gradients of the input, the weight and the bias.

use stroock_geometry::Real;

use super::correlate::CorrelateTask;
use super::frames::{
    channel_lanes_extent, channels_to_lanes, frame_lanes_extent, frames_from_lanes, frames_to_lanes,
    groups_per_task,
};
use super::gather::{GatherTask, TiledWeight};
use super::layout::{Layout, Side};
use super::links::Links;
use super::pool::{MaxPool, Maxima, check_indices};
use super::scratch::Scratch;
use super::through::After;
use super::{Activation, Convolution, ConvolutionError, ConvolutionReal, Images, Wanted};
use crate::argument::check_length;
use crate::simd::{Kernel, Lanes, Level};

/// Gradients of a loss with respect to what a convolution is computed from.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the images, in their shape; empty unless wanted.
    pub input: Vec<T>,
    /// With respect to the weight, in its shape.
    pub weight: Vec<T>,
    /// With respect to the bias, `[output channels]`.
    pub bias: Vec<T>,
}

impl Convolution {
    /// Pulls the gradient `of_output` of a loss with respect to the output back through the convolution.
    ///
    /// `output` is what [`forward`](Self::forward) returned for the same arguments; without an activation
    /// it is not read and may be empty.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn backward<T: ConvolutionReal>(
        &self,
        input: Images<'_, T>,
        weight: &[T],
        output: &[T],
        of_output: &[T],
        wanted: Wanted,
    ) -> Result<Gradients<T>, ConvolutionError> {
        let layout = self.layout(&input, weight)?;
        let shape = "[frames, output channels, height, width]";
        let extent = layout.frames * layout.output.extent();
        check_length("of_output", shape, extent, of_output.len())?;
        if self.activation == Activation::Relu {
            check_length("output", shape, extent, output.len())?;
        }
        let after = After { side: layout.output, output, indices: &[], of_output };
        Ok(self.gradients(layout, input, weight, after, wanted))
    }

    /// Pulls the gradient `of_pooled` of a loss with respect to the pooled output back through the pooling
    /// and the convolution.
    ///
    /// `pooled` is what [`forward_pooled`](Self::forward_pooled) returned for the same arguments.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn backward_pooled<T: ConvolutionReal>(
        &self,
        input: Images<'_, T>,
        weight: &[T],
        pool: MaxPool,
        pooled: Maxima<'_, T>,
        of_pooled: &[T],
        wanted: Wanted,
    ) -> Result<Gradients<T>, ConvolutionError> {
        let layout = self.layout(&input, weight)?;
        let side = layout.output.pooled(pool)?;
        let extent = side.extent();
        let shape = "[frames, output channels, pooled height, pooled width]";
        check_length("of_pooled", shape, layout.frames * extent, of_pooled.len())?;
        check_length("pooled.values", shape, layout.frames * extent, pooled.values.len())?;
        check_length("pooled.indices", shape, layout.frames * extent, pooled.indices.len())?;
        check_indices(pooled.indices, layout.output.pixels())?;
        let after = After { side, output: pooled.values, indices: pooled.indices, of_output: of_pooled };
        Ok(self.gradients(layout, input, weight, after, wanted))
    }

    fn gradients<T: ConvolutionReal>(
        &self,
        layout: Layout,
        input: Images<'_, T>,
        weight: &[T],
        after: After<'_, T>,
        wanted: Wanted,
    ) -> Gradients<T> {
        let level = self.running_level();
        let group = 2 * T::width(level);
        let lanes_on_input = lanes_on_input(&layout, group);
        let to_input = layout.links(false);
        let [inputs, outputs] = self.channels;
        let weight = (wanted == Wanted::All).then(|| {
            TiledWeight::new(&to_input, outputs, inputs, |output, input, tap| {
                weight[layout.weight_place(input, output, tap)]
            })
        });
        let problem = Problem {
            layout,
            activation: self.activation,
            level,
            group,
            lanes_on_input,
            weight,
            to_input,
            to_output: (!lanes_on_input).then(|| layout.links(true)),
            scratch: Scratch::new(),
        };
        let mut of_input = match wanted {
            Wanted::All => vec![T::zero(); input.values.len()],
            Wanted::Parameters => Vec::new(),
        };
        let frames = Frames { input: input.values, after, of_input: &mut of_input };
        let sums = problem.pull_back(frames, layout.frames);
        Gradients { weight: problem.weight_from(&sums.weight), bias: sums.bias, input: of_input }
    }
}

/// Which side of the weights' gradient stands with its channels in the lanes: the one that leaves fewer lanes
/// idle, and the input if there is no difference, because its partner is needed for the input's gradient too.
fn lanes_on_input(layout: &Layout, group: usize) -> bool {
    let (input, output) = (layout.input.channels, layout.output.channels);
    output * input.next_multiple_of(group) <= input * output.next_multiple_of(group)
}

/// What all tasks share.
pub(super) struct Problem<T> {
    layout: Layout,
    activation: Activation,
    level: Level,
    group: usize,
    lanes_on_input: bool,
    /// For the gradient of the input, if it is wanted.
    weight: Option<TiledWeight<T>>,
    to_input: Links,
    /// For the gradient of the weight, if the output stands in the lanes.
    to_output: Option<Links>,
    scratch: Scratch<Buffers<T>>,
}

/// The working memory of a task: one group of frames. What is not needed is empty.
pub(super) struct Buffers<T> {
    /// The gradient of the output before the activation, in the order of the output.
    through: Vec<T>,
    /// With frames in lanes.
    of_output: Vec<T>,
    /// With frames in lanes.
    input: Vec<T>,
    /// With frames in lanes.
    of_input: Vec<T>,
    /// One side of the weights' gradient, with channels in lanes.
    channels: Vec<T>,
}

impl<T: Real> Buffers<T> {
    fn new(problem: &Problem<T>) -> Self {
        let Layout { input, output, .. } = problem.layout;
        let group = problem.group;
        let zeros = |needed: bool, extent: usize| vec![T::zero(); if needed { extent } else { 0 }];
        let of_input = problem.weight.is_some();
        Self {
            through: Vec::new(),
            of_output: zeros(of_input || problem.lanes_on_input, frame_lanes_extent(output, group)),
            input: zeros(!problem.lanes_on_input, frame_lanes_extent(input, group)),
            of_input: zeros(of_input, frame_lanes_extent(input, group)),
            channels: zeros(true, channel_lanes_extent(problem.sides().1, group)),
        }
    }
}

/// Consecutive frames; `of_input` is empty where it is not wanted.
pub(super) struct Frames<'f, T> {
    input: &'f [T],
    after: After<'f, T>,
    of_input: &'f mut [T],
}

impl<'f, T: Real> Frames<'f, T> {
    fn split_at(self, middle: usize, layout: &Layout) -> (Self, Self) {
        let at = middle * layout.input.extent();
        let (input, after) = (self.input.split_at(at), self.after.split_at(middle));
        let of_input = self.of_input;
        let at = at.min(of_input.len());
        let of_input = of_input.split_at_mut(at);
        (
            Self { input: input.0, after: after.0, of_input: of_input.0 },
            Self { input: input.1, after: after.1, of_input: of_input.1 },
        )
    }
}

/// Sums over frames.
pub struct Sums<T> {
    /// `[tap, channel in no lane, channel in a lane]`, the last rounded up to whole groups.
    weight: Vec<T>,
    bias: Vec<T>,
}

impl<T: Real> Sums<T> {
    fn new(problem: &Problem<T>) -> Self {
        let (source, lanes) = problem.sides();
        let pairs = problem.layout.taps() * source.channels;
        Self {
            weight: vec![T::zero(); pairs * lanes.channels.next_multiple_of(problem.group)],
            bias: vec![T::zero(); problem.layout.output.channels],
        }
    }
}

impl<T: ConvolutionReal> Problem<T> {
    /// Halves the frames down to tasks, and adds the sums of the halves. The tree of the sums depends on the
    /// number of frames alone, and at most a few sums for each thread are in memory.
    fn pull_back(&self, frames: Frames<'_, T>, count: usize) -> Sums<T> {
        let task = groups_per_task(self.layout.frames, self.group) * self.group;
        if count <= task {
            return self.scratch.with(
                || Buffers::new(self),
                |buffers| T::pull_back(self.level, BackwardTask { problem: self, frames, buffers }),
            );
        }
        let middle = count.div_ceil(task).div_ceil(2) * task;
        let (first, second) = frames.split_at(middle, &self.layout);
        let (mut sums, others) =
            rayon::join(|| self.pull_back(first, middle), || self.pull_back(second, count - middle));
        add(&mut sums.weight, &others.weight);
        add(&mut sums.bias, &others.bias);
        sums
    }
}

impl<T: Real> Problem<T> {
    /// The sides of the weights' gradient: without and with the channels in lanes.
    fn sides(&self) -> (Side, Side) {
        match self.lanes_on_input {
            true => (self.layout.output, self.layout.input),
            false => (self.layout.input, self.layout.output),
        }
    }

    /// From the order of the sums to that of the weight.
    fn weight_from(&self, sums: &[T]) -> Vec<T> {
        let (source, lanes) = self.sides();
        let padded = lanes.channels.next_multiple_of(self.group);
        let mut weight = vec![T::zero(); self.layout.weight_extent()];
        for tap in 0..self.layout.taps() {
            for channel in 0..source.channels {
                let sums = &sums[(tap * source.channels + channel) * padded..][..lanes.channels];
                for (lane, sum) in sums.iter().enumerate() {
                    let (input, output) = if self.lanes_on_input { (lane, channel) } else { (channel, lane) };
                    weight[self.layout.weight_place(input, output, tap)] = *sum;
                }
            }
        }
        weight
    }
}

fn add<T: Real>(sums: &mut [T], others: &[T]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += *other;
    }
}

/// The frames of one task.
pub struct BackwardTask<'t, T> {
    problem: &'t Problem<T>,
    frames: Frames<'t, T>,
    buffers: &'t mut Buffers<T>,
}

impl<T: ConvolutionReal> Kernel<T> for BackwardTask<'_, T> {
    type Output = Sums<T>;

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) -> Sums<T> {
        let Self { problem, frames, buffers } = self;
        let Layout { input: input_side, output: output_side, .. } = problem.layout;
        let group = 2 * V::WIDTH;
        let no_bias = vec![T::zero(); input_side.channels];
        let mut sums = Sums::new(problem);
        let mut of_inputs = frames.of_input.chunks_mut(group * input_side.extent());
        let mut after = frames.after;
        for input in frames.input.chunks(group * input_side.extent()) {
            let this;
            (this, after) = after.split_at(input.len() / input_side.extent());
            let this = this.before_activation(problem.activation, &mut buffers.through);
            this.add_to_bias(&mut sums.bias);
            if !buffers.of_output.is_empty() {
                this.frames_to_lanes(output_side, group, &mut buffers.of_output);
            }
            if let (Some(weight), Some(of_input)) = (&problem.weight, of_inputs.next()) {
                let gather = GatherTask {
                    links: &problem.to_input,
                    weight,
                    bias: &no_bias,
                    activation: Activation::Identity,
                    vectors: 2,
                    source: &buffers.of_output,
                    destination: &mut buffers.of_input,
                };
                T::gather(problem.level, gather);
                frames_from_lanes(&buffers.of_input, input_side, group, of_input);
            }
            let (links, source) = match &problem.to_output {
                None => {
                    channels_to_lanes(input, input_side, group, &mut buffers.channels);
                    (&problem.to_input, &buffers.of_output)
                }
                Some(to_output) => {
                    this.channels_to_lanes(output_side, group, &mut buffers.channels);
                    frames_to_lanes(input, input_side, group, &mut buffers.input);
                    (to_output, &buffers.input)
                }
            };
            let channels = problem.sides().0.channels;
            let correlate = CorrelateTask {
                links,
                vectors: 2,
                channels,
                frames: group,
                source,
                destination: &buffers.channels,
                sums: &mut sums.weight,
            };
            T::correlate(problem.level, correlate);
        }
        sums
    }
}
