//! Checks of folders that are already there.

use std::fs;

use flate2::Compression;
use flate2::write::GzEncoder;
use stroock_experiments::data::check::FileState;
use stroock_experiments::data::content::{Content, sha256};
use stroock_experiments::data::{CheckReport, DataError, DataFolder, LineProblem, check, source};
use stroock_testing::golden::shared_folder;

fn check_real(name: &str) -> Option<CheckReport> {
    let folder = DataFolder::find(Some(&shared_folder()?.join("data"))).unwrap();
    Some(check(source::find(name).unwrap(), &folder))
}

#[test]
fn published_folders_are_whole() {
    for (name, files) in [("physionet2012", 6), ("mnist", 4), ("beijing-pm25", 1)] {
        let Some(report) = check_real(name) else { return };
        assert!(report.is_whole() && report.is_usable(), "{report:#?}");
        assert_eq!(report.files.len(), files);
        for file in &report.files {
            assert_eq!(file.state, FileState::Whole);
            assert!(file.bytes > 4_000 && file.counts.iter().all(|count| count.found == count.expected));
            assert_eq!(file.is_checksummed, name == "mnist");
        }
    }
}

#[test]
fn a_part_is_usable_but_not_whole() {
    let Some(report) = check_real("activity") else { return };
    assert!(report.is_usable() && !report.is_whole());
    let file = &report.files[0];
    assert!(matches!(&file.state, FileState::Part(what) if what.contains("persons A, B only")), "{file:?}");
    assert_eq!((file.counts[0].found, file.counts[0].expected), (57_623, 164_860));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["files"][0]["counts"][0]["found"], 57_623);
    assert_eq!(json["files"][0]["state"]["is"], "part");
}

#[test]
fn missing_and_damaged_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::find(Some(folder.path())).unwrap();
    let mnist = source::find("mnist").unwrap();
    let report = check(mnist, &data);
    assert!(!report.is_usable() && report.files.iter().all(|file| file.state == FileState::Missing));

    fs::create_dir(data.of(mnist)).unwrap();
    fs::write(data.of(mnist).join("train-labels-idx1-ubyte.gz"), "not it").unwrap();
    // An unpacked file has no checksum of the publisher, but content.
    fs::write(data.of(mnist).join("t10k-labels-idx1-ubyte"), [0, 0, 8, 1, 0, 0, 0, 1, 7]).unwrap();
    let report = check(mnist, &data);
    let state = |name: &str| &report.files.iter().find(|file| file.name == name).unwrap().state;
    assert!(
        matches!(state("train-labels-idx1-ubyte.gz"), FileState::Damaged(why) if why.contains("SHA-256"))
    );
    let why = "has 1 labels, but 10000 are published";
    assert!(matches!(state("t10k-labels-idx1-ubyte.gz"), FileState::Damaged(what) if what.contains(why)));
}

#[test]
fn extras_may_be_missing() {
    let Some(shared) = shared_folder() else { return };
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::find(Some(folder.path())).unwrap();
    let physionet = source::find("physionet2012").unwrap();
    fs::create_dir(data.of(physionet)).unwrap();
    for file in physionet.files.iter().filter(|file| !file.is_extra) {
        fs::copy(shared.join("data/physionet2012").join(file.name), data.of(physionet).join(file.name))
            .unwrap();
    }
    assert!(check(physionet, &data).is_whole());
    let outcomes = data.of(physionet).join("Outcomes-b.txt");
    let text = fs::read_to_string(&outcomes).unwrap();
    fs::remove_file(&outcomes).unwrap();
    fs::write(&outcomes, text.lines().take(100).collect::<Vec<_>>().join("\n")).unwrap();
    let report = check(physionet, &data);
    assert!(!report.is_usable());
    assert!(matches!(&report.files[3].state, FileState::Damaged(why) if why.contains("has 99 stays")));
}

#[test]
fn air_quality_is_checked_by_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("air.csv");
    let header = "No,year,month,day,hour,pm2.5,DEWP,TEMP,PRES,cbwd,Iws,Is,Ir\r\n";
    let row = "1,2010,1,1,0,NA,-21,-11,1021,NW,1.79,0,0\r\n";
    let content = Content::BeijingPm25 { rows: 2, missing: 1 };
    fs::write(&path, format!("{header}{row}{}", row.replace("NA", "129"))).unwrap();
    assert_eq!(content.examine(&path).unwrap().counts.len(), 2);
    fs::write(&path, format!("{header}{row}{row}")).unwrap();
    assert!(
        content.examine(&path).unwrap_err().to_string().contains("has 2 missing values, but 1 are published")
    );
    fs::write(&path, format!("{header}{row}1,2\r\n")).unwrap();
    let error = content.examine(&path).unwrap_err();
    assert!(matches!(error, DataError::Line { line: 3, problem: LineProblem::Columns { found: 2, .. }, .. }));
    fs::write(&path, row).unwrap();
    assert!(matches!(content.examine(&path), Err(DataError::Line { line: 1, .. })));
}

#[test]
fn checksums_are_those_of_the_standard() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abc");
    fs::write(&path, "abc").unwrap();
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(&path).unwrap(), (expected.to_owned(), 3));
    // A packed file is hashed as it lies there.
    std::io::Write::write_all(
        &mut GzEncoder::new(fs::File::create(&path).unwrap(), Compression::fast()),
        b"abc",
    )
    .unwrap();
    assert_ne!(sha256(&path).unwrap().0, expected);
}
