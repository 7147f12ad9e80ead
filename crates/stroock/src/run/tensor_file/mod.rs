//! Named tensors and text in one safetensors file.
//!
//! ```text
//! N: u64 little endian | N bytes of JSON | the numbers of all tensors, little endian, without gaps
//! ```
//!
//! The JSON has an entry `name -> {dtype, shape, data_offsets}` per tensor, and `__metadata__`, a map from text
//! to text, with a checksum of everything else under `sha256`. The same tensors and metadata always give the same
//! bytes. Reading trusts nothing: every length is checked against the size of the file before memory is asked for,
//! and a checksum that differs is an error; files of older versions have none.

mod format;
mod problem;
mod tensor;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

pub use problem::TensorFileProblem;
pub use tensor::{Element, ElementType, ExpectedTensor, Tensor, TensorValues};

use super::RunError;
use super::atomic::write_atomic_with;

/// Metadata key: what kind of file it is.
const FORMAT: &str = "format";
/// Metadata key: the version of that kind.
const VERSION: &str = "format_version";

/// Named tensors and text, as they are in one safetensors file.
///
/// ```
/// use stroock::run::{ElementType, ExpectedTensor, Tensor, TensorFile};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
///
/// let mut file = TensorFile::new();
/// file.set_format("stroock-model", 1);
/// file.metadata.insert("time_unit".into(), "hours".into());
/// file.push("decoder.weight", Tensor::new(vec![2, 3], vec![0.5_f32; 6])?);
/// file.save(&path)?;
///
/// let file = TensorFile::load(&path)?;
/// file.check_format("stroock-model", 1)?;
/// file.check_tensors(&[ExpectedTensor::new("decoder.weight", ElementType::F32, &[2, 3])])?;
/// assert_eq!(file.text("time_unit")?, "hours");
/// assert_eq!(file.entries::<f32>("decoder.weight")?, [0.5; 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TensorFile {
    /// Names and tensors. A name may occur only once; the order is not kept by the file.
    pub tensors: Vec<(String, Tensor)>,
    /// Text by key.
    pub metadata: BTreeMap<String, String>,
    /// Where it was read from, for the errors of later checks.
    origin: PathBuf,
}

impl Default for TensorFile {
    fn default() -> Self {
        Self::new()
    }
}

impl TensorFile {
    /// A file without tensors and metadata.
    pub fn new() -> Self {
        TensorFile { tensors: Vec::new(), metadata: BTreeMap::new(), origin: "unsaved tensors".into() }
    }

    /// Adds a tensor.
    pub fn push(&mut self, name: impl Into<String>, tensor: Tensor) {
        self.tensors.push((name.into(), tensor));
    }

    /// Notes in the metadata what kind of file this is, and which version of that kind.
    pub fn set_format(&mut self, format: &str, version: u32) {
        self.metadata.insert(FORMAT.into(), format.into());
        self.metadata.insert(VERSION.into(), version.to_string());
    }

    /// Writes the file atomically.
    ///
    /// Tensors with NaN or infinite entries are refused: a diverged model must not replace a good one.
    pub fn save(&self, path: &Path) -> Result<(), RunError> {
        let fault = |problem| RunError::TensorFile { path: path.to_owned(), problem };
        let header = format::header(self).map_err(fault)?;
        write_atomic_with(path, |file| format::write(self, &header, file))
    }

    /// The bytes that [`TensorFile::save`] writes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RunError> {
        let fault = |problem| self.fault(problem);
        let header = format::header(self).map_err(fault)?;
        let mut bytes = Vec::new();
        let written = format::write(self, &header, &mut bytes);
        written.map_err(RunError::io("write", &self.origin))?;
        Ok(bytes)
    }

    /// Reads a file. Its entries are finite afterwards; names, shapes and versions are for the caller to check.
    pub fn load(path: &Path) -> Result<Self, RunError> {
        let file = File::open(path).map_err(RunError::io("open", path))?;
        let length = file.metadata().map_err(RunError::io("open", path))?.len();
        Self::read(path, length, BufReader::new(file))
    }

    /// Reads the bytes of a file. `origin` is what errors call it.
    pub fn from_bytes(origin: impl Into<PathBuf>, bytes: &[u8]) -> Result<Self, RunError> {
        Self::read(&origin.into(), bytes.len() as u64, bytes)
    }

    fn read(origin: &Path, length: u64, reader: impl std::io::Read) -> Result<Self, RunError> {
        let fault = |problem| RunError::TensorFile { path: origin.to_owned(), problem };
        let (tensors, metadata) = format::read(length, reader).map_err(fault)?;
        Ok(TensorFile { tensors, metadata, origin: origin.to_owned() })
    }

    /// Checks what kind of file this is, and that its version is the one that the caller reads.
    pub fn check_format(&self, format: &str, version: u32) -> Result<(), RunError> {
        let found = self.text(FORMAT)?;
        if found != format {
            let (expected, found) = (format.to_owned(), found.to_owned());
            return Err(self.fault(TensorFileProblem::Format { expected, found }));
        }
        let found = self.text(VERSION)?;
        if found != version.to_string() {
            let found = found.to_owned();
            return Err(self.fault(TensorFileProblem::Version { reads: version, found }));
        }
        Ok(())
    }

    /// The text under a metadata key.
    pub fn text(&self, key: &str) -> Result<&str, RunError> {
        let text = self.metadata.get(key).map(String::as_str);
        text.ok_or_else(|| self.fault(TensorFileProblem::MissingMetadata { key: key.to_owned() }))
    }

    /// The tensor of a name.
    pub fn tensor(&self, name: &str) -> Result<&Tensor, RunError> {
        let found = self.tensors.iter().find(|(this, _)| this == name);
        let missing = || self.fault(TensorFileProblem::Missing { names: vec![name.to_owned()] });
        found.map(|(_, tensor)| tensor).ok_or_else(missing)
    }

    /// The entries of the tensor of a name, which must be of type `T`.
    pub fn entries<T: Element>(&self, name: &str) -> Result<&[T], RunError> {
        let tensor = self.tensor(name)?;
        tensor.entries().ok_or_else(|| self.mismatch(name, T::TYPE, tensor.shape(), tensor))
    }

    /// Checks that the file has exactly the expected tensors, in any order, with their types and shapes.
    pub fn check_tensors(&self, expected: &[ExpectedTensor]) -> Result<(), RunError> {
        let found: BTreeMap<&str, &Tensor> =
            self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        let wanted: BTreeSet<&str> = expected.iter().map(|tensor| tensor.name.as_str()).collect();
        let names = |names: Vec<&&str>| names.into_iter().map(|name| name.to_string()).collect();

        let missing: Vec<_> = wanted.iter().filter(|name| !found.contains_key(*name)).collect();
        if !missing.is_empty() {
            return Err(self.fault(TensorFileProblem::Missing { names: names(missing) }));
        }
        let unexpected: Vec<_> = found.keys().filter(|name| !wanted.contains(*name)).collect();
        if !unexpected.is_empty() {
            return Err(self.fault(TensorFileProblem::Unexpected { names: names(unexpected) }));
        }
        for wanted in expected {
            let actual = found[wanted.name.as_str()];
            if actual.element_type() != wanted.element_type || actual.shape() != wanted.shape {
                return Err(self.mismatch(&wanted.name, wanted.element_type, &wanted.shape, actual));
            }
        }
        Ok(())
    }

    fn mismatch(&self, name: &str, element_type: ElementType, shape: &[usize], actual: &Tensor) -> RunError {
        self.fault(TensorFileProblem::Mismatch {
            name: name.to_owned(),
            expected: format!("{element_type} {shape:?}"),
            actual: format!("{} {:?}", actual.element_type(), actual.shape()),
        })
    }

    fn fault(&self, problem: TensorFileProblem) -> RunError {
        RunError::TensorFile { path: self.origin.clone(), problem }
    }
}
