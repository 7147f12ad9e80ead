//! Geometric Euler-Maruyama: `Omega = K dt + sigma sqrt(dt) sum_k xi_k E_k`, `z' = exp(Omega) z`.
//!
//! Strong order 1/2 in general, 1 for commuting noise; weak order 1 (measured, `tests/convergence`).

use super::exponential::{self, Parts, Scratch, act, part_weight};
use super::{Increment, Method, Terms, TooLarge};
use crate::path::space::Geometry;
use crate::simd::Lanes;

pub(super) struct GeometricEuler;

pub(in crate::path) struct Work<V: Lanes> {
    /// `Omega` divided by the number of parts, `[m]`.
    omega: Vec<V>,
    parts: Parts<V>,
    term: Vec<V>,
    next: Vec<V>,
    scratch: Scratch<V>,
}

impl Method for GeometricEuler {
    const REVERSES: bool = true;
    const SHARED: bool = false;

    type Work<V: Lanes> = Work<V>;

    fn serves<S: Geometry>() -> bool {
        true
    }

    fn normals<S: Geometry>(n: usize) -> usize {
        S::algebra_dim(n)
    }

    #[inline(always)]
    fn work<V: Lanes>(n: usize, m: usize, _: bool) -> Work<V> {
        let [term, next] = [vec![V::zero(); n], vec![V::zero(); n]];
        Work { omega: vec![V::zero(); m], parts: Parts::whole(), term, next, scratch: Scratch::new(n) }
    }

    #[inline(always)]
    fn increment<S: Geometry, V: Lanes>(
        work: &mut Work<V>,
        increment: &Increment<'_, V>,
        _: &[V],
    ) -> Result<(), TooLarge> {
        let scale = increment.sqrt_dt.mul(V::splat(increment.sigma));
        for ((omega, drift), normal) in work.omega.iter_mut().zip(increment.drift).zip(increment.normals) {
            *omega = drift.mul_add(increment.dt, normal.mul(scale));
        }
        work.parts = exponential::cut(&mut work.omega)?;
        Ok(())
    }

    #[inline(always)]
    fn step<S: Geometry, V: Lanes>(work: &mut Work<V>, terms: &Terms<V::Real>, z: &mut [V]) {
        act::<S, V, false, false>(terms, &work.omega, &work.parts, z, &mut work.term, &mut work.next);
    }

    #[inline(always)]
    fn reverse<S: Geometry, V: Lanes>(work: &mut Work<V>, terms: &Terms<V::Real>, z: &mut [V]) {
        act::<S, V, true, true>(terms, &work.omega, &work.parts, z, &mut work.term, &mut work.next);
    }

    #[inline(always)]
    fn pull_back<S: Geometry, V: Lanes>(
        work: &mut Work<V>,
        terms: &Terms<V::Real>,
        increment: &Increment<'_, V>,
        z: &[V],
        a: &mut [V],
        of_drift: &mut [V],
    ) -> V {
        exponential::pull_back::<S, V, false>(
            terms,
            &work.omega,
            &work.parts,
            z,
            a,
            of_drift,
            &mut work.scratch,
        );
        let part = part_weight(&work.parts);
        let mut of_noise_scale = [V::zero(); 2];
        let to_drift = part.mul(increment.dt);
        for (g, xi) in of_drift.chunks_mut(2).zip(increment.normals.chunks(2)) {
            for i in 0..g.len() {
                of_noise_scale[i] = g[i].mul_add(xi[i], of_noise_scale[i]);
                g[i] = g[i].mul(to_drift);
            }
        }
        of_noise_scale[0].add(of_noise_scale[1]).mul(part)
    }
}
