//! Operations with a hand-written kernel and a hand-written adjoint, as operations on burn tensors.
//!
//! An [`Operation`] works on plain slices: forward from inputs to one output and a tape, backward from the
//! gradient of the output to those of the inputs. [`apply`] makes it an operation on tensors of the Flex
//! backend, with or without automatic differentiation, in single or double precision.

mod backend;
mod operation;

pub use backend::{FusedBackend, apply};
pub use operation::{Computed, Erased, Evaluated, FusedReal, Operation};
