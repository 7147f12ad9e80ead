//! One step of a few series, unit by unit in lanes: the gates, and their adjoint.

use super::gates::RUNS;
use crate::simd::{Kernel, Lanes, SimdReal};

/// From the sums of a step to the gates, in place, and to the next state:
///
/// ```text
/// r = sigmoid(r),  z = sigmoid(z),  n = tanh(n + r m),  h' = n + z (h - n).
/// ```
pub struct Activate<'a, T> {
    /// `[rows, n | r | z | m]`.
    pub(super) gates: &'a mut [T],
    /// State before the step, `[rows, H']`.
    pub(super) state: &'a [T],
    /// State after it.
    pub(super) next: &'a mut [T],
    /// `H'`.
    pub(super) units: usize,
}

impl<T: SimdReal> Kernel<T> for Activate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        let Activate { gates, state, next, units } = self;
        let states = state.chunks_exact(units).zip(next.chunks_exact_mut(units));
        for (gates, (state, next)) in gates.chunks_exact_mut(RUNS * units).zip(states) {
            let (n_run, rest) = gates.split_at_mut(units);
            let (r_run, rest) = rest.split_at_mut(units);
            let (z_run, m_run) = rest.split_at_mut(units);
            for j in (0..units).step_by(V::WIDTH) {
                let r = V::load(&r_run[j..]).sigmoid();
                let z = V::load(&z_run[j..]).sigmoid();
                let n = r.mul_add(V::load(&m_run[j..]), V::load(&n_run[j..])).tanh();
                r.store(&mut r_run[j..]);
                z.store(&mut z_run[j..]);
                n.store(&mut n_run[j..]);
                z.mul_add(V::load(&state[j..]).sub(n), n).store(&mut next[j..]);
            }
        }
    }
}

/// The adjoint of [`Activate`]: with `g` the gradient of `h'`,
///
/// ```text
/// d/dn = g (1 - z) (1 - n^2),   d/dz = g (h - n) z (1 - z),   d/dm = d/dn r,   d/dr = d/dn m r (1 - r),
/// ```
///
/// each with respect to the sum in front of the gate; `g` becomes the part `g z` that goes to `h` directly.
pub struct PullBackCell<'a, T> {
    /// The gates, `[rows, n | r | z | m]`.
    pub(super) gates: &'a [T],
    /// State before the step, `[rows, H']`.
    pub(super) state: &'a [T],
    /// `g`, `[rows, H']`.
    pub(super) of_state: &'a mut [T],
    /// Gradients in front of the gates, `[rows, n | r | z | m]`.
    pub(super) of_gates: &'a mut [T],
    /// Their sum over rows and steps is added here, `[n | r | z | m]`.
    pub(super) of_biases: &'a mut [T],
    /// `H'`.
    pub(super) units: usize,
}

impl<T: SimdReal> Kernel<T> for PullBackCell<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        let PullBackCell { gates, state, of_state, of_gates, of_biases, units } = self;
        let one = V::splat(T::of(1.0));
        let states = state.chunks_exact(units).zip(of_state.chunks_exact_mut(units));
        let all_gates = gates.chunks_exact(RUNS * units).zip(of_gates.chunks_exact_mut(RUNS * units));
        for ((gates, of_gates), (state, of_state)) in all_gates.zip(states) {
            let [n_run, r_run, z_run, m_run] = [0, 1, 2, 3].map(|run| &gates[run * units..(run + 1) * units]);
            for j in (0..units).step_by(V::WIDTH) {
                let [n, r] = [V::load(&n_run[j..]), V::load(&r_run[j..])];
                let [z, m] = [V::load(&z_run[j..]), V::load(&m_run[j..])];
                let g = V::load(&of_state[j..]);
                let of_n = g.mul(one.sub(z)).mul(n.neg_mul_add(n, one));
                let of_z = g.mul(V::load(&state[j..]).sub(n)).mul(z.neg_mul_add(z, z));
                let of_m = of_n.mul(r);
                let of_r = of_n.mul(m).mul(r.neg_mul_add(r, r));
                g.mul(z).store(&mut of_state[j..]);
                for (run, of_gate) in [of_n, of_r, of_z, of_m].into_iter().enumerate() {
                    let place = run * units + j;
                    of_gate.store(&mut of_gates[place..]);
                    V::load(&of_biases[place..]).add(of_gate).store(&mut of_biases[place..]);
                }
            }
        }
    }
}
