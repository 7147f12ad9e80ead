//! Fused operations as an extension of burn's backends.

use std::sync::Arc;

use burn::backend::TensorMetadata;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::{DType, DispatchTensor, Shape, Tensor, TensorData};

use super::operation::{Bytes, Call, Computed, Erased, Operation};

/// Backends that can run fused operations, by their number of inputs.
#[backend_extension(Flex, Autodiff)]
pub trait FusedBackend: Backend {
    /// An operation of one tensor.
    fn fused_1(a: FloatTensor<Self>, call: Arc<dyn Erased<1>>) -> FloatTensor<Self>;
    /// An operation of two tensors.
    fn fused_2(a: FloatTensor<Self>, b: FloatTensor<Self>, call: Arc<dyn Erased<2>>) -> FloatTensor<Self>;
    /// An operation of three tensors.
    fn fused_3(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        call: Arc<dyn Erased<3>>,
    ) -> FloatTensor<Self>;
    /// An operation of four tensors.
    fn fused_4(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        call: Arc<dyn Erased<4>>,
    ) -> FloatTensor<Self>;
    /// An operation of five tensors.
    fn fused_5(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        e: FloatTensor<Self>,
        call: Arc<dyn Erased<5>>,
    ) -> FloatTensor<Self>;
}

/// Applies a fused operation to float tensors of the Flex backend, all of one precision.
///
/// # Errors
/// When the operation refuses its inputs.
pub fn apply<O, const N: usize, const D: usize>(
    operation: O,
    inputs: [DispatchTensor; N],
) -> Result<Tensor<D>, O::Error>
where
    O: Operation<N>,
    [DispatchTensor; N]: Arity<N>,
{
    let (call, error) = Call::new(operation);
    let output = inputs.dispatch(Arc::new(call));
    match error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => Ok(Tensor::from_dispatch(output)),
    }
}

/// Tensors in a number that [`FusedBackend`] has an operation for.
pub trait Arity<const N: usize> {
    /// Runs the call on the backend of the tensors.
    fn dispatch(self, call: Arc<dyn Erased<N>>) -> DispatchTensor;
}

macro_rules! arity {
    ($n:literal, $method:ident, $($input:ident),*) => {
        impl Arity<$n> for [DispatchTensor; $n] {
            fn dispatch(self, call: Arc<dyn Erased<$n>>) -> DispatchTensor {
                let [$($input),*] = self;
                <Dispatch as FusedBackend>::$method($($input,)* call)
            }
        }
    };
}

arity!(1, fused_1, a);
arity!(2, fused_2, a, b);
arity!(3, fused_3, a, b, c);
arity!(4, fused_4, a, b, c, d);
arity!(5, fused_5, a, b, c, d, e);

impl FusedBackend for Flex {
    fn fused_1(a: FlexTensor, call: Arc<dyn Erased<1>>) -> FlexTensor {
        run([a], &call, false)
    }

    fn fused_2(a: FlexTensor, b: FlexTensor, call: Arc<dyn Erased<2>>) -> FlexTensor {
        run([a, b], &call, false)
    }

    fn fused_3(a: FlexTensor, b: FlexTensor, c: FlexTensor, call: Arc<dyn Erased<3>>) -> FlexTensor {
        run([a, b, c], &call, false)
    }

    fn fused_4(
        a: FlexTensor,
        b: FlexTensor,
        c: FlexTensor,
        d: FlexTensor,
        call: Arc<dyn Erased<4>>,
    ) -> FlexTensor {
        run([a, b, c, d], &call, false)
    }

    fn fused_5(
        a: FlexTensor,
        b: FlexTensor,
        c: FlexTensor,
        d: FlexTensor,
        e: FlexTensor,
        call: Arc<dyn Erased<5>>,
    ) -> FlexTensor {
        run([a, b, c, d, e], &call, false)
    }
}

impl<C: CheckpointStrategy> FusedBackend for Autodiff<Flex, C> {
    fn fused_1(a: FloatTensor<Self>, call: Arc<dyn Erased<1>>) -> FloatTensor<Self> {
        track::<C, 1>([a], call)
    }

    fn fused_2(a: FloatTensor<Self>, b: FloatTensor<Self>, call: Arc<dyn Erased<2>>) -> FloatTensor<Self> {
        track::<C, 2>([a, b], call)
    }

    fn fused_3(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        call: Arc<dyn Erased<3>>,
    ) -> FloatTensor<Self> {
        track::<C, 3>([a, b, c], call)
    }

    fn fused_4(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        call: Arc<dyn Erased<4>>,
    ) -> FloatTensor<Self> {
        track::<C, 4>([a, b, c, d], call)
    }

    fn fused_5(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        e: FloatTensor<Self>,
        call: Arc<dyn Erased<5>>,
    ) -> FloatTensor<Self> {
        track::<C, 5>([a, b, c, d, e], call)
    }
}

type FlexTensor = FloatTensor<Flex>;

/// The forward pass on plain tensors; with `keep`, for a backward pass to follow.
fn run<const N: usize>(inputs: [FlexTensor; N], call: &Arc<dyn Erased<N>>, keep: bool) -> FlexTensor {
    let inputs = inputs.map(|input| input.to_contiguous());
    let shapes = inputs.each_ref().map(|input| input.shape().as_slice().to_vec());
    let contents = inputs.each_ref().map(content);
    let output = call.forward(inputs[0].dtype(), contents, shapes.each_ref().map(|s| &s[..]), keep);
    match output {
        Some((Bytes::F32(values), shape)) => {
            FlexTensor::from_data(TensorData::new(values, Shape::from(shape)))
        }
        Some((Bytes::F64(values), shape)) => {
            FlexTensor::from_data(TensorData::new(values, Shape::from(shape)))
        }
        // The error waits in the call; nobody sees this tensor.
        None => FlexTensor::zeros(Shape::from(vec![1]), DType::F32),
    }
}

/// The forward pass, with the backward pass registered in the graph.
fn track<C: CheckpointStrategy, const N: usize>(
    inputs: [FloatTensor<Autodiff<Flex, C>>; N],
    call: Arc<dyn Erased<N>>,
) -> FloatTensor<Autodiff<Flex, C>> {
    let nodes = inputs.each_ref().map(|input| input.node());
    let primitives = inputs.map(|input| input.into_primitive().to_contiguous());
    match PullBack.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let output = run(primitives.clone(), &call, true);
            prep.finish((call, primitives, output.clone()), output)
        }
        OpsKind::UnTracked(prep) => prep.finish(run(primitives, &call, false)),
    }
}

#[derive(Debug)]
struct PullBack;

impl<const N: usize> Backward<Flex, N> for PullBack {
    type State = (Arc<dyn Erased<N>>, [FlexTensor; N], FlexTensor);

    fn backward(self, ops: Ops<Self::State, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let of_output = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let (call, inputs, output) = ops.state;
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let shapes = inputs.each_ref().map(|input| input.shape().as_slice().to_vec());
        let computed = Computed {
            inputs: inputs.each_ref().map(content),
            shapes: shapes.each_ref().map(|s| &s[..]),
            output: content(&output),
            tape: &(),
        };
        let of_inputs = call.backward(inputs[0].dtype(), computed, content(&of_output), wanted);
        for ((parent, of_input), shape) in ops.parents.into_iter().zip(of_inputs).zip(shapes) {
            let Some(parent) = parent else { continue };
            let of_input = match of_input {
                Bytes::F32(values) => TensorData::new(values, Shape::from(shape)),
                Bytes::F64(values) => TensorData::new(values, Shape::from(shape)),
            };
            gradients.register::<Flex>(parent.id, FlexTensor::from_data(of_input));
        }
    }
}

/// The bytes of a contiguous tensor.
fn content(tensor: &FlexTensor) -> &[u8] {
    match tensor.dtype() {
        DType::F64 => tensor.as_slice::<f64>().map(bytemuck::cast_slice).unwrap_or_default(),
        _ => tensor.as_slice::<f32>().map(bytemuck::cast_slice).unwrap_or_default(),
    }
}
