//! The forward pass.

use stroock_geometry::Real;

use super::convolution::frames::{clear_padding, frame_lanes_extent, frames_from_lanes, frames_to_lanes};
use super::convolution::gather::{GatherTask, TiledWeight};
use super::convolution::links::Links;
use super::group_norm::{moments, moments_extent, normalise};
use super::groups::{Part, WHOLE};
use super::plan::{Plan, Stage};
use super::scratch::Scratch;
use super::{Images, Network, NetworkError, NetworkReal, Then};
use crate::simd::{Kernel, Lanes};

/// The output of a network, and what its backward pass needs.
#[derive(Clone, Debug)]
pub struct Transformed<T> {
    /// `[frames, output channels, height, width]`.
    pub values: Vec<T>,
    /// What the backward pass needs.
    pub tape: Tape<T>,
}

/// What the backward pass of a network needs beside the images.
#[derive(Clone, Debug)]
pub struct Tape<T> {
    pub(super) network: Network,
    pub(super) frames: usize,
    pub(super) size: [usize; 2],
    pub(super) groups: Groups<T>,
}

/// What the layers keep of every group of frames, `[group, layer]`.
pub(super) type Groups<T> = Vec<Vec<Kept<T>>>;

/// What a layer keeps of a group of frames; what it does not need is empty.
#[derive(Clone, Debug)]
pub(super) struct Kept<T> {
    /// The output with frames in lanes; where it is normalised, the output before that.
    pub numbers: Vec<T>,
    /// Where the maxima stand.
    pub places: Vec<u32>,
    /// Moments of the normalisation.
    pub moments: Vec<T>,
}

impl<T: Real> Kept<T> {
    fn new(stage: &Stage, group: usize) -> Self {
        let extent = if stage.kept { frame_lanes_extent(stage.after, group) } else { 0 };
        let (places, moments) = match stage.layer.then {
            Then::Nothing => (0, 0),
            Then::Pool(_) => (extent, 0),
            Then::GroupNormRelu { .. } => (0, moments_extent(group)),
        };
        Self { numbers: vec![T::zero(); extent], places: vec![0; places], moments: vec![T::zero(); moments] }
    }
}

impl Network {
    /// Puts images through all layers, and keeps what [`backward`](Self::backward) needs.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn forward<T: NetworkReal>(
        &self,
        images: Images<'_, T>,
        parameters: &[T],
    ) -> Result<Transformed<T>, NetworkError> {
        let (values, groups) = self.transform(images, parameters, true)?;
        let tape = Tape { network: self.clone(), frames: images.frames, size: images.size, groups };
        Ok(Transformed { values, tape })
    }

    /// The output alone: to the last bit that of [`forward`](Self::forward), in little memory.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn evaluate<T: NetworkReal>(
        &self,
        images: Images<'_, T>,
        parameters: &[T],
    ) -> Result<Vec<T>, NetworkError> {
        Ok(self.transform(images, parameters, false)?.0)
    }

    fn transform<T: NetworkReal>(
        &self,
        images: Images<'_, T>,
        parameters: &[T],
        keep: bool,
    ) -> Result<(Vec<T>, Groups<T>), NetworkError> {
        let plan = Plan::new(self, &images, parameters)?;
        let links: Vec<Links> = plan.stages.iter().map(|stage| stage.layout.links(true)).collect();
        let weights =
            plan.stages.iter().zip(&links).map(|(stage, links)| stage.weight_forward(links, parameters));
        let weights = weights.collect();
        let width = T::width(plan.level);
        let pass = Forward { plan, links, weights, parameters, keep, scratch: Scratch::new() };
        let mut output = vec![T::zero(); images.frames * pass.plan.output().extent()];
        let groups = pass.run(Part::whole(images.frames, width), images.values, &mut output);
        Ok((output, groups))
    }
}

/// What all tasks share.
struct Forward<'p, T> {
    plan: Plan,
    links: Vec<Links>,
    weights: Vec<TiledWeight<T>>,
    parameters: &'p [T],
    keep: bool,
    scratch: Scratch<Buffers<T>>,
}

impl<T: NetworkReal> Forward<'_, T> {
    /// What the groups of a part keep, in their order.
    fn run(&self, part: Part, input: &[T], output: &mut [T]) -> Groups<T> {
        let extents = [self.plan.input().extent(), self.plan.output().extent()];
        if let Some((a, b)) = part.halves() {
            let (input_a, input_b) = input.split_at(a.frames * extents[0]);
            let (output_a, output_b) = output.split_at_mut(a.frames * extents[1]);
            let (mut kept, more) =
                rayon::join(|| self.run(a, input_a, output_a), || self.run(b, input_b, output_b));
            kept.extend(more);
            return kept;
        }
        self.scratch.with(
            || Buffers::new(&self.plan, WHOLE * T::width(self.plan.level)),
            |buffers| {
                let (mut input, mut output) = (input, output);
                let mut all = Vec::new();
                for (frames, vectors) in part.groups() {
                    let (these, rest) = input.split_at(frames * extents[0]);
                    let (to, rest_to) = output.split_at_mut(frames * extents[1]);
                    (input, output) = (rest, rest_to);
                    let group = vectors * T::width(self.plan.level);
                    let mut kept = match buffers.kept.take() {
                        // What nobody asks for again is written over by the next group.
                        Some((of_group, kept)) if of_group == group => kept,
                        _ => self.plan.stages.iter().map(|stage| Kept::new(stage, group)).collect(),
                    };
                    let task = ForwardTask {
                        plan: &self.plan,
                        links: &self.links,
                        weights: &self.weights,
                        parameters: self.parameters,
                        vectors,
                        input: these,
                        output: to,
                        kept: &mut kept,
                        buffers,
                    };
                    T::through_layers(self.plan.level, task);
                    match self.keep {
                        true => all.push(kept),
                        false => buffers.kept = Some((group, kept)),
                    }
                }
                all
            },
        )
    }
}

/// The working memory of a task: one group of frames in lanes.
pub(super) struct Buffers<T> {
    /// The input of the network.
    first: Vec<T>,
    /// An image that nobody keeps: before its maxima are taken, or the output.
    passing: Vec<T>,
    /// A normalised image.
    normalised: Vec<T>,
    /// What the groups of a pass keep that needs no backward pass, and the frames of such a group.
    kept: Option<(usize, Vec<Kept<T>>)>,
}

impl<T: Real> Buffers<T> {
    fn new(plan: &Plan, group: usize) -> Self {
        let zeros = |length| vec![T::zero(); length];
        let largest = plan.largest(group);
        Self {
            first: zeros(frame_lanes_extent(plan.input(), group)),
            passing: zeros(largest),
            normalised: zeros(largest),
            kept: None,
        }
    }
}

/// One group of frames.
pub struct ForwardTask<'t, T> {
    plan: &'t Plan,
    links: &'t [Links],
    weights: &'t [TiledWeight<T>],
    parameters: &'t [T],
    vectors: usize,
    input: &'t [T],
    output: &'t mut [T],
    kept: &'t mut [Kept<T>],
    buffers: &'t mut Buffers<T>,
}

impl<T: NetworkReal> Kernel<T> for ForwardTask<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        through_layers::<V>(self);
    }
}

/// Where the input of a layer stands.
#[derive(Clone, Copy)]
enum Source {
    First,
    Normalised,
    Passing,
    /// In what the layer before keeps.
    Before,
}

#[inline(always)]
fn through_layers<V: Lanes<Real: NetworkReal>>(task: ForwardTask<'_, V::Real>) {
    let ForwardTask { plan, links, weights, parameters, vectors, input, output, kept, buffers } = task;
    let group = vectors * V::WIDTH;
    let Buffers { first, passing, normalised, .. } = buffers;
    frames_to_lanes(input, plan.input(), group, &mut first[..frame_lanes_extent(plan.input(), group)]);
    let mut source = Source::First;
    for (number, stage) in plan.stages.iter().enumerate() {
        let (before, rest) = kept.split_at_mut(number);
        let kept = &mut rest[0];
        let from = match source {
            Source::First => &first[..],
            Source::Normalised => &normalised[..],
            Source::Passing | Source::Before => &before[number - 1].numbers,
        };
        let side = stage.layout.output;
        source = match stage.layer.then {
            Then::Pool(_) => Source::Passing,
            // Only the last layer is not kept.
            Then::Nothing if !stage.kept => Source::Passing,
            Then::Nothing | Then::GroupNormRelu { .. } => Source::Before,
        };
        let gather = GatherTask {
            links: &links[number],
            weight: &weights[number],
            bias: &parameters[stage.bias()],
            activation: stage.layer.convolution.activation,
            vectors,
            source: from,
            destination: if let Source::Passing = source { passing } else { &mut kept.numbers },
        };
        V::Real::gather(plan.level, gather);
        match stage.layer.then {
            Then::Nothing => {}
            Then::Pool(pool) => {
                pool.maxima(passing, side, group, &mut kept.numbers, &mut kept.places);
                source = Source::Before;
            }
            Then::GroupNormRelu { .. } => {
                let parameters = stage.normalisation(parameters);
                moments::<V>(side, group, parameters, &kept.numbers, &mut kept.moments);
                normalise::<V>(side, group, parameters, &kept.moments, &kept.numbers, normalised);
                clear_padding(normalised, side, group);
                source = Source::Normalised;
            }
        }
    }
    let last = match source {
        Source::Normalised => &normalised[..],
        Source::Passing => &passing[..],
        Source::First | Source::Before => &kept[kept.len() - 1].numbers,
    };
    frames_from_lanes(last, plan.output(), group, output);
}
