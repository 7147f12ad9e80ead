//! Networks of one layer: a convolution and what follows it.

use burn::module::{Param, ParamId};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};
use stroock::image::{ConvolutionConfig, Follow, ImageLayerConfig, ImageNetworkConfig};
use stroock::initial::InitialWeights;
use stroock::plain;

use crate::agreement::assert_agreement;
use crate::numbers::uniform;

/// Compares a layer on `frames` images of `[inputs, height, width]`.
fn compare(config: ConvolutionConfig, then: Follow, images: [usize; 4]) {
    let (inputs, outputs) = (images[1], config.channels);
    let ends = if config.transposed { [inputs, outputs] } else { [outputs, inputs] };
    let weight = [ends[0], ends[1], config.kernel, config.kernel];
    let mut leaves = vec![
        ("images", uniform(images.iter().product(), 1)),
        ("weight", uniform(weight.iter().product(), 2)),
        ("bias", uniform(outputs, 3)),
    ];
    if then == Follow::GroupNormRelu {
        leaves.push(("scale", uniform(outputs, 4).into_iter().map(|x| 1.5 + x).collect()));
        leaves.push(("offset", uniform(outputs, 5)));
    }
    let network = ImageNetworkConfig { layers: vec![ImageLayerConfig { convolution: config, then }] };
    let network = network.init(inputs, &mut InitialWeights::new(1, &Device::flex().autodiff()));
    assert_agreement(
        &format!("{config:?}, {then:?}, {images:?}"),
        &leaves,
        |leaves| {
            let mut network = network.clone();
            let layer = &mut network.layers[0];
            let flat = |i: usize| Param::initialized(ParamId::new(), leaves[i].clone());
            layer.convolution.weight = Param::initialized(ParamId::new(), leaves[1].clone().reshape(weight));
            layer.convolution.bias = flat(2);
            if let Some(norm) = &mut layer.group_norm {
                (norm.scale, norm.offset) = (flat(3), flat(4));
            }
            network.forward(leaves[0].clone().reshape(images)).unwrap().flatten(0, 3)
        },
        |leaves| {
            let relu = matches!(then, Follow::Relu | Follow::ReluPool);
            let pool = (then == Follow::ReluPool).then_some(2);
            let [images, weight] = [leaves[0].clone().reshape(images), leaves[1].clone().reshape(weight)];
            let output = plain::convolve(&config, images, weight, leaves[2].clone(), relu, pool).unwrap();
            let output = match then {
                Follow::GroupNormRelu => {
                    plain::group_norm(output, leaves[3].clone(), leaves[4].clone(), 1e-5).unwrap()
                }
                Follow::Sigmoid => sigmoid(output),
                _ => output,
            };
            output.flatten(0, 3)
        },
    );
}

const PLAIN: ConvolutionConfig =
    ConvolutionConfig { channels: 3, kernel: 3, stride: 1, padding: 0, output_padding: 0, transposed: false };

#[test]
fn convolutions() {
    compare(PLAIN, Follow::Nothing, [2, 2, 6, 5]);
    compare(ConvolutionConfig { stride: 2, padding: 1, ..PLAIN }, Follow::Relu, [9, 1, 7, 8]);
    compare(
        ConvolutionConfig { kernel: 5, stride: 3, padding: 2, channels: 1, ..PLAIN },
        Follow::Nothing,
        [1, 4, 8, 8],
    );
}

#[test]
fn convolutions_with_pooling() {
    compare(ConvolutionConfig { padding: 1, ..PLAIN }, Follow::ReluPool, [3, 2, 8, 8]);
    // Rows and columns behind the last whole window are dropped.
    compare(PLAIN, Follow::ReluPool, [3, 2, 7, 9]);
}

#[test]
fn transposed_convolutions() {
    let transposed = ConvolutionConfig { transposed: true, ..PLAIN };
    compare(transposed, Follow::Nothing, [2, 2, 3, 4]);
    compare(ConvolutionConfig { stride: 2, padding: 1, ..transposed }, Follow::Relu, [3, 2, 4, 4]);
    compare(
        ConvolutionConfig { kernel: 5, stride: 2, padding: 2, output_padding: 1, channels: 2, ..transposed },
        Follow::Relu,
        [2, 3, 4, 3],
    );
    compare(
        ConvolutionConfig { kernel: 5, stride: 4, padding: 2, ..transposed },
        Follow::Nothing,
        [2, 2, 3, 3],
    );
    compare(
        ConvolutionConfig { kernel: 2, stride: 2, padding: 5, ..transposed },
        Follow::Nothing,
        [1, 2, 8, 8],
    );
}

#[test]
fn group_normalisation() {
    let single = ConvolutionConfig { kernel: 1, ..PLAIN };
    for images in [[3, 3, 1, 11], [2, 5, 13, 1], [1, 2, 2, 1], [2, 3, 1, 1]] {
        compare(single, Follow::GroupNormRelu, images);
    }
    compare(ConvolutionConfig { padding: 1, ..PLAIN }, Follow::GroupNormRelu, [9, 2, 5, 4]);
}

#[test]
fn the_logistic_function() {
    compare(PLAIN, Follow::Sigmoid, [2, 2, 6, 5]);
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
        plain::group_norm(images(), numbers.clone(), numbers, epsilon).is_ok()
    };
    assert!(norm(2, 1e-5));
    assert!(!norm(3, 1e-5));
    assert!(!norm(2, 0.0));
}
