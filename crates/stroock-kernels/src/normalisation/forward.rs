//! The forward pass.

use rayon::prelude::*;

use super::channel::{Channel, Rest, last_vector};
use super::layout::Layout;
use super::moments::{Moments, moments};
use super::{FrameNorm, NormalisationError, NormalisationReal};
use crate::convolution::Images;
use crate::simd::{Kernel, Lanes, Level, SimdReal};

/// Normalised frames.
#[derive(Clone, Debug)]
pub struct Normalised<T> {
    /// `[frames, channels, height, width]`.
    pub values: Vec<T>,
    /// What the backward pass needs.
    pub tape: Tape<T>,
}

/// What a forward pass keeps for the backward pass: the mean and the deviation of every frame.
#[derive(Clone, Debug)]
pub struct Tape<T> {
    pub(super) level: Level,
    pub(super) layout: Layout,
    pub(super) moments: Vec<Moments<T>>,
}

impl FrameNorm {
    /// Normalises every frame; `scale` and `offset` are `[channels]`.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn forward<T: NormalisationReal>(
        &self,
        images: Images<'_, T>,
        scale: &[T],
        offset: &[T],
    ) -> Result<Normalised<T>, NormalisationError> {
        let layout = self.layout(&images, scale, offset)?;
        let level = self.level.or_portable();
        let mut values = vec![T::zero(); images.values.len()];
        let mut moments = vec![Moments::default(); layout.frames];
        let task = layout.frames_per_task();
        values
            .par_chunks_mut(task * layout.extent())
            .zip(images.values.par_chunks(task * layout.extent()))
            .zip(moments.par_chunks_mut(task))
            .for_each(|((output, input), moments)| {
                let (relu, epsilon) = (self.relu, T::of(self.epsilon));
                T::normalise(
                    level,
                    ForwardTask { layout, scale, offset, relu, epsilon, input, output, moments },
                );
            });
        Ok(Normalised { values, tape: Tape { level, layout, moments } })
    }
}

/// The frames of one task.
pub struct ForwardTask<'t, T> {
    layout: Layout,
    scale: &'t [T],
    offset: &'t [T],
    relu: bool,
    epsilon: T,
    input: &'t [T],
    output: &'t mut [T],
    moments: &'t mut [Moments<T>],
}

impl<T: SimdReal> Kernel<T> for ForwardTask<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        match self.relu {
            true => normalise::<V, true>(self),
            false => normalise::<V, false>(self),
        }
    }
}

#[inline(always)]
fn normalise<V: Lanes, const RELU: bool>(task: ForwardTask<'_, V::Real>) {
    let ForwardTask { layout, scale, offset, epsilon, input, output, moments: all_moments, .. } = task;
    let frames = input.chunks_exact(layout.extent()).zip(output.chunks_exact_mut(layout.extent()));
    for ((input, output), kept) in frames.zip(all_moments) {
        let of_frame = moments::<V>(input, epsilon);
        *kept = of_frame;
        let planes = input.chunks_exact(layout.plane).zip(output.chunks_exact_mut(layout.plane));
        for ((input, output), (scale, offset)) in planes.zip(scale.iter().zip(offset)) {
            let channel = Channel::<V>::new(&of_frame, *scale, *offset);
            for (x, y) in input.chunks_exact(V::WIDTH).zip(output.chunks_exact_mut(V::WIDTH)) {
                channel.output::<RELU>(channel.centred(V::load(x))).store(y);
            }
            match last_vector::<V>(layout.plane) {
                Rest::None => {}
                Rest::From(last) => {
                    let x = V::load(&input[last..]);
                    channel.output::<RELU>(channel.centred(x)).store(&mut output[last..]);
                }
                Rest::Part => {
                    let x = V::load_part(input, channel.mean);
                    channel.output::<RELU>(channel.centred(x)).store_part(output);
                }
            }
        }
    }
}
