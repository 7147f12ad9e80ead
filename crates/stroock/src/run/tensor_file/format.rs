//! The bytes of a safetensors file.
//!
//! The header is parsed and checked by the crate `safetensors`. Two things are done here: the total length is
//! computed without overflow, and the header is written in a fixed order (the crate writes the metadata in the
//! order of a hash map, so that equal content would give different files).

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use safetensors::tensor::{Metadata, TensorInfo};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{ElementType, Tensor, TensorFile, TensorFileProblem, TensorValues};

/// Bytes of the length of the header.
const PREFIX: u64 = 8;
/// Longest header that the format allows.
const LONGEST_HEADER: usize = 100_000_000;
/// Metadata key of the checksum.
const CHECKSUM: &str = "sha256";
/// Name of the metadata among the names of the tensors.
const METADATA: &str = "__metadata__";

#[derive(Serialize)]
struct Header<'a> {
    #[serde(rename = "__metadata__")]
    metadata: &'a BTreeMap<String, String>,
    #[serde(flatten)]
    tensors: BTreeMap<&'a str, TensorInfo>,
}

/// The header of a file, after every check that its content can be written.
pub(super) fn header(file: &TensorFile) -> Result<Vec<u8>, TensorFileProblem> {
    let mut tensors = BTreeMap::new();
    let mut end = 0;
    for (name, tensor) in in_file_order(file) {
        check_finite(name, tensor)?;
        let start = end;
        end += tensor.values().len() * tensor.element_type().size();
        let info = TensorInfo {
            dtype: tensor.element_type().to_format(),
            shape: tensor.shape().to_vec(),
            data_offsets: (start, end),
        };
        if tensors.insert(name.as_str(), info).is_some() || name == METADATA {
            return Err(TensorFileProblem::Name { name: name.clone() });
        }
    }
    let mut metadata = file.metadata.clone();
    metadata.insert(CHECKSUM.into(), checksum(in_file_order(file).into_iter(), &file.metadata));
    let header = Header { metadata: &metadata, tensors };
    let mut json = serde_json::to_vec(&header)
        .map_err(|error| TensorFileProblem::HeaderNotWritable { reason: error.to_string() })?;
    // Spaces at the end keep the numbers aligned, as the format recommends.
    json.resize(json.len().next_multiple_of(PREFIX as usize), b' ');
    if json.len() > LONGEST_HEADER {
        return Err(TensorFileProblem::HeaderTooLong { bytes: json.len(), limit: LONGEST_HEADER });
    }
    Ok(json)
}

/// Writes the file; `header` is that of the same tensors.
pub(super) fn write(file: &TensorFile, header: &[u8], writer: &mut dyn Write) -> io::Result<()> {
    writer.write_all(&(header.len() as u64).to_le_bytes())?;
    writer.write_all(header)?;
    in_file_order(file).into_iter().try_for_each(|(_, tensor)| tensor.values().write(writer))
}

/// Wide entries first, so that all of them are aligned; then by name.
fn in_file_order(file: &TensorFile) -> Vec<&(String, Tensor)> {
    by_size_and_name(file.tensors.iter().collect())
}

fn by_size_and_name(mut tensors: Vec<&(String, Tensor)>) -> Vec<&(String, Tensor)> {
    tensors.sort_by_key(|(name, tensor)| (std::cmp::Reverse(tensor.element_type().size()), name));
    tensors
}

/// The two public fields of a [`TensorFile`].
type TensorsAndMetadata = (Vec<(String, Tensor)>, BTreeMap<String, String>);

/// Reads a file of `length` bytes.
pub(super) fn read(length: u64, mut reader: impl Read) -> Result<TensorsAndMetadata, TensorFileProblem> {
    let (header_length, header) = read_header(length, &mut reader)?;
    let announced = PREFIX + header_length as u64;
    // A corrupt header may announce more bytes than a number can hold.
    let announced = announced.saturating_add(header.data_len() as u64);
    if length < announced {
        return Err(TensorFileProblem::Truncated { expected: announced, actual: length });
    }
    if length > announced {
        return Err(not_safetensors(format!("it has {} bytes too many at its end", length - announced)));
    }

    let mut tensors = Vec::new();
    for name in header.offset_keys() {
        let Some(info) = header.info(&name) else { continue };
        let Some(element_type) = ElementType::of_format(info.dtype) else {
            return Err(TensorFileProblem::ElementType { name, dtype: info.dtype.to_string() });
        };
        let mut bytes = vec![0; info.data_offsets.1 - info.data_offsets.0];
        read_exact(&mut reader, &mut bytes, announced, length)?;
        let tensor = Tensor::new(info.shape.clone(), TensorValues::from_bytes(element_type, &bytes))?;
        check_finite(&name, &tensor)?;
        tensors.push((name, tensor));
    }
    let metadata = header.metadata().iter().flatten();
    let mut metadata: BTreeMap<String, String> =
        metadata.map(|(key, text)| (key.clone(), text.clone())).collect();
    // Files of older versions have none.
    match metadata.remove(CHECKSUM) {
        Some(noted)
            if noted != checksum(by_size_and_name(tensors.iter().collect()).into_iter(), &metadata) =>
        {
            Err(TensorFileProblem::Checksum)
        }
        _ => Ok((tensors, metadata)),
    }
}

/// SHA-256 of the tensors in the order of the file, and of all other metadata.
fn checksum<'a>(
    tensors: impl Iterator<Item = &'a (String, Tensor)>,
    metadata: &BTreeMap<String, String>,
) -> String {
    let mut hash = Sha256::new();
    let mut text = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for (key, value) in metadata.iter().filter(|(key, _)| *key != CHECKSUM) {
        text(key);
        text(value);
    }
    let mut bytes = Vec::new();
    for (name, tensor) in tensors {
        bytes.clear();
        bytes.extend_from_slice(format!("{name} {} {:?} ", tensor.element_type(), tensor.shape()).as_bytes());
        // Writing into memory does not fail.
        let _ = tensor.values().write(&mut bytes);
        hash.update(&bytes);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_header(length: u64, reader: &mut impl Read) -> Result<(usize, Metadata), TensorFileProblem> {
    if length < PREFIX {
        return Err(TensorFileProblem::Truncated { expected: PREFIX, actual: length });
    }
    let mut prefix = [0; PREFIX as usize];
    read_exact(reader, &mut prefix, length, length)?;
    let announced = u64::from_le_bytes(prefix);
    let header_length = match usize::try_from(announced) {
        Ok(bytes) if bytes <= LONGEST_HEADER => bytes,
        _ => return Err(not_safetensors(format!("it announces a header of {announced} bytes"))),
    };
    let expected = PREFIX + announced;
    if length < expected {
        return Err(TensorFileProblem::Truncated { expected, actual: length });
    }
    let mut json = vec![0; header_length];
    read_exact(reader, &mut json, expected, length)?;
    let header = serde_json::from_slice(&json);
    let header: Metadata = header.map_err(|error| not_safetensors(format!("its header: {error}")))?;
    Ok((header_length, header))
}

fn not_safetensors(reason: String) -> TensorFileProblem {
    TensorFileProblem::NotSafetensors { reason }
}

fn read_exact(
    reader: &mut impl Read,
    bytes: &mut [u8],
    expected: u64,
    actual: u64,
) -> Result<(), TensorFileProblem> {
    reader.read_exact(bytes).map_err(|reason| match reason.kind() {
        // Someone shortened the file meanwhile.
        io::ErrorKind::UnexpectedEof => TensorFileProblem::Truncated { expected, actual },
        _ => TensorFileProblem::Unreadable { reason },
    })
}

fn check_finite(name: &str, tensor: &Tensor) -> Result<(), TensorFileProblem> {
    match tensor.values().first_not_finite() {
        None => Ok(()),
        Some((index, value)) => Err(TensorFileProblem::NotFinite { name: name.to_owned(), index, value }),
    }
}
