//! Likelihoods: their gradients, that they are normalised, and what they refuse.

mod numbers;

use std::sync::Arc;

use burn::module::Param;
use burn::tensor::{DType, Device, Tensor};
use numbers::{doubles, tensor, uniform};
use stroock::batch::Targets;
use stroock::fused::FusedReal;
use stroock::likelihood::{
    Bernoulli, Categorical, ContinuousBernoulli, EntryLoss, Gaussian, GaussianConfig, LikelihoodKind,
    ScaleKind,
};
use stroock_testing::finite_difference::{assert_close, gradient};

const LOGITS: [f64; 19] = [
    -30.0, -12.5, -3.0, -1.0, -0.2, -0.1001, -0.0999, -1e-3, -1e-8, 0.0, 1e-8, 1e-3, 0.0999, 0.1, 0.1001,
    0.7, 4.0, 17.0, 30.0,
];

/// `ln(l / tanh(l / 2))` and its slope, by a series up to `l^14`, for `|l| < 0.5`.
fn ln_normaliser(l: f64) -> (f64, f64) {
    let series = [
        1.0,
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
    ];
    let terms = || series.iter().enumerate().skip(1).rev();
    let above: f64 = terms().map(|(i, c)| c * l.powi(2 * i as i32)).sum();
    let slope: f64 = terms().map(|(i, c)| 2.0 * i as f64 * c * l.powi(2 * i as i32 - 1)).sum();
    (std::f64::consts::LN_2 + above.ln_1p(), slope / (1.0 + above))
}

/// `ln C` and its slope as the continuous Bernoulli has them, at any `x`.
fn ours<T: FusedReal>(l: f64) -> (f64, f64) {
    let (x, l) = (T::of(0.0), T::of(l));
    let (plain, continuous) = (Bernoulli.at(x, l, ()), ContinuousBernoulli.at(x, l, ()));
    ((plain.value - continuous.value).as_f64(), (plain.by_output - continuous.by_output).as_f64())
}

#[test]
fn slopes_of_grey_values_are_those_of_finite_differences() {
    for l in LOGITS {
        for x in [0.0, 0.3, 1.0] {
            let plain = gradient(&[l], 1e-2, |l| Bernoulli.at(x, l[0], ()).value);
            assert_close(&format!("bernoulli at {l}"), &[Bernoulli.at(x, l, ()).by_output], &plain, 1e-10);
            let continuous = gradient(&[l], 1e-2, |l| ContinuousBernoulli.at(x, l[0], ()).value);
            let slope = ContinuousBernoulli.at(x, l, ()).by_output;
            assert_close(&format!("continuous bernoulli at {l}"), &[slope], &continuous, 1e-10);
        }
    }
}

#[test]
fn the_continuous_bernoulli_distribution_is_normalised() {
    // Simpson's rule.
    let parts = 4000;
    for l in LOGITS {
        let density = |i: usize| (-ContinuousBernoulli.at(i as f64 / parts as f64, l, ()).value).exp();
        let weight = |i: usize| {
            if i == 0 || i == parts {
                1.0
            } else if i % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        let mass: f64 = (0..=parts).map(|i| weight(i) * density(i)).sum::<f64>() / (3 * parts) as f64;
        assert!((mass - 1.0).abs() < 1e-9, "mass {mass} at logit {l}");
    }
}

#[test]
fn the_normaliser_is_exact_on_both_sides_of_its_switch() {
    for i in 1..=45 {
        for l in [0.01 * f64::from(i), -0.01 * f64::from(i), 0.1 - 1e-9, 0.1 + 1e-9] {
            let ((value, slope), (ln_c, ln_c_slope)) = (ours::<f64>(l), ln_normaliser(l));
            assert!((value - ln_c).abs() < 2e-14, "ln C({l}) = {value}, not {ln_c}");
            assert!((slope - ln_c_slope).abs() < 2e-12, "slope {slope}, not {ln_c_slope} at {l}");
            let (value, slope) = ours::<f32>(l);
            assert!((value - ln_c).abs() < 5e-7, "ln C({l}) = {value}, not {ln_c} in single precision");
            assert!(
                (slope - ln_c_slope).abs() < 3e-6,
                "slope {slope}, not {ln_c_slope} at {l} in single precision"
            );
        }
    }
}

#[test]
fn large_logits_neither_overflow_nor_lose_their_slopes() {
    fn check<T: FusedReal>(tolerance: f64) {
        let close = |name: &str, actual: T, expected: f64| {
            assert!(actual.is_finite(), "{name} overflows");
            assert_close(name, &[actual.as_f64()], &[expected], tolerance);
        };
        let size = 1e4_f64;
        for sign in [1.0, -1.0] {
            for (x, value, slope) in [(1.0, 0.0, 0.0), (0.0, size, 1.0), (0.25, 0.75 * size, 0.75)] {
                let (x, l) = (T::of(if sign > 0.0 { x } else { 1.0 - x }), T::of(sign * size));
                let (plain, continuous) = (Bernoulli.at(x, l, ()), ContinuousBernoulli.at(x, l, ()));
                close("bernoulli", plain.value, value);
                close("slope", plain.by_output, sign * slope);
                close("continuous bernoulli", continuous.value, value - size.ln());
                close("slope", continuous.by_output, sign * (slope - 1.0 / size));
            }
        }
    }
    check::<f64>(1e-14);
    check::<f32>(1e-6);
}

/// Two series of two and three points with two channels, one entry missing.
fn targets(value: impl Fn(usize) -> f32) -> Arc<Targets> {
    let observed: Vec<bool> = (0..10).map(|place| place != 3).collect();
    let values = (0..10).map(|place| if observed[place] { value(place) } else { f32::NAN }).collect();
    Arc::new(Targets::new(2, vec![0, 2, 5], values, Some(&observed)).unwrap())
}

/// Compares the gradient of the losses of the two series, weighted, with finite differences.
fn assert_gradient(name: &str, start: &[f64], loss: impl Fn(Tensor<1>) -> Tensor<1>) {
    let device = Device::flex().autodiff();
    let weighted = |x: Tensor<1>| (loss(x) * tensor(&[0.7, -1.3], [2], &device)).sum();
    let x = tensor(start, [start.len()], &device).require_grad();
    let gradients = weighted(x.clone()).backward();
    let exact = doubles(x.grad(&gradients).expect("a gradient"));
    let numeric = gradient(start, 1e-2, |x| doubles(weighted(tensor(x, [x.len()], &device)))[0]);
    assert_close(name, &exact, &numeric, 1e-9);
}

#[test]
fn gradients_of_whole_series_are_those_of_finite_differences() {
    let grey = targets(|place| place as f32 / 9.0);
    let logits = uniform(2 * 10, 1);
    assert_gradient("bernoulli", &logits, |x| {
        Bernoulli.negative_log_likelihood(x.reshape([2, 5, 2]), Arc::clone(&grey)).unwrap()
    });
    assert_gradient("continuous bernoulli", &logits, |x| {
        ContinuousBernoulli.negative_log_likelihood(x.reshape([2, 5, 2]), Arc::clone(&grey)).unwrap()
    });
    let classes = targets(|place| (place % 3) as f32);
    assert_gradient("classes", &uniform(2 * 30, 2), |x| {
        let logits = x.mul_scalar(4.0).reshape([2, 5, 6]);
        Categorical { classes: 3 }.negative_log_likelihood(logits, Arc::clone(&classes)).unwrap()
    });
    // Twenty means, and then a logarithm of a scale for each channel.
    assert_gradient("gaussian", &uniform(2 * 10 + 2, 3), |x| {
        let ln_scale = x.clone().narrow(0, 20, 2);
        let gaussian = Gaussian { ln_scale: Param::initialized(burn::module::ParamId::new(), ln_scale) };
        let mean = x.narrow(0, 0, 20).reshape([2, 5, 2]);
        gaussian.negative_log_likelihood(mean, Arc::clone(&grey)).unwrap()
    });
}

/// The densities of single observations, each a series of its own: `[values, channels]`.
fn densities(gaussian: &Gaussian, values: &[f32], mean: f64, channel: usize) -> Vec<f64> {
    let count = values.len();
    let mask: Vec<bool> = (0..2 * count).map(|place| place % 2 == channel).collect();
    let both = values.iter().flat_map(|&x| [x, x]).collect();
    let targets = Targets::new(2, (0..=count).collect(), both, Some(&mask)).unwrap();
    let means = Tensor::full([1, count, 2], mean, (&Device::flex(), DType::F64));
    let nll = gaussian.negative_log_likelihood(means, Arc::new(targets)).unwrap();
    doubles(nll).into_iter().map(|nll| (-nll).exp()).collect()
}

#[test]
fn the_gaussian_distribution_is_normalised_with_a_scale_for_each_channel() {
    let device = Device::flex();
    let scales = [0.25, 0.75];
    let mut gaussian = GaussianConfig { scale: 1.0, kind: ScaleKind::PerChannel, channels: 2 }.init(&device);
    assert_eq!(doubles(gaussian.scale()), [1.0, 1.0]);
    gaussian.ln_scale = Param::from_tensor(tensor(&scales.map(f64::ln), [2], &device));
    // These values are exact in single precision, and the trapezoidal rule is exact for smooth peaks.
    let values: Vec<f32> = (-512..=512).map(|i| i as f32 / 64.0).collect();
    for (channel, scale) in scales.into_iter().enumerate() {
        let (mean, step) = (0.3, 1.0 / 64.0);
        let densities = densities(&gaussian, &values, mean, channel);
        let mass: f64 = densities.iter().sum::<f64>() * step;
        let square = |(x, density): (&f32, &f64)| (f64::from(*x) - mean).powi(2) * density;
        let variance: f64 = values.iter().zip(&densities).map(square).sum::<f64>() * step;
        assert_close("mass", &[mass], &[1.0], 1e-12);
        assert_close("variance", &[variance], &[scale * scale], 1e-12);
    }
    for (kind, scales) in [(ScaleKind::Fixed, 1), (ScaleKind::Learned, 1), (ScaleKind::PerChannel, 3)] {
        let gaussian = GaussianConfig { scale: 0.1, kind, channels: 3 }.init(&Device::flex().autodiff());
        assert_eq!(gaussian.scale().dims(), [scales]);
        assert_eq!(gaussian.ln_scale.val().is_require_grad(), kind != ScaleKind::Fixed);
    }
}

#[test]
fn probabilities_of_classes_sum_to_one() {
    let classes = 5;
    let logits: Vec<f64> = uniform(classes, 4).into_iter().map(|x| 40.0 * x).collect();
    let logits = tensor(&logits, [1, 1, classes], &Device::flex());
    let probability = |class: usize| {
        let targets = Targets::new(1, vec![0, 1], vec![class as f32], None).unwrap();
        let categorical = Categorical { classes };
        (-doubles(categorical.negative_log_likelihood(logits.clone(), Arc::new(targets)).unwrap())[0]).exp()
    };
    let sum: f64 = (0..classes).map(probability).sum();
    assert_close("sum", &[sum], &[1.0], 1e-14);
    // Logits far beyond the range of the exponential.
    let far = tensor(&[1e4, -1e4, 0.0, 0.0, 0.0], [1, 1, classes], &Device::flex());
    let targets = Arc::new(Targets::new(1, vec![0, 1], vec![1.0], None).unwrap());
    let nll = Categorical { classes }.negative_log_likelihood(far, targets).unwrap();
    assert_eq!(doubles(nll), [2e4]);
}

#[test]
fn values_that_are_no_class_are_named() {
    let logits = Tensor::<3>::zeros([1, 3, 6], &Device::flex());
    for (value, words) in [(3.0, "3"), (-1.0, "-1"), (0.5, "0.5"), (1e9, "1000000000")] {
        let values = vec![0.0, 1.0, 2.0, 0.0, 1.0, value];
        let targets =
            |mask: Option<&[bool]>| Arc::new(Targets::new(2, vec![0, 3], values.clone(), mask).unwrap());
        let categorical = Categorical { classes: 3 };
        let error = categorical.negative_log_likelihood(logits.clone(), targets(None)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the value of channel 1 at point 2 is {words}, but classes are the whole numbers below 3"
            )
        );
        // Where it is not observed it may be anything.
        let mask = [true, true, true, true, true, false];
        let nll = categorical.negative_log_likelihood(logits.clone(), targets(Some(&mask))).unwrap();
        assert_close("five entries", &doubles(nll), &[5.0 * 3f64.ln()], 1e-6);
    }
}

#[test]
fn outputs_of_another_shape_are_refused() {
    let targets = targets(|_| 0.0);
    for kind in [
        LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::Learned },
        LikelihoodKind::Bernoulli,
        LikelihoodKind::ContinuousBernoulli,
        LikelihoodKind::Categorical { classes: 4 },
    ] {
        let likelihood = kind.init(2, &Device::flex());
        let outputs = kind.outputs(2);
        let nll = |points, width| {
            let output = Tensor::zeros([2, points, width], &Device::flex());
            likelihood.negative_log_likelihood(output, Arc::clone(&targets))
        };
        assert_eq!(nll(5, outputs).unwrap().dims(), [2]);
        for (points, width) in [(4, outputs), (5, outputs + 1)] {
            let words = nll(points, width).unwrap_err().to_string();
            let expected = format!(
                "the decoder gave [2, {points}, {width}] numbers a point, but the targets need {outputs}"
            );
            assert_eq!(words, expected);
        }
    }
}
