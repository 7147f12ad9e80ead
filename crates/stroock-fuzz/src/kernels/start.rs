//! Start points of every distribution.

use arbitrary::{Result, Unstructured};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::start::{Draws, StartKind, uniform};

use super::numbers::{extent, length, numbers};

/// The input chooses a distribution and its draws.
pub fn run(data: &[u8]) {
    let _ = tried(&mut Unstructured::new(data));
}

fn tried(source: &mut Unstructured<'_>) -> Result<()> {
    let kind = *source.choose(&[StartKind::PowerSpherical, StartKind::WrappedNormal])?;
    let (dim, samples) = (extent(source, 0, 5)?, extent(source, 0, 3)?);
    // A number of draws that can be made, but is not meant to be made here.
    let samples = if samples == 1 << 32 { usize::MAX / 3 } else { samples };
    let count = usize::from(source.arbitrary::<u8>()? % 4);
    let strange = source.arbitrary::<u8>()? < 96;
    let width = kind.location_dim(dim.clamp(1, 5));
    let entries = length(source, count * width)?;
    let mut location = numbers(source, entries, strange)?;
    if kind == StartKind::PowerSpherical && !strange {
        for mean in location.chunks_mut(width.max(1)) {
            let norm = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
            mean.iter_mut().for_each(|x| *x /= norm.max(1e-9));
        }
    }
    let entries = length(source, count)?;
    let spread: Vec<f64> = numbers(source, entries, strange)?.into_iter().map(|x| x * x).collect();
    let series: Vec<u32> = (0..length(source, count)? as u32).collect();
    let draws = Draws { key: NoiseKey::new(1, 2), series: &series, samples, first_sample: u32::MAX };
    let distribution = kind.distribution(dim, &location, &spread);
    let _ = distribution.divergence();
    match distribution.sample(draws) {
        Ok(points) => {
            let _ = distribution.pull_back(draws, &vec![1.0; points.len()], &vec![1.0; spread.len()]);
            let _ = distribution.pull_back(draws, &[], &[]);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let _ = uniform::<f64>(dim.min(64), draws);
    Ok(())
}
