//! Time attention at the shape of PhysioNet, and recurrent units.

use stroock_kernels::attention::{AttentionProblem, Entries};
use stroock_kernels::gru::{Direction, GruProblem, Requested, Weights};
use stroock_kernels::noise::philox;

const REFERENCES: usize = 128;
const EMBEDDING: usize = 128;
const CHANNELS: usize = 41;
const POINTS: usize = 72;
const DISTINCT_TIMES: usize = 481;

/// A number in (0, 1) that depends on `seed` and `i` alone.
fn uniform(seed: u32, i: usize) -> f32 {
    (philox([i as u32, seed, 0, 0], [0, 0])[0] as f32 + 0.5) * 2f32.powi(-32)
}

fn uniforms(seed: u32, count: usize, scale: f32) -> Vec<f32> {
    (0..count).map(|i| scale * (2.0 * uniform(seed, i) - 1.0)).collect()
}

/// Series of 41 channels with 72 points, of which 15 % of the entries are observed.
pub struct Ragged {
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    offsets: Vec<usize>,
    points: Vec<u32>,
    times: Vec<u32>,
    point_offsets: Vec<usize>,
    /// A gradient of the output.
    pub of_output: Vec<f32>,
}

impl Ragged {
    pub fn new(series: usize) -> Self {
        let (mut offsets, mut points) = (vec![0], Vec::new());
        for run in 0..series * CHANNELS {
            let first = run / CHANNELS * POINTS;
            let own = first..first + POINTS;
            points.extend(own.filter(|p| uniform(1, run * POINTS + p) < 0.147).map(|p| p as u32));
            offsets.push(points.len());
        }
        Self {
            queries: uniforms(2, REFERENCES * EMBEDDING, 1.0),
            keys: uniforms(3, DISTINCT_TIMES * EMBEDDING, 1.0),
            values: uniforms(4, series * POINTS * CHANNELS, 1.0),
            offsets,
            points,
            times: (0..series * POINTS).map(|p| (uniform(5, p) * DISTINCT_TIMES as f32) as u32).collect(),
            point_offsets: (0..=series).map(|b| b * POINTS).collect(),
            of_output: uniforms(6, series * REFERENCES * CHANNELS, 1.0),
        }
    }

    pub fn problem(&self) -> AttentionProblem<'_, f32> {
        AttentionProblem {
            width: EMBEDDING,
            channels: CHANNELS,
            queries: &self.queries,
            keys: &self.keys,
            values: &self.values,
            entries: Entries {
                offsets: &self.offsets,
                points: &self.points,
                times: &self.times,
                point_offsets: &self.point_offsets,
            },
        }
    }

    /// How many entries are observed.
    pub fn entries(&self) -> usize {
        self.points.len()
    }
}

/// Sequences and a recurrent unit.
pub struct Recurrent {
    offsets: Vec<usize>,
    requested: Requested,
    width: usize,
    hidden: usize,
    inputs: Vec<f32>,
    weights: [Vec<f32>; 4],
    /// A gradient of the states.
    pub of_states: Vec<f32>,
}

impl Recurrent {
    /// Sequences of the same length, of which the last state is wanted.
    pub fn new(series: usize, steps: usize, width: usize, hidden: usize) -> Self {
        let offsets = (0..=series).map(|b| b * steps).collect();
        Self::of(offsets, Requested::Last, series, width, hidden)
    }

    /// Sequences of up to `steps` rows, of which all states are wanted.
    pub fn ragged(series: usize, steps: usize, width: usize, hidden: usize) -> Self {
        let mut offsets = vec![0];
        for b in 0..series {
            offsets.push(offsets[b] + 1 + (uniform(7, b) * steps as f32) as usize);
        }
        let rows = offsets[series];
        Self::of(offsets, Requested::All, rows, width, hidden)
    }

    fn of(offsets: Vec<usize>, requested: Requested, states: usize, width: usize, hidden: usize) -> Self {
        let scale = (hidden as f32).sqrt().recip();
        let shapes = [(2, width), (3, hidden), (4, 1), (5, 1)];
        Self {
            inputs: uniforms(1, offsets[offsets.len() - 1] * width, 1.0),
            offsets,
            requested,
            width,
            hidden,
            weights: shapes.map(|(seed, columns)| uniforms(seed, 3 * hidden * columns, scale)),
            of_states: uniforms(6, states * hidden, 1.0),
        }
    }

    /// How many rows all sequences have.
    pub fn rows(&self) -> usize {
        self.inputs.len() / self.width
    }

    pub fn problem(&self) -> GruProblem<'_, f32> {
        let [w_ih, w_hh, b_ih, b_hh] = &self.weights;
        GruProblem {
            offsets: &self.offsets,
            direction: Direction::Forward,
            requested: self.requested,
            width: self.width,
            hidden: self.hidden,
            inputs: &self.inputs,
            weights: Weights { w_ih, w_hh, b_ih, b_hh },
        }
    }
}
