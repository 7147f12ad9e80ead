//! Convolutions by burn's own layers.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module::{conv_transpose2d, conv2d, max_pool2d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions, MaxPoolOptions};
use stroock_kernels::argument::check_shape;
use stroock_kernels::network::{MaxPool, NetworkError};

use crate::image::{ConvolutionConfig, ImageShape};

/// A convolution of images `[frames, in, height, width]` with its bias (`[out]`), then `max(y, 0)` where `positive`,
/// then the maximum of every window of `pool x pool` pixels.
///
/// With stride `s`, padding `p` and `x = 0` outside the image,
///
/// ```text
/// plain:       y[o, d] = b[d] + sum_{k, c} w[d, c, k] x[o s - p + k, c],
/// transposed:  y[i, d] = b[d] + sum_{o, k, c : i = o s - p + k} w[c, d, k] x[o, c].
/// ```
///
/// `weight` is `[out, in, kernel, kernel]`, or `[in, out, kernel, kernel]` where it is transposed.
///
/// # Errors
/// When the shapes do not fit.
pub fn convolve(
    config: &ConvolutionConfig,
    images: Tensor<4>,
    weight: Tensor<4>,
    bias: Tensor<1>,
    positive: bool,
    pool: Option<usize>,
) -> Result<Tensor<4>, NetworkError> {
    let ConvolutionConfig { channels, kernel, stride, padding, output_padding, transposed } = *config;
    let [_, inputs, height, width] = images.dims();
    let output = config.output(ImageShape { channels: inputs, height, width })?;
    let (expected, shape) = match transposed {
        true => ([inputs, channels, kernel, kernel], "[in, out, kernel, kernel]"),
        false => ([channels, inputs, kernel, kernel], "[out, in, kernel, kernel]"),
    };
    check_shape("weight", shape, &expected, &weight.dims())?;
    check_shape("bias", "[out]", &[channels], &bias.dims())?;
    if let Some(window) = pool {
        MaxPool { window: [window; 2] }.output_size([output.height, output.width])?;
    }

    let (stride, padding, dilation, groups) = ([stride; 2], [padding; 2], [1; 2], 1);
    let output = match transposed {
        true => {
            let options = ConvTransposeOptions::new(stride, padding, [output_padding; 2], dilation, groups);
            conv_transpose2d(images, weight, Some(bias), options)
        }
        false => conv2d(images, weight, Some(bias), ConvOptions::new(stride, padding, dilation, groups)),
    };
    let output = if positive { relu(output) } else { output };
    Ok(match pool {
        Some(window) => max_pool2d(output, MaxPoolOptions::new([window; 2])),
        None => output,
    })
}
