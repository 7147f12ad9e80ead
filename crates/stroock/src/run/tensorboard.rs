//! Metrics for TensorBoard: an event file, written by hand.
//!
//! A file is a sequence of records,
//!
//! ```text
//! length: u64 | masked CRC-32C of these 8 bytes: u32 | data | masked CRC-32C of the data: u32
//! ```
//!
//! little endian. The data of a record are an `Event` in the protobuf encoding, of which this is used:
//!
//! ```text
//! Event      { 1: wall_time double, 2: step int64, 3: file_version string, 5: summary Summary,
//!              7: session_log SessionLog }
//! Summary    { 1: value, repeated { 1: tag string, 2: simple_value float } }
//! SessionLog { 1: status enum, START = 1 }
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::RunError;

/// How the names of event files start.
const START: &str = "events.out.tfevents.";

/// An event file that scalars are appended to.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let mut events = stroock::run::EventFile::create(folder.path())?;
/// events.scalars(1, &[("loss/train", 3.5), ("loss/validation", 4.0)])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: File,
}

impl EventFile {
    /// Starts an event file `events.out.tfevents.<time>.<host>.<process>` in a folder that exists.
    pub fn create(folder: &Path) -> Result<Self, RunError> {
        let time = now();
        let (host, process) = (host_name(), std::process::id());
        // TensorBoard reads the files of a folder in the order of their names: the time in the name of a new one is later
        // than all that are there, also where the clock was set back or two were started within a second.
        let begun = (time as u64).max(latest(folder)?.map_or(0, |latest| latest + 1));
        let named = |number: u32| format!("{START}{begun:010}.{host}.{process}.{number}");
        let mut number = 0;
        let (path, file) = loop {
            let path = folder.join(named(number));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(RunError::io("create", &path)(error)),
            }
        };
        let mut events = EventFile { path, file };
        events.append(&Message::new().double(1, time).bytes(3, b"brain.Event:2"))?;
        Ok(events)
    }

    /// Starts an event file for a run that is resumed: TensorBoard forgets what earlier files of the folder say
    /// about `first_step` and later steps.
    pub fn resume(folder: &Path, first_step: i64) -> Result<Self, RunError> {
        const BEGINS: i64 = 1;
        let mut events = Self::create(folder)?;
        let session = Message::new().integer(1, BEGINS);
        events.append(&Message::new().double(1, now()).integer(2, first_step).message(7, &session))?;
        Ok(events)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends the values of some tags at a step. TensorBoard groups tags by what is before the first `/`.
    pub fn scalars(&mut self, step: i64, values: &[(&str, f64)]) -> Result<(), RunError> {
        let summary = values.iter().fold(Message::new(), |summary, (tag, value)| {
            summary.message(1, &Message::new().bytes(1, tag.as_bytes()).float(2, *value as f32))
        });
        self.append(&Message::new().double(1, now()).integer(2, step).message(5, &summary))
    }

    fn append(&mut self, event: &Message) -> Result<(), RunError> {
        let data = &event.0;
        let length = (data.len() as u64).to_le_bytes();
        let mut record = Vec::with_capacity(data.len() + 16);
        record.extend(length);
        record.extend(masked_crc(&length).to_le_bytes());
        record.extend(data);
        record.extend(masked_crc(data).to_le_bytes());
        self.file.write_all(&record).map_err(RunError::io("append to", &self.path))
    }
}

/// The latest time in the names of the event files of a folder.
fn latest(folder: &Path) -> Result<Option<u64>, RunError> {
    let mut latest = None;
    for entry in fs::read_dir(folder).map_err(RunError::io("list", folder))? {
        let name = entry.map_err(RunError::io("list", folder))?.file_name();
        let time = name.to_str().and_then(|name| name.strip_prefix(START)?.split('.').next()?.parse().ok());
        // A time that is no time of this era would let the next one overflow.
        latest = latest.max(time.filter(|time| *time < u64::from(u32::MAX)));
    }
    Ok(latest)
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// The name of the machine as far as the standard library can tell, of characters that suit a file name.
fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok());
    let name = name.or_else(|| std::env::var("COMPUTERNAME").ok()).unwrap_or_default();
    let suits = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let name: String = name.trim().chars().filter(suits).collect();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

/// A protobuf message: fields `key payload`, where `key = number << 3 | wire type`.
struct Message(Vec<u8>);

impl Message {
    fn new() -> Self {
        Message(Vec::new())
    }

    fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    fn key(self, field: u64, wire_type: u64) -> Self {
        self.varint(field << 3 | wire_type)
    }

    fn integer(self, field: u64, value: i64) -> Self {
        self.key(field, 0).varint(value as u64)
    }

    fn double(self, field: u64, value: f64) -> Self {
        self.key(field, 1).raw(&value.to_le_bytes())
    }

    fn bytes(self, field: u64, value: &[u8]) -> Self {
        self.key(field, 2).varint(value.len() as u64).raw(value)
    }

    fn message(self, field: u64, value: &Message) -> Self {
        self.bytes(field, &value.0)
    }

    fn float(self, field: u64, value: f32) -> Self {
        self.key(field, 5).raw(&value.to_le_bytes())
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }
}

/// A CRC that is stored beside its data is masked, so that the CRC of both together stays meaningful.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C: the Castagnoli polynomial, not the one of zip and png.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = crc_table(0x82f6_3b78);
    let step = |crc: u32, byte: &u8| crc >> 8 ^ TABLE[(crc as u8 ^ byte) as usize];
    !bytes.iter().fold(!0, step)
}

/// Remainders of all bytes for a polynomial in reversed notation.
const fn crc_table(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { polynomial } else { 0 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32c_gives_the_check_values_of_rfc_3720() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn long_numbers_take_several_bytes() {
        assert_eq!(Message::new().varint(300).0, [0xac, 0x02]);
        assert_eq!(Message::new().integer(2, -1).0.len(), 11);
    }
}
