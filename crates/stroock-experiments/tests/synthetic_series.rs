//! The irregular sine and the buoys.

use std::collections::HashSet;

use stroock::series::Observation;
use stroock_experiments::synthetic::{
    CHANNELS, IrregularSine, OscillatorData, Oscillators, Sizes, SyntheticError,
};
use stroock_testing::statistics::estimate;

#[test]
fn the_sine_is_observed_at_sixteen_points_of_the_grid() {
    let mut seen = HashSet::new();
    let mut gaps = HashSet::new();
    for seed in 0..200 {
        let data = IrregularSine::default().generate(seed).expect("the parameters are in order");
        assert_eq!(data.observation(), Observation::Vector { channels: 1 });
        let [series] = data.series() else { panic!("one series") };
        assert_eq!(series.times.len(), 16);
        for (&t, &x) in series.times.iter().zip(&series.values) {
            let index = (t * 100.0).round();
            assert!((t - index / 100.0).abs() < 1e-12 && (20.0..=80.0).contains(&index));
            let expected = 0.8 * (4.0 * std::f64::consts::PI * t).sin();
            assert!((f64::from(x) - expected).abs() < 1e-6);
            seen.insert(index as u32);
        }
        gaps.extend(series.times.windows(2).map(|pair| ((pair[1] - pair[0]) * 100.0).round() as u32));
    }
    assert_eq!(seen.len(), 61, "every point of the window, with its ends, is observed for some seed");
    assert!(gaps.len() > 8, "irregular");
    assert_eq!(IrregularSine::default().generate(1), IrregularSine::default().generate(1));
    assert_ne!(IrregularSine::default().generate(1), IrregularSine::default().generate(2));
}

#[test]
fn a_window_without_enough_points_is_an_error() {
    let error = IrregularSine { points: 62, ..Default::default() }.generate(1).expect_err("only 61 points");
    assert!(matches!(error, SyntheticError::Parameter { parameter: "points", .. }));
    assert!(IrregularSine { points: 61, ..Default::default() }.generate(1).is_ok());
    assert!(IrregularSine { window: [0.8, 0.2], ..Default::default() }.generate(1).is_err());
    assert!(IrregularSine { grid: 0, ..Default::default() }.generate(1).is_err());
}

fn buoys() -> OscillatorData {
    Oscillators::default().generate(1).expect("the parameters are in order")
}

#[test]
fn records_are_irregular_and_have_one_gap() {
    let set = buoys();
    assert_eq!((set.data.series().len(), set.motions.len()), (300, 300));
    assert_eq!((set.split.train.len(), set.split.validation.len(), set.split.test.len()), (240, 30, 30));
    assert_eq!(set.data.observation(), Observation::Vector { channels: 4 });
    let mut records = HashSet::new();
    let mut before_and_after = 0;
    for (series, motion) in set.data.series().iter().zip(&set.motions) {
        assert!((15..=75).contains(&series.times.len()), "{}", series.times.len());
        assert!(series.times.iter().all(|t| (0.0..=10.0).contains(t)));
        let [start, end] = motion.gap;
        assert!((1.5..=2.5).contains(&(end - start)) && start >= 1.0 && end <= 9.0);
        assert!(!series.times.iter().any(|t| (start..=end).contains(t)), "nothing in the gap");
        before_and_after +=
            usize::from(series.times[0] < start && series.times[series.times.len() - 1] > end);
        let observed = series.observed.as_ref().expect("there is a mask");
        let of_channel = |channel| observed.iter().skip(channel).step_by(4).copied().collect::<Vec<bool>>();
        let masks: HashSet<Vec<bool>> = (0..4).map(of_channel).collect();
        assert_eq!(masks.len(), 4, "every channel has its own times");
        assert!(
            masks.iter().all(|mask| mask.iter().filter(|&&seen| seen).count() >= 3),
            "every channel is there"
        );
        assert!(observed.chunks_exact(4).all(|row| row.contains(&true)), "no empty rows");
        records.insert(series.times.iter().map(|t| t.to_bits()).collect::<Vec<_>>());
    }
    assert_eq!(records.len(), 300, "every series has its own times");
    assert!(before_and_after > 290, "there are observations on both sides of the gap");
}

#[test]
fn values_are_the_truth_under_the_noise_of_the_instrument() {
    let set = buoys();
    for (number, channel) in CHANNELS.iter().enumerate() {
        let mut residuals = Vec::new();
        for (series, motion) in set.data.series().iter().zip(&set.motions) {
            let truth = motion.on(&series.times);
            for index in 0..series.times.len() {
                let place = index * 4 + number;
                if series.is_observed(4, index, number) {
                    residuals.push(f64::from(series.values[place]) - f64::from(truth[place]));
                } else {
                    assert_eq!(series.values[place], 0.0);
                }
            }
        }
        assert!(residuals.len() > 3000, "{}: {}", channel.name, residuals.len());
        estimate(residuals.iter().copied()).assert_mean(channel.name, 0.0);
        estimate(residuals.iter().map(|r| r * r)).assert_mean(channel.name, channel.noise.powi(2));
    }
}

#[test]
fn channels_are_functions_of_two_oscillators() {
    for motion in &buoys().motions[..20] {
        for step in 0..100 {
            let t = 0.1 * f64::from(step);
            let [heave, pitch, sway, tension] = motion.at(t);
            assert!((heave.hypot(pitch / 8.0) - motion.swell.amplitude).abs() < 1e-9);
            assert!(sway.abs() <= motion.sway.amplitude && tension > 0.0);
            assert!(((tension / 4.0).ln() / 0.4 - heave - sway).abs() < 1e-9);
            assert!((motion.at(t + motion.swell.period)[1] - pitch).abs() < 1e-9);
            assert!((motion.at(t + motion.sway.period)[2] - sway).abs() < 1e-9);
        }
    }
}

#[test]
fn records_do_not_depend_on_threads_or_sizes() {
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        pool.install(buoys)
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(4));
    let few = Oscillators { sizes: Sizes { train: 5, validation: 0, test: 2 }, ..Default::default() };
    let few = few.generate(1).expect("the parameters are in order");
    assert_eq!(few.data.series()[..5], one.data.series()[..5]);
    assert_eq!(few.motions[5..], one.motions[270..272]);
    assert!(Oscillators { times: [45, 5000], ..Default::default() }.generate(1).is_err());
    assert!(Oscillators { duration: f64::NAN, ..Default::default() }.generate(1).is_err());
}
