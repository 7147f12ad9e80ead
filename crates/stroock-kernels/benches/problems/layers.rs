//! The networks of the rotating digits and of the pendulum.

use stroock_kernels::network::{Convolution, Images, Layer, MaxPool, Network, Then, Wanted};

/// A network with its parameters and its images.
pub struct Problem {
    pub network: Network,
    frames: usize,
    size: [usize; 2],
    input: Vec<f32>,
    parameters: Vec<f32>,
}

/// Numbers of both signs, without a pattern that a processor could learn.
fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

impl Problem {
    fn new(layers: Vec<Layer>, size: [usize; 2], frames: usize) -> Self {
        let channels = layers[0].convolution.channels[0];
        let network = Network::new(layers);
        Self {
            frames,
            size,
            input: numbers(frames * channels * size[0] * size[1]),
            parameters: numbers(network.parameters()).iter().map(|x| 0.1 * x).collect(),
            network,
        }
    }

    /// Every layer alone, with its name.
    pub fn layers(&self) -> Vec<(String, Self)> {
        let mut size = self.size;
        let single = |&layer: &Layer| {
            let [from, to] = layer.convolution.channels;
            let problem = Self::new(vec![layer], size, self.frames);
            size = layer.output_size(size).expect("a well-formed layer");
            (format!("{from} to {to} channels"), problem)
        };
        self.network.layers.iter().map(single).collect()
    }

    fn images(&self) -> Images<'_, f32> {
        Images { values: &self.input, frames: self.frames, size: self.size }
    }

    pub fn forward(&self) -> Transformed {
        self.network.forward(self.images(), &self.parameters).expect("a well-formed network")
    }

    /// The output stands in for its own gradient. Images of one channel are data: nobody asks for their gradient.
    pub fn backward(&self, made: &Transformed) -> Gradients {
        let is_data = self.network.layers[0].convolution.channels[0] == 1;
        let wanted = if is_data { Wanted::Parameters } else { Wanted::All };
        let gradients =
            self.network.backward(self.images(), &self.parameters, &made.tape, &made.values, wanted);
        gradients.expect("a well-formed network")
    }
}

type Transformed = stroock_kernels::network::Transformed<f32>;
type Gradients = stroock_kernels::network::Gradients<f32>;

const POOL: Then = Then::Pool(MaxPool { window: [2, 2] });
const NORM: Then = Then::GroupNormRelu { epsilon: 1e-5 };

fn plain(from: usize, to: usize, kernel: usize) -> Convolution {
    Convolution::plain([from, to], [kernel; 2]).relu()
}

fn transposed(from: usize, to: usize, kernel: usize) -> Convolution {
    Convolution::transposed([from, to], [kernel; 2])
}

fn followed(by: Then) -> impl Fn(Convolution) -> Layer {
    move |convolution| Layer { convolution, then: by }
}

/// The encoder of the rotating digits.
pub fn digits_encoder(frames: usize) -> Problem {
    let layers =
        [(1, 8), (8, 16), (16, 32), (32, 64)].map(|(from, to)| plain(from, to, 5).stride(2).padding(2));
    Problem::new(layers.map(followed(Then::Nothing)).to_vec(), [28, 28], frames)
}

/// The decoder of the rotating digits.
pub fn digits_decoder(frames: usize) -> Problem {
    let layers = [
        transposed(8, 128, 3).stride(2),
        transposed(128, 64, 5).stride(2).padding(2).output_padding(1),
        transposed(64, 32, 5).stride(2).padding(2).output_padding(1),
        transposed(32, 1, 5).padding(2),
    ];
    let layers = layers.map(Convolution::relu).map(followed(Then::Nothing));
    Problem::new(layers.to_vec(), [3, 3], frames)
}

/// The encoder of the pendulum.
pub fn pendulum_encoder(frames: usize) -> Problem {
    let layers = [plain(1, 12, 5).padding(2), plain(12, 12, 3).stride(2).padding(1)];
    Problem::new(layers.map(followed(POOL)).to_vec(), [24, 24], frames)
}

/// The decoder of the pendulum.
pub fn pendulum_decoder(frames: usize) -> Problem {
    let normalised = [transposed(16, 16, 5).stride(4).padding(2), transposed(16, 12, 3).stride(2).padding(1)];
    let mut layers = normalised.map(followed(NORM)).to_vec();
    layers.push(followed(Then::Nothing)(transposed(12, 1, 2).stride(2).padding(5).relu()));
    Problem::new(layers, [3, 3], frames)
}
