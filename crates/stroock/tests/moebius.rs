//! Processes with given marginals as an operation on tensors: the kernel's numbers, gradients of every tensor, errors.

mod numbers;

use burn::tensor::{DType, Device, Tensor};
use numbers::{doubles, tensor, uniform};
use stroock::latent::{
    AttractorPrior, MoebiusError, MoebiusPlan, MoebiusStates, RaggedTimes, StepLengths, moebius,
    moebius_paths,
};
use stroock_kernels::moebius::{MoebiusProblem, MoebiusProcess, SeriesTimes};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::Attractor;
use stroock_kernels::start::Draws;
use stroock_testing::finite_difference::{assert_close, gradient};

const DIM: usize = 5;
const KNOTS: usize = 5;

fn plan() -> MoebiusPlan {
    MoebiusPlan {
        dim: DIM,
        samples: 3,
        knots: RaggedTimes { offsets: vec![0, 3, 4, 5], times: vec![0.0, 0.4, 1.0, 0.3, 0.9] },
        requests: RaggedTimes { offsets: vec![0, 2, 2, 5], times: vec![-0.1, 0.7, 0.1, 0.2, 1.5] },
        spans: vec![[0.0, 1.0], [0.1, 0.6], [0.0, 2.0]],
        strata: 3,
        key: NoiseKey::new(3, 1),
        series: vec![7, 0, 4],
        first_sample: 2,
    }
}

/// Positions, widths, sigma, pull, rates and frequencies, one after the other.
fn inputs() -> Vec<f64> {
    let mut values = uniform(KNOTS * DIM, 1);
    values.extend(uniform(KNOTS, 2).iter().map(|x| 0.6 + 0.5 * x));
    values.push(0.8);
    values.extend(uniform(DIM + 2 * (DIM / 2), 3));
    values
}

const SIZES: [usize; 6] = [KNOTS * DIM, KNOTS, 1, DIM, DIM / 2, DIM / 2];

fn leaves(values: &[f64], device: &Device, dtype: DType) -> [Tensor<1>; 6] {
    let mut from = 0;
    SIZES.map(|size| {
        let part = tensor(&values[from..from + size], [size], device).cast(dtype);
        from += size;
        part
    })
}

fn run([w, eps, sigma, pull, rates, frequencies]: [Tensor<1>; 6], with_prior: bool) -> MoebiusStates {
    let prior = with_prior.then_some(AttractorPrior { pull, rates, frequencies });
    moebius(plan(), w.reshape([KNOTS, DIM]), eps, sigma, prior).unwrap()
}

fn loss(output: MoebiusStates) -> Tensor<1> {
    let MoebiusStates { states, kl_start, kl_path } = output;
    assert_eq!((states.dims(), kl_start.dims(), kl_path.dims()), ([3, 5, DIM], [3], [3, 3]));
    let weigh = |flat: Tensor<1>, seed| {
        let weights = tensor(&uniform(flat.dims()[0], seed), [flat.dims()[0]], &flat.device());
        (flat.clone() * weights.cast(flat.dtype())).sum()
    };
    weigh(states.flatten(0, 2), 11) + weigh(kl_start, 12) + weigh(kl_path.flatten(0, 1), 13)
}

#[test]
fn gradients_reach_every_tensor() {
    let device = Device::flex().autodiff();
    for with_prior in [false, true] {
        let of = |dtype| {
            let leaves = leaves(&inputs(), &device, dtype).map(Tensor::require_grad);
            let gradients = loss(run(leaves.clone(), with_prior)).backward();
            let used = if with_prior { 6 } else { 3 };
            let each = leaves[..used].iter().map(|leaf| doubles(leaf.grad(&gradients).expect("a gradient")));
            each.flatten().collect::<Vec<f64>>()
        };
        let (double, single) = (of(DType::F64), of(DType::F32));
        let numeric = gradient(&inputs(), 1e-4, |values| {
            doubles(loss(run(leaves(values, &Device::flex(), DType::F64), with_prior)))[0]
        });
        assert_close("double", &double, &numeric[..double.len()], 1e-8);
        assert_close("single", &single, &double, 1e-4);
    }
}

#[test]
fn tensors_have_the_numbers_of_the_kernel() {
    let (plan, values) = (plan(), inputs());
    let [w, eps, sigma, pull, rates, frequencies] = leaves(&values, &Device::flex(), DType::F64).map(doubles);
    let process = MoebiusProcess {
        dim: DIM,
        knots: SeriesTimes { offsets: &plan.knots.offsets, times: &plan.knots.times },
        positions: &w,
        widths: &eps,
        sigma: sigma[0],
    };
    let requests = SeriesTimes { offsets: &plan.requests.offsets, times: &plan.requests.times };
    let draws = Draws { key: plan.key, series: &plan.series, samples: 3, first_sample: 2 };
    let coefficients = [pull, rates, frequencies].concat();
    let problem = MoebiusProblem {
        process,
        prior: Some(Attractor { coefficients: &coefficients }),
        requests,
        spans: &plan.spans,
        strata: 3,
        draws,
    };
    let expected = problem.forward().unwrap();
    let actual = run(leaves(&values, &Device::flex(), DType::F64), true);
    assert_eq!(doubles(actual.states), expected.states);
    assert_eq!(doubles(actual.kl_start), expected.kl_start);
    assert_eq!(doubles(actual.kl_path), expected.kl_path);

    let steps = StepLengths { smallest: 0.01, largest: 0.05 };
    let spans = vec![[-0.2, 1.0], [0.1, 0.6], [0.0, 2.0]];
    let expected = process.simulate(requests, &[-0.2, 0.1, 0.0], steps, draws).unwrap();
    let [w, eps, sigma, ..] = leaves(&values, &Device::flex(), DType::F64);
    let plan = MoebiusPlan { spans, ..plan };
    let paths = moebius_paths(&plan, w.reshape([KNOTS, DIM]), eps, sigma, steps).unwrap();
    assert_eq!(paths.dims(), [3, 5, DIM]);
    assert_eq!(doubles(paths), expected);
}

#[test]
fn what_does_not_fit_is_named() {
    let device = Device::flex();
    let error = |change: &dyn Fn(&mut MoebiusPlan, &mut [Tensor<1>; 6])| -> MoebiusError {
        let (mut plan, mut leaves) = (plan(), leaves(&inputs(), &device, DType::F64));
        change(&mut plan, &mut leaves);
        let [w, eps, sigma, pull, rates, frequencies] = leaves;
        let rows = w.dims()[0] / DIM;
        let prior = Some(AttractorPrior { pull, rates, frequencies });
        moebius(plan, w.reshape([rows, DIM]), eps, sigma, prior).unwrap_err()
    };
    let short = |leaf: usize| {
        error(&move |_, leaves| {
            let less = leaves[leaf].dims()[0] - if leaf == 0 { DIM } else { 1 };
            leaves[leaf] = leaves[leaf].clone().narrow(0, 0, less);
        })
    };
    let cases = [
        (short(0), "positions"),
        (short(1), "widths"),
        (short(3), "prior.pull"),
        (short(4), "prior.rates"),
        (short(5), "prior.frequencies"),
        (error(&|_, leaves| leaves[2] = leaves[2].clone().neg()), "sigma"),
        (error(&|_, leaves| leaves[2] = leaves[2].clone().repeat_dim(0, 2)), "sigma"),
        (error(&|_, leaves| leaves[1] = leaves[1].clone().neg()), "widths"),
        (error(&|plan, _| plan.dim = 4), "positions"),
        (error(&|plan, _| plan.samples = 0), "samples"),
        (error(&|plan, _| plan.spans.clear()), "spans"),
        (error(&|plan, _| plan.strata = 0), "strata"),
        (
            error(&|plan, _| plan.requests = RaggedTimes { offsets: vec![0; 4], times: vec![] }),
            "requests.times",
        ),
        (error(&|plan, _| plan.knots.times[1] = 5.0), "knots"),
    ];
    for (error, argument) in cases {
        assert!(error.to_string().contains(&format!("`{argument}`")), "{argument}: {error}");
    }
}
