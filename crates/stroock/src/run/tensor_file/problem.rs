//! What can be wrong with a file of tensors.

use std::io;

use thiserror::Error;

/// What is wrong with a file of tensors; the path is in [`RunError::TensorFile`](crate::run::RunError).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TensorFileProblem {
    /// The operating system failed while the file was read.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// What the operating system said.
        reason: io::Error,
    },
    /// The file ends too early.
    #[error("is cut short: it has {actual} bytes of {expected}; copy or download it again")]
    Truncated {
        /// Bytes that its beginning announces.
        expected: u64,
        /// Bytes that it has.
        actual: u64,
    },
    /// The file is something else.
    #[error("is not a safetensors file ({reason})")]
    NotSafetensors {
        /// What gives it away.
        reason: String,
    },
    /// The file is a safetensors file of an element type that is not read here.
    #[error("tensor `{name}` has elements of type {dtype}, which are not supported")]
    ElementType {
        /// Name of the tensor.
        name: String,
        /// Its type in the words of the format.
        dtype: String,
    },
    /// A metadata key is missing.
    #[error("has no metadata `{key}`: it was not written by stroock, or by a much older version")]
    MissingMetadata {
        /// The key.
        key: String,
    },
    /// The file is of another kind.
    #[error("is a file of the kind `{found}`, but `{expected}` is needed here")]
    Format {
        /// Kind that is needed.
        expected: String,
        /// Kind of the file.
        found: String,
    },
    /// The file is of another version.
    #[error(
        "has format version {found}, but this version of stroock reads {reads}: use the one that wrote it"
    )]
    Version {
        /// Version that is read.
        reads: u32,
        /// Version of the file, as it stands there.
        found: String,
    },
    /// An entry is NaN or infinite.
    #[error("tensor `{name}` is not finite at index {index} (it is {value})")]
    NotFinite {
        /// Name of the tensor.
        name: String,
        /// Place in its flat list of entries.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// The content is not what was written.
    #[error("is damaged: its numbers are not those that were written (the checksum differs); copy it again")]
    Checksum,
    /// Tensors are missing.
    #[error("lacks {}: it belongs to a model with another configuration", list("tensor", names))]
    Missing {
        /// Their names.
        names: Vec<String>,
    },
    /// There are tensors that nobody asked for.
    #[error("has the unexpected {}: it belongs to a model with another configuration", list("tensor", names))]
    Unexpected {
        /// Their names.
        names: Vec<String>,
    },
    /// A tensor has another element type or shape.
    #[error("tensor `{name}` is {actual}, but {expected} is needed")]
    Mismatch {
        /// Its name.
        name: String,
        /// Type and shape that are needed.
        expected: String,
        /// Type and shape in the file.
        actual: String,
    },
    /// A tensor is to be made of the wrong number of values.
    #[error("a tensor of shape {shape:?} cannot be made of {values} values")]
    Length {
        /// Given shape.
        shape: Vec<usize>,
        /// Number of given values.
        values: usize,
    },
    /// A name is to be written twice, or is reserved by the format.
    #[error("the tensor name `{name}` is used twice or reserved")]
    Name {
        /// The name.
        name: String,
    },
    /// Names or metadata cannot be written as JSON.
    #[error("its names and metadata cannot be written: {reason}")]
    HeaderNotWritable {
        /// What is wrong with them.
        reason: String,
    },
    /// There is so much metadata that no reader would accept the file.
    #[error("its names and metadata need {bytes} bytes, but the format allows {limit}")]
    HeaderTooLong {
        /// Bytes needed.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
}

/// "tensor `a`" or "tensors `a`, `b` and 7 more".
fn list(what: &str, names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{what}{plural} {}{more}", shown.join(", "))
}
