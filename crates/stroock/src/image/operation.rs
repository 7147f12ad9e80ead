//! A network of layers as one operation on tensors.

use burn::tensor::Tensor;
use stroock_kernels::network::{Images, Network, NetworkError, Tape, Wanted};

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// The output of a network for images `[frames, channels, height, width]`, with the parameters of all layers one
/// after the other.
pub(super) fn through_network(
    network: Network,
    images: Tensor<4>,
    parameters: Tensor<1>,
) -> Result<Tensor<4>, NetworkError> {
    fused::apply(ThroughNetwork(network), [images.into_dispatch(), parameters.into_dispatch()])
}

#[derive(Debug)]
struct ThroughNetwork(Network);

impl ThroughNetwork {
    fn output_shape(&self, shape: &[usize], size: [usize; 2]) -> Result<Vec<usize>, NetworkError> {
        let channels = self.0.layers.last().map_or(0, |layer| layer.convolution.channels[1]);
        let [height, width] = self.0.output_size(size)?;
        Ok(vec![shape[0], channels, height, width])
    }
}

/// The images of a tensor.
fn images<'a, T>(values: &'a [T], shape: &[usize]) -> Images<'a, T> {
    let &[frames, _, height, width] = shape else { return Images { values, frames: 0, size: [0; 2] } };
    Images { values, frames, size: [height, width] }
}

impl Operation<2> for ThroughNetwork {
    type Tape<T: FusedReal> = Tape<T>;
    type Error = NetworkError;

    fn forward<T: FusedReal>(
        &self,
        [input, parameters]: [&[T]; 2],
        shapes: [&[usize]; 2],
    ) -> Result<Evaluated<T, Tape<T>>, NetworkError> {
        let images = images(input, shapes[0]);
        let transformed = self.0.forward(images, parameters)?;
        let shape = self.output_shape(shapes[0], images.size)?;
        Ok(Evaluated { output: transformed.values, shape, tape: transformed.tape })
    }

    fn evaluate<T: FusedReal>(
        &self,
        [input, parameters]: [&[T]; 2],
        shapes: [&[usize]; 2],
    ) -> Result<(Vec<T>, Vec<usize>), NetworkError> {
        let images = images(input, shapes[0]);
        Ok((self.0.evaluate(images, parameters)?, self.output_shape(shapes[0], images.size)?))
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs: [input, parameters], shapes, tape, .. }: Computed<'_, T, Tape<T>, 2>,
        of_output: &[T],
        wanted: [bool; 2],
    ) -> Result<[Vec<T>; 2], NetworkError> {
        let wanted = if wanted[0] { Wanted::All } else { Wanted::Parameters };
        let images = images(input, shapes[0]);
        let gradients = self.0.backward(images, parameters, tape, of_output, wanted)?;
        Ok([gradients.input, gradients.parameters])
    }
}
