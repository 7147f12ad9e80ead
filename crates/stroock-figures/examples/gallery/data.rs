//! Generated data that look like those of the experiments.

use std::f64::consts::{PI, TAU};

/// Pseudo-random numbers (SplitMix64), so that the pictures are the same every time.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + 1e-17
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    /// Uniform on the sphere in R^3.
    pub fn direction(&mut self) -> [f64; 3] {
        unit([self.normal(), self.normal(), self.normal()])
    }
}

fn unit(vector: [f64; 3]) -> [f64; 3] {
    let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    vector.map(|x| x / norm)
}

/// One variable of a series with its fit.
pub struct Fit {
    pub seen: (Vec<f64>, Vec<f64>),
    pub withheld: (Vec<f64>, Vec<f64>),
    pub times: Vec<f64>,
    pub mean: Vec<f64>,
    pub bands: Vec<(f64, Vec<f64>, Vec<f64>)>,
    pub truth: Vec<f64>,
}

/// Irregular observations of a smooth curve over `[0, 48]`, nothing after `until`, and a fit that grows unsure
/// where nothing is observed.
pub fn fit(seed: u64, level: f64, amplitude: f64, count: usize, until: f64) -> Fit {
    let mut noise = Noise::new(seed);
    let [p, q, r] = [0, 1, 2].map(|_| TAU * noise.uniform());
    let curve = |t: f64| {
        level + amplitude * ((0.19 * t + p).sin() + 0.5 * (0.43 * t + q).sin() + 0.2 * (1.1 * t + r).sin())
    };
    let mut times: Vec<f64> = (0..count).map(|_| until * noise.uniform().powf(0.9)).collect();
    times.sort_by(f64::total_cmp);
    let (mut seen, mut withheld) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for &time in &times {
        let value = curve(time) + 0.1 * amplitude * noise.normal();
        let list = if noise.uniform() < 0.7 { &mut seen } else { &mut withheld };
        list.0.push(time);
        list.1.push(value);
    }
    let grid: Vec<f64> = (0..=240).map(|step| 0.2 * f64::from(step)).collect();
    let gap = |t: f64| seen.0.iter().map(|s| (s - t).abs()).fold(f64::INFINITY, f64::min);
    let spread: Vec<f64> =
        grid.iter().map(|&t| amplitude * (0.12 + 0.75 * (1.0 - (-gap(t) / 6.0).exp()))).collect();
    let truth: Vec<f64> = grid.iter().map(|&t| curve(t)).collect();
    let lag = |t: f64| curve(t) + 0.5 * (1.0 - (-gap(t) / 7.0).exp()) * (level - curve(t));
    let mean: Vec<f64> = grid.iter().map(|&t| lag(t) + 0.05 * amplitude * (0.9 * t + q).sin()).collect();
    let band = |level: f64, quantile: f64| {
        let end = |sign: f64| mean.iter().zip(&spread).map(|(m, s)| m + sign * quantile * s).collect();
        (level, end(-1.0), end(1.0))
    };
    let bands = vec![band(0.5, 0.674), band(0.9, 1.645)];
    Fit { seen, withheld, times: grid, mean, bands, truth }
}

/// A path on the sphere by geometric Euler steps: turned around `axis` at `speed`, with noise `sigma`.
pub fn sphere_path(
    noise: &mut Noise,
    start: [f64; 3],
    turn: impl Fn(f64) -> [f64; 3],
    sigma: f64,
) -> Vec<f64> {
    let (steps, dt) = (200, 1.0 / 200.0f64);
    let mut z = start;
    let mut path = z.to_vec();
    for step in 0..steps {
        let k = turn(f64::from(step) * dt);
        let omega = [0, 1, 2].map(|i| k[i] * dt + sigma * dt.sqrt() * noise.normal());
        let angle = omega.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12);
        let n = omega.map(|x| x / angle);
        let cross = [n[1] * z[2] - n[2] * z[1], n[2] * z[0] - n[0] * z[2], n[0] * z[1] - n[1] * z[0]];
        let along = (0..3).map(|i| n[i] * z[i]).sum::<f64>();
        let (sin, cos) = angle.sin_cos();
        z = unit([0, 1, 2].map(|i| cos * z[i] + sin * cross[i] + (1.0 - cos) * along * n[i]));
        path.extend(z);
    }
    path
}

/// A target on the sphere over `[0, 1]` with what pulls paths to it.
pub struct Course {
    pub times: Vec<f64>,
    pub target: Vec<f64>,
    pub gains: Vec<f64>,
    pub widths: Vec<f64>,
    /// The target at the observed times.
    pub marks: Vec<f64>,
}

/// Diffusion scale of a [`Course`].
const SIGMA: f64 = 0.7;

/// A target that pulls hard at the observed times.
pub fn course(observed: &[f64]) -> Course {
    let place = |t: f64| {
        let (longitude, latitude) = (4.4 * t - 1.0, 0.9 * (5.0 * t).sin());
        [latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin()]
    };
    let gain = |t: f64| {
        let gap = observed.iter().map(|s| (s - t).abs()).fold(f64::INFINITY, f64::min);
        3.0 + 37.0 * (-gap / 0.03).exp()
    };
    let times: Vec<f64> = (0..=200).map(|step| f64::from(step) / 200.0).collect();
    let gains: Vec<f64> = times.iter().map(|&t| gain(t)).collect();
    Course {
        target: times.iter().flat_map(|&t| place(t)).collect(),
        widths: gains.iter().map(|gain| SIGMA / (2.0 * gain).sqrt()).collect(),
        marks: observed.iter().flat_map(|&t| place(t)).collect(),
        gains,
        times,
    }
}

impl Course {
    /// A path that follows the target.
    pub fn path(&self, seed: u64) -> Vec<f64> {
        let mut noise = Noise::new(seed + 40);
        let mut z = [0, 1, 2].map(|i| self.target[i]);
        let mut path = z.to_vec();
        for step in 1..self.times.len() {
            let dt = self.times[step] - self.times[step - 1];
            let b = [0, 1, 2].map(|i| self.gains[step] * self.target[3 * step + i]);
            let xi = [0, 1, 2].map(|_| SIGMA * dt.sqrt() * noise.normal());
            let push = [0, 1, 2].map(|i| b[i] * dt + xi[i]);
            let along = (0..3).map(|i| push[i] * z[i]).sum::<f64>();
            z = unit([0, 1, 2].map(|i| z[i] + push[i] - along * z[i]));
            path.extend(z);
        }
        path
    }
}

/// A handwritten-looking 3 of 28 x 28 pixels, turned clockwise, with a stroke of this softness.
pub fn three(degrees: f64, softness: f64) -> Vec<f32> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let stroke: Vec<[f64; 2]> = (0..=60)
        .map(|step| {
            let s = f64::from(step) / 60.0;
            // Two arcs that meet in the middle.
            let (centre, angle) =
                if s < 0.5 { (-4.2, -2.6 + 4.1 * (s / 0.5)) } else { (4.2, -1.5 + 4.1 * ((s - 0.5) / 0.5)) };
            [4.4 * angle.cos() - 0.6, centre + 4.2 * angle.sin()]
        })
        .collect();
    let mut image = Vec::with_capacity(28 * 28);
    for row in 0..28 {
        for column in 0..28 {
            let (x, y) = (f64::from(column) - 13.5, f64::from(row) - 13.5);
            let (x, y) = (cos * x + sin * y, -sin * x + cos * y);
            let distance = stroke.iter().map(|p| (p[0] - x).hypot(p[1] - y)).fold(f64::INFINITY, f64::min);
            image.push((1.0 / (1.0 + ((distance - 1.3) / softness).exp())) as f32);
        }
    }
    image
}

/// Losses that fall towards `floor`, a little worse in the middle of each period of 60 epochs.
pub fn losses(seed: u64, epochs: usize, floor: f64) -> Vec<f64> {
    let mut noise = Noise::new(seed);
    (0..epochs)
        .map(|epoch| {
            let t = epoch as f64;
            let wave = 1.0 + 0.12 * (0.5 - 0.5 * (TAU * t / 60.0).cos()) * (1.0 + noise.uniform());
            (floor + 0.045 * (-t / 25.0).exp() + 0.008 * (-t / 140.0).exp())
                * wave
                * (1.0 + 0.02 * noise.normal())
        })
        .collect()
}

/// Angles of a pendulum with friction, and draws around them whose spread changes; `[T]`, `[T, draws]`.
pub fn pendulum(seed: u64, times: &[f64], draws: usize) -> (Vec<f64>, Vec<f64>) {
    let mut noise = Noise::new(seed);
    let (mut theta, mut velocity) = (TAU * noise.uniform() - PI, 0.0);
    let (mut clock, mut angles, mut all) = (0.0, Vec::new(), Vec::new());
    for (index, &time) in times.iter().enumerate() {
        while clock < time {
            velocity += 1e-3 * (29.43 * f64::sin(theta) - 0.1 * velocity);
            theta += 1e-3 * velocity;
            clock += 1e-3;
        }
        angles.push(theta - PI);
        let spread = 0.10 + 0.32 * (index as f64 / times.len() as f64).powi(2) + 0.02 * velocity.abs();
        all.extend((0..draws).map(|_| theta - PI + spread * noise.normal()));
    }
    (angles, all)
}

/// A path of the stochastic Lorenz attractor on `[0, 1]`, observed every `1 / 200`, with its drift scaled.
pub fn lorenz(noise: &mut Noise, start: [f64; 3], stir: f64) -> Vec<f32> {
    let dt = 1e-3f64;
    let [mut x, mut y, mut z] = start;
    let mut path = Vec::new();
    for step in 0..=1000 {
        if step % 5 == 0 {
            path.extend([x, y, z].map(|value| value as f32));
        }
        let [a, b, c] = [0, 1, 2].map(|_| stir * dt.sqrt() * noise.normal());
        let (dx, dy, dz) = (10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z);
        (x, y, z) = (x + dx * dt + 0.1 * x * a, y + dy * dt + 0.28 * y * b, z + dz * dt + 0.3 * z * c);
    }
    path
}
