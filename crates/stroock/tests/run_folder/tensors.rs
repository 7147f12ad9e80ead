use std::fs;
use std::path::Path;

use proptest::prelude::*;
use stroock::run::{ElementType, ExpectedTensor, RunError, Tensor, TensorFile, TensorFileProblem};

fn sample() -> TensorFile {
    let mut file = TensorFile::new();
    file.set_format("stroock-model", 2);
    file.metadata.insert("config".into(), "seed = 1\n[encoder]\nhidden = 64\n\"ü\"".into());
    file.push("bytes", Tensor::new(vec![3], vec![1_u8, 2, 255]).unwrap());
    file.push("weight", Tensor::new(vec![2, 2], vec![1.5_f32, -0.0, f32::MIN_POSITIVE, f32::MAX]).unwrap());
    file.push("scale", Tensor::new(vec![], vec![0.1_f64]).unwrap());
    file.push("steps", Tensor::new(vec![2], vec![i64::MIN, i64::MAX]).unwrap());
    file.push("none", Tensor::new(vec![4, 0], Vec::<f32>::new()).unwrap());
    file.push("more", Tensor::new(vec![1], vec![-7_i32]).unwrap());
    file.push("keys", Tensor::new(vec![2], vec![u64::MAX, 0]).unwrap());
    file.push("few", Tensor::new(vec![1], vec![u32::MAX]).unwrap());
    file
}

fn by_name(file: &TensorFile) -> Vec<&(String, Tensor)> {
    let mut tensors: Vec<_> = file.tensors.iter().collect();
    tensors.sort_by_key(|(name, _)| name);
    tensors
}

fn problem(result: Result<impl Sized, RunError>) -> TensorFileProblem {
    match result {
        Err(RunError::TensorFile { problem, .. }) => problem,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("no error"),
    }
}

fn parse(bytes: &[u8]) -> Result<TensorFile, RunError> {
    TensorFile::from_bytes("test", bytes)
}

/// A file with this header and so many bytes of data.
fn raw(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(vec![0; data]);
    bytes
}

#[test]
fn what_is_saved_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let saved = sample();
    saved.save(&path).unwrap();
    let loaded = TensorFile::load(&path).unwrap();
    assert_eq!(by_name(&loaded), by_name(&saved));
    assert_eq!(loaded.metadata, saved.metadata);
    assert_eq!(loaded.entries::<i64>("steps").unwrap(), [i64::MIN, i64::MAX]);
    assert_eq!(fs::read(&path).unwrap(), saved.to_bytes().unwrap());
}

#[test]
fn the_bytes_do_not_depend_on_the_order_and_the_reference_reader_takes_them() {
    let mut reversed = sample();
    reversed.tensors.reverse();
    let bytes = sample().to_bytes().unwrap();
    assert_eq!(reversed.to_bytes().unwrap(), bytes);
    let reference = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let weight = reference.tensor("weight").unwrap();
    assert_eq!((weight.dtype(), weight.shape()), (safetensors::Dtype::F32, &[2, 2][..]));
    assert_eq!(weight.data()[..4], 1.5_f32.to_le_bytes());
    assert_eq!(weight.data().as_ptr().addr() % 4, bytes.as_ptr().addr() % 4, "the numbers are aligned");
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    sample().save(&path).unwrap();
    let good = fs::read(&path).unwrap();

    let mut diverged = sample();
    diverged.push("late", Tensor::new(vec![3], vec![1.0_f32, 2.0, f32::NAN]).unwrap());
    let found = problem(diverged.save(&path));
    assert_eq!(found.to_string(), "tensor `late` is not finite at index 2 (it is NaN)");
    for name in ["weight", "__metadata__"] {
        let mut file = sample();
        file.push(name, Tensor::new(vec![], vec![1.0_f32]).unwrap());
        assert!(matches!(problem(file.save(&path)), TensorFileProblem::Name { .. }));
    }
    assert_eq!(fs::read(&path).unwrap(), good);
    for shape in [vec![3], vec![2, 2], vec![usize::MAX, usize::MAX, 2]] {
        assert!(matches!(Tensor::new(shape, vec![1.0_f32; 2]), Err(TensorFileProblem::Length { .. })));
    }
}

#[test]
fn kind_version_and_metadata_are_checked() {
    let file = sample();
    file.check_format("stroock-model", 2).unwrap();
    let found = problem(file.check_format("stroock-model", 1)).to_string();
    assert!(found.contains("format version 2") && found.contains("reads 1"), "{found}");
    let found = problem(file.check_format("stroock-optimiser", 2)).to_string();
    assert!(found.contains("`stroock-model`") && found.contains("`stroock-optimiser`"), "{found}");
    assert!(
        matches!(problem(file.text("units")), TensorFileProblem::MissingMetadata { key } if key == "units")
    );
    let found = problem(TensorFile::new().check_format("stroock-model", 1));
    assert!(matches!(found, TensorFileProblem::MissingMetadata { .. }));
}

#[test]
fn names_types_and_shapes_are_compared_with_what_is_expected() {
    let mut file = TensorFile::new();
    file.push("a", Tensor::new(vec![2], vec![1.0_f32; 2]).unwrap());
    file.push("b", Tensor::new(vec![1, 3], vec![1.0_f32; 3]).unwrap());
    let a = ExpectedTensor::new("a", ElementType::F32, &[2]);
    let b = ExpectedTensor::new("b", ElementType::F32, &[1, 3]);
    file.check_tensors(&[b.clone(), a.clone()]).unwrap();

    let c = ExpectedTensor::new("c", ElementType::F32, &[1]);
    let words = |expected: &[ExpectedTensor]| problem(file.check_tensors(expected)).to_string();
    assert!(words(&[a.clone(), b.clone(), c]).starts_with("lacks tensor `c`:"));
    assert!(words(&[]).starts_with("has the unexpected tensors `a`, `b`:"));
    let turned = ExpectedTensor::new("b", ElementType::F32, &[3, 1]);
    assert_eq!(words(&[a, turned]), "tensor `b` is f32 [1, 3], but f32 [3, 1] is needed");
    let wide = ExpectedTensor::new("a", ElementType::F64, &[2]);
    assert_eq!(words(&[wide, b]), "tensor `a` is f32 [2], but f64 [2] is needed");
    assert!(matches!(problem(file.entries::<f64>("a")), TensorFileProblem::Mismatch { .. }));
    assert!(matches!(problem(file.entries::<f64>("z")), TensorFileProblem::Missing { .. }));
}

#[test]
fn the_file_is_named_in_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    assert!(TensorFile::load(&path).unwrap_err().to_string().contains("model.safetensors"));
    sample().save(&path).unwrap();
    let error = TensorFile::load(&path).unwrap().check_format("other", 1).unwrap_err();
    assert!(error.to_string().contains("model.safetensors"), "{error}");
    assert!(TensorFile::load(Path::new(folder.path())).is_err(), "a folder");
}

#[test]
fn a_file_cut_at_any_byte_is_cut_short() {
    let bytes = sample().to_bytes().unwrap();
    for length in 0..bytes.len() {
        match problem(parse(&bytes[..length])) {
            TensorFileProblem::Truncated { actual, expected } => {
                assert!(actual == length as u64 && expected > actual);
            }
            other => panic!("cut at {length}: {other}"),
        }
    }
    let longer = [&bytes[..], b"more"].concat();
    assert!(matches!(problem(parse(&longer)), TensorFileProblem::NotSafetensors { .. }));
}

#[test]
fn a_corrupt_header_neither_panics_nor_takes_memory() {
    let tensor = |dtype: &str, shape: &str, start: u64, end: u64| {
        format!(r#""{start}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#)
    };
    let eighth = 1_u64 << 60;
    let huge: Vec<_> =
        (0..15).map(|i| tensor("U8", &format!("[{eighth}]"), i * eighth, (i + 1) * eighth)).collect();
    // The end of the last tensor, plus the header, is more than 2^64.
    let rest = u64::MAX - 15 * eighth;
    let last = tensor("U8", &format!("[{rest}]"), 15 * eighth, u64::MAX);
    let headers = [
        tensor("F32", "[4]", 0, 15),
        tensor("F32", "[4]", 16, 0),
        tensor("F32", "[4611686018427387904, 4]", 0, 16),
        tensor("F32", "[18446744073709551615, 18446744073709551615]", 0, 16),
        tensor("F32", "[99999999999999999999]", 0, 16),
        tensor("F32", "[-1]", 0, 16),
        tensor("F32", "[4000000000000]", 0, 16_000_000_000_000),
        tensor("F16", "[8]", 0, 16),
        tensor("WHAT", "[4]", 0, 16),
        huge.join(","),
        format!("{},{last}", huge.join(",")),
        "\"__metadata__\":{\"a\":1}".to_owned(),
        "\"__metadata__\":[]".to_owned(),
        format!("\"a\":{}", "[".repeat(100_000)),
    ];
    for header in headers {
        problem(parse(&raw(&format!("{{{header}}}"), 16)));
    }
    for prefix in [u64::MAX, u64::MAX - 7, 100_000_001, 1 << 40] {
        let mut bytes = raw("{}", 0);
        bytes[..8].copy_from_slice(&prefix.to_le_bytes());
        assert!(matches!(problem(parse(&bytes)), TensorFileProblem::NotSafetensors { .. }));
    }
    for text in [
        "time,value\n0.0,1.0\n0.5,1.5\n",
        "PK\u{3}\u{4} a zip archive",
        "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
    ] {
        assert!(matches!(problem(parse(text.as_bytes())), TensorFileProblem::NotSafetensors { .. }));
    }
    let half = raw(&format!("{{{}}}", tensor("F16", "[8]", 0, 16)), 16);
    assert!(matches!(problem(parse(&half)), TensorFileProblem::ElementType { .. }));
}

#[test]
fn entries_that_are_not_finite_are_named() {
    let mut file = TensorFile::new();
    file.push("w", Tensor::new(vec![3], vec![1.0_f64; 3]).unwrap());
    let mut bytes = file.to_bytes().unwrap();
    let at = bytes.len() - 8;
    bytes[at..].copy_from_slice(&f64::INFINITY.to_le_bytes());
    assert_eq!(problem(parse(&bytes)).to_string(), "tensor `w` is not finite at index 2 (it is inf)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn damaged_files_are_read_or_refused_without_a_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = sample().to_bytes().unwrap();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(file) = parse(&bytes) {
            prop_assert!(!is_cut);
            // What is accepted can be written and read again.
            let again = parse(&file.to_bytes().unwrap()).unwrap();
            prop_assert_eq!(by_name(&again), by_name(&file));
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }
}

#[test]
fn a_flipped_bit_is_noticed() {
    let bytes = sample().to_bytes().unwrap();
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut noticed = 0;
    for place in header..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        match problem(parse(&damaged)) {
            TensorFileProblem::Checksum | TensorFileProblem::NotFinite { .. } => noticed += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!(noticed, bytes.len() - header);
    // So is a letter of the metadata.
    let text = String::from_utf8_lossy(&bytes[8..header]).into_owned();
    let place = 8 + text.find("hidden").expect("the sample has a configuration");
    let mut damaged = bytes.clone();
    damaged[place] = b'H';
    assert!(matches!(problem(parse(&damaged)), TensorFileProblem::Checksum));
    // A file of an older version has no checksum.
    let file =
        parse(&raw(r#"{"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, 4));
    assert_eq!(file.unwrap().entries::<f32>("w").unwrap(), [0.0]);
    assert!(!parse(&bytes).unwrap().metadata.contains_key("sha256"), "it is about the file, not of it");
}
