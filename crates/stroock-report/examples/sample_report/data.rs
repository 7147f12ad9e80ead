//! Invented data that look like those of real runs.

use stroock_report::{
    Band, Calibration, CalibrationPoint, Confusion, Curve, Fit, LatentPaths, PathGroup, Points, Report, Row,
    Table,
};

/// Normal numbers from a small generator, the same on every machine.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        // SplitMix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A variable: name, unit, usual level, usual standard deviation, observations in 48 hours.
type Variable = (&'static str, &'static str, f64, f64, usize);

const VITAL_SIGNS: [Variable; 4] = [
    ("heart rate", "1/min", 84.0, 11.0, 48),
    ("temperature", "°C", 37.1, 0.5, 18),
    ("mean arterial pressure", "mmHg", 79.0, 9.0, 40),
    ("glucose", "mg/dl", 138.0, 30.0, 9),
];

/// Irregular vital signs with forecasts, and latent paths of a larger sphere.
pub fn vital_signs() -> Report {
    let mut noise = Noise(7);
    let mut fits = Vec::new();
    for stay in 0..8 {
        for variable in VITAL_SIGNS {
            let series = format!("stay {}", 132_539 + 1117 * stay);
            fits.push(fit(&mut noise, series, variable, 48.0, 38.0));
        }
    }
    let mut calibration = vec![curve_of("all variables", 0.015, &mut noise)];
    calibration.extend(VITAL_SIGNS.map(|variable| curve_of(variable.0, 0.05, &mut noise)));
    Report {
        title: "Sample: vital signs in intensive care".into(),
        subtitle: "stays.csv (invented data)".into(),
        facts: [
            ("Series", "1 024"),
            ("Variables", "4"),
            ("Observations", "117 402"),
            ("Times per series", "9 to 131, median 72"),
            ("Split", "820 training, 204 validation"),
            ("Withheld for scoring", "20 %, at random"),
            ("Latent space", "sphere in R¹⁶"),
            ("Parameters", "61 384"),
            ("Epochs", "240, the best is 187"),
            ("Time taken", "6 min 12 s"),
            ("Seed", "1"),
            ("Version", env!("CARGO_PKG_VERSION")),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec(),
        warnings: vec![
            "These data are invented. They show what a report looks like, and nothing about the model."
                .into(),
            "`glucose` has fewer than ten observations in most series; its intervals rest on little.".into(),
        ],
        time: "time since admission (h)".into(),
        curves: training(&mut noise, 240),
        best_epoch: Some(187.0),
        fits,
        tables: vec![scores()],
        calibration,
        paths: Some(LatentPaths {
            directions: "The three directions in which the paths vary most, of 16; they hold 71 % of the \
                         variance."
                .into(),
            groups: (0..4)
                .map(|stay| group(&mut noise, format!("stay {}", 132_539 + 1117 * stay), 6))
                .collect(),
        }),
        configuration: CONFIGURATION.into(),
        command: "stroock fit stays.csv --id stay --time hours --epochs 240 --seed 1 --out runs/vital-signs"
            .into(),
        ..Report::default()
    }
}

/// The same, with paths on the sphere in R^3 itself.
pub fn on_the_sphere() -> Report {
    let mut noise = Noise(3);
    let mut report = vital_signs();
    report.title = "Sample: paths on the sphere in R³".into();
    let mut paths = LatentPaths::default();
    for (name, spread) in [("prior", 0.05), ("posterior", 0.012)] {
        let mut group = PathGroup { name: name.into(), ..PathGroup::default() };
        group.times = (0..=150).map(|step| f64::from(step) / 150.0).collect();
        for _ in 0..8 {
            let mut point = [0.8, -0.4, 0.45];
            let mut path = Vec::new();
            for time in &group.times {
                let turn = if name == "prior" { [0.0; 3] } else { [0.01, 0.035 * (1.0 - time), 0.03] };
                let turn = turn.map(|rate| rate + spread * noise.normal());
                let [x, y, z]: [f64; 3] = point;
                point = [
                    x + turn[1] * z - turn[2] * y,
                    y + turn[2] * x - turn[0] * z,
                    z + turn[0] * y - turn[1] * x,
                ];
                let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt();
                point = point.map(|x| x / norm);
                path.push(point.map(|x| x as f32));
            }
            group.paths.push(path);
        }
        paths.groups.push(group);
    }
    report.paths = Some(paths);
    report.time = "time".into();
    report
}

/// A long series with dates.
pub fn air_quality() -> Report {
    let mut noise = Noise(5);
    let mut report = vital_signs();
    report.title = "Sample: air quality".into();
    report.subtitle = "stations.csv (invented data)".into();
    (report.time, report.time_is_date, report.time_zone) = ("date".into(), true, "Europe/Vienna".into());
    report.fits = ["Graz", "Linz"]
        .into_iter()
        .flat_map(|station| {
            [(station, ("PM2.5", "µg/m³", 32.0, 14.0, 3000)), (station, ("NO2", "µg/m³", 21.0, 8.0, 300))]
        })
        .map(|(station, variable)| {
            let mut fit = fit(&mut noise, station.into(), variable, 48.0, 44.0);
            // From 48 hours to about 60 days in spring 2024, over the change of the clock.
            let date = |time: &mut f64| *time = 1_709_251_200.0 + *time * 108_000.0;
            fit.times.iter_mut().chain(&mut fit.seen.times).chain(&mut fit.withheld.times).for_each(date);
            fit.forecast_from.iter_mut().for_each(date);
            fit
        })
        .collect();
    for group in report.paths.iter_mut().flat_map(|paths| &mut paths.groups) {
        group.times.iter_mut().for_each(|time| *time = 1_709_251_200.0 + *time * 108_000.0);
    }
    report
}

/// Classes of movement, with losses that start high.
pub fn activities() -> Report {
    let classes = ["walking", "lying", "sitting", "standing up", "falling"].map(String::from).to_vec();
    let counts = vec![
        vec![412, 3, 5, 9, 1],
        vec![2, 690, 14, 6, 4],
        vec![7, 21, 388, 12, 0],
        vec![15, 8, 19, 102, 6],
        vec![3, 9, 1, 8, 31],
    ];
    let epochs: Vec<f64> = (1..=60).map(f64::from).collect();
    let values = epochs.iter().map(|epoch| 40.0 * (-epoch).exp() - 2.0 + 1.0 / epoch).collect();
    Report {
        title: "Sample: activities".into(),
        subtitle: "recordings.csv (invented data)".into(),
        facts: vec![("Classes".into(), "5".into()), ("Accuracy".into(), "91.4 %".into())],
        curves: vec![Curve { name: "training loss".into(), epochs, values }],
        confusion: Some(Confusion { classes, counts }),
        ..Report::default()
    }
}

/// A wandering truth with observations, and a fit that is the surer, the nearer an observation is.
fn fit(noise: &mut Noise, series: String, variable: Variable, end: f64, forecast: f64) -> Fit {
    let (name, unit, level, sd, count) = variable;
    let (phase, speed, own) = (6.3 * noise.uniform(), 0.12 + 0.15 * noise.uniform(), 0.5 * noise.normal());
    let truth = |time: f64| {
        let waves = (speed * time + phase).sin() + 0.45 * (2.3 * speed * time + 2.0 * phase).cos();
        level + sd * (own + 0.8 * waves)
    };
    let mut times: Vec<f64> = (0..count).map(|_| end * noise.uniform()).collect();
    times.sort_by(f64::total_cmp);
    let (mut seen, mut withheld) = (Points::default(), Points::default());
    for time in times {
        let value = truth(time) + 0.22 * sd * noise.normal();
        let points = if time > forecast || noise.uniform() < 0.2 { &mut withheld } else { &mut seen };
        points.times.push(time);
        points.values.push(value);
    }
    let grid: Vec<f64> = (0..=240).map(|step| end * f64::from(step) / 240.0).collect();
    let nearest = |time: f64| {
        let gaps = seen.times.iter().map(|other| (other - time).abs());
        gaps.fold(12.0, f64::min)
    };
    let scale = |time: f64| sd * (0.24 + 0.75 * (1.0 - (-nearest(time) / 5.0).exp()));
    let mean: Vec<f64> = grid
        .iter()
        .map(|&time| {
            let doubt = 1.0 - (-nearest(time) / 9.0).exp();
            truth(time) + 0.9 * doubt * sd * (0.23 * time + phase).cos() * 0.6
        })
        .collect();
    let bands = [(0.5, 0.674), (0.9, 1.645)].map(|(level, width)| {
        let end = |sign: f64| grid.iter().zip(&mean).map(|(&t, m)| m + sign * width * scale(t)).collect();
        Band { level, lower: end(-1.0), upper: end(1.0) }
    });
    Fit {
        series,
        variable: name.into(),
        unit: unit.into(),
        seen,
        withheld,
        times: grid,
        mean,
        bands: bands.to_vec(),
        forecast_from: Some(forecast),
    }
}

fn training(noise: &mut Noise, epochs: usize) -> Vec<Curve> {
    [("training loss", 0.42, 0.010), ("validation loss", 0.55, 0.022)]
        .map(|(name, floor, rough)| {
            let epochs: Vec<f64> = (1..=epochs).map(|epoch| epoch as f64).collect();
            let value = |epoch: &f64| {
                let rise = if name.starts_with('v') { 0.0016 * (epoch - 187.0).max(0.0) } else { 0.0 };
                let fall = 5.2 * (-epoch / 9.0).exp() + 0.9 * (-epoch / 60.0).exp();
                (floor + fall + rise) * (1.0 + rough * noise.normal())
            };
            let values = epochs.iter().map(value).collect();
            Curve { name: name.into(), epochs, values }
        })
        .to_vec()
}

fn scores() -> Table {
    let row = |cells: [&str; 9], best| Row { cells: cells.map(String::from).to_vec(), best };
    Table {
        caption: "Withheld values of the validation series".into(),
        header: ["Variable", "Count", "RMSE", "line", "carried", "MAE", "CRPS", "90 % covered", "90 % width"]
            .map(String::from)
            .to_vec(),
        rows: vec![
            row(["heart rate (1/min)", "1 871", "6.12", "7.40", "8.93", "4.51", "3.22", "90.4 %", "19.8"], vec![2]),
            row(["temperature (°C)", "702", "0.31", "0.33", "0.41", "0.22", "0.16", "88.7 %", "0.94"], vec![2]),
            row(["mean arterial pressure (mmHg)", "1 566", "7.05", "7.98", "9.90", "5.3", "3.8", "91.0 %", "23.7"], vec![2]),
            row(["glucose (mg/dl)", "344", "31.9", "30.2", "36.4", "22.8", "16.9", "86.2 %", "95.1"], vec![3]),
        ],
        note: "RMSE beside that of a straight line between neighbours and of the last value carried forward; the \
               best is bold. CRPS: continuous ranked probability score, lower is better."
            .into(),
    }
}

fn curve_of(name: &str, error: f64, noise: &mut Noise) -> Calibration {
    let lean = error * noise.normal();
    let point = |tenth: i32| {
        let nominal = f64::from(tenth) / 20.0;
        CalibrationPoint { nominal, observed: nominal + 4.0 * lean * nominal * (1.0 - nominal) }
    };
    Calibration { name: name.into(), points: (1..20).map(point).collect() }
}

/// Paths on a sphere in R^6, projected to three coordinates.
fn group(noise: &mut Noise, name: String, count: usize) -> PathGroup {
    let times: Vec<f64> = (0..=160).map(|step| 0.3 * f64::from(step)).collect();
    let start: [f64; 6] = std::array::from_fn(|axis| noise.normal() * if axis < 3 { 1.0 } else { 0.45 });
    let rate: [f64; 3] = std::array::from_fn(|_| 0.02 * noise.normal());
    let mut path = |_| {
        let mut point = start;
        let steps = times.iter().map(|_| {
            let [x, y, z, ..] = point;
            let turn = [rate[1] * z - rate[2] * y, rate[2] * x - rate[0] * z, rate[0] * y - rate[1] * x];
            for axis in 0..6 {
                let drift = if axis < 3 { turn[axis] } else { -0.002 * point[axis] };
                point[axis] += drift + 0.012 * noise.normal();
            }
            let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt();
            point = point.map(|x| x / norm);
            [point[0] as f32, point[1] as f32, point[2] as f32]
        });
        steps.collect()
    };
    let paths = (0..count).map(&mut path).collect();
    PathGroup { name, times, paths }
}

const CONFIGURATION: &str = r#"seed = 1

[latent]
space = "sphere"
dimension = 16
drift_terms = 6
diffusion = 0.1

[encoder]
kind = "time attention"
references = 128
width = 64

[training]
epochs = 240
batch = 64
rate = 1e-3
"#;
