//! Attention over ragged series beside plain loops.

use arbitrary::{Result, Unstructured};
use stroock_kernels::attention::{AttentionProblem, AttentionSolver, Entries, ValueGradient};
use stroock_kernels::simd::Level;

use super::numbers::{LARGEST_SUM, compare, extent, largest_sum, length, numbers, offsets, single};

/// The input chooses a problem.
pub fn run(data: &[u8]) {
    let _ = tried(&mut Unstructured::new(data));
}

fn tried(source: &mut Unstructured<'_>) -> Result<()> {
    let (width, channels) = (extent(source, 1, 4)?, extent(source, 1, 3)?);
    let (given_width, given_channels) = (width.clamp(1, 4), channels.clamp(1, 3));
    let series = usize::from(source.arbitrary::<u8>()? % 4);
    let [references, distinct] = [source.int_in_range(1..=5)?, source.int_in_range(1..=5)?];
    let point_offsets = offsets(source, series, 5)?;
    let points = point_offsets.iter().copied().filter(|&points| points < 64).max().unwrap_or(0);
    let entry_offsets = offsets(source, series * given_channels, 3)?;
    let entries = entry_offsets.iter().copied().filter(|&entries| entries < 256).max().unwrap_or(0);
    let strange = source.arbitrary::<u8>()? < 64;
    // A point of the right series where one is asked for in order.
    let run_of = |entry: usize| entry_offsets.partition_point(|&first| first <= entry).saturating_sub(1);
    let mut of_entries = Vec::new();
    for entry in 0..entries {
        let series = run_of(entry) / given_channels;
        let first = point_offsets.get(series).copied().unwrap_or(0);
        let own = point_offsets.get(series + 1).map_or(0, |end| end.saturating_sub(first));
        let byte: u8 = source.arbitrary()?;
        let point = if byte == 255 || own == 0 { usize::from(byte) } else { first + usize::from(byte) % own };
        of_entries.push(point as u32);
    }
    let mut times = Vec::new();
    for _ in 0..length(source, points)? {
        let byte: u8 = source.arbitrary()?;
        times.push(if byte == 255 { u32::MAX } else { u32::from(byte) % distinct as u32 });
    }
    let mut given = |entries: usize| -> Result<Vec<f64>> {
        let count = length(source, entries)?;
        numbers(source, count, strange)
    };
    let [queries, keys] = [given(references * given_width)?, given(distinct * given_width)?];
    let values = given(points * given_channels)?;
    let solver = AttentionSolver { level: *source.choose(&Level::ALL)? };
    let entries = Entries {
        offsets: &entry_offsets,
        points: &of_entries,
        times: &times,
        point_offsets: &point_offsets,
    };
    let problem =
        AttentionProblem { width, channels, queries: &queries, keys: &keys, values: &values, entries };
    let found = match solver.forward(&problem) {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Ok(());
        }
        Ok(found) => found,
    };
    if largest_sum(width, &queries, &keys) <= LARGEST_SUM {
        compare("output", &found.output, &by_definition(&problem), 1e-9);
    }
    let of_output = vec![1.0; found.output.len()];
    if let Ok(gradients) = solver.backward(&problem, &found.tape, &of_output, ValueGradient::Computed) {
        assert_eq!(gradients.queries.len(), queries.len());
    }
    let short = &of_output[1.min(of_output.len())..];
    let _ = solver.backward(&problem, &found.tape, short, ValueGradient::Computed);

    let [queries, keys, values] = [&queries, &keys, &values].map(|values| single(values));
    let problem =
        AttentionProblem { width, channels, queries: &queries[..], keys: &keys, values: &values, entries };
    if let Ok(found) = solver.forward(&problem) {
        let of_output = vec![1.0; found.output.len()];
        let _ = solver.backward(&problem, &found.tape, &of_output, ValueGradient::Computed);
    }
    Ok(())
}

/// The output `[B, R, C]` in plain loops.
fn by_definition(problem: &AttentionProblem<'_, f64>) -> Vec<f64> {
    let (width, channels, entries) = (problem.width, problem.channels, problem.entries);
    let references = problem.queries.len() / width;
    let series = entries.point_offsets.len() - 1;
    let mut output = Vec::new();
    for b in 0..series {
        for query in problem.queries.chunks(width).take(references) {
            for c in 0..channels {
                let run = entries.offsets[b * channels + c]..entries.offsets[b * channels + c + 1];
                let score = |&point: &u32| {
                    let key = entries.times[point as usize] as usize;
                    let key = &problem.keys[key * width..(key + 1) * width];
                    key.iter().zip(query).map(|(k, q)| k * q).sum::<f64>() / (width as f64).sqrt()
                };
                let own = &entries.points[run];
                let scores: Vec<f64> = own.iter().map(score).collect();
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
                let all: f64 = weights.iter().sum();
                let value = |&point: &u32| problem.values[point as usize * channels + c];
                let sum: f64 = own.iter().zip(&weights).map(|(point, weight)| weight * value(point)).sum();
                output.push(if own.is_empty() { 0.0 } else { sum / all });
            }
        }
    }
    output
}
