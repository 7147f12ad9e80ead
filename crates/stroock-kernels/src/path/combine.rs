//! Code compiled once per space and scheme, and the choice among its instances.

use std::marker::PhantomData;

use super::scheme::{Method, Scheme, WithScheme};
use super::space::{Geometry, OnSpace, Space};
use crate::simd::{LaneKernel, Lanes};

/// Code over a space and a scheme. As everywhere on the way from `dispatch`, it must be `#[inline(always)]`.
pub(super) trait Combined {
    type Lanes: Lanes;
    type Output;

    fn run<S: Geometry, M: Method>(self) -> Self::Output;
}

/// Runs the instance for a space and a scheme. Each is a function of its own: all in one would be slow to compile.
#[inline(always)]
pub(super) fn combine<F: Combined>(space: Space, scheme: Scheme, code: F) -> F::Output {
    let mut output = None;
    space.run(WithSpace { scheme, code, output: &mut output });
    match output {
        Some(output) => output,
        None => unreachable!("a problem is checked for a scheme that serves its space"),
    }
}

struct WithSpace<'o, F: Combined> {
    scheme: Scheme,
    code: F,
    output: &'o mut Option<F::Output>,
}

impl<F: Combined> OnSpace for WithSpace<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Geometry>(self) {
        let Self { scheme, code, output } = self;
        scheme.run(WithBoth::<S, F> { code, output, space: PhantomData });
    }
}

struct WithBoth<'o, S, F: Combined> {
    code: F,
    output: &'o mut Option<F::Output>,
    space: PhantomData<S>,
}

impl<S: Geometry, F: Combined> WithScheme for WithBoth<'_, S, F> {
    type Output = ();

    #[inline(always)]
    fn run<M: Method>(self) {
        if const { !M::CONFORMAL || S::CONFORMAL } {
            let Self { code, output, .. } = self;
            F::Lanes::call(Instance::<S, M, F> { code, output, of: PhantomData });
        }
    }
}

/// The instance for a space and a scheme.
struct Instance<'o, S, M, F: Combined> {
    code: F,
    output: &'o mut Option<F::Output>,
    of: PhantomData<(S, M)>,
}

impl<S: Geometry, M: Method, F: Combined> LaneKernel for Instance<'_, S, M, F> {
    #[inline(always)]
    fn run(self) {
        *self.output = Some(self.code.run::<S, M>());
    }
}
