//! Convolutions without frames, of what has diverged, and with malformed arguments, which errors name.

mod layers;

use layers::{Case, small};
use stroock_kernels::convolution::{Activation, Convolution, ConvolutionError, Direction, Images, Wanted};

#[test]
fn no_frames_are_fine() {
    for (layer, size) in small() {
        let case = Case::new(layer, 0, size, 5).singles();
        let [output, of_input, of_weight, of_bias] = case.run();
        assert!(output.is_empty() && of_input.is_empty());
        assert!(of_weight.len() == case.weight.len() && of_weight.iter().chain(&of_bias).all(|&g| g == 0.0));
    }
}

#[test]
fn what_has_diverged_is_seen() {
    for (layer, size) in small() {
        for value in [f32::NAN, f32::INFINITY] {
            let mut case = Case::new(layer, 2, size, 5).singles();
            case.input[0] = value;
            let output = case.forward();
            let (first, second) = output.split_at(output.len() / 2);
            assert!(first.iter().any(|y| !y.is_finite()), "{layer:?}");
            assert!(second.iter().all(|y| y.is_finite()), "{layer:?}");
        }
    }
}

fn error(change: impl FnOnce(&mut Case<f32>)) -> ConvolutionError {
    let layer = Convolution::plain([2, 3], [3, 3]).padding(1).relu();
    failure(layer, change)
}

fn transposed_error(change: impl FnOnce(&mut Case<f32>)) -> ConvolutionError {
    let layer = Convolution::transposed([2, 3], [3, 3]).stride(2).padding(1).output_padding(1).relu();
    failure(layer, change)
}

/// What the forward pass has to say, or else the backward pass.
fn failure(layer: Convolution, change: impl FnOnce(&mut Case<f32>)) -> ConvolutionError {
    let mut case = Case::new(layer, 2, [4, 5], 1).singles();
    change(&mut case);
    let forward = case.layer.forward(case.images(), &case.weight, &case.bias);
    let output = match forward {
        Ok(output) => output,
        Err(error) => return error,
    };
    case.layer
        .backward(case.images(), &case.weight, &output, &case.of_output, Wanted::All)
        .map(|_| ())
        .unwrap_err()
}

#[test]
fn arguments_are_named() {
    let output_padding = |padding| Direction::Transposed { output_padding: padding };
    let cases = [
        (error(|c| _ = c.input.pop()), "input"),
        (error(|c| c.input.clear()), "input"),
        (error(|c| c.frames = 3), "input"),
        (error(|c| c.frames = usize::MAX), "input"),
        (error(|c| _ = c.weight.pop()), "weight"),
        (error(|c| c.bias.push(0.0)), "bias"),
        (error(|c| _ = c.of_output.pop()), "of_output"),
        (error(|c| c.layer.channels[0] = 0), "channels"),
        (error(|c| c.layer.channels[1] = 0), "channels"),
        (error(|c| c.layer.channels[1] = usize::MAX), "weight"),
        (error(|c| c.layer.kernel[0] = 0), "kernel"),
        (error(|c| c.layer.kernel = [7, 3]), "kernel"),
        (error(|c| c.layer.kernel = [3, 8]), "kernel"),
        (error(|c| c.layer.kernel = [3, usize::MAX]), "kernel"),
        (error(|c| c.layer.stride[1] = 0), "stride"),
        (error(|c| c.layer.padding[0] = usize::MAX), "padding"),
        (error(|c| c.layer.padding = [1 << 40; 2]), "size"),
        (error(|c| c.size = [0, 5]), "size"),
        (error(|c| c.size = [usize::MAX, 5]), "padding"),
        (transposed_error(|c| c.layer.direction = output_padding([2, 1])), "output_padding"),
        (transposed_error(|c| c.layer.direction = output_padding([0, 7])), "output_padding"),
        (transposed_error(|c| c.layer.padding = [1, 6]), "padding"),
        (transposed_error(|c| c.layer.stride = [usize::MAX; 2]), "stride"),
        (transposed_error(|c| c.layer.stride = [1 << 30; 2]), "size"),
        (transposed_error(|c| c.layer.kernel[0] = usize::MAX), "kernel"),
        (transposed_error(|c| _ = c.weight.pop()), "weight"),
    ];
    for (error, argument) in cases {
        let message = error.to_string();
        assert!(message.starts_with(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
    }
}

#[test]
fn images_beyond_measure_are_refused() {
    let (weight, bias) = (vec![0.0f32; 300 * 300], [0.0]);
    let values = vec![0.0; 300 * 300];
    let images = Images { values: &values, frames: 1, size: [300, 300] };
    let wide = Convolution::plain([1, 1], [300, 300]).padding(150);
    let error = wide.forward(images, &weight, &bias).unwrap_err();
    assert_eq!(error, ConvolutionError::TooLarge { argument: "kernel" });
}

#[test]
fn the_saved_output_is_needed_for_the_activation_only() {
    let case = Case::new(Convolution::plain([2, 3], [3, 3]).relu(), 2, [4, 5], 1);
    let backward = |case: &Case<f64>, output: &[f64]| {
        case.layer.backward(case.images(), &case.weight, output, &case.of_output, Wanted::All).map(|_| ())
    };
    assert!(backward(&case, &[]).unwrap_err().to_string().starts_with("`output`"));
    assert_eq!(backward(&case.with(|layer| layer.activation = Activation::Identity), &[]), Ok(()));
}
