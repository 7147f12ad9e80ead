//! Geometric Euler-Maruyama with noise along the space alone:
//! `Omega = K dt + sigma sqrt(dt) sum_k <E_k, xi u^T> E_k` at `u = z / |z|`, `z' = exp(Omega) z`.
//!
//! On the sphere the noise is `xi z^T - z xi^T`. Where [`Geometry::LIFTS`] holds, `sum_k <E_k, xi u^T> E_k z` has the
//! covariance `Sigma(z)`, and half the sum of the squares of these matrices gives the same pinning drift as that of
//! the basis: the process is the same in the limit. Weak order 1, strong order 1/2 against the equation that `n`
//! Wiener processes drive through the lift (measured, `tests/convergence`).

use super::exponential::{self, Parts, Scratch, act, part_weight};
use super::{Increment, Method, Terms, TooLarge};
use crate::path::space::{Geometry, dot};
use crate::simd::Lanes;

pub(super) struct TangentNoise;

pub(in crate::path) struct Work<V: Lanes> {
    /// `Omega` divided by the number of parts, `[m]`.
    omega: Vec<V>,
    parts: Parts<V>,
    /// `z / |z|`, `[n]`.
    unit: Vec<V>,
    term: Vec<V>,
    next: Vec<V>,
    scratch: Scratch<V>,
}

impl Method for TangentNoise {
    const REVERSES: bool = false;

    type Work<V: Lanes> = Work<V>;

    fn serves<S: Geometry>() -> bool {
        S::LIFTS
    }

    fn normals<S: Geometry>(n: usize) -> usize {
        n
    }

    #[inline(always)]
    fn work<V: Lanes>(n: usize, m: usize, _: bool) -> Work<V> {
        let [unit, term, next] = [vec![V::zero(); n], vec![V::zero(); n], vec![V::zero(); n]];
        Work { omega: vec![V::zero(); m], parts: Parts::whole(), unit, term, next, scratch: Scratch::new(n) }
    }

    #[inline(always)]
    fn increment<S: Geometry, V: Lanes>(
        work: &mut Work<V>,
        increment: &Increment<'_, V>,
        z: &[V],
    ) -> Result<(), TooLarge> {
        let scale = increment.sqrt_dt.mul(V::splat(increment.sigma));
        for (omega, drift) in work.omega.iter_mut().zip(increment.drift) {
            *omega = drift.mul(increment.dt);
        }
        S::unit(z, &mut work.unit);
        for (term, normal) in work.term.iter_mut().zip(increment.normals) {
            *term = normal.mul(scale);
        }
        S::accumulate(&work.term, &work.unit, &mut work.omega);
        work.parts = exponential::cut(&mut work.omega)?;
        Ok(())
    }

    #[inline(always)]
    fn step<S: Geometry, V: Lanes>(work: &mut Work<V>, terms: &Terms<V::Real>, z: &mut [V]) {
        act::<S, V, false, true>(terms, &work.omega, &work.parts, z, &mut work.term, &mut work.next);
    }

    /// The increment depends on the state before the step: refused before a path begins.
    #[inline(always)]
    fn reverse<S: Geometry, V: Lanes>(_: &mut Work<V>, _: &Terms<V::Real>, _: &mut [V]) {}

    /// With the cotangent `g` of `Omega` and its matrix `A(g) = sum_k g_k E_k`, the noise adds
    /// `sigma sqrt(dt) xi^T A(g) u`.
    #[inline(always)]
    fn pull_back<S: Geometry, V: Lanes>(
        work: &mut Work<V>,
        terms: &Terms<V::Real>,
        increment: &Increment<'_, V>,
        z: &[V],
        a: &mut [V],
        of_drift: &mut [V],
    ) -> V {
        exponential::pull_back::<S, V, true>(
            terms,
            &work.omega,
            &work.parts,
            z,
            a,
            of_drift,
            &mut work.scratch,
        );
        let part = part_weight(&work.parts);
        for g in of_drift.iter_mut() {
            *g = g.mul(part);
        }
        S::apply_transposed(of_drift, increment.normals, &mut work.next);
        let of_scale = dot(&work.next, &work.unit);
        let scale = increment.sqrt_dt.mul(V::splat(increment.sigma));
        for next in &mut work.next {
            *next = next.mul(scale);
        }
        S::pull_back_unit(z, &work.unit, &work.next, a);
        for g in of_drift {
            *g = g.mul(increment.dt);
        }
        of_scale
    }
}
