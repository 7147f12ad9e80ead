//! The physics, the pictures and the noise of the pendulum.

use std::f64::consts::{PI, TAU};

use stroock_experiments::synthetic::{FactorWalk, Pendulum, PictureBook, Swing, picture};
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};
use stroock_testing::statistics::estimate;

const STILL: Pendulum = Pendulum { gravity: 29.43, friction: 0.1, step: 1e-4, velocity_noise: 0.0 };

fn words(series: u32) -> Stream {
    NoiseKey::new(11, 0).stream(Purpose::Caller, series, 0)
}

/// The same motion by the classical Runge-Kutta method, angle unwrapped.
fn reference(pendulum: Pendulum, start: f64, interval: f64, count: usize) -> Vec<[f64; 2]> {
    let slope = |[theta, v]: [f64; 2]| [v, pendulum.gravity * theta.sin() - pendulum.friction * v];
    let add = |x: [f64; 2], k: [f64; 2], h: f64| [x[0] + h * k[0], x[1] + h * k[1]];
    let steps = 200;
    let h = interval / f64::from(steps);
    let mut x = [start, 0.0];
    let mut states = vec![x];
    for _ in 1..count {
        for _ in 0..steps {
            let k1 = slope(x);
            let k2 = slope(add(x, k1, h / 2.0));
            let k3 = slope(add(x, k2, h / 2.0));
            let k4 = slope(add(x, k3, h));
            x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
        states.push(x);
    }
    states
}

/// Distance of two angles on the circle.
fn distance(a: f64, b: f64) -> f64 {
    let turned = (a - b).rem_euclid(TAU);
    turned.min(TAU - turned)
}

fn energy(pendulum: Pendulum, angle: f64, velocity: f64) -> f64 {
    velocity * velocity / 2.0 + pendulum.gravity * (angle + PI).cos()
}

#[test]
fn swings_follow_a_finer_integration() {
    for start in [0.8, 2.0, 3.5, 5.0] {
        let swings = STILL.record(start, 0.05, 100, &mut words(0));
        let truth = reference(STILL, start, 0.05, 100);
        for (swing, [theta, velocity]) in swings.iter().zip(&truth) {
            assert!(distance(swing.angle, theta - PI) < 2e-3, "{start}: {swing:?} {theta}");
            assert!((swing.velocity - velocity).abs() < 1e-2, "{start}: {swing:?} {velocity}");
        }
        let mean = |cosines: &mut dyn Iterator<Item = f64>| cosines.sum::<f64>() / 100.0;
        let of_swings = mean(&mut swings.iter().map(|swing| swing.angle.cos()));
        let of_truth = mean(&mut truth.iter().map(|[theta, _]| (theta - PI).cos()));
        assert!((of_swings - of_truth).abs() < 2e-4, "{start}: {of_swings} {of_truth}");
    }
}

#[test]
fn the_integration_has_order_one() {
    let truth = reference(STILL, 2.0, 0.05, 61);
    let error = |step: f64| {
        let swings = Pendulum { step, ..STILL }.record(2.0, 0.05, 61, &mut words(0));
        swings
            .iter()
            .zip(&truth)
            .map(|(swing, [theta, _])| distance(swing.angle, theta - PI))
            .fold(0.0, f64::max)
    };
    let ratio: f64 = error(2e-3) / error(1e-3);
    assert!((1.8..2.2).contains(&ratio), "halving the step divides the error by {ratio}");
}

#[test]
fn friction_takes_energy_and_nothing_else_does() {
    let swings = STILL.record(1.0, 0.05, 100, &mut words(0));
    let energies: Vec<f64> = swings.iter().map(|s| energy(STILL, s.angle, s.velocity)).collect();
    assert!(energies.windows(2).all(|pair| pair[1] < pair[0] + 0.02), "{energies:?}");
    let [theta, velocity] = reference(STILL, 1.0, 0.05, 100)[99];
    let last = energy(STILL, theta - PI, velocity);
    assert!((energies[99] - last).abs() < 0.05, "{} {last}", energies[99]);
    assert!(energies[99] < energies[0] - 5.0, "{} {}", energies[99], energies[0]);

    let free = Pendulum { friction: 0.0, ..STILL };
    let swings = free.record(1.0, 0.05, 400, &mut words(0));
    let start = energy(free, swings[0].angle, 0.0);
    let drift = swings.iter().map(|s| (energy(free, s.angle, s.velocity) - start).abs()).fold(0.0, f64::max);
    assert!(drift < 0.02, "{drift}");
}

#[test]
fn velocities_walk_and_angles_wrap() {
    let loose = Pendulum { gravity: 0.0, friction: 0.0, step: 1e-2, velocity_noise: 5.0 };
    let mut steps = Vec::new();
    for series in 0..20 {
        let swings = loose.record(1.0, 0.1, 200, &mut words(series));
        assert!(swings.iter().all(|swing| (-PI..=PI).contains(&swing.angle)));
        for pair in swings.windows(2) {
            let [before, after]: [Swing; 2] = [pair[0], pair[1]];
            assert!(distance(after.angle, before.angle + 0.1 * before.velocity) < 1e-9);
            steps.push(after.velocity - before.velocity);
        }
    }
    estimate(steps.iter().copied()).assert_mean("velocity step", 0.0);
    estimate(steps.iter().map(|step| step * step)).assert_mean("its variance", 25.0);
}

/// Sums of all grey values, and one row, of what the Python Imaging Library draws.
#[test]
fn pictures_are_the_published_ones() {
    // Angle, sum, row, and the columns and grey values in it that are not dark.
    type Case<'a> = (f64, i32, usize, &'a [(usize, u8)]);
    let cases: [Case; 4] = [
        (0.3, 4157, 15, &[(10, 4), (12, 145), (13, 255), (14, 19), (16, 1)]),
        (-2.0, 4225, 10, &[(2, 3), (6, 88), (7, 206), (8, 255), (9, 244), (10, 126), (11, 21)]),
        (3.0, 4222, 7, &[(9, 2), (11, 43), (12, 255), (13, 90), (15, 3)]),
        (1.2, 3945, 13, &[(12, 32), (13, 123), (14, 227), (15, 255), (16, 241), (17, 152), (18, 49)]),
    ];
    // A tolerance of one grey value a pixel, for sines that round differently.
    let book = PictureBook::default();
    for (angle, sum, row, greys) in cases {
        let drawn = picture(angle);
        assert_eq!(&drawn, book.picture(angle));
        assert!((drawn.iter().map(|&grey| i32::from(grey)).sum::<i32>() - sum).abs() <= 3, "{angle}");
        for column in 0..24 {
            let expected = greys.iter().find(|(place, _)| *place == column).map_or(0, |(_, grey)| *grey);
            assert!(drawn[row * 24 + column].abs_diff(expected) <= 1, "{angle}: column {column}");
        }
    }
    let all: i64 =
        (0..360).flat_map(|k| *book.picture((f64::from(k) - 179.5).to_radians())).map(i64::from).sum();
    assert!((all - 1_444_021).abs() <= 100, "{all}");
}

#[test]
fn the_picture_turns_with_the_angle() {
    let centroid = |angle: f64| {
        let drawn = picture(angle);
        let mut sums = [0.0; 3];
        for (place, &grey) in drawn.iter().enumerate() {
            let grey = f64::from(grey);
            for (sum, x) in sums.iter_mut().zip([1.0, (place % 24) as f64 - 11.5, (place / 24) as f64 - 11.5])
            {
                *sum += grey * x;
            }
        }
        [sums[1] / sums[0], sums[2] / sums[0]]
    };
    for k in 0..72 {
        let angle = f64::from(k) / 72.0 * TAU;
        let [x, y] = centroid(angle);
        assert!(distance(x.atan2(y), angle) < 0.12, "{angle}: {x} {y}");
        assert!((x.hypot(y) - 55.0 / 2.0 / 128.0 * 24.0).abs() < 0.5, "{angle}: {x} {y}");
    }
}

#[test]
fn visibility_stays_in_range_and_starts_clean() {
    let walk = FactorWalk::default();
    let mut means = Vec::new();
    let mut ends = [0; 2];
    for series in 0..2000 {
        let factors = walk.draw(100, &mut words(series));
        assert!(factors.len() == 100 && factors[..5] == [1.0; 5]);
        assert!(factors.iter().all(|factor| (0.0..=1.0).contains(factor)));
        // A step of 0.2 at most, stretched by at most 1 / (0.75 - 0.25).
        assert!(factors[5..].windows(2).all(|pair| (pair[0] - pair[1]).abs() <= 0.4 + 1e-12));
        means.push(factors[5..].iter().sum::<f64>() / 95.0);
        ends[0] += factors[5..].iter().filter(|&&factor| factor == 0.0).count();
        ends[1] += factors[5..].iter().filter(|&&factor| factor == 1.0).count();
    }
    // The distribution of the walk and of its thresholds is the same upside down.
    estimate(means).assert_mean("visibility", 0.5);
    assert!(ends.iter().all(|&count| count > 190_000 / 20), "it rests at both ends: {ends:?}");
}
