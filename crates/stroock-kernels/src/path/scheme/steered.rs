//! Steering: the drift is a vector `b` of the ambient space, and the path follows `P_z b = b - <b, z> z` and noise
//! along the sphere.
//!
//! `P_z b` is the action of the boosts of `SO(1, n)`, the conformal group of the sphere, so that its flow over a step
//! is known: with `a = |b| dt` the Möbius map of `psi = tanh(a / 2) b / |b|`,
//!
//! ```text
//! s = z + psi,   N = |s|^2,   q = (1 - |psi|^2) / N,   y = q s + psi,
//! w = y + sigma sqrt(dt) (xi - <xi, y> y),   z' = w / |w|.
//! ```
//!
//! The exact flow lets `b` be as stiff as it likes: for `a -> infinity` the step lands at `b / |b|`. What the divergence
//! weighs is the velocity `(y - z) / dt`, which is that of the discrete chain; the velocity `P_z b` at the left end would
//! overstate it where `a` is not small. Both tend to `P_z b`.
//!
//! A prior with a drift moves the path, too: `b` is what the posterior adds to it, and the flow is that of the sum. The
//! divergence weighs the flow of `b` alone.
//!
//! A step costs `O(n)`. It cannot be taken back: what contracts forwards would amplify rounding like
//! `exp(int |b| dt)` backwards, so states are stored. Weak order 1, strong order 1/2 (measured,
//! `tests/convergence`).

use super::exponential::too_large;
use super::{Increment, Method, Terms, TooLarge};
use crate::path::space::{Geometry, dot, norm_squared};
use crate::simd::Lanes;
use stroock_geometry::Real;

pub(super) struct Steered;

/// Largest `|b| dt`: its square is still a number in single precision.
const LIMIT: f64 = 1e15;
/// Below this `a^2` the derivative of `tanh(a / 2) / a` is a series: its formula would cancel.
const SMALL: f64 = 0.04;
/// `d/da (tanh(a / 2) / a) / a` in powers of `a^2`.
const DERIVATIVE: [f64; 4] = [-1.0 / 12.0, 1.0 / 60.0, -17.0 / 6720.0, 31.0 / 90720.0];

pub(in crate::path) struct Work<V: Lanes> {
    /// The flow of the whole drift.
    flow: Flow<V>,
    /// The flow of the drift without that of the prior, where the prior has one.
    own: Option<Flow<V>>,
    /// `<xi, y>`, `sigma sqrt(dt)` and `1 / |w|`.
    along: V,
    scale: V,
    inverse_norm: V,
    /// `z'`, `[n]`.
    next: Vec<V>,
}

/// The flow of `P_z b` over a step, and what its adjoint needs.
struct Flow<V> {
    /// `v = b dt`, `[n]`.
    v: Vec<V>,
    /// `tanh(a / 2) / a` at `a = |v|`, and its derivative by `a` over `a`.
    ratio: [V; 2],
    map: Moebius<V>,
    /// Where it ends, `[n]`.
    y: Vec<V>,
    /// Cotangent of `y`, then of `z`, `[n]`.
    of_y: Vec<V>,
    /// Cotangent of `v`, `[n]`.
    of_v: Vec<V>,
}

impl<V: Lanes> Flow<V> {
    fn new(n: usize) -> Self {
        let (zero, zeros) = (V::zero(), || vec![V::zero(); n]);
        Self {
            v: zeros(),
            ratio: [zero; 2],
            map: Moebius { psi: zeros(), s: zeros(), q: zero, inverse_n: zero },
            y: zeros(),
            of_y: zeros(),
            of_v: zeros(),
        }
    }

    /// From `z` along `b` for the time `dt`.
    #[inline(always)]
    fn go(&mut self, b: &[V], dt: V, z: &[V]) -> Result<(), TooLarge> {
        let of = |x: f64| V::splat(V::Real::of(x));
        for (v, b) in self.v.iter_mut().zip(b) {
            *v = b.mul(dt);
        }
        let square = norm_squared(&self.v);
        if !square.all_at_most(V::Real::of(LIMIT * LIMIT)) {
            return Err(too_large(&self.v, LIMIT));
        }
        // Far below what moves anything, and `tanh(a / 2) / a` is 1/2 there.
        let square = square.add(of(1e-30));
        let a = square.sqrt();
        let tanh = a.mul(of(0.5)).tanh();
        let ratio = tanh.div(a);
        let sech = tanh.neg_mul_add(tanh, of(1.0));
        let far = square.where_greater(V::Real::of(SMALL), sech.mul(of(0.5)).sub(ratio).div(square));
        let mut series = of(DERIVATIVE[3]);
        for k in (0..3).rev() {
            series = series.mul_add(square, of(DERIVATIVE[k]));
        }
        let near = series.sub(square.where_greater(V::Real::of(SMALL), series));
        self.ratio = [ratio, far.add(near)];
        for (psi, v) in self.map.psi.iter_mut().zip(&self.v) {
            *psi = v.mul(ratio);
        }
        self.map.apply(z, &mut self.y);
        Ok(())
    }

    /// The adjoint: takes the cotangent of `y` in `of_y` to that of `z`, in place, and to that of `b dt` in `of_v`.
    #[inline(always)]
    fn pull_back(&mut self) {
        self.map.pull_back(&mut self.of_y, &mut self.of_v);
        let along = dot(&self.of_v, &self.v).mul(self.ratio[1]);
        for (of_v, v) in self.of_v.iter_mut().zip(&self.v) {
            *of_v = along.mul_add(*v, self.ratio[0].mul(*of_v));
        }
    }

    /// Adds the cotangent of `b` that [`Self::pull_back`] has found.
    #[inline(always)]
    fn add_of_drift(&self, dt: V, of_drift: &mut [V]) {
        for (of_drift, of_v) in of_drift.iter_mut().zip(&self.of_v) {
            *of_drift = of_v.mul_add(dt, *of_drift);
        }
    }
}

/// `z -> q s + psi` at a state.
struct Moebius<V> {
    psi: Vec<V>,
    s: Vec<V>,
    q: V,
    inverse_n: V,
}

impl<V: Lanes> Moebius<V> {
    #[inline(always)]
    fn apply(&mut self, z: &[V], y: &mut [V]) {
        for ((s, z), psi) in self.s.iter_mut().zip(z).zip(&self.psi) {
            *s = z.add(*psi);
        }
        let one = V::splat(V::Real::of(1.0));
        // Zero only for a map onto one point, at the point across from it.
        let n = norm_squared(&self.s).max(V::splat(V::Real::of(1e-20)));
        self.inverse_n = one.div(n);
        self.q = one.sub(norm_squared(&self.psi)).mul(self.inverse_n);
        for ((y, s), psi) in y.iter_mut().zip(&self.s).zip(&self.psi) {
            *y = self.q.mul_add(*s, *psi);
        }
    }

    /// Takes the cotangent `g` of `y` to that of `z`, in place, and to that of `psi`.
    #[inline(always)]
    fn pull_back(&self, g: &mut [V], of_psi: &mut [V]) {
        let twice = dot(g, &self.s).mul(self.inverse_n);
        let twice = twice.add(twice);
        let across = twice.mul(self.q);
        for (i, g) in g.iter_mut().enumerate() {
            let of_z = across.neg_mul_add(self.s[i], self.q.mul(*g));
            of_psi[i] = twice.neg_mul_add(self.psi[i], of_z.add(*g));
            *g = of_z;
        }
    }
}

impl<V: Lanes> Work<V> {
    /// The flow whose velocity the divergence weighs.
    #[inline(always)]
    fn weighed(&mut self) -> &mut Flow<V> {
        self.own.as_mut().unwrap_or(&mut self.flow)
    }
}

impl Method for Steered {
    const REVERSES: bool = false;
    const CONFORMAL: bool = true;
    const AMBIENT_DRIFT: bool = true;
    const ADDS_TO_PRIOR: bool = true;

    type Work<V: Lanes> = Work<V>;

    fn serves<S: Geometry>() -> bool {
        S::CONFORMAL
    }

    fn normals<S: Geometry>(n: usize) -> usize {
        n
    }

    #[inline(always)]
    fn work<V: Lanes>(n: usize, _: usize, with_prior: bool) -> Work<V> {
        let zero = V::zero();
        Work {
            flow: Flow::new(n),
            own: with_prior.then(|| Flow::new(n)),
            along: zero,
            scale: zero,
            inverse_norm: zero,
            next: vec![zero; n],
        }
    }

    #[inline(always)]
    fn increment<S: Geometry, V: Lanes>(
        work: &mut Work<V>,
        increment: &Increment<'_, V>,
        z: &[V],
    ) -> Result<(), TooLarge> {
        work.flow.go(increment.drift, increment.dt, z)?;
        let y = &work.flow.y;
        work.scale = increment.sqrt_dt.mul(V::splat(increment.sigma));
        work.along = dot(increment.normals, y);
        for ((next, y), xi) in work.next.iter_mut().zip(y).zip(increment.normals) {
            *next = work.along.neg_mul_add(*y, *xi).mul_add(work.scale, *y);
        }
        work.inverse_norm = V::splat(V::Real::of(1.0)).div(norm_squared(&work.next).sqrt());
        for next in &mut work.next {
            *next = next.mul(work.inverse_norm);
        }
        Ok(())
    }

    #[inline(always)]
    fn step<S: Geometry, V: Lanes>(work: &mut Work<V>, _: &Terms<V::Real>, z: &mut [V]) {
        z.copy_from_slice(&work.next);
    }

    /// States are stored: refused before a path begins.
    #[inline(always)]
    fn reverse<S: Geometry, V: Lanes>(_: &mut Work<V>, _: &Terms<V::Real>, _: &mut [V]) {}

    #[inline(always)]
    fn pull_back<S: Geometry, V: Lanes>(
        work: &mut Work<V>,
        _: &Terms<V::Real>,
        increment: &Increment<'_, V>,
        _: &[V],
        a: &mut [V],
        of_drift: &mut [V],
    ) -> V {
        // Of w, then of y and of the scale of the noise.
        let along = dot(a, &work.next);
        for (a, next) in a.iter_mut().zip(&work.next) {
            *a = along.neg_mul_add(*next, *a).mul(work.inverse_norm);
        }
        let of_along = dot(a, &work.flow.y);
        let of_scale = work.along.neg_mul_add(of_along, dot(a, increment.normals));
        let keep = work.scale.neg_mul_add(work.along, V::splat(V::Real::of(1.0)));
        let turn = work.scale.mul(of_along);
        for ((of_y, a), xi) in work.flow.of_y.iter_mut().zip(a.iter()).zip(increment.normals) {
            *of_y = turn.neg_mul_add(*xi, a.mul(keep));
        }
        work.flow.pull_back();
        work.flow.add_of_drift(increment.dt, of_drift);
        a.copy_from_slice(&work.flow.of_y);
        of_scale
    }

    #[inline(always)]
    fn velocity<S: Geometry, V: Lanes>(work: &mut Work<V>, own: &[V], dt: V, z: &[V], velocity: &mut [V]) {
        if let Some(flow) = &mut work.own {
            // Beyond the limit the velocity is not a number, and so is the divergence.
            if flow.go(own, dt, z).is_err() {
                flow.y.fill(V::splat(num_traits::Float::nan()));
            }
        }
        let inverse = inverse(dt);
        for ((velocity, y), z) in velocity.iter_mut().zip(&work.weighed().y).zip(z) {
            *velocity = y.sub(*z).mul(inverse);
        }
    }

    #[inline(always)]
    fn pull_back_velocity<S: Geometry, V: Lanes>(
        work: &mut Work<V>,
        _: &[V],
        dt: V,
        p: &[V],
        _: &mut [V],
        a: &mut [V],
    ) {
        let (flow, inverse) = (work.weighed(), inverse(dt));
        for ((of_y, p), a) in flow.of_y.iter_mut().zip(p).zip(a.iter_mut()) {
            *of_y = p.mul(inverse);
            *a = a.sub(*of_y);
        }
        flow.pull_back();
        for (a, of_z) in a.iter_mut().zip(&flow.of_y) {
            *a = a.add(*of_z);
        }
    }

    #[inline(always)]
    fn accumulate_velocity<S: Geometry, V: Lanes>(
        work: &mut Work<V>,
        dt: V,
        _: &[V],
        _: &[V],
        of_own: &mut [V],
    ) {
        work.weighed().add_of_drift(dt, of_own);
    }
}

/// `1 / dt`, and 0 in lanes whose path has ended.
#[inline(always)]
fn inverse<V: Lanes>(dt: V) -> V {
    dt.where_greater(V::Real::of(0.0), V::splat(V::Real::of(1.0)).div(dt))
}
