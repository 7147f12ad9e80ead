//! Methods against closed forms and laws of simulated series.

use stroock_forecast::{
    Choice, Errors, History, Kind, Method, Settings, autoregressive_weights, normal_quantile,
    smoothing_weights,
};
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};

fn stream(number: u32) -> Stream {
    NoiseKey::new(11, 0).stream(Purpose::Caller, number, 0)
}

fn normal(stream: &mut Stream) -> f64 {
    normal_quantile(stream.uniform())
}

/// `x_t = phi x_{t-1} + e_t` with `Var e = 1`.
fn autoregression(phi: f64, count: usize, number: u32) -> Vec<f64> {
    let mut noise = stream(number);
    let mut x = 0.0;
    let mut next = || {
        x = phi * x + normal(&mut noise);
        x
    };
    (0..50).for_each(|_| {
        next();
    });
    (0..count).map(|_| next()).collect()
}

fn steps(count: usize) -> Vec<f64> {
    (1..=count).map(|step| step as f64).collect()
}

#[test]
fn an_autoregression_has_its_variances_and_returns_to_its_mean() {
    let values: Vec<f64> = autoregression(0.7, 1900, 1).iter().map(|x| 40.0 + 3.0 * x).collect();
    let history = History::regular(&values);
    let projection = Method::of(Kind::Autoregression).project(&history, &[], &steps(30)).unwrap();
    for h in [1, 2, 5, 30] {
        let exact = 3.0 * ((1.0 - 0.7f64.powi(2 * h)) / (1.0 - 0.49)).sqrt();
        let found = projection.scale[h as usize - 1];
        assert!((found / exact - 1.0).abs() < 0.08, "{h}: {found} for {exact}");
    }
    let last = values.last().unwrap() - 40.0;
    for h in [1, 2, 4] {
        let exact = 40.0 + 0.7f64.powi(h) * last;
        assert!((projection.location[h as usize - 1] - exact).abs() < 0.8, "{h}: {:?}", projection.location);
    }
    assert!((projection.location[29] - 40.0).abs() < 1.0);
}

#[test]
fn an_integrated_moving_average_has_its_variances() {
    // y_t - y_{t-1} = e_t - 0.6 e_{t-1}: the variance h steps ahead is 1 + (h - 1) (1 - 0.6)^2.
    let mut noise = stream(7);
    let (mut level, mut before) = (100.0, 0.0);
    let values: Vec<f64> = (0..480)
        .map(|_| {
            let shock = normal(&mut noise);
            level += shock - 0.6 * before;
            before = shock;
            level
        })
        .collect();
    let history = History::regular(&values);
    let projection = Method::of(Kind::Arima).project(&history, &[], &steps(20)).unwrap();
    for h in [1, 5, 20] {
        let exact = (1.0 + (h as f64 - 1.0) * 0.16).sqrt();
        let found = projection.scale[h - 1];
        assert!((found / exact - 1.0).abs() < 0.15, "{h}: {found} for {exact}");
    }
}

#[test]
fn an_arima_finds_a_damped_cycle() {
    // x_t = 1.4 x_{t-1} - 0.85 x_{t-2} + e_t: in the long run Var x = (1 - a) / ((1 + a) ((1 - a)^2 - b^2)) for a = -0.85
    // and b = 1.4 in the usual notation.
    let mut noise = stream(8);
    let (mut x, mut y) = (0.0, 0.0);
    let values: Vec<f64> = (0..480)
        .map(|_| {
            (x, y) = (1.4 * x - 0.85 * y + normal(&mut noise), x);
            30.0 + x
        })
        .collect();
    let history = History::regular(&values);
    let projection = Method::of(Kind::Arima).project(&history, &[], &steps(80)).unwrap();
    let first = 30.0 + 1.4 * x - 0.85 * y;
    assert!((projection.location[0] - first).abs() < 0.5, "{} for {first}", projection.location[0]);
    let (a, b) = (-0.85f64, 1.4f64);
    let exact = ((1.0 - a) / ((1.0 + a) * ((1.0 - a).powi(2) - b * b))).sqrt();
    assert!((projection.scale[79] / exact - 1.0).abs() < 0.15, "{} for {exact}", projection.scale[79]);
    assert!((projection.location[79] - 30.0).abs() < 1.0);
}

#[test]
fn weights_are_those_of_the_recursions() {
    // Smoothing by its own equations, from a single error of 1 at time 0.
    let (alpha, beta, phi, gamma, period) = (0.4, 0.1, 0.9, 0.2, 4);
    let (mut level, mut slope, mut season) = (alpha, beta, [0.0; 4]);
    season[0] = gamma;
    let weights = smoothing_weights(alpha, beta, phi, &[gamma], &[4.0], 12);
    for (j, weight) in weights.iter().enumerate().skip(1) {
        level += phi * slope;
        slope *= phi;
        let exact = level + season[j % period];
        assert!((weight - exact).abs() < 1e-12, "{j}: {weight} for {exact}");
    }
    // An autoregression with a root of one and a half: w_j = 2 - 0.5^j.
    let weights = autoregressive_weights(&[(1, 1.5), (2, -0.5)], 10);
    for (j, weight) in weights.iter().enumerate() {
        assert!((weight - (2.0 - 0.5f64.powi(j as i32))).abs() < 1e-12);
    }
}

#[test]
fn paths_have_unit_variance_and_the_correlations_of_their_weights() {
    let weights = smoothing_weights(0.5, 0.05, 1.0, &[], &[], 8);
    let errors = Errors::Moving { ahead: steps(8), weights: weights.clone() };
    let mut noise = stream(2);
    let count = 20_000;
    let (mut squares, mut product) = ([0.0; 8], 0.0);
    for _ in 0..count {
        let path = errors.path(|| normal(&mut noise));
        squares.iter_mut().zip(&path).for_each(|(sum, z)| *sum += z * z);
        product += path[3] * path[7];
    }
    let tolerance = 5.0 * (2.0 / count as f64).sqrt();
    for sum in squares {
        assert!((sum / count as f64 - 1.0).abs() < tolerance, "{}", sum / count as f64);
    }
    // Cov(e_4, e_8) = sum_j w_j w_{j+4}.
    let length = |count: usize| weights[..count].iter().map(|w| w * w).sum::<f64>().sqrt();
    let exact = (0..4).map(|j| weights[j] * weights[j + 4]).sum::<f64>() / (length(4) * length(8));
    assert!((product / count as f64 - exact).abs() < tolerance, "{} for {exact}", product / count as f64);
}

#[test]
fn a_random_walk_behind_noise_is_filtered_as_it_should_be() {
    // In the steady state of the filter, P = (q + sqrt(q^2 + 4 q r)) / 2 and the gain is P / (P + r).
    let (q, r) = (0.25f64, 1.0f64);
    let mut noise = stream(3);
    let mut level = 0.0;
    let values: Vec<f64> = (0..1500)
        .map(|_| {
            level += q.sqrt() * normal(&mut noise);
            level + r.sqrt() * normal(&mut noise)
        })
        .collect();
    // A grid that is none: every place is moved a little.
    let places: Vec<f64> = (0..1500).map(|t| t as f64 + 0.3 * f64::from(t % 2)).collect();
    let history = History::new(&places, &values);
    assert!(history.grid().is_none());
    let projection = Method::of(Kind::LocalLevel).project(&history, &[], &[1.0, 10.0]).unwrap();
    let variance = 0.5 * (q + (q * q + 4.0 * q * r).sqrt());
    let kept = variance * r / (variance + r);
    for (scale, ahead) in projection.scale.iter().zip([1.0, 10.0]) {
        let exact = (kept + q * ahead + r).sqrt();
        assert!((scale / exact - 1.0).abs() < 0.1, "{scale} for {exact}");
    }
}

/// Series of several kinds, with what comes after them.
fn kinds(number: u32) -> (Vec<f64>, Vec<f64>) {
    let mut noise = stream(100 + number);
    let mut level = 0.0;
    let mut values: Vec<f64> = (0..172)
        .map(|t| {
            let season = (std::f64::consts::TAU * f64::from(t) / 12.0).sin();
            let shock = normal(&mut noise);
            match number % 4 {
                0 => {
                    level += shock;
                    level
                }
                1 => 10.0 * season + 0.1 * f64::from(t) + shock,
                2 => {
                    level = 0.8 * level + shock;
                    level
                }
                _ => {
                    level += 0.2 * shock;
                    level + 5.0 * season + normal(&mut noise)
                }
            }
        })
        .collect();
    let future = values.split_off(160);
    (values, future)
}

#[test]
fn nine_tenths_lie_inside_and_nobody_is_far_behind_the_last_value() {
    let (mut inside, mut all) = (0.0, 0.0);
    let (mut errors, mut naive_errors) = (0.0, 0.0);
    for number in 0..40 {
        let (values, future) = kinds(number);
        let history = History::regular(&values);
        let choice =
            Choice::from_backtests(std::slice::from_ref(&history), &Settings { periods: vec![12.0] });
        assert_eq!(choice.periods.contains(&12.0), number % 2 == 1, "series {number}: {:?}", choice.periods);
        let forecast = choice.forecast(&history, &steps(12));
        for (k, truth) in future.iter().enumerate() {
            let interval = forecast.quantile(k, 0.05)..=forecast.quantile(k, 0.95);
            inside += f64::from(u8::from(interval.contains(truth)));
            all += 1.0;
            errors += (forecast.mean(k) - truth).powi(2);
            naive_errors += (values[159] - truth).powi(2);
        }
    }
    let share = inside / all;
    assert!((0.85..=0.97).contains(&share), "{share} of the values lie inside");
    assert!(errors < 0.5 * naive_errors, "{errors} against {naive_errors}");
}

#[test]
fn poor_and_hostile_histories_have_answers() {
    let huge: Vec<f64> = (0..40).map(|t| 1e200 * f64::from(t)).collect();
    let spiky: Vec<f64> = (0..60).map(|t| if t == 50 { 1e12 } else { f64::from(t % 3) }).collect();
    let places: Vec<f64> = (0..50).map(|t| f64::from(t) + (f64::from(t) * 0.7).sin()).collect();
    let mut cases: Vec<History> =
        (0..6).map(|n| History::regular(&[3.0, 1.0, 4.0, 1.0, 5.0][..n.min(5)])).collect();
    cases.extend([vec![7.0; 30], vec![f64::NAN; 9], huge, spiky].map(|values| History::regular(&values)));
    cases.push(History::new(&places, &places));
    cases.push(History::new(&[0.0, 1e6, 1e6 + 1.0], &[1.0, 2.0, 3.0]));
    for history in &cases {
        let choice =
            Choice::from_backtests(std::slice::from_ref(history), &Settings { periods: vec![7.0, 365.25] });
        let forecast = choice.forecast(history, &[1.0, 2.5, 40.0]);
        assert_eq!(forecast.len(), 3);
        for k in 0..3 {
            let numbers = [forecast.mean(k), forecast.quantile(k, 0.05), forecast.quantile(k, 0.95)];
            assert!(numbers.iter().all(|number| number.is_finite()), "{history:?}: {numbers:?}");
            assert!(numbers[1] <= numbers[2], "{history:?}: {numbers:?}");
        }
        let mut noise = stream(5);
        assert_eq!(forecast.path(|| normal(&mut noise)).len(), 3);
        let text = serde_json::to_string(&choice).unwrap();
        let again: Choice = serde_json::from_str(&text).unwrap();
        assert_eq!(again.forecast(history, &[1.0, 2.5, 40.0]), forecast);
    }
}

#[test]
fn a_wave_that_repeats_exactly_goes_on() {
    let values: Vec<f64> = (0..200).map(|t| [0.0, 3.0, 1.0, -4.0, 2.0][t % 5]).collect();
    let history = History::regular(&values);
    let choice = Choice::from_backtests(std::slice::from_ref(&history), &Settings::default());
    let forecast = choice.forecast(&history, &steps(60));
    for k in 0..60 {
        assert!((forecast.mean(k) - values[k % 5]).abs() < 0.05, "{k}: {}", forecast.mean(k));
    }
}

#[test]
fn a_panel_helps_a_short_history() {
    let long: Vec<History> =
        (0..8).map(|number| History::regular(&autoregression(0.9, 120, 50 + number))).collect();
    let choice = Choice::from_backtests(&long, &Settings::default());
    let forecast = choice.forecast(&History::regular(&[2.0]), &[1.0]);
    let width = forecast.quantile(0, 0.95) - forecast.quantile(0, 0.05);
    assert!((forecast.mean(0) - 2.0).abs() < 1e-9 && (2.0..8.0).contains(&width), "{width}");
}
