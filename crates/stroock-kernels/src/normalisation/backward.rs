//! The backward pass: gradients of the images, the scale and the offset.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::channel::{Channel, Rest, last_vector};
use super::forward::Tape;
use super::layout::Layout;
use super::moments::Moments;
use super::{FrameNorm, NormalisationError, NormalisationReal};
use crate::argument::check_length;
use crate::convolution::Images;
use crate::simd::{Kernel, Lanes, SimdReal};

/// Gradients of a loss with respect to what frames are normalised from.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the images, in their shape.
    pub input: Vec<T>,
    /// With respect to the scale, `[channels]`.
    pub scale: Vec<T>,
    /// With respect to the offset, `[channels]`.
    pub offset: Vec<T>,
}

impl FrameNorm {
    /// Pulls the gradient `of_output` (`[frames, channels, height, width]`) of a loss with respect to the
    /// output back through the normalisation.
    ///
    /// `tape` is what [`forward`](Self::forward) returned for the same arguments.
    ///
    /// # Errors
    /// When an argument is malformed or the tape does not fit.
    pub fn backward<T: NormalisationReal>(
        &self,
        images: Images<'_, T>,
        scale: &[T],
        offset: &[T],
        tape: &Tape<T>,
        of_output: &[T],
    ) -> Result<Gradients<T>, NormalisationError> {
        let layout = self.layout(&images, scale, offset)?;
        let shape = "[frames, channels, height, width]";
        check_length("of_output", shape, images.values.len(), of_output.len())?;
        if tape.layout != layout || tape.level != self.level.or_portable() {
            return Err(NormalisationError::ForeignTape);
        }
        let mut of_input = vec![T::zero(); images.values.len()];
        let task = layout.frames_per_task();
        let sums: Vec<Vec<T>> = of_input
            .par_chunks_mut(task * layout.extent())
            .zip(images.values.par_chunks(task * layout.extent()))
            .zip(of_output.par_chunks(task * layout.extent()))
            .zip(tape.moments.par_chunks(task))
            .map(|(((of_input, input), of_output), moments)| {
                let relu = self.relu;
                let task = BackwardTask { layout, scale, offset, relu, moments, input, of_output, of_input };
                T::pull_back(tape.level, task)
            })
            .collect();
        let mut total = vec![T::zero(); 2 * layout.channels];
        for sums in sums {
            for (total, sum) in total.iter_mut().zip(sums) {
                *total += sum;
            }
        }
        let of_offset = total.split_off(layout.channels);
        Ok(Gradients { input: of_input, scale: total, offset: of_offset })
    }
}

/// The frames of one task. Its result is the gradients of the scale and of the offset over them, `[2, channels]`.
pub struct BackwardTask<'t, T> {
    layout: Layout,
    scale: &'t [T],
    offset: &'t [T],
    relu: bool,
    moments: &'t [Moments<T>],
    input: &'t [T],
    of_output: &'t [T],
    of_input: &'t mut [T],
}

impl<T: SimdReal> Kernel<T> for BackwardTask<'_, T> {
    type Output = Vec<T>;

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) -> Vec<T> {
        match self.relu {
            true => pull_back::<V, true>(self),
            false => pull_back::<V, false>(self),
        }
    }
}

#[inline(always)]
fn pull_back<V: Lanes, const RELU: bool>(task: BackwardTask<'_, V::Real>) -> Vec<V::Real> {
    let BackwardTask { layout, scale, offset, moments, input, of_output, of_input, .. } = task;
    let mut of_scale = vec![V::zero(); layout.channels];
    let mut of_offset = vec![V::zero(); layout.channels];
    let extent = layout.extent();
    let frames = input.chunks_exact(extent).zip(of_output.chunks_exact(extent));
    for (((input, of_output), of_input), moments) in
        frames.zip(of_input.chunks_exact_mut(extent)).zip(moments)
    {
        let frame = Frame { layout, scale, offset, moments, input, of_output };
        let sums = frame.sum::<V, RELU>(&mut of_scale, &mut of_offset);
        frame.pull_back::<V, RELU>(sums, of_input);
    }
    let mut totals = Vec::with_capacity(2 * layout.channels);
    for lanes in of_scale.iter().chain(&of_offset) {
        totals.push(lanes.total());
    }
    totals
}

/// One frame and what has come back to its output.
struct Frame<'f, T> {
    layout: Layout,
    scale: &'f [T],
    offset: &'f [T],
    moments: &'f Moments<T>,
    input: &'f [T],
    of_output: &'f [T],
}

/// Sums over a frame, with `g` in front of the activation and `u = x - mean`.
struct Sums<T> {
    /// `sum_i scale_c g_i`.
    of_values: T,
    /// `sum_i scale_c g_i u_i`.
    products: T,
}

impl<T: Real> Frame<'_, T> {
    /// Sums over the frame; those over its channels are added to the gradients of the parameters.
    #[inline(always)]
    fn sum<V: Lanes<Real = T>, const RELU: bool>(&self, of_scale: &mut [V], of_offset: &mut [V]) -> Sums<T> {
        let Moments { remainder, inverse, .. } = *self.moments;
        let (remainder, inverse) = (V::splat(remainder), V::splat(inverse));
        let [mut of_values, mut frame_products] = [V::zero(); 2];
        let plane = self.layout.plane;
        let planes = self.input.chunks_exact(plane).zip(self.of_output.chunks_exact(plane));
        for (c, (input, of_output)) in planes.enumerate() {
            let channel = Channel::<V>::new(self.moments, self.scale[c], self.offset[c]);
            let [mut sum, mut products] = [V::zero(); 2];
            let (inputs, of_outputs) = (input.chunks_exact(V::WIDTH), of_output.chunks_exact(V::WIDTH));
            let rest = (inputs.remainder(), of_outputs.remainder());
            for (x, g) in inputs.zip(of_outputs) {
                let u = channel.centred(V::load(x));
                let g = channel.through::<RELU>(u, V::load(g));
                sum = sum.add(g);
                products = g.mul_add(u, products);
            }
            let u = channel.centred(V::load_part(rest.0, channel.mean));
            let g = channel.through::<RELU>(u, V::load_part(rest.1, V::zero()));
            sum = sum.add(g);
            products = g.mul_add(u, products);

            let scale = V::splat(self.scale[c]);
            of_values = sum.mul_add(scale, of_values);
            frame_products = products.mul_add(scale, frame_products);
            of_offset[c] = of_offset[c].add(sum);
            of_scale[c] = sum.neg_mul_add(remainder, products).mul_add(inverse, of_scale[c]);
        }
        Sums { of_values: of_values.total(), products: frame_products.total() }
    }

    /// The gradient of the frame, `r (scale_c g - mean of scale_c g - h q)` with the sum
    /// `q = 1/(N-1) sum_i scale_c g_i h_i`, as a linear function of `g` and `u`.
    #[inline(always)]
    fn pull_back<V: Lanes<Real = T>, const RELU: bool>(&self, sums: Sums<T>, of_input: &mut [T]) {
        let Moments { remainder, inverse, .. } = *self.moments;
        let (count, one) = (T::of(self.layout.extent() as f64), T::one());
        let q = inverse * (sums.products - remainder * sums.of_values) / (count - one).max(one);
        // Not the square of the inverse: it would overflow for a constant frame and a small epsilon.
        let of_u = inverse * q * inverse;
        let constant = V::splat(remainder * of_u - inverse * sums.of_values / count);
        let of_u = V::splat(of_u);
        let plane = self.layout.plane;
        let planes = self.input.chunks_exact(plane).zip(self.of_output.chunks_exact(plane));
        for (c, ((input, of_output), of_input)) in planes.zip(of_input.chunks_exact_mut(plane)).enumerate() {
            let channel = Channel::<V>::new(self.moments, self.scale[c], self.offset[c]);
            let line = Line { channel, of_u, constant };
            let vectors = input.chunks_exact(V::WIDTH).zip(of_output.chunks_exact(V::WIDTH));
            for ((x, g), of_x) in vectors.zip(of_input.chunks_exact_mut(V::WIDTH)) {
                line.of_input::<RELU>(V::load(x), V::load(g)).store(of_x);
            }
            match last_vector::<V>(plane) {
                Rest::None => {}
                Rest::From(last) => {
                    let (x, g) = (V::load(&input[last..]), V::load(&of_output[last..]));
                    line.of_input::<RELU>(x, g).store(&mut of_input[last..]);
                }
                Rest::Part => {
                    let (x, g) = (V::load_part(input, channel.mean), V::load_part(of_output, V::zero()));
                    line.of_input::<RELU>(x, g).store_part(of_input);
                }
            }
        }
    }
}

/// The gradient of a number of a channel, `factor g - of_u u + constant`.
struct Line<V> {
    channel: Channel<V>,
    of_u: V,
    constant: V,
}

impl<V: Lanes> Line<V> {
    #[inline(always)]
    fn of_input<const RELU: bool>(&self, x: V, of_output: V) -> V {
        let u = self.channel.centred(x);
        let g = self.channel.through::<RELU>(u, of_output);
        g.mul_add(self.channel.factor, u.neg_mul_add(self.of_u, self.constant))
    }
}
