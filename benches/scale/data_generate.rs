//! Tables for `benches/scale/data`: many irregular series as Parquet files, and how fast such files are read.
//!
//! ```sh
//! cargo run --release -p stroock-series --example scale_data -- write FOLDER SERIES TIMES FILES
//! cargo run --release -p stroock-series --example scale_data -- read FILES...
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use stroock_kernels::noise::{NoiseKey, Purpose};
use stroock_series::table::{Column, DataFrame, FrameFile, ReadOptions, Table};

/// Share of the rows without a value.
const GAPS: f64 = 0.05;
/// Series whose rows are written at once.
const AT_ONCE: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["write", folder, series, times, files] => {
            write(Path::new(folder), series.parse()?, times.parse()?, files.parse()?)
        }
        ["read", files @ ..] if !files.is_empty() => {
            let paths: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            let begun = Instant::now();
            let table = Table::read(&paths, &ReadOptions::default())?;
            println!("{{\"rows\":{},\"seconds\":{}}}", table.account.rows, begun.elapsed().as_secs_f64());
            Ok(())
        }
        _ => Err("write FOLDER SERIES TIMES FILES, or read FILES...".into()),
    }
}

/// Series of a wave each, with noise: `level + amplitude sin(2 pi (t / period + phase))`, at irregular times within 48 hours.
/// Every file has the series of a range of names, one after the other.
fn write(folder: &Path, series: usize, times: usize, files: usize) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let of_file = series.div_ceil(files.max(1));
    for file in 0..files {
        let numbers = file * of_file..((file + 1) * of_file).min(series);
        let mut out = FrameFile::create(&folder.join(format!("part-{file:04}.parquet")), true)?;
        for first in numbers.clone().step_by(AT_ONCE) {
            out.append(&part(first..numbers.end.min(first + AT_ONCE), times))?;
        }
        out.finish()?;
    }
    Ok(())
}

fn part(numbers: std::ops::Range<usize>, times: usize) -> DataFrame {
    let (mut ids, mut hours, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for number in numbers {
        let mut stream = NoiseKey::new(1, 0).stream(Purpose::Observations, number as u32, 0);
        let mut uniform = || stream.uniform();
        let (level, amplitude) = (60.0 + 40.0 * uniform(), 5.0 + 10.0 * uniform());
        let (period, phase) = (12.0 + 24.0 * uniform(), uniform());
        for i in 0..times {
            let hour = 48.0 * (i as f64 + 0.9 * uniform()) / times as f64;
            let wave = (std::f64::consts::TAU * (hour / period + phase)).sin();
            // The sum of four uniform numbers is nearly normal.
            let noise = (0..4).map(|_| uniform()).sum::<f64>() - 2.0;
            let value = (100.0 * (level + amplitude * wave + noise)).round() / 100.0;
            ids.push(format!("stay-{number:07}"));
            hours.push((1e4 * hour).round() / 1e4);
            values.push(if uniform() < GAPS { f64::NAN } else { value });
        }
    }
    DataFrame {
        names: ["stay", "hours", "pulse"].map(String::from).to_vec(),
        columns: vec![Column::Text(ids), Column::Number(hours), Column::Number(values)],
    }
}
