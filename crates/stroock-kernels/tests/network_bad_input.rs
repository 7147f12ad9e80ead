//! Networks without frames, of what has diverged, and with malformed arguments, which errors name.

mod layers;

use layers::{Case, NORM, layer, networks};
use stroock_kernels::network::{
    Activation, Convolution, Direction, Images, MaxPool, Network, NetworkError, Then, Wanted,
};
use stroock_kernels::simd::Level;

#[test]
fn no_frames_are_fine() {
    for (layers, size) in networks() {
        let case = Case::new(layers, 0, size, 5).cast::<f32>();
        let [output, of_input, of_parameters] = case.run();
        assert!(output.is_empty() && of_input.is_empty());
        assert!(of_parameters.len() == case.parameters.len() && of_parameters.iter().all(|&g| g == 0.0));
    }
}

#[test]
fn what_has_diverged_stays_visible() {
    for (layers, size) in networks() {
        let mut case = Case::new(layers, 3, size, 5).cast::<f32>();
        let extent = case.input.len() / 3;
        case.input[extent..2 * extent].fill(f32::NAN);
        let [output, of_input, of_parameters] = case.run();
        let frames: Vec<bool> =
            output.chunks(output.len() / 3).map(|frame| frame.iter().any(|x| x.is_nan())).collect();
        assert_eq!(frames, [false, true, false]);
        assert!(of_parameters.iter().any(|x| x.is_nan()));
        assert!(of_input[..extent].iter().all(|x| x.is_finite()));
    }
}

#[test]
fn an_infinite_pixel_stays_visible() {
    for (layers, size) in networks() {
        // The logistic function of what is infinite is finite.
        if layers.iter().any(|layer| layer.convolution.activation == Activation::Sigmoid) {
            continue;
        }
        let mut case = Case::new(layers, 2, size, 5).cast::<f32>();
        let pixels = case.input.len() / 2;
        case.input[pixels / 2] = f32::INFINITY;
        let output = case.forward();
        let (first, second) = output.split_at(output.len() / 2);
        assert!(first.iter().any(|y| !y.is_finite()));
        assert!(second.iter().all(|y| y.is_finite()));
    }
}

/// What a pass has to say to a network of one layer: the forward pass, or else the backward pass.
fn failure(convolution: Convolution, then: Then, change: impl FnOnce(&mut Case<f32>)) -> NetworkError {
    let mut case = Case::new(vec![layer(convolution, then)], 2, [4, 5], 1).cast::<f32>();
    change(&mut case);
    match case.network.forward(case.images(), &case.parameters) {
        Err(error) => error,
        Ok(made) => {
            let backward = case.network.backward(
                case.images(),
                &case.parameters,
                &made.tape,
                &case.of_output,
                Wanted::All,
            );
            backward.map(|_| ()).unwrap_err()
        }
    }
}

fn plain(change: impl FnOnce(&mut Convolution)) -> NetworkError {
    let convolution = Convolution::plain([2, 3], [3, 3]).padding(1).relu();
    failure(convolution, Then::Nothing, |case| change(&mut case.network.layers[0].convolution))
}

fn transposed(change: impl FnOnce(&mut Convolution)) -> NetworkError {
    let convolution = Convolution::transposed([2, 3], [3, 3]).stride(2).padding(1).output_padding(1).relu();
    failure(convolution, Then::Nothing, |case| change(&mut case.network.layers[0].convolution))
}

fn followed(by: Then) -> NetworkError {
    let convolution = Convolution::plain([2, 3], [3, 3]).padding(1);
    failure(convolution, NORM, |case| case.network.layers[0].then = by)
}

fn given(change: impl FnOnce(&mut Case<f32>)) -> NetworkError {
    failure(Convolution::plain([2, 3], [3, 3]).padding(1).relu(), Then::Nothing, change)
}

fn assert_named(cases: impl IntoIterator<Item = (NetworkError, &'static str)>) {
    for (error, argument) in cases {
        let message = error.to_string();
        assert!(message.starts_with(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
    }
}

#[test]
fn arguments_are_named() {
    assert_named([
        (given(|c| _ = c.input.pop()), "input"),
        (given(|c| c.input.clear()), "input"),
        (given(|c| c.frames = 3), "input"),
        (given(|c| c.frames = usize::MAX), "input"),
        (given(|c| _ = c.parameters.pop()), "parameters"),
        (given(|c| c.parameters.push(0.0)), "parameters"),
        (given(|c| _ = c.of_output.pop()), "of_output"),
        (given(|c| c.size = [0, 5]), "size"),
        (given(|c| c.size = [usize::MAX, 5]), "padding"),
        (given(|c| (c.frames, c.input) = (0, vec![])), "of_output"),
        (given(|c| c.network.layers.clear()), "layers"),
        (given(|c| c.network.layers.push(c.network.layers[0])), "channels"),
    ]);
}

#[test]
fn extents_of_a_convolution_are_named() {
    let output_padding = |padding| Direction::Transposed { output_padding: padding };
    assert_named([
        (plain(|c| c.channels[0] = 0), "channels"),
        (plain(|c| c.channels[1] = 0), "channels"),
        (plain(|c| c.channels[1] = usize::MAX), "weight"),
        (plain(|c| c.kernel[0] = 0), "kernel"),
        (plain(|c| c.kernel = [7, 3]), "kernel"),
        (plain(|c| c.kernel = [3, 8]), "kernel"),
        (plain(|c| c.kernel = [3, usize::MAX]), "kernel"),
        (plain(|c| c.stride[1] = 0), "stride"),
        (plain(|c| c.padding[0] = usize::MAX), "padding"),
        (plain(|c| c.padding = [1 << 40; 2]), "size"),
        (transposed(|c| c.direction = output_padding([2, 1])), "output_padding"),
        (transposed(|c| c.direction = output_padding([0, 7])), "output_padding"),
        (transposed(|c| c.padding = [1, 6]), "padding"),
        (transposed(|c| c.stride = [usize::MAX; 2]), "stride"),
        (transposed(|c| c.stride = [1 << 30; 2]), "size"),
        (transposed(|c| c.kernel[0] = usize::MAX), "kernel"),
    ]);
}

#[test]
fn what_follows_a_convolution_is_named() {
    let pool = |window| Then::Pool(MaxPool { window });
    let norm = |epsilon| Then::GroupNormRelu { epsilon };
    assert_named([
        (followed(pool([0, 2])), "window"),
        (followed(pool([5, 1])), "window"),
        (followed(pool([1, 6])), "window"),
        (followed(pool([2, 2])), "parameters"),
        (followed(norm(0.0)), "epsilon"),
        (followed(norm(-1.0)), "epsilon"),
        (followed(norm(f64::NAN)), "epsilon"),
        (followed(norm(1e-60)), "epsilon"),
        (followed(norm(1e60)), "epsilon"),
    ]);
}

#[test]
fn images_beyond_measure_are_refused() {
    let values = vec![0.0f32; 300 * 300];
    let images = Images { values: &values, frames: 1, size: [300, 300] };
    let wide = Convolution::plain([1, 1], [300, 300]).padding(150);
    let error = Network::new(vec![layer(wide, Then::Nothing)]).forward(images, &values).unwrap_err();
    assert_eq!(error, NetworkError::TooLarge { argument: "kernel" });
}

#[test]
fn tapes_are_checked() {
    let (layers, size) = networks().swap_remove(3);
    let case = Case::new(layers, 3, size, 1).cast::<f32>();
    let tape = case.network.forward(case.images(), &case.parameters).unwrap().tape;
    let backward = |case: &Case<f32>| {
        let result =
            case.network.backward(case.images(), &case.parameters, &tape, &case.of_output, Wanted::All);
        result.map(|_| ())
    };
    assert_eq!(backward(&case), Ok(()));
    assert_eq!(backward(&case.part(0..2)), Err(NetworkError::ForeignTape));
    let turned = Case { size: [size[1], size[0]], ..case.clone() };
    assert_eq!(backward(&turned), Err(NetworkError::ForeignTape));
    let mut other = case.clone();
    other.network.layers[0].convolution.activation = Activation::Sigmoid;
    assert_eq!(backward(&other), Err(NetworkError::ForeignTape));
    for level in Level::ALL.into_iter().filter(|level| *level != case.network.level) {
        assert_eq!(backward(&case.at(level)), Err(NetworkError::ForeignTape));
    }
}
