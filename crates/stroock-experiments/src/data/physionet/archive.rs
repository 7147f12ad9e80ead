//! Stays straight from the archives, or from the folders that they unpack to.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use rayon::prelude::*;

use super::record::Stay;
use crate::data::error::DataError;
use crate::data::gzip;

/// Reads the stays of archives (`set-a.tar.gz`, or plain `.tar`) or of folders with one text file each, sorted
/// by record id.
///
/// Archives are read side by side, and stays are parsed in parallel; nothing is unpacked to the disk.
///
/// # Errors
/// When an archive cannot be read or is truncated, a record is not as published, or a stay occurs twice.
pub fn read_stays<P: AsRef<Path> + Sync>(archives: &[P]) -> Result<Vec<Stay>, DataError> {
    let stays = archives.par_iter().map(|archive| {
        let archive = archive.as_ref();
        let members = if archive.is_dir() { from_folder(archive)? } else { from_archive(archive)? };
        members.par_iter().map(Member::parse).collect::<Result<Vec<_>, _>>()
    });
    let mut stays = stays.collect::<Result<Vec<_>, _>>()?.concat();
    stays.par_sort_unstable_by_key(|stay| stay.id);
    match stays.windows(2).find(|pair| pair[0].id == pair[1].id) {
        Some(pair) => Err(DataError::StayTwice { id: pair[0].id }),
        None => Ok(stays),
    }
}

struct Member {
    id: u32,
    place: String,
    text: Vec<u8>,
}

impl Member {
    fn parse(&self) -> Result<Stay, DataError> {
        Stay::parse(self.id, &self.place, &self.text)
    }
}

fn from_archive(path: &Path) -> Result<Vec<Member>, DataError> {
    let decode = DataError::decode(path);
    let mut archive = tar::Archive::new(gzip::open(path)?);
    let mut members = Vec::new();
    for entry in archive.entries().map_err(&decode)? {
        let mut entry = entry.map_err(&decode)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let Some(id) = record_id(&name).filter(|_| entry.header().entry_type().is_file()) else { continue };
        let length = entry.size();
        let mut text = Vec::new();
        entry.read_to_end(&mut text).map_err(&decode)?;
        if (text.len() as u64) < length {
            let reason = io::Error::new(io::ErrorKind::UnexpectedEof, format!("it ends within `{name}`"));
            return Err(decode(reason));
        }
        members.push(Member { id, place: format!("{}: {name}", path.display()), text });
    }
    // What follows the last member holds the checksum of the compression.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(&decode)?;
    Ok(members)
}

fn from_folder(path: &Path) -> Result<Vec<Member>, DataError> {
    let mut members = Vec::new();
    for entry in fs::read_dir(path).map_err(DataError::io("read the folder", path))? {
        let file = entry.map_err(DataError::io("read the folder", path))?.path();
        let Some(id) = file.file_name().and_then(|name| record_id(name.to_str()?)) else { continue };
        let text = fs::read(&file).map_err(DataError::io("read", &file))?;
        members.push(Member { id, place: file.display().to_string(), text });
    }
    Ok(members)
}

/// The record id that a file is named after; `None` for files that are no records.
fn record_id(name: &str) -> Option<u32> {
    let stem = name.rsplit('/').next()?.strip_suffix(".txt")?;
    stem.bytes().all(|byte| byte.is_ascii_digit()).then(|| stem.parse().ok())?
}
