//! Code compiled once per space and scheme, and the choice among its instances.

use super::scheme::{Method, Scheme, WithScheme};
use super::space::{Geometry, OnSpace, Space};

/// Code over a space and a scheme. As everywhere on the way from `dispatch`, it must be `#[inline(always)]`.
pub(super) trait Combined {
    type Output;

    fn run<S: Geometry, M: Method>(self) -> Self::Output;
}

/// Runs the instance for a space and a scheme.
#[inline(always)]
pub(super) fn combine<F: Combined>(space: Space, scheme: Scheme, code: F) -> F::Output {
    space.run(WithSpace { scheme, code })
}

struct WithSpace<F> {
    scheme: Scheme,
    code: F,
}

impl<F: Combined> OnSpace for WithSpace<F> {
    type Output = F::Output;

    #[inline(always)]
    fn run<S: Geometry>(self) -> F::Output {
        self.scheme.run(WithBoth::<S, F> { code: self.code, space: std::marker::PhantomData })
    }
}

struct WithBoth<S, F> {
    code: F,
    space: std::marker::PhantomData<S>,
}

impl<S: Geometry, F: Combined> WithScheme for WithBoth<S, F> {
    type Output = F::Output;

    #[inline(always)]
    fn run<M: Method>(self) -> F::Output {
        if const { M::CONFORMAL && !S::CONFORMAL } {
            unreachable!("a problem is checked for a scheme that serves its space");
        }
        self.code.run::<S, M>()
    }
}
