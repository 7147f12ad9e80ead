//! The stochastic Lorenz attractor against an independent simulation.

use rayon::prelude::*;
use stroock_experiments::synthetic::{LorenzData, StochasticLorenz, SyntheticError};
use stroock_kernels::noise::{NoiseKey, Purpose};
use stroock_testing::statistics::{Estimate, estimate};

/// A generator and a transform that the library does not use: an xorshift and the polar method.
struct Independent(u64);

impl Independent {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / 2f64.powi(53)
    }

    fn normals(&mut self) -> [f64; 2] {
        loop {
            let [a, b] = [2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0];
            let square = a * a + b * b;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                return [a * scale, b * scale];
            }
        }
    }

    /// States at times 0.25, 0.5, 0.75 and 1 by the method of Euler and Maruyama.
    fn path(&mut self) -> [[f64; 3]; 4] {
        let steps = 1500;
        let dt = 0.25 / f64::from(steps);
        let ([mut x, mut y], [mut z, _]) = (self.normals(), self.normals());
        std::array::from_fn(|_| {
            for _ in 0..steps {
                let ([a, b], [c, _]) = (self.normals(), self.normals());
                let root = dt.sqrt();
                (x, y, z) = (
                    x + 10.0 * (y - x) * dt + 0.1 * x * root * a,
                    y + (x * (28.0 - z) - y) * dt + 0.28 * y * root * b,
                    z + (x * y - 8.0 / 3.0 * z) * dt + 0.3 * z * root * c,
                );
            }
            [x, y, z]
        })
    }
}

fn lorenz(settings: StochasticLorenz) -> LorenzData {
    settings.generate(2).expect("the parameters are in order")
}

/// Observations of all series in the units of the system at a point.
fn restored(set: &LorenzData, point: usize) -> Vec<[f64; 3]> {
    let values = set.data.series().iter().map(|series| &series.values[point * 3..][..3]);
    values.map(|v| set.normaliser.restore([v[0].into(), v[1].into(), v[2].into()])).collect()
}

#[test]
fn moments_agree_with_an_independent_simulation() {
    let set = lorenz(StochasticLorenz { series: 2000, steps: 100, noise: 0.0, ..Default::default() });
    let paths: Vec<[[f64; 3]; 4]> = (1..=2000u64)
        .into_par_iter()
        .map(|seed| Independent(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)).path())
        .collect();
    let moments: [fn(&[f64; 3]) -> f64; 9] = [
        |s| s[0],
        |s| s[1],
        |s| s[2],
        |s| s[0] * s[0],
        |s| s[1] * s[1],
        |s| s[2] * s[2],
        |s| s[0] * s[1],
        |s| s[0].abs(),
        |s| s[0] * s[0] * s[2],
    ];
    for (quarter, point) in [10, 20, 30, 40].into_iter().enumerate() {
        for (number, moment) in moments.iter().enumerate() {
            let ours = estimate(restored(&set, point).iter().map(moment));
            let theirs = estimate(paths.iter().map(|path| moment(&path[quarter])));
            let difference = Estimate {
                mean: ours.mean - theirs.mean,
                standard_error: ours.standard_error.hypot(theirs.standard_error),
            };
            difference.assert_mean(&format!("moment {number} at point {point}"), 0.0);
        }
    }
}

/// Every single step is drift plus a martingale whose quadratic variation is that of the noise.
#[test]
fn single_steps_have_the_drift_and_the_noise_of_the_equation() {
    let settings = StochasticLorenz { points: 5001, interval: 2e-4, steps: 1, ..Default::default() };
    let words = |series| NoiseKey::new(4, 0).stream(Purpose::Caller, series, 0);
    let paths: Vec<Vec<[f64; 3]>> = (0..200).map(|series| settings.path(&mut words(series))).collect();
    let coefficients: [f64; 3] = [0.1, 0.28, 0.3];
    for channel in 0..3 {
        // What is left of a step without the drift, and the weight that the coefficient of the drift has in it.
        let steps = paths.iter().flat_map(|path| path.windows(2)).map(|pair| {
            let [x, y, z] = pair[0];
            let drift = [10.0 * (y - x), 28.0 * x - x * z - y, x * y - 8.0 * z / 3.0];
            (
                pair[1][channel] - pair[0][channel] - 2e-4 * drift[channel],
                pair[0][channel],
                [y - x, x, z][channel],
            )
        });
        let steps: Vec<(f64, f64, f64)> = steps.collect();
        estimate(steps.iter().map(|(rest, _, _)| *rest)).assert_mean("drift", 0.0);
        estimate(steps.iter().map(|(rest, _, weight)| rest * weight)).assert_mean("weighted drift", 0.0);
        let rate =
            |(rest, x, _): &(f64, f64, f64)| rest * rest - coefficients[channel].powi(2) * x * x * 2e-4;
        estimate(steps.iter().map(rate)).assert_mean("quadratic variation", 0.0);
    }
}

#[test]
fn starts_are_normal_and_channels_are_normalised() {
    let set = lorenz(StochasticLorenz { steps: 10, ..Default::default() });
    assert_eq!(set.data.series().len(), 1024);
    for series in set.data.series() {
        assert_eq!((series.times.len(), series.values.len()), (41, 123));
        assert!(series.times.windows(2).all(|pair| (pair[1] - pair[0] - 0.025).abs() < 1e-12));
    }
    assert_eq!(set.data.time_range(), Some((0.0, 1.0)));
    for channel in 0..3 {
        let all = || {
            let values = set.data.series().iter().flat_map(|series| series.values.as_chunks::<3>().0);
            values.map(|value| f64::from(value[channel]))
        };
        let count = 1024.0 * 41.0;
        let mean = all().sum::<f64>() / count;
        let variance = all().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        assert!(mean.abs() < 3e-4 && (variance - 1.0 - 1e-4).abs() < 3e-4, "{channel}: {mean} {variance}");
        estimate(restored(&set, 0).iter().map(|s| s[channel])).assert_mean("start", 0.0);
        let noise = (0.01 * set.normaliser.sd[channel]).powi(2);
        estimate(restored(&set, 0).iter().map(|s| s[channel].powi(2)))
            .assert_mean("its variance", 1.0 + noise);
    }
}

#[test]
fn observation_noise_is_added_after_the_normalisation() {
    let few = StochasticLorenz { series: 100, steps: 10, ..Default::default() };
    let (clean, noisy) = (lorenz(StochasticLorenz { noise: 0.0, ..few }), lorenz(few));
    assert_eq!(clean.normaliser, noisy.normaliser);
    let pairs = clean.data.series().iter().zip(noisy.data.series());
    let noise: Vec<f64> = pairs
        .flat_map(|(clean, noisy)| clean.values.iter().zip(&noisy.values).map(|(a, b)| f64::from(b - a)))
        .collect();
    estimate(noise.iter().copied()).assert_mean("noise", 0.0);
    estimate(noise.iter().map(|x| x * x)).assert_mean("its variance", 1e-4);
}

#[test]
fn series_do_not_depend_on_threads() {
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        pool.install(|| lorenz(StochasticLorenz { series: 50, steps: 10, ..Default::default() }))
    };
    assert_eq!(with_threads(1), with_threads(3));
    let other =
        StochasticLorenz { series: 50, steps: 10, ..Default::default() }.generate(3).expect("in order");
    assert_ne!(other, with_threads(2));
}

#[test]
fn impossible_parameters_are_named() {
    for (settings, name) in [
        (StochasticLorenz { series: 1, ..Default::default() }, "series"),
        (StochasticLorenz { points: 0, ..Default::default() }, "points"),
        (StochasticLorenz { interval: f64::NAN, ..Default::default() }, "interval"),
        (StochasticLorenz { steps: 0, ..Default::default() }, "steps"),
    ] {
        let error = settings.generate(1).expect_err("out of range");
        assert!(matches!(error, SyntheticError::Parameter { parameter, .. } if parameter == name));
    }
}
