//! `stroock data fetch`: a data set from its publishers.

use indicatif::{ProgressBar, ProgressStyle};
use stroock_experiments::data::source::find;
use stroock_experiments::data::{FetchEvent, FetchSettings, fetch};

use crate::arguments::DataFolderArguments;
use crate::data::folder;
use crate::failure::Failure;
use crate::output::print;

/// Fetches what is not there, and prints where all of it is.
pub fn run(name: &str, arguments: &DataFolderArguments, mirror: Option<&str>) -> Result<(), Failure> {
    let set = find(name)?;
    let folder = folder(arguments.data_dir.as_deref())?;
    let settings = FetchSettings { mirror: mirror.map(str::to_owned), ..FetchSettings::default() };
    let bar = ProgressBar::new(0);
    if let Ok(style) =
        ProgressStyle::with_template("{msg} [{bar:30}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
    {
        bar.set_style(style.progress_chars("=> "));
    }
    let files = fetch(set, &folder, &settings, &mut |event| match event {
        FetchEvent::Present { file, .. } => bar.println(format!("{}: already here", file.name)),
        FetchEvent::Invalid { file, reason } => {
            bar.println(format!("{}: fetched again, because {reason}", file.name));
        }
        FetchEvent::Progress { file, progress } => {
            bar.set_message(file.name);
            bar.set_length(progress.total.unwrap_or(progress.received));
            bar.set_position(progress.received);
        }
        FetchEvent::Arrived { file, downloaded } => {
            bar.println(format!("{}: from {}", file.name, downloaded.url));
        }
    })?;
    bar.finish_and_clear();
    for file in files {
        print(&file.display().to_string())?;
    }
    Ok(())
}
