//! `stroock data`: which public data sets there are, and checking them.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use indicatif::HumanBytes;
use serde::Serialize;
use stroock_experiments::data::check::{FileReport, FileState};
use stroock_experiments::data::physionet::{read_stays, write_long};
use stroock_experiments::data::source::{DATA_SETS, find};
use stroock_experiments::data::{DataFolder, check};

use crate::arguments::{Data, DataFolderArguments};
use crate::failure::Failure;
use crate::output::{print, print_json, say};

pub fn run(arguments: &Data) -> Result<(), Failure> {
    match arguments {
        Data::List { folder } => list(folder),
        #[cfg(feature = "download")]
        Data::Fetch { name, folder, mirror } => crate::fetch::run(name, folder, mirror.as_deref()),
        Data::Export { name, data_dir } => export(name, data_dir.as_deref()),
        Data::Check { name, folder } => check_set(name, folder),
    }
}

/// The data folder of the arguments.
pub fn folder(given: Option<&Path>) -> Result<DataFolder, Failure> {
    Ok(DataFolder::find(given)?)
}

/// Writes the stays of sets a and b, which are those of the experiments.
fn export(name: &str, data_dir: Option<&Path>) -> Result<(), Failure> {
    let (folder, set) = (folder(data_dir)?, find(name)?);
    let archives = [folder.require(set, "set-a.tar.gz")?, folder.require(set, "set-b.tar.gz")?];
    let stays = read_stays(&archives)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write_long(&stays, &mut out).and_then(|rows| out.flush().map(|()| rows));
    match written {
        // A reader that has gone away is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(error.into()),
        Ok(rows) => {
            say(&format!("{} stays, {rows} rows", stays.len()));
            Ok(())
        }
    }
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    description: &'static str,
    licence: &'static str,
    folder: String,
    usable: bool,
}

fn list(arguments: &DataFolderArguments) -> Result<(), Failure> {
    let folder = folder(arguments.data_dir.as_deref())?;
    for set in DATA_SETS {
        let present =
            set.files.iter().filter(|file| !file.is_extra).all(|file| folder.locate(set, file).is_some());
        let listed = Listed {
            name: set.name,
            description: set.description,
            licence: set.licence,
            folder: folder.of(set).display().to_string(),
            usable: present,
        };
        if arguments.json {
            print_json(&listed)?;
            continue;
        }
        let state = if present { "here" } else { "not here" };
        print(&format!(
            "{:<16} {} ({}); {state}: {}",
            listed.name, listed.description, listed.licence, listed.folder
        ))?;
    }
    Ok(())
}

fn check_set(name: &str, arguments: &DataFolderArguments) -> Result<(), Failure> {
    let report = check(find(name)?, &folder(arguments.data_dir.as_deref())?);
    match arguments.json {
        true => print_json(&report)?,
        false => report.files.iter().try_for_each(|file| print(&line(file)))?,
    }
    match report.is_usable() {
        true => Ok(()),
        false => {
            Err(format!("`{name}` cannot be used as it is; get it with: stroock data fetch {name}").into())
        }
    }
}

fn line(file: &FileReport) -> String {
    let state = match &file.state {
        FileState::Whole => "as published".to_owned(),
        FileState::Part(why) => format!("a part: {why}"),
        FileState::Missing if file.is_extra => "not here, and not needed".to_owned(),
        FileState::Missing => "missing".to_owned(),
        FileState::Damaged(why) => format!("damaged: {why}"),
    };
    let counts: Vec<String> =
        file.counts.iter().map(|count| format!("{} {}", count.found, count.what)).collect();
    format!(
        "{}: {state} ({}{}{})",
        file.name,
        HumanBytes(file.bytes),
        if counts.is_empty() { "" } else { "; " },
        counts.join(", ")
    )
}
