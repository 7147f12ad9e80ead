//! Networks by their definition, in plain loops: the reference implementation.

use stroock_kernels::network::{Activation, Convolution, Direction, Layer, MaxPool, Then};

use crate::layers::Case;

/// The output and the gradients of the input and of the parameters, in the order of [`Case::run`].
pub fn by_definition(case: &Case<f64>) -> [Vec<f64>; 3] {
    let (mut values, mut size, mut rest) = (case.input.clone(), case.size, &case.parameters[..]);
    let mut steps = Vec::new();
    for layer in &case.network.layers {
        let step = Step::new(*layer, case.frames, size, values, &mut rest);
        (values, size) = (step.output.clone(), layer.output_size(size).unwrap());
        steps.push(step);
    }
    let (output, mut of_values, mut of_parameters) = (values, case.of_output.clone(), Vec::new());
    for step in steps.iter().rev() {
        let of_layer;
        (of_values, of_layer) = step.backward(of_values);
        of_parameters.splice(0..0, of_layer);
    }
    [output, of_values, of_parameters]
}

/// A layer, what it reads, and what it makes of that.
struct Step<'p> {
    layer: Layer,
    frames: usize,
    size: [usize; 2],
    input: Vec<f64>,
    weight: &'p [f64],
    scale: &'p [f64],
    offset: &'p [f64],
    /// Behind the activation, and in front of what follows.
    activated: Vec<f64>,
    output: Vec<f64>,
}

impl<'p> Step<'p> {
    /// Takes the parameters of the layer from the front of `rest`.
    fn new(layer: Layer, frames: usize, size: [usize; 2], input: Vec<f64>, rest: &mut &'p [f64]) -> Self {
        let Convolution { channels: [from, to], kernel, activation, .. } = layer.convolution;
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at(count);
            *rest = left;
            taken
        };
        let (weight, bias) = (take(from * to * kernel[0] * kernel[1]), take(to));
        let [scale, offset] = match layer.then {
            Then::GroupNormRelu { .. } => [take(to), take(to)],
            Then::Nothing | Then::Pool(_) => [&[][..]; 2],
        };
        let out = layer.convolution.output_size(size).unwrap();
        let plane = out[0] * out[1];
        let mut activated: Vec<f64> = (0..frames * to * plane).map(|i| bias[i / plane % to]).collect();
        for_each_product(&layer.convolution, frames, size, |x, w, y| activated[y] += weight[w] * input[x]);
        activated.iter_mut().for_each(|y| {
            *y = match activation {
                Activation::Identity => *y,
                Activation::Relu => y.max(0.0),
                Activation::Sigmoid => 1.0 / (1.0 + (-*y).exp()),
            }
        });
        let output = match layer.then {
            Then::Nothing => activated.clone(),
            Then::Pool(pool) => maxima(pool, out, &activated).map(|i| activated[i]).collect(),
            Then::GroupNormRelu { epsilon } => {
                let frames = activated.chunks(to * plane).flat_map(|x| standard(x, epsilon).1);
                let scaled =
                    frames.enumerate().map(|(i, h)| h * scale[i / plane % to] + offset[i / plane % to]);
                scaled.map(|y| y.max(0.0)).collect()
            }
        };
        Self { layer, frames, size, input, weight, scale, offset, activated, output }
    }

    /// The gradients of the input and of the parameters.
    fn backward(&self, of_output: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
        let Convolution { channels: [_, to], activation, .. } = self.layer.convolution;
        let out = self.layer.convolution.output_size(self.size).unwrap();
        let plane = out[0] * out[1];
        let (mut of_activated, of_norm) = match self.layer.then {
            Then::Nothing => (of_output, Vec::new()),
            Then::Pool(pool) => {
                let mut of_activated = vec![0.0; self.activated.len()];
                maxima(pool, out, &self.activated).zip(&of_output).for_each(|(i, g)| of_activated[i] += g);
                (of_activated, Vec::new())
            }
            Then::GroupNormRelu { epsilon } => self.before_norm(of_output, plane, epsilon),
        };
        for (g, y) in of_activated.iter_mut().zip(&self.activated) {
            *g *= match activation {
                Activation::Identity => 1.0,
                Activation::Relu => f64::from(u8::from(*y > 0.0)),
                Activation::Sigmoid => y * (1.0 - y),
            };
        }
        let [mut of_input, mut of_weight, mut of_bias] =
            [self.input.len(), self.weight.len(), to].map(|length| vec![0.0; length]);
        for_each_product(&self.layer.convolution, self.frames, self.size, |x, w, y| {
            of_input[x] += self.weight[w] * of_activated[y];
            of_weight[w] += self.input[x] * of_activated[y];
        });
        of_activated.iter().enumerate().for_each(|(i, g)| of_bias[i / plane % to] += g);
        (of_input, [of_weight, of_bias, of_norm].concat())
    }

    /// The gradients in front of the normalisation, and those of the scale and the offset.
    fn before_norm(&self, of_output: Vec<f64>, plane: usize, epsilon: f64) -> (Vec<f64>, Vec<f64>) {
        let channels = self.scale.len();
        let extent = channels * plane;
        let n = extent as f64;
        let mut of_input = Vec::new();
        let [mut of_scale, mut of_offset] = [vec![0.0; channels], vec![0.0; channels]];
        for (x, g) in self.activated.chunks(extent).zip(of_output.chunks(extent)) {
            let (r, h) = standard(x, epsilon);
            let mut of_h = Vec::new();
            for i in 0..extent {
                let c = i / plane;
                let g = if h[i] * self.scale[c] + self.offset[c] <= 0.0 { 0.0 } else { g[i] };
                of_scale[c] += g * h[i];
                of_offset[c] += g;
                of_h.push(g * self.scale[c]);
            }
            let mean = of_h.iter().sum::<f64>() / n;
            let along = of_h.iter().zip(&h).map(|(g, h)| g * h).sum::<f64>() / (n - 1.0).max(1.0);
            of_input.extend(of_h.iter().zip(&h).map(|(g, h)| r * (g - mean - h * along)));
        }
        (of_input, [of_scale, of_offset].concat())
    }
}

/// `r = 1 / sqrt(variance + epsilon)` and `h = r (x - mean)` of a frame.
fn standard(x: &[f64], epsilon: f64) -> (f64, Vec<f64>) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let r = 1.0 / (variance + epsilon).sqrt();
    (r, x.iter().map(|x| (x - mean) * r).collect())
}

/// The places of the maxima of all windows, plane by plane.
fn maxima(pool: MaxPool, size: [usize; 2], values: &[f64]) -> impl Iterator<Item = usize> {
    let [height, width] = pool.window;
    let [rows, columns] = pool.output_size(size).unwrap();
    let planes = values.len() / (size[0] * size[1]);
    (0..planes * rows * columns).map(move |window| {
        let (plane, row, column) = (window / (rows * columns), window / columns % rows, window % columns);
        let corner = (plane * size[0] + row * height) * size[1] + column * width;
        let places = (0..height * width).map(|k| corner + k / width * size[1] + k % width);
        places.reduce(|best, place| if values[place] > values[best] { place } else { best }).unwrap()
    })
}

/// Calls `visit(input place, weight place, output place)` for every product of the definition of a convolution.
fn for_each_product(
    convolution: &Convolution,
    frames: usize,
    size: [usize; 2],
    mut visit: impl FnMut(usize, usize, usize),
) {
    let Convolution { channels: [from, to], kernel, stride, padding, direction, .. } = *convolution;
    let out = convolution.output_size(size).unwrap();
    let (coarse, fine) = match direction {
        Direction::Plain => (out, size),
        Direction::Transposed { .. } => (size, out),
    };
    let place = |frame: usize, channels: usize, channel: usize, size: [usize; 2], y: usize, x: usize| {
        ((frame * channels + channel) * size[0] + y) * size[1] + x
    };
    for n in 0..frames {
        for (c, d) in (0..from).flat_map(|c| (0..to).map(move |d| (c, d))) {
            for (oy, ox) in (0..coarse[0]).flat_map(|y| (0..coarse[1]).map(move |x| (y, x))) {
                for (ky, kx) in (0..kernel[0]).flat_map(|y| (0..kernel[1]).map(move |x| (y, x))) {
                    let iy = (oy * stride[0] + ky).wrapping_sub(padding[0]);
                    let ix = (ox * stride[1] + kx).wrapping_sub(padding[1]);
                    if iy >= fine[0] || ix >= fine[1] {
                        continue;
                    }
                    match direction {
                        Direction::Plain => visit(
                            place(n, from, c, size, iy, ix),
                            place(d, from, c, kernel, ky, kx),
                            place(n, to, d, out, oy, ox),
                        ),
                        Direction::Transposed { .. } => visit(
                            place(n, from, c, size, oy, ox),
                            place(c, to, d, kernel, ky, kx),
                            place(n, to, d, out, iy, ix),
                        ),
                    }
                }
            }
        }
    }
}
