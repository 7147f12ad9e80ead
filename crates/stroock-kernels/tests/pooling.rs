//! Pooling, alone and behind a convolution, against plain loops and against itself.

mod layers;

use layers::{Case, bits, layers, numbers};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use stroock_kernels::convolution::{Convolution, Gradients, Images, MaxPool, Pooled, Wanted};
use stroock_testing::finite_difference::assert_close;

fn by_definition(values: &[f64], size: [usize; 2], window: [usize; 2]) -> (Vec<f64>, Vec<u32>) {
    let (mut maxima, mut indices) = (Vec::new(), Vec::new());
    for plane in values.chunks_exact(size[0] * size[1]) {
        for (oy, ox) in (0..size[0] / window[0]).flat_map(|y| (0..size[1] / window[1]).map(move |x| (y, x))) {
            let places = (0..window[0] * window[1])
                .map(|k| (oy * window[0] + k / window[1]) * size[1] + ox * window[1] + k % window[1]);
            let best = places.reduce(|best, k| if plane[k] > plane[best] { k } else { best }).unwrap();
            maxima.push(plane[best]);
            indices.push(best as u32);
        }
    }
    (maxima, indices)
}

proptest! {
    #[test]
    fn both_passes_follow_the_definition(
        window in (1usize..4, 1usize..4),
        more in (0usize..20, 0usize..20),
        planes in 1usize..5,
        seed in 0u64..1000,
    ) {
        let pool = MaxPool { window: [window.0, window.1] };
        let size = [window.0 + more.0, window.1 + more.1];
        // Few different values: many ties.
        let values: Vec<f64> =
            numbers(seed, planes * size[0] * size[1]).iter().map(|x| (x * 3.0).round()).collect();
        let pooled = pool.forward(Images { values: &values, frames: planes, size }).unwrap();
        let (maxima, indices) = by_definition(&values, size, pool.window);
        prop_assert_eq!((&pooled.values, &pooled.indices), (&maxima, &indices));

        let of_output = numbers(seed + 1, maxima.len());
        let of_planes = pool.backward(planes, size, &pooled.indices, &of_output).unwrap();
        let mut expected = vec![0.0; values.len()];
        for (place, (&index, &g)) in indices.iter().zip(&of_output).enumerate() {
            expected[place / (maxima.len() / planes) * size[0] * size[1] + index as usize] += g;
        }
        prop_assert_eq!(of_planes, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_fused_pooling_is_a_separate_one(
        (layer, size) in layers(18),
        window in (1usize..4, 1usize..4),
        frames in 1usize..20,
        seed in 0u64..1000,
    ) {
        let pool = MaxPool { window: [window.0, window.1] };
        let mut case = Case::new(layer, frames, size, seed);
        let out = layer.output_size(size).unwrap();
        prop_assume!(pool.output_size(out).is_ok());
        let fused = layer.forward_pooled(case.images(), &case.weight, &case.bias, pool).unwrap();

        let output = case.forward();
        let planes = frames * layer.channels[1];
        let pooled = pool.forward(Images { values: &output, frames: planes, size: out }).unwrap();
        prop_assert_eq!((&fused.values, &fused.indices), (&pooled.values, &pooled.indices));

        let of_pooled = numbers(seed + 4, pooled.values.len());
        let gradients = layer
            .backward_pooled(case.images(), &case.weight, pool, fused.maxima(), &of_pooled, Wanted::All)
            .unwrap();
        case.of_output = pool.backward(planes, out, &pooled.indices, &of_pooled).unwrap();
        let separate = case.backward(&output, Wanted::All);
        prop_assert_eq!((&gradients.input, &gradients.weight), (&separate.input, &separate.weight));
        assert_close("gradient of the bias", &gradients.bias, &separate.bias, 1e-13);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let layer = Convolution::plain([1, 12], [5, 5]).padding(2).relu();
    let case = Case::new(layer, 101, [12, 12], 5).singles();
    let pool = MaxPool { window: [2, 2] };
    let with_threads = |threads| {
        let threads = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        threads.install(|| {
            let pooled = layer.forward_pooled(case.images(), &case.weight, &case.bias, pool).unwrap();
            let of_pooled: Vec<f32> = pooled.values.iter().map(|y| y.sin()).collect();
            let gradients = layer
                .backward_pooled(case.images(), &case.weight, pool, pooled.maxima(), &of_pooled, Wanted::All)
                .unwrap();
            let Gradients { input, weight, bias } = gradients;
            (pooled.indices, [pooled.values, input, weight, bias].map(|values| bits(&values)))
        })
    };
    let one = with_threads(1);
    assert!(one == with_threads(2) && one == with_threads(3));
}

#[test]
fn the_first_of_equal_numbers_counts() {
    let pool = MaxPool { window: [2, 2] };
    for (values, index) in [
        ([0.0f32; 4], 0),
        ([0.0, 1.0, 1.0, 1.0], 1),
        ([-1.0, -2.0, 0.0, 0.0], 2),
        ([-0.0, 0.0, -0.0, 0.0], 0),
    ] {
        let pooled = pool.forward(Images { values: &values, frames: 1, size: [2, 2] }).unwrap();
        assert_eq!(pooled.indices, [index]);
    }
}

#[test]
fn what_has_diverged_is_seen() {
    for place in 0..4 {
        let mut values = [1.0f32, 2.0, 3.0, 4.0];
        values[place] = f32::NAN;
        let pooled =
            MaxPool { window: [2, 2] }.forward(Images { values: &values, frames: 1, size: [2, 2] }).unwrap();
        assert!(pooled.values[0].is_nan() && pooled.indices == [place as u32]);
    }
}

#[test]
fn odd_rows_and_columns_are_dropped() {
    let pool = MaxPool { window: [2, 2] };
    assert_eq!(pool.output_size([5, 3]), Ok([2, 1]));
    let mut values = vec![0.0f64; 15];
    values[2] = 9.0;
    values[13] = 9.0;
    let pooled = pool.forward(Images { values: &values, frames: 1, size: [5, 3] }).unwrap();
    assert_eq!(pooled.values, [0.0, 0.0]);
    let of_planes = pool.backward(1, [5, 3], &pooled.indices, &[1.0, 2.0]).unwrap();
    assert_eq!((of_planes[0], of_planes[6], of_planes.iter().sum::<f64>()), (1.0, 2.0, 3.0));
}

#[test]
fn arguments_are_named() {
    let values = [0.0f32; 12];
    let forward = |window, frames, size| {
        MaxPool { window }.forward(Images { values: &values, frames, size }).map(|_| ()).unwrap_err()
    };
    let backward = |size, indices: &[u32], of_output: &[f32]| {
        MaxPool { window: [2, 2] }.backward(1, size, indices, of_output).map(|_| ()).unwrap_err()
    };
    let cases = [
        (forward([0, 2], 1, [3, 4]), "window"),
        (forward([4, 2], 1, [3, 4]), "window"),
        (forward([2, 2], 1, [0, 4]), "size"),
        (forward([2, 2], 1, [usize::MAX, 4]), "size"),
        (forward([2, 2], 2, [3, 4]), "planes"),
        (forward([2, 2], usize::MAX, [3, 4]), "planes"),
        (backward([3, 4], &[0], &[0.0, 0.0]), "indices"),
        (backward([3, 4], &[0, 12], &[0.0, 0.0]), "indices"),
        (backward([3, 4], &[0, 2], &[0.0]), "of_output"),
    ];
    for (error, argument) in cases {
        let message = error.to_string();
        assert!(message.starts_with(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
    }
}

#[test]
fn arguments_of_the_fused_pooling_are_named() {
    let case = Case::new(Convolution::plain([2, 3], [3, 3]).relu(), 2, [6, 7], 1);
    let pool = MaxPool { window: [2, 2] };
    let pooled = case.layer.forward_pooled(case.images(), &case.weight, &case.bias, pool).unwrap();
    let backward = |pool, change: fn(&mut Pooled<f64>), of_pooled: &[f64]| {
        let mut pooled = pooled.clone();
        change(&mut pooled);
        case.layer
            .backward_pooled(case.images(), &case.weight, pool, pooled.maxima(), of_pooled, Wanted::All)
            .map(|_| ())
            .unwrap_err()
    };
    let of_pooled = vec![1.0; pooled.values.len()];
    let window = |window| MaxPool { window };
    let forward = case.layer.forward_pooled(case.images(), &case.weight, &case.bias, window([5, 1]));
    let cases = [
        (forward.map(|_| ()).unwrap_err(), "window"),
        (backward(window([1, 6]), |_| (), &of_pooled), "window"),
        (backward(window([1, 1]), |_| (), &of_pooled), "of_pooled"),
        (backward(pool, |_| (), &of_pooled[1..]), "of_pooled"),
        (backward(pool, |pooled| _ = pooled.values.pop(), &of_pooled), "pooled.values"),
        (backward(pool, |pooled| _ = pooled.indices.pop(), &of_pooled), "pooled.indices"),
        (backward(pool, |pooled| pooled.indices[3] = 20, &of_pooled), "indices"),
    ];
    for (error, argument) in cases {
        let message = error.to_string();
        assert!(message.starts_with(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
    }
}
