//! Every kind of picture, from generated data: `cargo run --example gallery -- <folder>`.

mod data;

use std::error::Error;
use std::path::{Path, PathBuf};

use data::Noise;
use stroock_figures::{
    Band, Colouring, CurvesFigure, DensityFigure, DensityPanel, FitFigure, FitPanel, FollowingFigure, Globe,
    GrowthCurve, GrowthFigure, GrowthPanel, HistogramFigure, HistogramGroup, Paths3dFigure, Paths3dPanel,
    Picture, Points, Published, Quantity, QuantityCurve, Run, SphereFigure, SpherePath, SphereTarget,
    StripFigure, StripRow,
};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("give the folder for the pictures")?);
    std::fs::create_dir_all(&folder)?;
    save(&folder, "fit", fit()?)?;
    save(&folder, "following", following()?)?;
    save(&folder, "sphere-following", sphere_following()?)?;
    save(&folder, "sphere-time", sphere_by_time()?)?;
    save(&folder, "sphere-class", sphere_by_class()?)?;
    save(&folder, "histogram", histogram()?)?;
    save(&folder, "strip", strip()?)?;
    save(&folder, "curves", curves()?)?;
    save(&folder, "growth", growth()?)?;
    save(&folder, "density", density()?)?;
    save(&folder, "paths3d", paths()?)?;
    Ok(())
}

fn save(folder: &Path, name: &str, picture: Picture) -> Result<(), Box<dyn Error>> {
    for extension in ["svg", "png"] {
        picture.save(&folder.join(name).with_extension(extension))?;
    }
    Ok(())
}

fn fit() -> Result<Picture, Box<dyn Error>> {
    let variables = [
        ("heart rate", "1/min", 85.0, 14.0, 46),
        ("temperature", "°C", 37.2, 0.6, 22),
        ("glucose", "mg/dl", 140.0, 28.0, 10),
    ];
    let mut fits = Vec::new();
    for (row, series) in ["stay 132539", "stay 141887"].into_iter().enumerate() {
        for (column, (variable, unit, level, amplitude, count)) in variables.into_iter().enumerate() {
            let data = data::fit((10 * row + column + 1) as u64, level, amplitude, count, 36.0);
            fits.push((series, variable, unit, data));
        }
    }
    let panels = fits
        .iter()
        .map(|(series, variable, unit, fit)| FitPanel {
            series,
            variable,
            unit,
            seen: Points { times: (&fit.seen.0).into(), values: (&fit.seen.1).into() },
            withheld: Points { times: (&fit.withheld.0).into(), values: (&fit.withheld.1).into() },
            truth: Some(Points { times: (&fit.times).into(), values: (&fit.truth).into() }),
            times: (&fit.times).into(),
            mean: (&fit.mean).into(),
            bands: fit
                .bands
                .iter()
                .map(|(level, lower, upper)| Band { level: *level, lower: lower.into(), upper: upper.into() })
                .collect(),
            forecast_from: Some(36.0),
        })
        .collect();
    Ok(FitFigure { panels, time: "time since admission (h)", ..FitFigure::default() }.picture()?)
}

fn sphere_by_time() -> Result<Picture, Box<dyn Error>> {
    let mut noise = Noise::new(3);
    let prior: Vec<Vec<f64>> = (0..6)
        .map(|_| {
            let start = noise.direction();
            data::sphere_path(&mut noise, start, |_| [0.0; 3], 0.8)
        })
        .collect();
    let turn = |t: f64| [3.6 - 2.0 * t, 2.1 + t, 1.9 + 2.0 * t];
    let posterior: Vec<Vec<f64>> =
        (0..10).map(|_| data::sphere_path(&mut noise, [0.77, -0.5, 0.397], turn, 0.12)).collect();
    let times: Vec<f64> = (0..=200).map(|step| f64::from(step) / 200.0).collect();
    let globes = vec![by_time("prior", &prior, &times), by_time("posterior", &posterior, &times)];
    Ok(SphereFigure { globes, ..SphereFigure::default() }.picture()?)
}

/// A path that is pulled towards a target, tightly where something is observed.
fn sphere_following() -> Result<Picture, Box<dyn Error>> {
    let course = data::course(&[0.1, 0.18, 0.25, 0.31, 0.38, 0.46, 0.52, 0.85, 0.9]);
    let paths: Vec<Vec<f64>> = (0..5).map(|seed| course.path(seed)).collect();
    let target = SphereTarget {
        points: (&course.target).into(),
        means: (&course.target).into(),
        widths: (&course.widths).into(),
        observed: (&course.marks).into(),
    };
    let posterior = Globe { target: Some(target), ..by_time("posterior", &paths, &course.times) };
    Ok(SphereFigure {
        globes: vec![posterior],
        marked: false,
        globe_width: 420.0,
        centre: [70.0, 20.0],
        ..SphereFigure::default()
    }
    .picture()?)
}

fn following() -> Result<Picture, Box<dyn Error>> {
    let fit = data::fit(2, 12.0, 3.0, 18, 48.0);
    let course = data::course(&fit.seen.0.iter().map(|hour| hour / 48.0).collect::<Vec<f64>>());
    let hours: Vec<f64> = course.times.iter().map(|time| 48.0 * time).collect();
    let wide: Vec<f64> = course.widths.iter().map(|width| 1.1 * width.to_degrees()).collect();
    let settled: Vec<f64> = course.widths.iter().map(|width| width.to_degrees()).collect();
    let panel = FitPanel {
        series: "buoy 3",
        variable: "heave",
        unit: "m",
        seen: Points { times: (&fit.seen.0).into(), values: (&fit.seen.1).into() },
        times: (&fit.times).into(),
        mean: (&fit.mean).into(),
        bands: fit
            .bands
            .iter()
            .map(|(level, lower, upper)| Band { level: *level, lower: lower.into(), upper: upper.into() })
            .collect(),
        ..FitPanel::default()
    };
    let curve = |name, values| QuantityCurve { name, values };
    let figure = FollowingFigure {
        fits: vec![panel],
        quantities: vec![
            Quantity { label: "gain", curves: vec![curve("", (&course.gains).into())] },
            Quantity {
                label: "width (°)",
                curves: vec![curve("of the steering", (&settled).into()), curve("of paths", (&wide).into())],
            },
        ],
        times: (&hours).into(),
        observed: (&fit.seen.0).into(),
        time: "time (h)",
        ..FollowingFigure::default()
    };
    Ok(figure.picture()?)
}

fn by_time<'a>(title: &'a str, paths: &'a [Vec<f64>], times: &'a [f64]) -> Globe<'a> {
    let path = |points| SpherePath { points, times: times.into(), classes: &[] };
    Globe { title, paths: paths.iter().map(|points| path(points.into())).collect(), ..Globe::default() }
}

fn sphere_by_class() -> Result<Picture, Box<dyn Error>> {
    let mut noise = Noise::new(11);
    let still: Vec<(Vec<f64>, Vec<usize>)> = (0..9)
        .map(|which| {
            let class = which % 3;
            let centre = [[0.9, 0.3, 0.3], [0.3, 0.8, -0.5], [0.5, 0.2, 0.85]][class];
            let start = nearby(&mut noise, centre, 0.15);
            (data::sphere_path(&mut noise, start, |_| [0.0; 3], 0.18), vec![class])
        })
        .collect();
    let switching: Vec<(Vec<f64>, Vec<usize>)> = (0..6)
        .map(|_| {
            let start = nearby(&mut noise, [0.9, 0.3, 0.3], 0.12);
            let path = data::sphere_path(
                &mut noise,
                start,
                |t| if t > 0.35 { [0.1, 1.2, 2.6] } else { [0.0; 3] },
                0.12,
            );
            let classes =
                (0..=200).map(|step| [0, 3, 1][usize::from(step > 80) + usize::from(step > 150)]).collect();
            (path, classes)
        })
        .collect();
    let globes =
        vec![by_class("without label switches", &still), by_class("with label switches", &switching)];
    let colouring = Colouring::Class { names: vec!["walking", "lying", "sitting", "standing up"] };
    Ok(SphereFigure { globes, colouring, centre: [35.0, 20.0], ..SphereFigure::default() }.picture()?)
}

fn by_class<'a>(title: &'a str, paths: &'a [(Vec<f64>, Vec<usize>)]) -> Globe<'a> {
    let path = |points, classes| SpherePath { points, classes, ..SpherePath::default() };
    let paths = paths.iter().map(|(points, classes)| path(points.into(), classes)).collect();
    Globe { title, paths, ..Globe::default() }
}

fn nearby(noise: &mut Noise, centre: [f64; 3], spread: f64) -> [f64; 3] {
    let point = centre.map(|x| x + spread * noise.normal());
    let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt();
    point.map(|x| x / norm)
}

fn histogram() -> Result<Picture, Box<dyn Error>> {
    let mut noise = Noise::new(5);
    let without: Vec<f32> = (0..820).map(|_| (1.1 + 0.35 * noise.normal()).exp() as f32).collect();
    let with: Vec<f32> = (0..410).map(|_| (2.0 + 0.28 * noise.normal()).exp() as f32).collect();
    let groups = vec![
        HistogramGroup { name: "without switches", values: (&without).into() },
        HistogramGroup { name: "with switches", values: (&with).into() },
    ];
    Ok(HistogramFigure { groups, label: "path KL (nats)", ..HistogramFigure::default() }.picture()?)
}

fn strip() -> Result<Picture, Box<dyn Error>> {
    let times: Vec<f64> = (0..16).map(|step| 0.1 * f64::from(step)).collect();
    let images = |softness: f64| -> Vec<Vec<f32>> {
        times.iter().map(|time| data::three(240.0 * time, softness + 0.25 * (time - 0.9).max(0.0))).collect()
    };
    let (truth, mean) = (images(0.25), images(0.55));
    let draw: Vec<Vec<f32>> = times.iter().map(|time| data::three(247.0 * time + 6.0, 0.4)).collect();
    let mut rows = vec![row("truth", &truth), row("mean", &mean), row("draw", &draw)];
    rows[0].frames[11..].fill(None);
    rows[0].marked = &[0];
    let figure = StripFigure {
        rows,
        times: (&times).into(),
        marked: "given to the encoder",
        forecast_from: Some(1.1),
        image_width: 42.0,
        ..StripFigure::default()
    };
    Ok(figure.picture()?)
}

fn row<'a>(label: &'a str, frames: &'a [Vec<f32>]) -> StripRow<'a> {
    StripRow { label, frames: frames.iter().map(|frame| Some(&frame[..])).collect(), marked: &[] }
}

fn curves() -> Result<Picture, Box<dyn Error>> {
    let epochs: Vec<f64> = (1..=360).map(f64::from).collect();
    let names = ["paper preset, seed 1", "paper preset, seed 2", "clean preset"];
    let runs: Vec<(Vec<f64>, Vec<f64>)> = names
        .iter()
        .enumerate()
        .map(|(index, _)| {
            let values = data::losses(index as u64 + 1, 360, 0.0028 + 0.0005 * index as f64);
            (epochs.iter().map(|epoch| epoch * (5.2 + 1.4 * index as f64)).collect(), values)
        })
        .collect();
    let runs = names.iter().zip(&runs).map(|(name, (seconds, values))| Run {
        name,
        epochs: (&epochs).into(),
        seconds: seconds.into(),
        values: values.into(),
    });
    let figure = CurvesFigure {
        runs: runs.collect(),
        label: "test MSE",
        logarithmic: true,
        published: vec![Published { name: "published", value: 3.14e-3 }],
        ..CurvesFigure::default()
    };
    Ok(figure.picture()?)
}

fn growth() -> Result<Picture, Box<dyn Error>> {
    let sizes: Vec<f64> = (1..=5).map(|power| 10f64.powi(power)).collect();
    let panels = [("steps", 1.0), ("n", 2.0), ("channels", 0.7)].map(|(x_label, exponent)| {
        let law = |size: f64| 0.01 * size.powf(exponent);
        (x_label, sizes.iter().map(|size| 0.3 + law(*size)).collect::<Vec<f64>>(), law(1e3), law(1e5))
    });
    let panels = panels.iter().map(|(x_label, costs, low, high)| {
        let line = Some([[1e3, *low], [1e5, *high]]);
        let curve = GrowthCurve { name: "", sizes: (&sizes).into(), costs: costs.into(), line };
        GrowthPanel { title: "", x_label, y_label: "ms", curves: vec![curve] }
    });
    Ok(GrowthFigure { panels: panels.collect(), ..GrowthFigure::default() }.picture()?)
}

fn density() -> Result<Picture, Box<dyn Error>> {
    let times: Vec<f64> = (0..100).map(|step| 0.05 * f64::from(step)).collect();
    let mut noise = Noise::new(9);
    let kept: Vec<usize> = (0..100).filter(|_| noise.uniform() < 0.5).collect();
    let kept_times: Vec<f64> = kept.iter().map(|index| times[*index]).collect();
    let mut series = Vec::new();
    for seed in [4, 8] {
        let (angles, draws) = data::pendulum(seed, &times, 1000);
        series.push((kept.iter().map(|index| angles[*index]).collect::<Vec<f64>>(), draws));
    }
    let panel = |title, index: usize| {
        let (angles, draws) = &series[index];
        let truth = Points { times: (&kept_times).into(), values: angles.into() };
        DensityPanel { title, times: (&times).into(), draws: draws.into(), truth: Some(truth) }
    };
    let panels = vec![panel("pendulum 12", 0), panel("pendulum 31", 1)];
    Ok(DensityFigure { panels, time: "time (s)", ..DensityFigure::default() }.picture()?)
}

fn paths() -> Result<Picture, Box<dyn Error>> {
    let mut noise = Noise::new(21);
    let mut sample = |spread: f64, stir: f64| -> Vec<Vec<f32>> {
        (0..75)
            .map(|_| {
                let start = [
                    1.0 + spread * noise.normal(),
                    0.5 + spread * noise.normal(),
                    1.0 + spread * noise.normal(),
                ];
                data::lorenz(&mut noise, start, stir)
            })
            .collect()
    };
    let (posterior, prior) = (sample(0.12, 0.6), sample(1.0, 1.0));
    let times: Vec<f64> = (0..=200).map(|step| f64::from(step) / 200.0).collect();
    let panels = vec![
        Paths3dPanel {
            title: "posterior, 75 paths",
            paths: posterior.iter().map(|path| path.into()).collect(),
        },
        Paths3dPanel { title: "prior, 75 paths", paths: prior.iter().map(|path| path.into()).collect() },
    ];
    Ok(Paths3dFigure { panels, times: (&times).into(), ..Paths3dFigure::default() }.picture()?)
}
