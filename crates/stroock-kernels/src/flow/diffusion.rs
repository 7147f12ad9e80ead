//! The diagonal of the diffusion in lanes, coordinate by coordinate, and its adjoint.

use super::activation::{softplus, softplus_with_slope};
use super::matrix::sum_over_lanes;
use super::problem::Diffusion;
use crate::simd::{LaneKernel, Lanes};

/// The parameters of a coordinate.
#[derive(Clone, Copy)]
struct Coordinate<'p, T> {
    w: &'p [T],
    b: &'p [T],
    outer: &'p [T],
    bias: T,
}

impl<'p, T: Copy> Diffusion<'p, T> {
    #[inline(always)]
    fn coordinate(&self, i: usize) -> Coordinate<'p, T> {
        let all = self.parameters.len() / (3 * self.hidden + 1) * self.hidden;
        let of = |part: usize| &self.parameters[part * all + i * self.hidden..][..self.hidden];
        Coordinate { w: of(0), b: of(1), outer: of(2), bias: self.parameters[3 * all + i] }
    }
}

/// `g_i(z_i)` for every coordinate.
#[inline(always)]
pub(super) fn evaluate<V: Lanes>(diffusion: &Diffusion<'_, V::Real>, z: &[V], g: &mut [V]) {
    V::call(Evaluate { diffusion, z, g });
}

struct Evaluate<'c, 'p, V: Lanes> {
    diffusion: &'c Diffusion<'p, V::Real>,
    z: &'c [V],
    g: &'c mut [V],
}

impl<V: Lanes> LaneKernel for Evaluate<'_, '_, V> {
    #[inline(always)]
    fn run(self) {
        for (i, (z, g)) in self.z.iter().zip(self.g).enumerate() {
            let Coordinate { w, b, outer, bias } = self.diffusion.coordinate(i);
            let mut sum = V::splat(bias);
            for ((w, b), outer) in w.iter().zip(b).zip(outer) {
                let value = softplus(V::splat(*w).mul_add(*z, V::splat(*b)));
                sum = V::splat(*outer).mul_add(value, sum);
            }
            *g = sum.sigmoid();
        }
    }
}

/// The diffusion along the steps of a group of rows, with the gradients of its parameters.
pub(super) struct PullBack<'p, V: Lanes> {
    diffusion: Diffusion<'p, V::Real>,
    /// Values and slopes of the units of all coordinates, `[n, H]`.
    values: Vec<V>,
    slopes: Vec<V>,
    /// `g`, `[n]`.
    pub g: Vec<V>,
    /// Cotangent of `g`, `[n]`.
    pub of_g: Vec<V>,
    /// Gradients of the parameters, in their order.
    gradients: Vec<V>,
}

impl<'p, V: Lanes> PullBack<'p, V> {
    #[inline(always)]
    pub fn new(diffusion: Diffusion<'p, V::Real>, n: usize) -> Self {
        let zeros = |count: usize| vec![V::zero(); count];
        Self {
            values: zeros(n * diffusion.hidden),
            slopes: zeros(n * diffusion.hidden),
            g: zeros(n),
            of_g: zeros(n),
            gradients: zeros(diffusion.parameters.len()),
            diffusion,
        }
    }

    /// Computes `g` at the state `z`.
    #[inline(always)]
    pub fn evaluate(&mut self, z: &[V]) {
        V::call(EvaluateWithSlopes { pull_back: self, z });
    }

    /// Takes the cotangent of `g` at the evaluated state `z` to the parameters, and adds that of the state to `of_state`.
    #[inline(always)]
    pub fn pull_back(&mut self, z: &[V], of_state: &mut [V]) {
        V::call(Propagate { pull_back: self, z, of_state });
    }

    /// The gradients of all parameters, summed over the lanes.
    #[inline(always)]
    pub fn finish(self) -> Vec<V::Real> {
        sum_over_lanes(&self.gradients)
    }
}

struct EvaluateWithSlopes<'c, 'p, V: Lanes> {
    pull_back: &'c mut PullBack<'p, V>,
    z: &'c [V],
}

impl<V: Lanes> LaneKernel for EvaluateWithSlopes<'_, '_, V> {
    #[inline(always)]
    fn run(self) {
        let PullBack { diffusion, values, slopes, g, .. } = self.pull_back;
        let units = values.chunks_exact_mut(diffusion.hidden).zip(slopes.chunks_exact_mut(diffusion.hidden));
        for (i, ((z, g), (values, slopes))) in self.z.iter().zip(g).zip(units).enumerate() {
            let Coordinate { w, b, outer, bias } = diffusion.coordinate(i);
            let mut sum = V::splat(bias);
            let units = values.iter_mut().zip(slopes);
            for (((w, b), outer), (value, slope)) in w.iter().zip(b).zip(outer).zip(units) {
                (*value, *slope) = softplus_with_slope(V::splat(*w).mul_add(*z, V::splat(*b)));
                sum = V::splat(*outer).mul_add(*value, sum);
            }
            *g = sum.sigmoid();
        }
    }
}

struct Propagate<'c, 'p, V: Lanes> {
    pull_back: &'c mut PullBack<'p, V>,
    z: &'c [V],
    of_state: &'c mut [V],
}

impl<V: Lanes> LaneKernel for Propagate<'_, '_, V> {
    #[inline(always)]
    fn run(self) {
        let Propagate { pull_back, z, of_state } = self;
        let PullBack { diffusion, values, slopes, g, of_g, gradients } = pull_back;
        let hidden = diffusion.hidden;
        let all = z.len() * hidden;
        let (of_w, rest) = gradients.split_at_mut(all);
        let (of_b, rest) = rest.split_at_mut(all);
        let (of_outer, of_bias) = rest.split_at_mut(all);
        for i in 0..z.len() {
            let Coordinate { w, outer, .. } = diffusion.coordinate(i);
            // The slope of the logistic function.
            let of_sum = of_g[i].mul(g[i].neg_mul_add(g[i], g[i]));
            of_bias[i] = of_bias[i].add(of_sum);
            let units = i * hidden..(i + 1) * hidden;
            let (values, slopes) = (&values[units.clone()], &slopes[units.clone()]);
            let (of_w, of_b) = (&mut of_w[units.clone()], &mut of_b[units.clone()]);
            let of_outer = &mut of_outer[units];
            let mut of_z = V::zero();
            for k in 0..hidden {
                of_outer[k] = of_sum.mul_add(values[k], of_outer[k]);
                let of_unit = of_sum.mul(V::splat(outer[k])).mul(slopes[k]);
                of_w[k] = of_unit.mul_add(z[i], of_w[k]);
                of_b[k] = of_unit.add(of_b[k]);
                of_z = V::splat(w[k]).mul_add(of_unit, of_z);
            }
            of_state[i] = of_state[i].add(of_z);
        }
    }
}
