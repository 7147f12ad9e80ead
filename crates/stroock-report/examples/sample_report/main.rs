//! A sample report with invented data: `cargo run --example sample_report -- sample.html [sphere|dates|classes]`.

mod data;

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args_os().skip(1);
    let path = PathBuf::from(words.next().ok_or("give the name of the file for the report")?);
    let kind = words.next().map(|word| word.to_string_lossy().into_owned());
    let report = match kind.as_deref() {
        None => data::vital_signs(),
        Some("sphere") => data::on_the_sphere(),
        Some("dates") => data::air_quality(),
        Some("classes") => data::activities(),
        Some(other) => return Err(format!("there is no sample `{other}`").into()),
    };
    let html = report.html()?;
    std::fs::write(&path, &html)?;
    println!("{}: {} kB", path.display(), html.len() / 1000);
    Ok(())
}
