//! What an operation with its own kernel is, and how its precision is chosen at run time.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use burn::tensor::{DType, Element};
use stroock_kernels::attention::AttentionReal;
use stroock_kernels::flow::FlowReal;
use stroock_kernels::gru::GruReal;
use stroock_kernels::kalman::KalmanReal;
use stroock_kernels::mixing::MixReal;
use stroock_kernels::network::NetworkReal;
use stroock_kernels::path::PathReal;
use stroock_kernels::s5::S5Real;

/// A number type of tensors and kernels: `f32` or `f64`.
pub trait FusedReal:
    PathReal
    + AttentionReal
    + FlowReal
    + GruReal
    + KalmanReal
    + MixReal
    + NetworkReal
    + S5Real
    + Element
    + bytemuck::Pod
{
}

impl FusedReal for f32 {}
impl FusedReal for f64 {}

/// What an operation gives.
#[derive(Clone, Debug)]
pub struct Evaluated<T, P> {
    /// Output in row-major order.
    pub output: Vec<T>,
    /// Shape of the output.
    pub shape: Vec<usize>,
    /// What the backward pass needs beside the inputs.
    pub tape: P,
}

/// What a backward pass knows of the forward pass.
#[derive(Clone, Copy, Debug)]
pub struct Computed<'a, T, P, const N: usize> {
    /// The inputs in row-major order.
    pub inputs: [&'a [T]; N],
    /// Their shapes.
    pub shapes: [&'a [usize]; N],
    /// The output in row-major order.
    pub output: &'a [T],
    /// What the forward pass has kept.
    pub tape: &'a P,
}

/// An operation of `N` tensors with its own kernel and adjoint.
///
/// The value of the type holds everything that is not differentiated: sizes, times, masks, noise keys.
pub trait Operation<const N: usize>: Debug + Send + Sync + 'static {
    /// What the backward pass needs beside the inputs.
    type Tape<T: FusedReal>: Send + Sync + 'static;
    /// Why the operation cannot be done.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The output and the tape.
    ///
    /// # Errors
    /// When the inputs do not fit.
    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; N],
        shapes: [&[usize]; N],
    ) -> Result<Evaluated<T, Self::Tape<T>>, Self::Error>;

    /// The output and its shape, where no backward pass will follow.
    ///
    /// # Errors
    /// When the inputs do not fit.
    fn evaluate<T: FusedReal>(
        &self,
        inputs: [&[T]; N],
        shapes: [&[usize]; N],
    ) -> Result<(Vec<T>, Vec<usize>), Self::Error> {
        self.forward(inputs, shapes).map(|evaluated| (evaluated.output, evaluated.shape))
    }

    /// The gradients of the inputs, in their shapes. Those that are not `wanted` may be left empty.
    ///
    /// # Errors
    /// When the gradient does not fit, for instance because it is not finite.
    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, Self::Tape<T>, N>,
        of_output: &[T],
        wanted: [bool; N],
    ) -> Result<[Vec<T>; N], Self::Error>;
}

/// An operation whose precision and tape are hidden, for the backend to carry around.
pub trait Erased<const N: usize>: Debug + Send + Sync {
    /// Runs forward on tensors of type `dtype`, given as bytes; with `keep`, for a backward pass to follow.
    fn forward(
        &self,
        dtype: DType,
        inputs: [&[u8]; N],
        shapes: [&[usize]; N],
        keep: bool,
    ) -> Option<(Bytes, Vec<usize>)>;
    /// Runs backward.
    fn backward(
        &self,
        dtype: DType,
        computed: Computed<'_, u8, (), N>,
        of_output: &[u8],
        wanted: [bool; N],
    ) -> [Bytes; N];
}

/// Numbers of either precision.
#[derive(Debug)]
pub enum Bytes {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

/// One call of an operation: the operation, its tape once it has run, and its error if it failed.
#[derive(Debug)]
pub(super) struct Call<O: Operation<N>, const N: usize> {
    operation: O,
    tape: Mutex<Option<Tape<O, N>>>,
    error: Arc<Mutex<Option<O::Error>>>,
}

enum Tape<O: Operation<N>, const N: usize> {
    F32(O::Tape<f32>),
    F64(O::Tape<f64>),
}

impl<O: Operation<N>, const N: usize> Debug for Tape<O, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Tape::F32(_) => "Tape::F32",
            Tape::F64(_) => "Tape::F64",
        })
    }
}

impl<O: Operation<N>, const N: usize> Call<O, N> {
    /// The call, and where its error will be.
    pub fn new(operation: O) -> (Self, Arc<Mutex<Option<O::Error>>>) {
        let error = Arc::new(Mutex::new(None));
        (Self { operation, tape: Mutex::new(None), error: Arc::clone(&error) }, error)
    }

    fn forward_in<T: FusedReal>(
        &self,
        inputs: [&[u8]; N],
        shapes: [&[usize]; N],
        wrap: Option<impl FnOnce(O::Tape<T>) -> Tape<O, N>>,
    ) -> Option<(Vec<T>, Vec<usize>)> {
        let inputs: [&[T]; N] = inputs.map(bytemuck::cast_slice);
        let evaluated = match wrap {
            Some(wrap) => self.operation.forward(inputs, shapes).map(|Evaluated { output, shape, tape }| {
                *lock(&self.tape) = Some(wrap(tape));
                (output, shape)
            }),
            None => self.operation.evaluate(inputs, shapes),
        };
        match evaluated {
            Ok(evaluated) => Some(evaluated),
            Err(error) => {
                *lock(&self.error) = Some(error);
                None
            }
        }
    }

    fn backward_in<T: FusedReal>(
        &self,
        Computed { inputs, shapes, output, tape: () }: Computed<'_, u8, (), N>,
        tape: &O::Tape<T>,
        of_output: &[u8],
        wanted: [bool; N],
    ) -> [Vec<T>; N] {
        let inputs: [&[T]; N] = inputs.map(bytemuck::cast_slice);
        let computed = Computed { inputs, shapes, output: bytemuck::cast_slice(output), tape };
        let gradients = self.operation.backward(computed, bytemuck::cast_slice(of_output), wanted);
        // A gradient that is not finite poisons everything below it, as it would in any other operation; the
        // training loop looks for that and says where.
        gradients.unwrap_or_else(|_| inputs.map(|input| vec![T::nan(); input.len()]))
    }
}

impl<O: Operation<N>, const N: usize> Erased<N> for Call<O, N> {
    fn forward(
        &self,
        dtype: DType,
        inputs: [&[u8]; N],
        shapes: [&[usize]; N],
        keep: bool,
    ) -> Option<(Bytes, Vec<usize>)> {
        match dtype {
            DType::F64 => self
                .forward_in::<f64>(inputs, shapes, keep.then_some(Tape::F64))
                .map(|(output, shape)| (Bytes::F64(output), shape)),
            _ => self
                .forward_in::<f32>(inputs, shapes, keep.then_some(Tape::F32))
                .map(|(output, shape)| (Bytes::F32(output), shape)),
        }
    }

    fn backward(
        &self,
        dtype: DType,
        computed: Computed<'_, u8, (), N>,
        of_output: &[u8],
        wanted: [bool; N],
    ) -> [Bytes; N] {
        match (&*lock(&self.tape), dtype) {
            (Some(Tape::F64(tape)), DType::F64) => {
                self.backward_in::<f64>(computed, tape, of_output, wanted).map(Bytes::F64)
            }
            (Some(Tape::F32(tape)), _) => {
                self.backward_in::<f32>(computed, tape, of_output, wanted).map(Bytes::F32)
            }
            // Only after a failed forward pass, whose caller has been told.
            _ => computed.inputs.map(|_| Bytes::F32(Vec::new())),
        }
    }
}

/// The content of a mutex; a panic elsewhere does not make it worthless.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
