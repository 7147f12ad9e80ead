//! How much memory a table may take.

use std::path::PathBuf;

use thiserror::Error;

/// Share of the memory that rows may take while they are read.
const ROWS: u64 = 8;
/// Where the memory of the machine is not known.
const USUAL: u64 = 2 << 30;
/// Least memory that a limit may name: the program and its model take some themselves.
const LEAST: u64 = 64 << 20;

/// How much memory may be taken, and where what does not fit goes.
///
/// ```
/// use stroock_series::table::Room;
/// assert_eq!(Room::parse("2GB"), Ok(2 << 30));
/// assert_eq!(Room::parse("512 MiB"), Ok(512 << 20));
/// assert!(Room::parse("2").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes of memory.
    pub memory: u64,
    /// Folder of temporary files, best on a disk and not in memory.
    pub scratch: PathBuf,
}

/// Why a text is no amount of memory.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RoomError {
    /// It has no number or no unit.
    #[error("`{text}` is no amount of memory; write a number and a unit, as in 2GB or 512MB")]
    Text {
        /// The text.
        text: String,
    },
    /// It is too little for anything.
    #[error("{text} of memory are too little; allow at least 64MB")]
    Little {
        /// The text.
        text: String,
    },
}

impl Default for Room {
    /// Half of the memory of the machine (2 GB where that is not known), and the system's folder of temporary files.
    fn default() -> Self {
        Self { memory: machine_memory().map_or(USUAL, |bytes| bytes / 2), scratch: std::env::temp_dir() }
    }
}

impl Room {
    /// The bytes of `2GB`, `512 MB`, `1.5GiB`; units are powers of 1024.
    ///
    /// # Errors
    /// When it is none, or less than 64 MB.
    pub fn parse(text: &str) -> Result<u64, RoomError> {
        let wrong = || RoomError::Text { text: text.trim().to_owned() };
        let trimmed = text.trim();
        let unit = trimmed.trim_start_matches(|sign: char| !sign.is_alphabetic());
        let number: f64 = trimmed[..trimmed.len() - unit.len()].trim().parse().map_err(|_| wrong())?;
        let power = match unit.to_lowercase().as_str() {
            "mb" | "mib" | "m" => 20,
            "gb" | "gib" | "g" => 30,
            "tb" | "tib" | "t" => 40,
            _ => return Err(wrong()),
        };
        let bytes = number * f64::from(power).exp2();
        match bytes {
            _ if !bytes.is_finite() || bytes < 0.0 => Err(wrong()),
            _ if bytes < LEAST as f64 => Err(RoomError::Little { text: trimmed.to_owned() }),
            bytes => Ok(bytes as u64),
        }
    }

    /// Bytes that rows may take while they are read. A table that stays in memory takes several times as much in the end:
    /// as it was read, in the units of a model, and without what is held out.
    pub(super) fn for_rows(&self) -> u64 {
        self.memory / ROWS
    }
}

/// Bytes of memory of this machine, or of the group of processes that this one belongs to.
fn machine_memory() -> Option<u64> {
    let about = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = about.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = limit.and_then(|limit| limit.trim().parse().ok()).unwrap_or(u64::MAX);
    Some((kilobytes << 10).min(limit))
}
