//! The forward pass.

use rayon::prelude::*;

use super::frames::{frame_lanes_extent, frames_from_lanes, frames_to_lanes, groups_per_task};
use super::gather::{GatherTask, TiledWeight};
use super::layout::{Layout, Side};
use super::links::Links;
use super::pool::{MaxPool, Pooled};
use super::scratch::Scratch;
use super::{Activation, Convolution, ConvolutionError, ConvolutionReal, Images};
use crate::argument::check_length;
use crate::simd::{Kernel, Lanes, Level};

impl Convolution {
    /// Images `[frames, output channels, height, width]` of the size that
    /// [`output_size`](Self::output_size) gives.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn forward<T: ConvolutionReal>(
        &self,
        input: Images<'_, T>,
        weight: &[T],
        bias: &[T],
    ) -> Result<Vec<T>, ConvolutionError> {
        let problem = Problem::new(self, &input, weight, bias)?;
        let extent = problem.layout.output.extent();
        let mut output = vec![T::zero(); problem.layout.frames * extent];
        let outputs = output.par_chunks_mut(problem.task * extent).map(Output::Images);
        problem.run(input.values, outputs);
        Ok(output)
    }

    /// [`forward`](Self::forward) and the maxima of its output, which itself is never in memory as a whole.
    /// To the last bit what [`MaxPool::forward`] makes of it.
    ///
    /// ```
    /// use stroock_kernels::convolution::{Convolution, Images, MaxPool, Wanted};
    /// let (layer, pool) = (Convolution::plain([1, 2], [3, 3]).padding(1).relu(), MaxPool { window: [2, 2] });
    /// let images = Images { values: &[0.5f32; 64], frames: 1, size: [8, 8] };
    /// let (weight, bias) = ([0.1; 18], [0.0; 2]);
    /// let pooled = layer.forward_pooled(images, &weight, &bias, pool)?;
    /// assert_eq!(pooled.values.len(), 2 * 4 * 4);
    /// let of_pooled = [1.0; 2 * 4 * 4];
    /// let gradients = layer.backward_pooled(images, &weight, pool, pooled.maxima(), &of_pooled, Wanted::Parameters)?;
    /// assert_eq!(gradients.bias, [16.0; 2]);
    /// # Ok::<(), stroock_kernels::convolution::ConvolutionError>(())
    /// ```
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn forward_pooled<T: ConvolutionReal>(
        &self,
        input: Images<'_, T>,
        weight: &[T],
        bias: &[T],
        pool: MaxPool,
    ) -> Result<Pooled<T>, ConvolutionError> {
        let problem = Problem::new(self, &input, weight, bias)?;
        let side = problem.layout.output.pooled(pool)?;
        let extent = side.extent();
        let mut values = vec![T::zero(); problem.layout.frames * extent];
        let mut indices = vec![0; problem.layout.frames * extent];
        let outputs = values
            .par_chunks_mut(problem.task * extent)
            .zip(indices.par_chunks_mut(problem.task * extent))
            .map(|(values, indices)| Output::Pooled { pool, side, values, indices });
        problem.run(input.values, outputs);
        Ok(Pooled { values, indices })
    }
}

/// What all tasks share.
struct Problem<'p, T> {
    layout: Layout,
    links: Links,
    weight: TiledWeight<T>,
    bias: &'p [T],
    activation: Activation,
    level: Level,
    /// Frames in a group, and in a task.
    group: usize,
    task: usize,
}

impl<'p, T: ConvolutionReal> Problem<'p, T> {
    fn new(
        layer: &Convolution,
        input: &Images<'_, T>,
        weight: &[T],
        bias: &'p [T],
    ) -> Result<Self, ConvolutionError> {
        let layout = layer.layout(input, weight)?;
        check_length("bias", "[output channels]", layout.output.channels, bias.len())?;
        let links = layout.links(true);
        let [inputs, outputs] = layer.channels;
        let weight = TiledWeight::new(&links, inputs, outputs, |input, output, tap| {
            weight[layout.weight_place(input, output, tap)]
        });
        let level = layer.running_level();
        let group = 2 * T::width(level);
        let task = groups_per_task(layout.frames, group) * group;
        Ok(Self { layout, links, weight, bias, activation: layer.activation, level, group, task })
    }

    fn run<'o>(&self, input: &[T], outputs: impl IndexedParallelIterator<Item = Output<'o, T>>) {
        let Layout { input: from, output: to, .. } = self.layout;
        let scratch = Scratch::new();
        let make = || Buffers {
            source: vec![T::zero(); frame_lanes_extent(from, self.group)],
            destination: vec![T::zero(); frame_lanes_extent(to, self.group)],
            maxima: Vec::new(),
            places: Vec::new(),
        };
        outputs.zip(input.par_chunks(self.task * from.extent())).for_each(|(output, input)| {
            scratch.with(make, |buffers| {
                let (layout, links, weight) = (&self.layout, &self.links, &self.weight);
                let (bias, activation) = (self.bias, self.activation);
                let level = self.level;
                let task =
                    ForwardTask { level, layout, links, weight, bias, activation, input, output, buffers };
                T::convolve(level, task);
            });
        });
    }
}

/// Where the frames of a task go.
enum Output<'o, T> {
    Images(&'o mut [T]),
    Pooled { pool: MaxPool, side: Side, values: &'o mut [T], indices: &'o mut [u32] },
}

/// The working memory of a task: one group of frames.
struct Buffers<T> {
    /// With frames in lanes.
    source: Vec<T>,
    /// With frames in lanes.
    destination: Vec<T>,
    /// After pooling, with frames in lanes; empty without.
    maxima: Vec<T>,
    places: Vec<u32>,
}

/// The frames of one task.
pub struct ForwardTask<'t, T> {
    level: Level,
    layout: &'t Layout,
    links: &'t Links,
    weight: &'t TiledWeight<T>,
    bias: &'t [T],
    activation: Activation,
    input: &'t [T],
    output: Output<'t, T>,
    buffers: &'t mut Buffers<T>,
}

impl<T: ConvolutionReal> Kernel<T> for ForwardTask<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(mut self) {
        let Layout { input: from, output: to, .. } = *self.layout;
        let group = 2 * V::WIDTH;
        let Buffers { source, destination, maxima, places } = self.buffers;
        for (number, input) in self.input.chunks(group * from.extent()).enumerate() {
            frames_to_lanes(input, from, group, source);
            let (links, weight, bias, activation) = (self.links, self.weight, self.bias, self.activation);
            T::gather(
                self.level,
                GatherTask { links, weight, bias, activation, vectors: 2, source, destination },
            );
            let (first, frames) = (number * group, input.len() / from.extent());
            match &mut self.output {
                Output::Images(output) => {
                    let output = &mut output[first * to.extent()..][..frames * to.extent()];
                    frames_from_lanes(destination, to, group, output);
                }
                Output::Pooled { pool, side, values, indices } => {
                    maxima.resize(frame_lanes_extent(*side, group), T::zero());
                    places.resize(frame_lanes_extent(*side, group), 0);
                    pool.maxima_in_lanes(destination, to, group, maxima, places);
                    let place = first * side.extent()..(first + frames) * side.extent();
                    frames_from_lanes(maxima, *side, group, &mut values[place.clone()]);
                    frames_from_lanes(places, *side, group, &mut indices[place]);
                }
            }
        }
    }
}
