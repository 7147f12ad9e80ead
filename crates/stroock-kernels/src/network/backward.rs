//! The backward pass: gradients of the images and of all parameters.

use stroock_geometry::Real;

use super::convolution::correlation::{Correlation, Sides};
use super::convolution::frames::{
    clear_padding, frame_lanes_extent, frames_from_lanes, frames_to_lanes, pixel_distance,
};
use super::convolution::gather::{GatherTask, TiledWeight};
use super::convolution::layout::Side;
use super::convolution::links::Links;
use super::forward::{Kept, Tape};
use super::group_norm::{normalise, pull_back};
use super::groups::{Part, WHOLE};
use super::plan::{Plan, Stage};
use super::scratch::Scratch;
use super::{Activation, Images, Network, NetworkError, NetworkReal, Then, Wanted};
use crate::argument::check_length;
use crate::simd::{Kernel, Lanes};

/// Gradients of a loss with respect to what a network is computed from.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the images, in their shape; empty unless wanted.
    pub input: Vec<T>,
    /// With respect to the parameters, in their order.
    pub parameters: Vec<T>,
}

impl Network {
    /// Pulls the gradient `of_output` of a loss with respect to the output back through all layers.
    ///
    /// `tape` is what [`forward`](Self::forward) returned for the same arguments.
    ///
    /// # Errors
    /// When an argument is malformed or the tape does not fit.
    pub fn backward<T: NetworkReal>(
        &self,
        images: Images<'_, T>,
        parameters: &[T],
        tape: &Tape<T>,
        of_output: &[T],
        wanted: Wanted,
    ) -> Result<Gradients<T>, NetworkError> {
        let plan = Plan::new(self, &images, parameters)?;
        let shape = "[frames, output channels, height, width]";
        check_length("of_output", shape, images.frames * plan.output().extent(), of_output.len())?;
        if tape.network != *self || (tape.frames, tape.size) != (images.frames, images.size) {
            return Err(NetworkError::ForeignTape);
        }
        let width = T::width(plan.level);
        let needs = |number: usize| number > 0 || wanted == Wanted::All;
        let ways = plan.stages.iter().enumerate().map(|(number, stage)| {
            let to_input = stage.layout.links(false);
            Way {
                weight: needs(number).then(|| stage.weight_backward(&to_input, parameters)),
                no_bias: vec![T::zero(); stage.layout.input.channels],
                to_input,
                correlation: Correlation::new(&stage.layout, width),
            }
        });
        let ways = ways.collect();
        let pass = Backward { plan, ways, parameters, scratch: Scratch::new() };
        let mut of_input = match wanted {
            Wanted::All => vec![T::zero(); images.values.len()],
            Wanted::Parameters => Vec::new(),
        };
        let frames = Frames { input: images.values, of_output, of_input: &mut of_input, kept: &tape.groups };
        let sums = pass.run(Part::whole(images.frames, width), frames);
        let mut of_parameters = vec![T::zero(); parameters.len()];
        for ((stage, way), sums) in pass.plan.stages.iter().zip(&pass.ways).zip(&sums) {
            way.correlation.unpack(&stage.layout, &sums.weight, &mut of_parameters[stage.weight()]);
            add_lanes(&sums.bias, &mut of_parameters[stage.bias()]);
            if let Then::GroupNormRelu { .. } = stage.layer.then {
                let [scale, offset] = stage.scale_and_offset();
                add_lanes(&sums.scale, &mut of_parameters[scale]);
                add_lanes(&sums.offset, &mut of_parameters[offset]);
            }
        }
        Ok(Gradients { input: of_input, parameters: of_parameters })
    }
}

/// The sums over the lanes of every channel.
fn add_lanes<T: Real>(lanes: &[T], channels: &mut [T]) {
    let width = lanes.len() / channels.len().max(1);
    for (channel, lanes) in channels.iter_mut().zip(lanes.chunks_exact(width.max(1))) {
        *channel = lanes.iter().copied().sum();
    }
}

/// The way back through a layer.
pub(super) struct Way<T> {
    /// For the gradient of the input; `None` where nobody wants it.
    weight: Option<TiledWeight<T>>,
    no_bias: Vec<T>,
    to_input: Links,
    correlation: Correlation,
}

/// What all tasks share.
struct Backward<'p, T> {
    plan: Plan,
    ways: Vec<Way<T>>,
    parameters: &'p [T],
    scratch: Scratch<Buffers<T>>,
}

/// Consecutive frames; `of_input` is empty where it is not wanted.
struct Frames<'f, T> {
    input: &'f [T],
    of_output: &'f [T],
    of_input: &'f mut [T],
    /// Of the groups of these frames and of those behind them.
    kept: &'f [Vec<Kept<T>>],
}

/// Sums over frames, of one layer.
pub(super) struct Sums<T> {
    /// In the order of [`Correlation::sums`].
    weight: Vec<T>,
    /// `[channel, lane]` each; the last two are empty where nothing is normalised.
    bias: Vec<T>,
    scale: Vec<T>,
    offset: Vec<T>,
}

impl<T: Real> Sums<T> {
    fn new(stage: &Stage, correlation: &Correlation, width: usize) -> Self {
        let lanes = stage.layout.output.channels * width;
        let normalised = if let Then::GroupNormRelu { .. } = stage.layer.then { lanes } else { 0 };
        let zeros = |length| vec![T::zero(); length];
        Self {
            weight: zeros(correlation.sums(stage.layout.taps())),
            bias: zeros(lanes),
            scale: zeros(normalised),
            offset: zeros(normalised),
        }
    }

    fn add(&mut self, others: &Self) {
        let pairs = [
            (&mut self.weight, &others.weight),
            (&mut self.bias, &others.bias),
            (&mut self.scale, &others.scale),
            (&mut self.offset, &others.offset),
        ];
        for (sums, others) in pairs {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum += *other;
            }
        }
    }
}

impl<T: NetworkReal> Backward<'_, T> {
    /// The sums over a part.
    fn run(&self, part: Part, frames: Frames<'_, T>) -> Vec<Sums<T>> {
        let extents = [self.plan.input().extent(), self.plan.output().extent()];
        let width = T::width(self.plan.level);
        if let Some((a, b)) = part.halves() {
            let (first, second) = frames.split_at(a, extents);
            let (mut sums, others) = rayon::join(|| self.run(a, first), || self.run(b, second));
            sums.iter_mut().zip(&others).for_each(|(sums, others)| sums.add(others));
            return sums;
        }
        let ways = self.plan.stages.iter().zip(&self.ways);
        let mut sums: Vec<_> = ways.map(|(stage, way)| Sums::new(stage, &way.correlation, width)).collect();
        self.scratch.with(
            || Buffers::new(&self.plan, &self.ways, WHOLE * width),
            |buffers| {
                let Frames { mut input, mut of_output, mut of_input, kept } = frames;
                for ((frames, vectors), kept) in part.groups().zip(kept) {
                    let (these, rest) = input.split_at(frames * extents[0]);
                    let (of_these, rest_of) = of_output.split_at(frames * extents[1]);
                    let at = (frames * extents[0]).min(of_input.len());
                    let (to, rest_to) = of_input.split_at_mut(at);
                    (input, of_output, of_input) = (rest, rest_of, rest_to);
                    let task = BackwardTask {
                        plan: &self.plan,
                        ways: &self.ways,
                        parameters: self.parameters,
                        vectors,
                        input: these,
                        of_output: of_these,
                        of_input: to,
                        kept,
                        sums: &mut sums,
                        buffers,
                    };
                    T::back_through_layers(self.plan.level, task);
                }
            },
        );
        sums
    }
}

impl<'f, T: Real> Frames<'f, T> {
    fn split_at(self, part: Part, [input, output]: [usize; 2]) -> (Self, Self) {
        let of_input_at = (part.frames * input).min(self.of_input.len());
        let inputs = self.input.split_at(part.frames * input);
        let of_outputs = self.of_output.split_at(part.frames * output);
        let of_inputs = self.of_input.split_at_mut(of_input_at);
        let kept = self.kept.split_at(part.groups().count().min(self.kept.len()));
        (
            Self { input: inputs.0, of_output: of_outputs.0, of_input: of_inputs.0, kept: kept.0 },
            Self { input: inputs.1, of_output: of_outputs.1, of_input: of_inputs.1, kept: kept.1 },
        )
    }
}

/// The working memory of a task: one group of frames in lanes.
pub(super) struct Buffers<T> {
    /// The input of the network.
    first: Vec<T>,
    /// A normalised image.
    normalised: Vec<T>,
    /// The gradient of an image, and room for that of the layer before.
    gradient: Vec<T>,
    next: Vec<T>,
    /// One side of the weights' gradient, with channels in lanes.
    turned: Vec<T>,
}

impl<T: Real> Buffers<T> {
    fn new(plan: &Plan, ways: &[Way<T>], group: usize) -> Self {
        let zeros = |length| vec![T::zero(); length];
        let largest = plan.largest(group);
        Self {
            first: zeros(frame_lanes_extent(plan.input(), group)),
            normalised: zeros(largest),
            gradient: zeros(largest),
            next: zeros(largest),
            turned: zeros(ways.iter().map(|way| way.correlation.turned(group)).max().unwrap_or(0)),
        }
    }
}

/// One group of frames.
pub struct BackwardTask<'t, T> {
    plan: &'t Plan,
    ways: &'t [Way<T>],
    parameters: &'t [T],
    vectors: usize,
    input: &'t [T],
    of_output: &'t [T],
    of_input: &'t mut [T],
    kept: &'t [Kept<T>],
    sums: &'t mut [Sums<T>],
    buffers: &'t mut Buffers<T>,
}

impl<T: NetworkReal> Kernel<T> for BackwardTask<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        back_through_layers::<V>(self);
    }
}

#[inline(always)]
fn back_through_layers<V: Lanes<Real: NetworkReal>>(task: BackwardTask<'_, V::Real>) {
    let BackwardTask { plan, ways, parameters, vectors, input, of_output, of_input, kept, sums, buffers } =
        task;
    let group = vectors * V::WIDTH;
    let Buffers { first, normalised, gradient, next, turned } = buffers;
    let output = plan.output();
    frames_to_lanes(of_output, output, group, &mut gradient[..frame_lanes_extent(output, group)]);
    frames_to_lanes(input, plan.input(), group, &mut first[..frame_lanes_extent(plan.input(), group)]);
    for (number, stage) in plan.stages.iter().enumerate().rev() {
        let (way, sums, side) = (&ways[number], &mut sums[number], stage.layout.output);
        let of_layer = &kept[number];
        match stage.layer.then {
            Then::Nothing => before_activation::<V>(stage, group, &of_layer.numbers, gradient),
            Then::Pool(pool) => {
                before_activation::<V>(stage, group, &of_layer.numbers, gradient);
                pool.scatter(gradient, &of_layer.places, side, group, next);
                clear_padding(next, side, group);
                std::mem::swap(gradient, next);
            }
            Then::GroupNormRelu { .. } => {
                let parameters = stage.normalisation(parameters);
                let of_parameters = [&mut sums.scale[..], &mut sums.offset[..]];
                let (x, moments) = (&of_layer.numbers, &of_layer.moments);
                pull_back::<V>(side, group, parameters, moments, x, gradient, of_parameters);
                before_activation::<V>(stage, group, x, gradient);
            }
        }
        add_to_bias::<V>(side, group, gradient, &mut sums.bias);
        let source = match number.checked_sub(1) {
            None => &first[..],
            Some(before) => {
                let (stage, kept) = (&plan.stages[before], &kept[before]);
                match stage.layer.then {
                    Then::Nothing | Then::Pool(_) => &kept.numbers,
                    Then::GroupNormRelu { .. } => {
                        let parameters = stage.normalisation(parameters);
                        let side = stage.after;
                        normalise::<V>(side, group, parameters, &kept.moments, &kept.numbers, normalised);
                        clear_padding(normalised, side, group);
                        &normalised[..]
                    }
                }
            }
        };
        let sides = Sides { vectors, input: source, of_output: gradient };
        way.correlation.add(plan.level, sides, turned, &mut sums.weight);
        if let Some(weight) = &way.weight {
            let gather = GatherTask {
                links: &way.to_input,
                weight,
                bias: &way.no_bias,
                activation: Activation::Identity,
                vectors,
                source: gradient,
                destination: next,
            };
            V::Real::gather(plan.level, gather);
            clear_padding(next, stage.layout.input, group);
            std::mem::swap(gradient, next);
        }
    }
    if !of_input.is_empty() {
        frames_from_lanes(gradient, plan.input(), group, of_input);
    }
}

/// Back through the activation of a layer, from its output.
#[inline(always)]
fn before_activation<V: Lanes>(stage: &Stage, group: usize, output: &[V::Real], gradient: &mut [V::Real]) {
    let extent = stage.after.pixels() * pixel_distance(stage.after.channels, group);
    let vectors = gradient[..extent].chunks_exact_mut(V::WIDTH).zip(output.chunks_exact(V::WIDTH));
    match stage.layer.convolution.activation {
        Activation::Identity => {}
        Activation::Relu => {
            for (g, y) in vectors {
                let y = V::load(y);
                // A gradient passes where the output is positive. The difference is 0 unless the output has diverged.
                y.where_greater(V::Real::of(0.0), V::load(g)).add(y.sub(y)).store(g);
            }
        }
        Activation::Sigmoid => {
            let one = V::splat(V::Real::of(1.0));
            for (g, y) in vectors {
                let y = V::load(y);
                y.mul(one.sub(y)).mul(V::load(g)).store(g);
            }
        }
    }
}

/// Adds the sums over pixels and frames, `[channel, lane]`.
#[inline(always)]
fn add_to_bias<V: Lanes>(side: Side, group: usize, gradient: &[V::Real], bias: &mut [V::Real]) {
    let distance = pixel_distance(side.channels, group);
    for pixel in gradient[..side.pixels() * distance].chunks_exact(distance) {
        let channels = pixel.chunks_exact(group).zip(bias.chunks_exact_mut(V::WIDTH));
        for (frames, bias) in channels {
            let mut sum = V::load(bias);
            for frames in frames.chunks_exact(V::WIDTH) {
                sum = sum.add(V::load(frames));
            }
            sum.store(bias);
        }
    }
}
