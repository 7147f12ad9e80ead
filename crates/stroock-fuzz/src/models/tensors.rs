//! Safetensors files as such: header, offsets, shapes, metadata.

use stroock::run::{ElementType, ExpectedTensor, TensorFile};

/// The input is a file.
pub fn run(data: &[u8]) {
    let file = match TensorFile::from_bytes("input", data) {
        Ok(file) => file,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let all: usize = file.tensors.iter().map(|(_, tensor)| tensor.values().len()).sum();
    assert!(all <= data.len(), "no more numbers than bytes");
    let _ = file.check_format("stroock-model", 2);
    let _ = file.check_tensors(&[ExpectedTensor::new("weight", ElementType::F32, &[2, 3])]);
    let _ = file.entries::<f32>("weight");
    // What was read can be written, and is then the same.
    if let Ok(bytes) = file.to_bytes() {
        let again = TensorFile::from_bytes("again", &bytes).expect("what was written can be read");
        assert_eq!(again.tensors.len(), file.tensors.len());
    }
}
