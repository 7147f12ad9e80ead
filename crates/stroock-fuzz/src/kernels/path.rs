//! Path problems of every kind; those of geometric Euler-Maruyama with given noise beside plain loops.

use arbitrary::{Result, Unstructured};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{
    Attractor, Chebyshev, Drift, Grid, Memory, Noise, PathProblem, PathReal, PathSolver, PerStep,
    PiecewiseLinear, Prior, Requests, Scheme, Space,
};
use stroock_kernels::simd::Level;

use super::numbers::{compare, extent, length, number, numbers, offsets, single};
use super::plain_path::PlainPath;

/// The input chooses a problem.
pub fn run(data: &[u8]) {
    if let Ok(chosen) = Chosen::from(&mut Unstructured::new(data)) {
        chosen.check();
    }
}

/// Everything that a problem is made of, in double precision.
struct Chosen {
    space: Space,
    dim: usize,
    samples: usize,
    solver: PathSolver,
    shared: bool,
    times: Vec<f64>,
    offsets: Vec<usize>,
    drift: OwnedDrift,
    prior: Option<OwnedDrift>,
    sigma: f64,
    start: Vec<f64>,
    noise: Option<Vec<f64>>,
    series: Vec<u32>,
    requests: Option<(Vec<usize>, Vec<usize>)>,
}

struct OwnedDrift {
    kind: u8,
    terms: usize,
    interval: (f64, f64),
    knots: Vec<f64>,
    values: Vec<f64>,
}

impl Chosen {
    fn from(source: &mut Unstructured<'_>) -> Result<Self> {
        let space = *source.choose(Space::ALL)?;
        let scheme = *source.choose(Scheme::ALL)?;
        let memory = if source.arbitrary()? { Memory::Stored } else { Memory::Reversible };
        let solver = PathSolver { level: *source.choose(&Level::ALL)?, memory, scheme };
        let (dim, samples) = (extent(source, 1, 5)?, extent(source, 1, 3)?);
        let (n, s) = (dim.clamp(1, 5), samples.clamp(1, 3));
        let count: usize = source.int_in_range(1..=4)?;
        let strange = source.arbitrary::<u8>()? < 48;
        let shared = source.arbitrary()?;
        let grids = if shared { 1 } else { count };
        let (mut all, mut at) = (Vec::new(), vec![0]);
        for _ in 0..grids {
            let mut time = number(source, strange)?;
            for _ in 0..source.int_in_range(0..=6)? {
                all.push(time);
                time += number(source, strange)?.abs() + 1e-3;
            }
            all.push(time);
            at.push(all.len());
        }
        let steps = if shared { (all.len() - 1) * count } else { all.len() - count };
        if source.arbitrary::<u8>()? == 0 {
            at = offsets(source, count, 4)?;
        }
        let m = scheme.drift_len(space, n);
        let drift = OwnedDrift::from(source, count, steps, n, m, strange)?;
        let prior = match source.ratio(1, 3)? {
            true => Some(OwnedDrift::from(source, count, steps, n, m, strange)?),
            false => None,
        };
        let sigma = if strange { number(source, true)? } else { 0.1 + number(source, false)?.abs() };
        let rows = length(source, s * count)?;
        let start = start(source, space, n, rows, strange)?;
        let normals = if scheme == Scheme::GeometricEuler { space.algebra_dim(n) } else { n };
        let noise = match source.arbitrary()? {
            true => {
                let entries = length(source, s * steps * normals)?;
                Some(numbers(source, entries, strange)?)
            }
            false => None,
        };
        let series = (0..length(source, count)? as u32).collect();
        let requests = match source.arbitrary()? {
            true => {
                let offsets = offsets(source, count, 3)?;
                let wanted = offsets.last().copied().filter(|&wanted| wanted < 64).unwrap_or(0);
                let mut index = || -> Result<usize> { Ok(usize::from(source.arbitrary::<u8>()? % 8)) };
                let indices = (0..wanted).map(|_| index()).collect::<Result<Vec<usize>>>()?;
                Some((offsets, indices))
            }
            false => None,
        };
        Ok(Chosen {
            space,
            dim,
            samples,
            solver,
            shared,
            times: all,
            offsets: at,
            drift,
            prior,
            sigma,
            start,
            noise,
            series,
            requests,
        })
    }

    fn check(&self) {
        let doubles = Numbers {
            times: self.times.clone(),
            sigma: self.sigma,
            start: self.start.clone(),
            noise: self.noise.clone(),
            drift: self.drift.copy(),
            prior: self.prior.as_ref().map(OwnedDrift::copy),
        };
        if let Some(states) = self.solved(&doubles) {
            self.compare(&states);
        }
        let singles = Numbers {
            times: single(&self.times),
            sigma: self.sigma as f32,
            start: single(&self.start),
            noise: self.noise.as_deref().map(single),
            drift: self.drift.single(),
            prior: self.prior.as_ref().map(OwnedDrift::single),
        };
        let _ = self.solved(&singles);
    }

    /// Forward and backward; the states.
    fn solved<T: PathReal>(&self, numbers: &Numbers<T>) -> Option<Vec<T>> {
        let problem = PathProblem {
            space: self.space,
            dim: self.dim,
            samples: self.samples,
            grid: match self.shared {
                true => Grid::Shared(&numbers.times),
                false => Grid::PerSeries { offsets: &self.offsets, times: &numbers.times },
            },
            drift: numbers.drift.drift(),
            prior: numbers.prior.as_ref().map_or(Prior::Driftless, |prior| Prior::Drift(prior.drift())),
            sigma: numbers.sigma,
            start: &numbers.start,
            noise: match &numbers.noise {
                Some(noise) => Noise::Given(noise),
                None => {
                    Noise::Counter { key: NoiseKey::new(1, 0), series: &self.series, first_sample: u32::MAX }
                }
            },
            requests: match &self.requests {
                Some((offsets, indices)) => Requests::At { offsets, indices },
                None => Requests::All,
            },
        };
        let path = match self.solver.forward(&problem) {
            Ok(path) => path,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return None;
            }
        };
        let [of_states, of_kl] = [path.states.len(), path.kl.len()].map(|count| vec![T::of(1.0); count]);
        if let Ok(gradients) = self.solver.backward(&problem, &path.tape, &of_states, &of_kl) {
            assert_eq!(gradients.start.len(), numbers.start.len());
        }
        assert!(self.solver.backward(&problem, &path.tape, &of_states, &of_kl[1..]).is_err());
        Some(path.states)
    }

    /// Compares with plain loops where these know the problem.
    fn compare(&self, states: &[f64]) {
        let (Some(noise), 0, None) = (&self.noise, self.drift.kind % OwnedDrift::KINDS, &self.requests)
        else {
            return;
        };
        if self.solver.scheme != Scheme::GeometricEuler || !self.shared {
            return;
        }
        let (n, m, steps) = (self.dim, self.space.algebra_dim(self.dim), self.times.len() - 1);
        let series = self.start.len() / (self.samples * n);
        for row in 0..self.samples * series {
            let b = row % series;
            let plain = PlainPath {
                space: self.space,
                dim: n,
                sigma: self.sigma,
                times: &self.times,
                drift: &self.drift.values[b * steps * m..(b + 1) * steps * m],
                noise: &noise[row * steps * m..(row + 1) * steps * m],
                start: &self.start[row * n..(row + 1) * n],
            };
            if let Some(expected) = plain.states() {
                let found = &states[row * (steps + 1) * n..(row + 1) * (steps + 1) * n];
                // Hyperbolic and linear paths grow, and their rounding with them.
                compare("states", found, &expected, 1e-7);
            }
        }
    }
}

/// The numbers of a problem in one precision.
struct Numbers<T> {
    times: Vec<T>,
    sigma: T,
    start: Vec<T>,
    noise: Option<Vec<T>>,
    drift: DriftNumbers<T>,
    prior: Option<DriftNumbers<T>>,
}

struct DriftNumbers<T> {
    kind: u8,
    terms: usize,
    interval: (T, T),
    knots: Vec<T>,
    values: Vec<T>,
}

impl<T> DriftNumbers<T> {
    fn drift(&self) -> Drift<'_, T>
    where
        T: Copy,
    {
        match self.kind % OwnedDrift::KINDS {
            0 => Drift::PerStep(PerStep(&self.values)),
            1 => Drift::Chebyshev(Chebyshev {
                terms: self.terms,
                interval: self.interval,
                coefficients: &self.values,
            }),
            2 => Drift::PiecewiseLinear(PiecewiseLinear {
                knots: Grid::Shared(&self.knots),
                coefficients: &self.values,
            }),
            _ => Drift::Attractor(Attractor { coefficients: &self.values }),
        }
    }
}

impl OwnedDrift {
    const KINDS: u8 = 4;

    fn from(
        source: &mut Unstructured<'_>,
        series: usize,
        steps: usize,
        n: usize,
        m: usize,
        strange: bool,
    ) -> Result<Self> {
        let kind: u8 = source.arbitrary()?;
        let terms = extent(source, 1, 4)?;
        let interval = (number(source, strange)?, number(source, strange)? + 2.0);
        let mut knots = vec![number(source, strange)?];
        for _ in 0..source.int_in_range(0..=3)? {
            knots.push(knots[knots.len() - 1] + number(source, strange)?.abs() + 1e-3);
        }
        let entries = match kind % Self::KINDS {
            0 => steps * m,
            1 => series * m * terms.clamp(1, 4),
            2 => series * knots.len() * m,
            _ => series * (n + 2 * (n / 2)),
        };
        let entries = length(source, entries)?;
        Ok(OwnedDrift { kind, terms, interval, knots, values: numbers(source, entries, strange)? })
    }

    fn copy(&self) -> DriftNumbers<f64> {
        let OwnedDrift { kind, terms, interval, knots, values } = self;
        DriftNumbers {
            kind: *kind,
            terms: *terms,
            interval: *interval,
            knots: knots.clone(),
            values: values.clone(),
        }
    }

    fn single(&self) -> DriftNumbers<f32> {
        let OwnedDrift { kind, terms, interval, knots, values } = self;
        let interval = (interval.0 as f32, interval.1 as f32);
        DriftNumbers { kind: *kind, terms: *terms, interval, knots: single(knots), values: single(values) }
    }
}

/// Points of the space, but for strange ones.
fn start(
    source: &mut Unstructured<'_>,
    space: Space,
    n: usize,
    rows: usize,
    strange: bool,
) -> Result<Vec<f64>> {
    let mut points = numbers(source, rows * n, strange)?;
    for point in points.chunks_mut(n) {
        match space {
            Space::Sphere => {
                let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt();
                match norm > 1e-3 {
                    true => point.iter_mut().for_each(|x| *x /= norm),
                    false => point[0] = 1.0,
                }
            }
            Space::Hyperbolic => {
                let square: f64 = point[1..].iter().map(|x| x * x).sum();
                point[0] = (1.0 + square).sqrt();
            }
            _ => {}
        }
    }
    Ok(points)
}
