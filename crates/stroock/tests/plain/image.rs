//! Convolutions with what follows them, and the normalisation of frames.

use burn::module::{Param, ParamId};
use burn::tensor::{Device, Tensor};
use stroock::image::{ConvolutionConfig, FrameNormConfig};
use stroock::initial::InitialWeights;
use stroock::plain;

use crate::numbers::uniform;
use crate::twins::assert_twins;

/// Compares a layer on `frames` images of `[inputs, height, width]`.
fn compare(config: ConvolutionConfig, relu: bool, pool: Option<usize>, images: [usize; 4]) {
    let inputs = images[1];
    let ends = if config.transposed { [inputs, config.channels] } else { [config.channels, inputs] };
    let weight = [ends[0], ends[1], config.kernel, config.kernel];
    let leaves = [
        ("images", uniform(images.iter().product(), 1)),
        ("weight", uniform(weight.iter().product(), 2)),
        ("bias", uniform(config.channels, 3)),
    ];
    let shaped = |leaves: &[Tensor<1>]| {
        (leaves[0].clone().reshape(images), leaves[1].clone().reshape(weight), leaves[2].clone())
    };
    let layer = config.init(inputs, relu, pool, &mut InitialWeights::new(1, &Device::flex().autodiff()));
    assert_twins(
        &format!("{config:?}, relu {relu}, pool {pool:?}, {images:?}"),
        &leaves,
        |leaves| {
            let (images, weight, bias) = shaped(leaves);
            let mut layer = layer.clone();
            layer.weight = Param::initialized(ParamId::new(), weight);
            layer.bias = Param::initialized(ParamId::new(), bias);
            layer.forward(images).unwrap().flatten(0, 3)
        },
        |leaves| {
            let (images, weight, bias) = shaped(leaves);
            plain::convolve(&config, images, weight, bias, relu, pool).unwrap().flatten(0, 3)
        },
    );
}

const PLAIN: ConvolutionConfig =
    ConvolutionConfig { channels: 3, kernel: 3, stride: 1, padding: 0, output_padding: 0, transposed: false };

#[test]
fn convolutions() {
    compare(PLAIN, false, None, [2, 2, 6, 5]);
    compare(ConvolutionConfig { stride: 2, padding: 1, ..PLAIN }, true, None, [9, 1, 7, 8]);
    compare(
        ConvolutionConfig { kernel: 5, stride: 3, padding: 2, channels: 1, ..PLAIN },
        false,
        None,
        [1, 4, 8, 8],
    );
}

#[test]
fn convolutions_with_pooling() {
    compare(ConvolutionConfig { padding: 1, ..PLAIN }, true, Some(2), [3, 2, 8, 8]);
    // Rows and columns behind the last whole window are dropped.
    compare(PLAIN, true, Some(2), [3, 2, 7, 9]);
    compare(PLAIN, false, Some(3), [2, 1, 8, 8]);
}

#[test]
fn transposed_convolutions() {
    let transposed = ConvolutionConfig { transposed: true, ..PLAIN };
    compare(transposed, false, None, [2, 2, 3, 4]);
    compare(ConvolutionConfig { stride: 2, padding: 1, ..transposed }, true, None, [3, 2, 4, 4]);
    compare(
        ConvolutionConfig { kernel: 5, stride: 2, padding: 2, output_padding: 1, channels: 2, ..transposed },
        true,
        None,
        [2, 3, 4, 3],
    );
    compare(ConvolutionConfig { kernel: 5, stride: 4, padding: 2, ..transposed }, false, None, [2, 2, 3, 3]);
    compare(ConvolutionConfig { kernel: 2, stride: 2, padding: 5, ..transposed }, false, None, [1, 2, 8, 8]);
}

#[test]
fn frames_are_normalised_as_a_whole() {
    for shape in [[3, 3, 1, 11], [2, 5, 13, 1], [1, 1, 2, 1], [2, 3, 1, 1]] {
        let channels = shape[1];
        // Numbers away from 0, so that there is a mean to take away.
        let images = uniform(shape.iter().product(), 1).into_iter().map(|x| 3.0 * x + 2.0).collect();
        let leaves = [
            ("images", images),
            ("scale", uniform(channels, 2).into_iter().map(|x| 1.5 + x).collect()),
            ("offset", uniform(channels, 3)),
        ];
        let layer =
            FrameNormConfig { channels }.init(&mut InitialWeights::new(1, &Device::flex().autodiff()));
        assert_twins(
            &format!("{shape:?}"),
            &leaves,
            |leaves| {
                let mut layer = layer.clone();
                layer.scale = Param::initialized(ParamId::new(), leaves[1].clone());
                layer.offset = Param::initialized(ParamId::new(), leaves[2].clone());
                layer.forward(leaves[0].clone().reshape(shape)).unwrap().flatten(0, 3)
            },
            |leaves| {
                let images = leaves[0].clone().reshape(shape);
                plain::frame_norm(images, leaves[1].clone(), leaves[2].clone(), 1e-5).unwrap().flatten(0, 3)
            },
        );
    }
}

#[test]
fn shapes_that_do_not_fit_are_errors() {
    let device = Device::flex();
    let images = || Tensor::<4>::zeros([1, 2, 6, 6], &device);
    let convolve = |config: &ConvolutionConfig, weight: [usize; 4], bias: usize, pool| {
        let (weight, bias) = (Tensor::zeros(weight, &device), Tensor::zeros([bias], &device));
        plain::convolve(config, images(), weight, bias, true, pool).map(|images| images.dims())
    };
    assert_eq!(convolve(&PLAIN, [3, 2, 3, 3], 3, Some(2)), Ok([1, 3, 2, 2]));
    assert!(convolve(&PLAIN, [2, 3, 3, 3], 3, None).is_err());
    assert!(convolve(&PLAIN, [3, 2, 3, 3], 2, None).is_err());
    assert!(convolve(&PLAIN, [3, 2, 3, 3], 3, Some(5)).is_err());
    assert!(convolve(&ConvolutionConfig { kernel: 9, ..PLAIN }, [3, 2, 9, 9], 3, None).is_err());
    let norm = |channels: usize, epsilon| {
        let numbers = Tensor::<1>::ones([channels], &device);
        plain::frame_norm(images(), numbers.clone(), numbers, epsilon).is_ok()
    };
    assert!(norm(2, 1e-5));
    assert!(!norm(3, 1e-5));
    assert!(!norm(2, 0.0));
}
