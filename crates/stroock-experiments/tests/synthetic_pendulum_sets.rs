//! The data sets of the pendulum: counts, distributions, and the same numbers for any number of threads.

use std::collections::HashSet;

use stroock::series::{Labels, Observation, Series};
use stroock_experiments::synthetic::{
    Pendulum, PendulumInterpolation, PendulumRegression, PictureBook, Recording, Sizes, SplitData,
    SyntheticError,
};
use stroock_testing::statistics::estimate;

const PIXELS: usize = 24 * 24;
const FEW: Sizes = Sizes { train: 24, validation: 7, test: 9 };

fn regression(sizes: Sizes) -> SplitData {
    PendulumRegression { sizes, ..Default::default() }.generate(3).expect("the parameters are in order")
}

fn interpolation(sizes: Sizes) -> SplitData {
    PendulumInterpolation { sizes, ..Default::default() }.generate(3).expect("the parameters are in order")
}

fn angles(series: &Series) -> Vec<f64> {
    let Labels::RealPerTime { width: 2, values } = &series.labels else { panic!("no angles") };
    values.as_chunks::<2>().0.iter().map(|&[sine, cosine]| f64::from(sine).atan2(f64::from(cosine))).collect()
}

fn check_times(set: &SplitData) {
    assert_eq!(set.data.observation(), Observation::Image { channels: 1, height: 24, width: 24 });
    let mut starts = HashSet::new();
    for series in set.data.series() {
        assert_eq!((series.times.len(), series.values.len()), (50, 50 * PIXELS));
        assert!(series.times.iter().all(|t| t.fract() == 0.0 && (0.0..100.0).contains(t)));
        assert!(series.times.is_sorted_by(|a, b| a < b));
        assert!(series.values.iter().all(|x| (0.0..=1.0).contains(x) && (x * 255.0).fract() < 1e-4));
        let gaps: HashSet<u64> = series.times.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
        assert!(gaps.len() > 1, "irregular");
        starts.insert(series.times.iter().map(|&t| t as u64).collect::<Vec<_>>());
    }
    assert_eq!(starts.len(), set.data.series().len(), "every series has times of its own");
    let all = set.data.series().iter().flat_map(|series| series.times.iter().copied());
    estimate(all).assert_mean("kept times", 49.5);
}

#[test]
fn sizes_and_times() {
    for set in [regression(FEW), interpolation(FEW)] {
        assert_eq!(set.split.train, (0..24).collect::<Vec<_>>());
        assert_eq!(set.split.validation, (24..31).collect::<Vec<_>>());
        assert_eq!(set.split.test, (31..40).collect::<Vec<_>>());
        assert_eq!(set.data.series()[31].id, "test 0");
        check_times(&set);
    }
    let paper = Sizes { train: 2000, validation: 1000, test: 1000 };
    let pendulum = Pendulum { gravity: 29.43, friction: 0.1, step: 1e-4, velocity_noise: 0.1 };
    let regression = PendulumRegression::default();
    assert_eq!(regression.sizes, paper);
    assert_eq!(regression.recording, Recording { pendulum, interval: 0.01, recorded: 100, kept: 50 });
    let interpolation = PendulumInterpolation::default();
    assert_eq!(interpolation.sizes, paper);
    assert_eq!(interpolation.recording, Recording { pendulum, interval: 0.05, recorded: 100, kept: 50 });
}

#[test]
fn frames_are_the_picture_of_the_angle_under_uniform_noise() {
    let book = PictureBook::default();
    let set = regression(FEW);
    let (mut clean, mut partly, mut residuals) = (0, 0, Vec::new());
    for series in set.data.series() {
        for ((frame, angle), &time) in
            series.values.chunks_exact(PIXELS).zip(angles(series)).zip(&series.times)
        {
            let image = book.picture(angle).map(|grey| f64::from(grey) / 255.0);
            let mean_where = |bright: bool| {
                let chosen =
                    image.iter().zip(frame).filter(|(x, _)| if bright { **x > 0.9 } else { **x == 0.0 });
                estimate(chosen.map(|(x, &y)| f64::from(y) + 0.5 / 255.0 - x))
            };
            if time < 5.0 {
                assert!(image.iter().zip(frame).all(|(x, &y)| (x - f64::from(y)).abs() < 1e-6));
                clean += 1;
                continue;
            }
            // Background is (1 - f) U, so its mean tells f; the rod must then be f + (1 - f) U.
            let background = mean_where(false);
            let factor = 1.0 - 2.0 * (background.mean - 0.5 / 255.0);
            assert!((-0.1..=1.0 + 1e-9).contains(&factor), "{factor}");
            if (0.05..0.95).contains(&factor) {
                partly += 1;
                residuals.push(mean_where(true).mean + (1.0 - factor) / 2.0);
                let most = frame.iter().zip(&image).filter(|(_, x)| **x == 0.0).map(|(&y, _)| f64::from(y));
                assert!((most.fold(0.0, f64::max) - (1.0 - factor)).abs() < 0.15, "{factor}");
            }
        }
    }
    assert!(clean > 40 && partly > 500, "{clean} {partly}");
    estimate(residuals.iter().map(|r| r - 0.5 / 255.0)).assert_mean("rod under noise", 0.0);
}

#[test]
fn starts_are_uniform_on_the_circle() {
    let recording = Recording { recorded: 1, kept: 1, ..PendulumRegression::default().recording };
    let sizes = Sizes { train: 2000, validation: 0, test: 0 };
    let set = PendulumRegression { sizes, recording, ..Default::default() }.generate(5).expect("in order");
    let starts: Vec<f64> = set.data.series().iter().flat_map(angles).collect();
    for harmonic in [1.0, 2.0, 3.0] {
        estimate(starts.iter().map(|a| (harmonic * a).sin())).assert_mean("sine", 0.0);
        estimate(starts.iter().map(|a| (harmonic * a).cos())).assert_mean("cosine", 0.0);
    }
}

#[test]
fn half_of_the_clean_frames_are_withheld() {
    let book = PictureBook::default();
    let pages: HashSet<Vec<u8>> =
        (0..20_000).map(|k| book.picture(f64::from(k) * std::f64::consts::TAU / 2e4).to_vec()).collect();
    let mut withheld_or_not = Vec::new();
    let mut sixth = false;
    for series in interpolation(FEW).data.series() {
        assert_eq!(series.labels, Labels::None);
        let withheld = series.withheld.as_ref().expect("there is a mask");
        for ((&time, mask), frame) in
            series.times.iter().zip(withheld.chunks_exact(PIXELS)).zip(series.values.chunks_exact(PIXELS))
        {
            assert!(mask.iter().all(|&pixel| pixel == mask[0]), "frames are withheld as a whole");
            assert!(time >= 5.0 || !mask[0], "the first five steps are inputs");
            sixth |= time == 5.0 && mask[0];
            if time >= 5.0 {
                withheld_or_not.push(f64::from(u8::from(mask[0])));
            }
            let greys: Vec<u8> = frame.iter().map(|x| (x * 255.0).round() as u8).collect();
            assert!(pages.contains(&greys), "a clean picture");
        }
    }
    assert!(sixth, "the sixth step may be withheld");
    estimate(withheld_or_not).assert_mean("share of frames withheld", 0.5);
}

#[test]
fn series_do_not_depend_on_threads_or_sizes() {
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        pool.install(|| (regression(FEW), interpolation(FEW)))
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(2));
    assert_eq!(one, with_threads(5));
    let fewer = regression(Sizes { train: 3, validation: 2, test: 1 });
    assert_eq!(fewer.data.series()[..3], one.0.data.series()[..3]);
    assert_eq!(fewer.data.series()[3..5], one.0.data.series()[24..26]);
    assert_eq!(fewer.data.series()[5], one.0.data.series()[31]);
    let other = PendulumRegression { sizes: FEW, ..Default::default() }.generate(4).expect("in order");
    assert_ne!(other.data.series()[0].values, one.0.data.series()[0].values);
}

#[test]
fn impossible_parameters_are_named() {
    let mut set = PendulumRegression { sizes: FEW, ..Default::default() };
    set.recording.kept = 101;
    let error = set.generate(1).expect_err("more than are recorded");
    assert!(matches!(error, SyntheticError::Parameter { parameter: "kept", .. }));
    assert_eq!(error.to_string(), "pendulum regression: `kept` is 101; choose 1 to 100 recorded steps");
    set = PendulumRegression { sizes: FEW, ..Default::default() };
    set.recording.pendulum.step = 0.0;
    assert!(matches!(set.generate(1), Err(SyntheticError::Parameter { parameter: "step", .. })));
    set = PendulumRegression { sizes: FEW, ..Default::default() };
    set.visibility.upper = [0.1, 0.2];
    assert!(matches!(set.generate(1), Err(SyntheticError::Parameter { parameter: "lower, upper", .. })));
    let set = PendulumInterpolation { sizes: FEW, input: 1.5, ..Default::default() };
    assert!(matches!(set.generate(1), Err(SyntheticError::Parameter { parameter: "input", .. })));
}
