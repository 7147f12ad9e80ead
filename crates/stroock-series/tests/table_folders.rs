//! Tables in many files: folders, patterns, and series that are spread over them.

use std::fs;
use std::path::{Path, PathBuf};

use stroock_series::table::{Column, DataFrame, ReadOptions, Table, TableError};

fn read(paths: &[PathBuf]) -> Result<Table, TableError> {
    Table::read(paths, &ReadOptions::default())
}

/// Three parts of a table: a series goes on in another part and another format, below another folder.
fn parts(folder: &Path) {
    fs::create_dir_all(folder.join("2024/deep")).unwrap();
    fs::write(folder.join("2024/part-1.csv"), "id,time,x\na,0,1\nb,0,10\na,1,2\n").unwrap();
    fs::write(folder.join("2024/deep/part-2.csv"), "time,id,x\n2,a,3\n1,b,11\n").unwrap();
    let data_frame = DataFrame {
        names: ["id", "time", "x"].map(String::from).to_vec(),
        columns: vec![
            Column::Text(vec!["a".into(), "c".into()]),
            Column::Number(vec![3.0, 0.5]),
            Column::Number(vec![4.0, f64::NAN]),
        ],
    };
    data_frame.save(&folder.join("2024/part-3.parquet")).unwrap();
    // What other programs leave behind is no part of it.
    fs::write(folder.join("2024/_SUCCESS"), "").unwrap();
    fs::write(folder.join("2024/.part-1.csv.crc"), "x").unwrap();
    fs::write(folder.join("2024/notes.md"), "# no table").unwrap();
}

#[test]
fn a_folder_and_a_pattern_are_one_table() {
    let folder = tempfile::tempdir().unwrap();
    parts(folder.path());
    let year = folder.path().join("2024");
    let named = [year.join("deep/part-2.csv"), year.join("part-1.csv"), year.join("part-3.parquet")];
    let expected = read(&named).unwrap();
    assert_eq!(expected.data.series()[0].id, "a");
    assert_eq!(expected.data.series()[0].times, [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(expected.data.series()[0].values, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(expected.account.files, 3);
    let patterns = ["2024", ".", "20[12]?", "2024/**/part-*", "**/part-[1-3].*"];
    for pattern in patterns {
        let table = read(&[folder.path().join(pattern)]).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        assert_eq!(table, expected, "{pattern}");
    }
    let csv = read(&[year.join("*.csv")]).unwrap();
    assert_eq!((csv.account.files, csv.account.rows), (1, 3));
}

#[test]
fn a_name_that_looks_like_a_pattern_is_a_file_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a[1].csv");
    fs::write(&path, "id,time,x\na,0,1\n").unwrap();
    assert_eq!(read(&[path]).unwrap().account.rows, 1);
}

#[test]
fn faults_name_the_file_and_the_row() {
    let folder = tempfile::tempdir().unwrap();
    parts(folder.path());
    let place = |error: TableError| error.to_string();
    let twice = folder.path().join("2024/part-4.csv");
    fs::write(&twice, "id,time,x\nb,1,12\n").unwrap();
    let said = place(read(&[folder.path().join("2024")]).unwrap_err());
    assert!(said.contains("part-4.csv`, line 2") && said.contains("deep/part-2.csv`, line 3"), "{said}");
    fs::write(&twice, "id,time,x\nb,2,12\nb,3,many\n").unwrap();
    let said = place(read(&[folder.path().join("2024/*.csv")]).unwrap_err());
    assert!(said.contains("part-4.csv`, line 3") && said.contains("`many` is not a number"), "{said}");
}

#[test]
fn nothing_to_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for place in ["empty", "*.csv", "nowhere-*/x?.csv"] {
        let error = read(&[folder.path().join(place)]).unwrap_err();
        assert!(matches!(error, TableError::NoTables { .. }), "{place}: {error}");
    }
    assert!(matches!(read(&[folder.path().join("x.csv")]).unwrap_err(), TableError::Io { .. }));
}
