//! The convolutions of the rotating digits and of the pendulum.

use stroock_kernels::convolution::{Activation, Convolution, Gradients, Images, MaxPool, Pooled, Wanted};
use stroock_kernels::network::{self, Network, Then};

/// The pooling of the pendulum's encoder.
pub const POOL: MaxPool = MaxPool { window: [2, 2] };

/// A convolution, with its pooling fused if it has one.
pub struct Layer {
    pub convolution: Convolution,
    pub pooled: bool,
    pub size: [usize; 2],
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    pub fn forward(&self, frames: usize, values: &[f32]) -> Pooled<f32> {
        let images = Images { values, frames, size: self.size };
        let (convolution, weight, bias) = (&self.convolution, &self.weight, &self.bias);
        let result = match self.pooled {
            true => convolution.forward_pooled(images, weight, bias, POOL),
            false => {
                convolution.forward(images, weight, bias).map(|values| Pooled { values, indices: Vec::new() })
            }
        };
        result.expect("a well-formed layer")
    }

    pub fn backward(
        &self,
        frames: usize,
        values: &[f32],
        output: &Pooled<f32>,
        of_output: &[f32],
    ) -> Gradients<f32> {
        let images = Images { values, frames, size: self.size };
        let (convolution, weight) = (&self.convolution, &self.weight);
        // Images of one channel are data: nobody asks for their gradient.
        let wanted = if convolution.channels[0] == 1 { Wanted::Parameters } else { Wanted::All };
        let result = match self.pooled {
            true => convolution.backward_pooled(images, weight, POOL, output.maxima(), of_output, wanted),
            false => convolution.backward(images, weight, &output.values, of_output, wanted),
        };
        result.expect("a well-formed layer")
    }

    pub fn name(&self) -> String {
        format!("{} to {} channels", self.convolution.channels[0], self.convolution.channels[1])
    }
}

/// Numbers of both signs, without a pattern that a processor could learn.
pub fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

/// Layers one after the other, for square images of `size` pixels on a side.
fn stack(size: usize, layers: &[(Convolution, bool)]) -> Vec<Layer> {
    let mut size = [size; 2];
    let chained = layers.iter().map(|&(convolution, pooled)| {
        let [from, to] = convolution.channels;
        let taps = convolution.kernel[0] * convolution.kernel[1];
        let scale = (from * taps) as f32;
        let weight = numbers(from * to * taps).iter().map(|w| w / scale.sqrt()).collect();
        let layer = Layer { convolution, pooled, size, weight, bias: numbers(to) };
        size = convolution.output_size(size).expect("a well-formed layer");
        if pooled {
            size = POOL.output_size(size).expect("a well-formed layer");
        }
        layer
    });
    chained.collect()
}

fn plain(from: usize, to: usize, kernel: usize) -> Convolution {
    Convolution::plain([from, to], [kernel; 2]).relu()
}

fn transposed(from: usize, to: usize, kernel: usize) -> Convolution {
    Convolution::transposed([from, to], [kernel; 2]).relu()
}

/// The encoder of the rotating digits.
pub fn digits_encoder() -> Vec<Layer> {
    let layers = [(1, 8), (8, 16), (16, 32), (32, 64)]
        .map(|(from, to)| (plain(from, to, 5).stride(2).padding(2), false));
    stack(28, &layers)
}

/// The decoder of the rotating digits.
pub fn digits_decoder() -> Vec<Layer> {
    let layers = [
        (transposed(8, 128, 3).stride(2), false),
        (transposed(128, 64, 5).stride(2).padding(2).output_padding(1), false),
        (transposed(64, 32, 5).stride(2).padding(2).output_padding(1), false),
        (transposed(32, 1, 5).padding(2), false),
    ];
    stack(3, &layers)
}

/// The encoder of the pendulum.
pub fn pendulum_encoder() -> Vec<Layer> {
    stack(24, &[(plain(1, 12, 5).padding(2), true), (plain(12, 12, 3).stride(2).padding(1), true)])
}

/// The decoder of the pendulum.
pub fn pendulum_decoder() -> Vec<Layer> {
    let layers = [
        (transposed(16, 16, 5).stride(4).padding(2), false),
        (transposed(16, 12, 3).stride(2).padding(1), false),
        (transposed(12, 1, 2).stride(2).padding(5), false),
    ];
    stack(3, &layers)
}

/// A network in one piece, with its images.
pub struct Piece {
    pub network: Network,
    frames: usize,
    size: [usize; 2],
    input: Vec<f32>,
    pub parameters: Vec<f32>,
}

impl Piece {
    /// The decoder of the rotating digits.
    pub fn digits_decoder(frames: usize) -> Self {
        Self::new(frames, &digits_decoder(), |layer| (layer.convolution, Then::Nothing))
    }

    /// The decoder of the pendulum: frames are normalised behind every layer but the last.
    pub fn pendulum_decoder(frames: usize) -> Self {
        Self::new(frames, &pendulum_decoder(), |layer| match layer.convolution.channels[1] {
            1 => (layer.convolution, Then::Nothing),
            _ => {
                let convolution = Convolution { activation: Activation::Identity, ..layer.convolution };
                (convolution, Then::FrameNormRelu { epsilon: 1e-5 })
            }
        })
    }

    fn new(frames: usize, layers: &[Layer], then: impl Fn(&Layer) -> (Convolution, Then)) -> Self {
        let first = &layers[0];
        let pixels = first.size[0] * first.size[1];
        let parts = layers.iter().map(then).map(|(convolution, then)| network::Layer { convolution, then });
        let network = Network::new(parts.collect());
        Self {
            frames,
            size: first.size,
            input: numbers(frames * first.convolution.channels[0] * pixels),
            parameters: numbers(network.parameters()).iter().map(|x| 0.1 * x).collect(),
            network,
        }
    }

    pub fn images(&self) -> Images<'_, f32> {
        Images { values: &self.input, frames: self.frames, size: self.size }
    }
}
