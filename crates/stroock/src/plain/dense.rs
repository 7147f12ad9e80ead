//! The ragged grids, noise and requests of a path plan as dense lists.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use stroock_kernels::argument::{ArgumentError, check_length};
use stroock_kernels::noise::increments;
use stroock_kernels::path::PathError;
use stroock_kernels::simd::Level;

use crate::latent::{PathGrid, PathNoise, PathRequests};

/// A plan whose series all have as many steps as the longest. A series that has ended waits: its last time is
/// repeated, so that its further steps have length 0 and move nothing.
pub(crate) struct DensePlan {
    /// Steps `T` of the longest series.
    pub steps: usize,
    /// `[B, T + 1]`.
    pub times: Vec<f64>,
    /// `[S, B, T, m]`, with as many numbers a step as the scheme asks for.
    pub noise: Vec<f64>,
    /// For every request, the row of its state among those of all times and series, `[T + 1, B]`.
    pub requests: Vec<i64>,
}

impl DensePlan {
    /// The dense lists for `samples` paths of `series` series each, with `m` normals a step, for tensors of type `dtype`.
    pub fn new(
        (grid, requests): (&PathGrid, &PathRequests),
        noise: &PathNoise,
        [samples, series, m]: [usize; 3],
        dtype: DType,
    ) -> Result<Self, PathError> {
        let grids = grids(grid, series)?;
        let steps = grids.iter().map(|times| times.len() - 1).max().unwrap_or_default();
        let padded =
            |times: &&[f64]| -> Vec<f64> { (0..=steps).map(|j| times[j.min(times.len() - 1)]).collect() };
        Ok(Self {
            steps,
            times: grids.iter().flat_map(padded).collect(),
            noise: dense_noise(noise, samples, &grids, [steps, m], dtype)?,
            requests: rows_of(requests, &grids)?,
        })
    }

    /// The times, `[B, T + 1]`.
    pub fn times(&self, series: usize, options: (&Device, DType)) -> Tensor<2> {
        Tensor::from_data(TensorData::new(self.times.clone(), [series, self.steps + 1]), options)
    }

    /// The standard normals of step `j`, `[S, B, m]`.
    pub fn noise(&self, j: usize, shape: [usize; 3], options: (&Device, DType)) -> Tensor<3> {
        let m = shape[2];
        let of_step = self.noise.chunks_exact(m).skip(j).step_by(self.steps);
        Tensor::from_data(TensorData::new(of_step.flatten().copied().collect(), shape), options)
    }

    /// The rows of the requested states.
    pub fn requests(&self, device: &Device) -> Tensor<1, Int> {
        Tensor::from_data(TensorData::new(self.requests.clone(), [self.requests.len()]), device)
    }
}

/// The times of every series.
fn grids(grid: &PathGrid, series: usize) -> Result<Vec<&[f64]>, PathError> {
    let grids = match grid {
        PathGrid::Shared(times) => vec![&times[..]; series],
        PathGrid::PerSeries { offsets, times } => {
            check_length("grid.offsets", "[series + 1]", series + 1, offsets.len())?;
            let run = |(b, pair): (usize, &[usize])| {
                times
                    .get(pair[0]..pair[1])
                    .ok_or(ArgumentError::Offsets { argument: "grid.offsets", index: b + 1 })
            };
            offsets.windows(2).enumerate().map(run).collect::<Result<_, _>>()?
        }
    };
    for (series, times) in grids.iter().enumerate() {
        if times.is_empty() {
            return Err(PathError::NoTimes { argument: "grid", series });
        }
        if let Some(index) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
            return Err(PathError::TimesNotIncreasing { argument: "grid", series, index: index + 1 });
        }
    }
    Ok(grids)
}

/// Standard normals, 0 where a series has ended.
fn dense_noise(
    noise: &PathNoise,
    samples: usize,
    grids: &[&[f64]],
    [steps, m]: [usize; 2],
    dtype: DType,
) -> Result<Vec<f64>, PathError> {
    let all_steps: usize = grids.iter().map(|times| times.len() - 1).sum();
    let mut dense = Vec::with_capacity(samples * grids.len() * steps * m);
    match noise {
        PathNoise::Given(values) => {
            let shape = "[samples, series, steps, m]";
            check_length("noise", shape, samples * all_steps * m, values.len())?;
            let mut rest = &values[..];
            for _ in 0..samples {
                for times in grids {
                    let (of_row, tail) = rest.split_at((times.len() - 1) * m);
                    push(&mut dense, of_row, steps * m);
                    rest = tail;
                }
            }
        }
        PathNoise::Counter { key, series, first_sample } => {
            check_length("noise.series", "[series]", grids.len(), series.len())?;
            for sample in 0..samples as u32 {
                for (&number, times) in series.iter().zip(grids) {
                    let (sample, count) = (first_sample.wrapping_add(sample), times.len() - 1);
                    let level = Level::detect();
                    let of_row: Vec<f64> = match dtype {
                        DType::F64 => increments(level, *key, number, sample, count, m),
                        // The numbers of single precision are not those of double precision, rounded.
                        _ => {
                            let single: Vec<f32> = increments(level, *key, number, sample, count, m);
                            single.into_iter().map(f64::from).collect()
                        }
                    };
                    push(&mut dense, &of_row, steps * m);
                }
            }
        }
    }
    Ok(dense)
}

/// Appends a row, filled up with zeros to `length` numbers.
fn push(dense: &mut Vec<f64>, row: &[f64], length: usize) {
    let end = dense.len() + length;
    dense.extend_from_slice(row);
    dense.resize(end, 0.0);
}

/// The row of the state of every request.
fn rows_of(requests: &PathRequests, grids: &[&[f64]]) -> Result<Vec<i64>, PathError> {
    let (offsets, indices) = (&requests.offsets, &requests.indices);
    check_length("requests.offsets", "[series + 1]", grids.len() + 1, offsets.len())?;
    check_length("requests.indices", "[last offset]", offsets[grids.len()], indices.len())?;
    let mut rows = Vec::with_capacity(indices.len());
    for (series, times) in grids.iter().enumerate() {
        let of_series = indices.get(offsets[series]..offsets[series + 1]);
        let of_series =
            of_series.ok_or(ArgumentError::Offsets { argument: "requests.offsets", index: series + 1 })?;
        for &index in of_series {
            if index >= times.len() {
                return Err(PathError::RequestOutsideGrid { series, index, times: times.len() });
            }
            rows.push((index * grids.len() + series) as i64);
        }
    }
    check_length("requests.offsets", "[series + 1]", indices.len(), rows.len())?;
    Ok(rows)
}
