//! Scores against closed forms, baselines and hold-outs.

use proptest::prelude::*;
use stroock::score::{
    HoldOut, Prediction, ScoreError, ScoreSums, VisibleSeries, carried_forward, crps, gaussian_mixture_nll,
    linear, withhold,
};
use stroock::series::{Dataset, Observation, Series, SeriesError, quantile};
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};
use stroock_testing::statistics::estimate;

fn stream(number: u32) -> Stream {
    NoiseKey::new(3, 0).stream(Purpose::Caller, number, 0)
}

fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * stream.uniform().ln()).sqrt() * (std::f64::consts::TAU * stream.uniform()).cos()
}

fn sorted_normals(stream: &mut Stream, count: usize) -> Vec<f64> {
    let mut draws: Vec<f64> = (0..count).map(|_| normal(stream)).collect();
    draws.sort_by(f64::total_cmp);
    draws
}

/// Distribution function of the standard normal distribution, by Simpson's rule.
fn phi(x: f64) -> f64 {
    let density = |u: f64| (-0.5 * u * u).exp() / std::f64::consts::TAU.sqrt();
    let step = x / 2000.0;
    let sum: f64 = (0..1000)
        .map(|i| {
            let u = 2.0 * f64::from(i) * step;
            density(u) + 4.0 * density(u + step) + density(u + 2.0 * step)
        })
        .sum();
    0.5 + sum * step / 3.0
}

#[test]
fn crps_of_normal_draws_is_that_of_the_normal_distribution() {
    let density = |u: f64| (-0.5 * u * u).exp() / std::f64::consts::TAU.sqrt();
    let root_pi = std::f64::consts::PI.sqrt();
    for truth in [-2.0, 0.0, 0.3, 4.0] {
        let closed = truth * (2.0 * phi(truth) - 1.0) + 2.0 * density(truth) - 1.0 / root_pi;
        let mut numbers = stream(1);
        // Fair: right in the mean with as few as three draws.
        for (count, sets) in [(3, 20_000), (500, 400)] {
            estimate((0..sets).map(|_| crps(&sorted_normals(&mut numbers, count), truth)))
                .assert_mean("crps", closed);
        }
        let many = crps(&sorted_normals(&mut numbers, 200_000), truth);
        assert!((many - closed).abs() < 0.012, "{truth}: {many} {closed}");
    }
    assert!(crps(&[], 1.0).is_nan());
}

proptest! {
    #[test]
    fn crps_is_the_double_sum(
        mut draws in prop::collection::vec(-10.0..10.0f64, 2..20), truth in -10.0..10.0f64,
    ) {
        draws.sort_by(f64::total_cmp);
        let count = draws.len() as f64;
        let distance: f64 = draws.iter().map(|x| (x - truth).abs()).sum();
        let pairs: f64 = draws.iter().flat_map(|x| draws.iter().map(move |y| (x - y).abs())).sum();
        let expected = distance / count - pairs / (2.0 * count * (count - 1.0));
        prop_assert!((crps(&draws, truth) - expected).abs() < 1e-12);
    }

    #[test]
    fn quantiles_increase_and_stay_among_the_draws(
        mut draws in prop::collection::vec(-10.0..10.0f64, 1..20), a in -0.5..1.5f64, b in -0.5..1.5f64,
    ) {
        draws.sort_by(f64::total_cmp);
        let (low, high) = (quantile(&draws, a.min(b)).unwrap(), quantile(&draws, a.max(b)).unwrap());
        prop_assert!(draws[0] <= low && low <= high + 1e-12 && high <= draws[draws.len() - 1]);
    }

    #[test]
    fn the_mixture_is_the_log_of_the_mean_density(
        parts in prop::collection::vec((-3.0..3.0f64, 0.2..3.0f64), 1..8), truth in -3.0..3.0f64,
    ) {
        let (means, sds): (Vec<f64>, Vec<f64>) = parts.iter().copied().unzip();
        let density: f64 = parts
            .iter()
            .map(|(m, d)| (-0.5 * ((truth - m) / d).powi(2)).exp() / (d * std::f64::consts::TAU.sqrt()))
            .sum();
        let expected = -(density / parts.len() as f64).ln();
        prop_assert!((gaussian_mixture_nll(&means, &sds, truth) - expected).abs() < 1e-10);
        let shared = gaussian_mixture_nll(&means, &[0.5], truth);
        prop_assert_eq!(shared, gaussian_mixture_nll(&means, &vec![0.5; means.len()], truth));
    }

    #[test]
    fn hold_outs_hold_their_promises(
        masks in prop::collection::vec(prop::collection::vec(any::<bool>(), 24), 1..5),
        share in -0.2..1.2f64,
        length in 0..10usize,
        kind in 0..3,
        seed in any::<u64>(),
    ) {
        let how = match kind {
            0 => HoldOut::Random { share },
            1 => HoldOut::Blocks { share, length },
            _ => HoldOut::Tail { share },
        };
        let data = dataset(3, &masks);
        let is_static = [false, true, false];
        let all: Vec<usize> = (0..masks.len() + 1).collect();
        let held = withhold(data.clone(), &all, how, &is_static, seed).unwrap();
        for (number, series) in held.series().iter().enumerate() {
            let withheld = series.withheld.as_ref().unwrap();
            let free: Vec<usize> = (0..24).filter(|p| masks[number][*p] && p % 3 != 1).collect();
            prop_assert!((0..24).all(|p| !withheld[p] || free.contains(&p)));
            prop_assert!(free.is_empty() || free.iter().any(|p| !withheld[*p]));
            // Neither the other series nor the order of the numbers matter.
            let alone = withhold(data.clone(), &[number], how, &is_static, seed).unwrap();
            prop_assert_eq!(&alone.series()[number], series);
            prop_assert!((0..masks.len()).all(|n| n == number || alone.series()[n] == data.series()[n]));
        }
    }
}

/// Eight times, the given masks.
fn dataset(channels: usize, masks: &[Vec<bool>]) -> Dataset {
    let series = masks.iter().map(|mask| Series {
        times: (0..mask.len() / channels).map(|t| t as f64).collect(),
        values: vec![0.5; mask.len()],
        observed: Some(mask.clone()),
        ..Series::default()
    });
    Dataset::new(Observation::Vector { channels }, series.collect()).unwrap()
}

#[test]
fn calibrated_draws_are_found_calibrated() {
    let levels = [0.5, 0.8];
    let nominal: Vec<f64> = (1..10).map(|k| f64::from(k) / 10.0).collect();
    let mut sums = ScoreSums::new(&levels, &nominal, &[]);
    let mut wide = sums.clone();
    let mut numbers = stream(2);
    let count = 40_000;
    for _ in 0..count {
        // As few as nine draws: their quantiles at tenths are exact.
        let (draws, truth) = (sorted_normals(&mut numbers, 9), normal(&mut numbers));
        sums.add(&Prediction { truth, mean: 0.0, draws: &draws, nll: None, baselines: &[] });
        let draws: Vec<f64> = draws.iter().map(|x| 2.0 * x).collect();
        wide.add(&Prediction { truth, mean: 0.0, draws: &draws, nll: None, baselines: &[] });
    }
    let (scores, wide) = (sums.finish().unwrap(), wide.finish().unwrap());
    let error = |share: f64| 5.0 * (share * (1.0 - share) / f64::from(count)).sqrt();
    for (nominal, observed) in &scores.calibration {
        assert!((nominal - observed).abs() < error(*nominal), "{nominal} {observed}");
    }
    // Places 1 and 9 of 9 bound 80 %.
    assert!((scores.coverage[1].1 - 0.8).abs() < error(0.8), "{:?}", scores.coverage);
    assert!(wide.coverage[1].1 > 0.9 && wide.calibration[0].1 < 0.05 && wide.calibration[8].1 > 0.95);
    assert!((wide.width[0].1 - 2.0 * scores.width[0].1).abs() < 1e-9);
    assert!(wide.crps.unwrap() > scores.crps.unwrap());
    assert!((scores.mse - 1.0).abs() < 0.05 && (scores.rmse * scores.rmse - scores.mse).abs() < 1e-12);
    assert!((scores.mae - (2.0 / std::f64::consts::PI).sqrt()).abs() < 0.03);
}

#[test]
fn merged_sums_are_the_sums_of_all() {
    let empty = ScoreSums::new(&[0.9], &[0.25, 0.5], &["linear", "last"]);
    assert_eq!(empty.finish(), None);
    let (mut left, mut right, mut both) = (empty.clone(), empty.clone(), empty.clone());
    for k in 0..10 {
        let truth = f64::from(k);
        let draws = [truth - 2.0, truth - 0.5, truth + 1.0, truth + 4.0];
        // The second baseline knows nothing of the first five values.
        let baselines = [truth + 0.5, if k < 5 { f64::NAN } else { truth - 1.0 }];
        let prediction = Prediction {
            truth,
            mean: truth + 2.0,
            draws: &draws,
            nll: (k > 2).then_some(0.25),
            baselines: &baselines,
        };
        if k < 3 { &mut left } else { &mut right }.add(&prediction);
        both.add(&prediction);
    }
    left.merge(&right).unwrap();
    assert_eq!(left, both);
    let scores = left.finish().unwrap();
    assert_eq!(
        (scores.count, scores.mse, scores.rmse, scores.mae, scores.nll),
        (10, 4.0, 2.0, 2.0, Some(0.25))
    );
    assert_eq!(scores.calibration, [(0.25, 0.0), (0.5, 1.0)]);
    assert_eq!((scores.coverage[0], scores.width[0]), ((0.9, 1.0), (0.9, 6.0)));
    let baseline = |k: usize| (scores.baselines[k].count, scores.baselines[k].mse, scores.baselines[k].mae);
    assert_eq!((baseline(0), baseline(1)), ((10, 0.25, 0.5), (5, 1.0, 1.0)));
    let text = serde_json::to_string(&scores).unwrap();
    assert_eq!(serde_json::from_str::<stroock::score::Scores>(&text).unwrap(), scores);

    let other = ScoreSums::new(&[0.8], &[0.25, 0.5], &["linear", "last"]);
    assert_eq!(left.merge(&other), Err(ScoreError::Settings { list: "levels" }));
    assert_eq!(left, both);
}

#[test]
fn without_draws_only_points_are_scored() {
    let mut sums = ScoreSums::new(&[0.9], &[0.5], &["linear"]);
    sums.add(&Prediction { truth: 1.0, mean: 3.0, draws: &[], nll: None, baselines: &[] });
    let scores = sums.finish().unwrap();
    assert_eq!((scores.mse, scores.crps, scores.nll), (4.0, None, None));
    assert!(scores.coverage.is_empty() && scores.calibration.is_empty() && scores.baselines.is_empty());
}

#[test]
fn mixtures_without_density_are_infinite() {
    assert_eq!(gaussian_mixture_nll(&[], &[], 0.0), f64::INFINITY);
    assert!(gaussian_mixture_nll(&[0.0], &[1.0], 1e160).is_infinite());
    assert!(gaussian_mixture_nll(&[0.0, 1.0], &[1e-8], 0.5).is_finite());
}

#[test]
fn baselines_see_what_is_visible_and_nothing_else() {
    let series = Series {
        times: vec![0.0, 1.0, 3.0, 4.0, 6.0],
        values: vec![9.0, 1.0, 2.0, 1.0, 99.0, 1.0, 8.0, 1.0, f32::NAN, 1.0],
        observed: Some((0..10).map(|p| p != 8 && p % 2 == 0).collect()),
        withheld: Some((0..10).map(|p| p == 0 || p == 4).collect()),
        ..Series::default()
    };
    let ask = |f: fn(&Series, usize, usize, usize) -> Option<f64>| -> Vec<Option<f64>> {
        (0..6).map(|index| f(&series, 2, index, 0)).collect()
    };
    assert_eq!(ask(linear), [Some(2.0), Some(2.0), Some(6.0), Some(8.0), Some(8.0), None]);
    assert_eq!(ask(carried_forward), [Some(2.0), Some(2.0), Some(2.0), Some(8.0), Some(8.0), None]);
    let visible = VisibleSeries::new(&series, 2);
    assert_eq!(
        (visible.linear(2.0, 1), visible.carried_forward(2.0, 1), visible.linear(2.0, 7)),
        (None, None, None)
    );
    assert_eq!(visible.linear(2.5, 0), Some(5.0));
}

#[test]
fn shares_of_hold_outs_come_out() {
    let masks = vec![vec![true; 2 * 50]; 400];
    let numbers: Vec<usize> = (0..400).collect();
    for how in [HoldOut::Random { share: 0.3 }, HoldOut::Blocks { share: 0.3, length: 7 }] {
        let held = withhold(dataset(2, &masks), &numbers, how, &[], 5).unwrap();
        let count: usize =
            held.series().iter().map(|s| s.withheld.as_ref().unwrap().iter().filter(|h| **h).count()).sum();
        assert!((count as f64 / 40_000.0 - 0.3).abs() < 0.012, "{how:?}: {count}");
    }
    // Sparse channels, too, lose their share in the mean.
    let sparse: Vec<Vec<bool>> =
        (0..4000).map(|_| (0..16).map(|p| p == 4 || p == 1 || p == 9).collect()).collect();
    let numbers: Vec<usize> = (0..4000).collect();
    let held =
        withhold(dataset(2, &sparse), &numbers, HoldOut::Blocks { share: 0.2, length: 3 }, &[], 5).unwrap();
    let count = held.series().iter().filter(|s| s.withheld.as_ref().unwrap()[4]).count();
    assert!((count as f64 / 4000.0 - 0.2).abs() < 0.035, "{count}");
}

#[test]
fn blocks_are_runs() {
    let held =
        withhold(dataset(1, &[vec![true; 60]]), &[0], HoldOut::Blocks { share: 0.5, length: 10 }, &[], 9)
            .unwrap();
    let withheld = held.series()[0].withheld.clone().unwrap();
    let count = withheld.iter().filter(|h| **h).count();
    let starts = (0..60).filter(|k| withheld[*k] && (*k == 0 || !withheld[k - 1])).count();
    assert_eq!(count, 30);
    assert!(starts <= 5, "{withheld:?}");
}

#[test]
fn a_tail_is_a_part_of_the_time_and_earlier_hold_outs_stay() {
    let mut series = dataset(1, &[vec![true; 8]]).into_series();
    series[0].withheld = Some((0..8).map(|t| t == 1).collect());
    let data = Dataset::new(Observation::Vector { channels: 1 }, series).unwrap();
    let held = withhold(data.clone(), &[0], HoldOut::Tail { share: 0.25 }, &[], 0).unwrap();
    let expected: Vec<bool> = (0..8).map(|t| t == 1 || t >= 6).collect();
    assert_eq!(held.series()[0].withheld.as_ref(), Some(&expected));
    let wrong = withhold(data, &[0], HoldOut::Tail { share: 0.25 }, &[true, false], 0);
    assert!(matches!(wrong, Err(SeriesError::Length { list: "is_static", expected: 1, actual: 2, .. })));
}

#[test]
fn images_are_held_back_whole() {
    let series =
        Series { times: (0..20).map(f64::from).collect(), values: vec![0.0; 80], ..Series::default() };
    let data = Dataset::new(Observation::Image { channels: 1, height: 2, width: 2 }, vec![series]).unwrap();
    let held = withhold(data, &[0], HoldOut::Random { share: 0.5 }, &[], 1).unwrap();
    let withheld = held.series()[0].withheld.as_ref().unwrap();
    let frames: Vec<usize> = withheld.chunks(4).map(|f| f.iter().filter(|h| **h).count()).collect();
    assert!(
        frames.iter().all(|n| *n == 0 || *n == 4) && frames.contains(&0) && frames.contains(&4),
        "{frames:?}"
    );
}
