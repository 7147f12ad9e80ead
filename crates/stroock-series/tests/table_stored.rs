//! Tables that go through a temporary file are the same as those in memory.

mod text;

use std::path::PathBuf;

use stroock_series::table::{
    AnyTable, Duplicates, Overview, ReadOptions, Room, Sampling, StoredTable, Table, TableError,
};
use stroock_series::{Dataset, SeriesSource};
use text::files;

/// Room for a few dozen rows: everything else goes to the file, in many parts.
fn little() -> Room {
    Room { memory: 16_000, scratch: std::env::temp_dir() }
}

/// The same table in memory.
fn gathered(table: &StoredTable) -> Table {
    let numbers: Vec<usize> = (0..table.data.len()).collect();
    table.gather(&numbers).unwrap()
}

/// A table whose series go on in every file, with gaps, a static number, a class, and rows in no order.
fn scattered(dates: bool) -> Vec<String> {
    let mut files = Vec::new();
    for file in 0..3 {
        let mut text = String::from("patient,time,age,pulse,load,state\n");
        for row in 0..400_u32 {
            let place = row * 37 % 400;
            let (patient, step) = (place % 23, file * 20 + place / 23);
            let when = match dates {
                true => format!("2024-{:02}-01", 1 + (step * 7 + patient) % 12),
                false => format!("{}", f64::from(step) + f64::from(patient) * 0.01),
            };
            let pulse = if place % 5 == 0 { String::new() } else { format!("{}", 60 + place % 41) };
            let load = f64::from(place * place % 101) * 0.25;
            text += &format!("p{patient},{when},{},{pulse},{load},{}\n", 40 + patient, patient % 3);
        }
        files.push(text);
    }
    files
}

fn options() -> ReadOptions {
    ReadOptions {
        statics: vec!["age".into()],
        label: Some("state".into()),
        duplicates: Duplicates::Mean,
        ..ReadOptions::default()
    }
}

fn written(texts: &[String]) -> (tempfile::TempDir, Vec<PathBuf>) {
    files(&texts.iter().map(String::as_bytes).collect::<Vec<_>>())
}

#[test]
fn series_are_the_same_in_memory_and_in_a_file() {
    for dates in [false, true] {
        let (_folder, paths) = written(&scattered(dates));
        let expected = Table::read(&paths, &options()).unwrap();
        let stored = StoredTable::store(&paths, &options(), &little()).unwrap();
        assert_eq!(gathered(&stored), expected);
        match AnyTable::read(&paths, &options(), &little()).unwrap() {
            AnyTable::Stored(table) => assert_eq!(gathered(&table), expected),
            AnyTable::Memory(_) => panic!("1 200 rows do not fit into two kilobytes"),
        }
        match AnyTable::read(&paths, &options(), &Room::default()).unwrap() {
            AnyTable::Memory(table) => assert_eq!(table, expected),
            AnyTable::Stored(_) => panic!("1 200 rows fit into memory"),
        }
    }
}

#[test]
fn long_tables_and_classes_of_times_are_the_same_too() {
    let mut text = String::from("id,time,variable,value,label\n");
    for row in 0..500 {
        let (series, time) = (row * 7 % 11, row / 11);
        text += &format!("s{series},{time},v{},{},{}\n", row % 3, row, (row / 50) % 2);
    }
    let (_folder, paths) = written(&[text]);
    let options = ReadOptions { label: Some("label".into()), ..ReadOptions::default() };
    let expected = Table::read(&paths, &options).unwrap();
    assert!(expected.columns.label.as_ref().is_some_and(|label| label.per_time));
    assert_eq!(gathered(&StoredTable::store(&paths, &options, &little()).unwrap()), expected);
}

#[test]
fn windows_and_origins_are_the_same() {
    let (_folder, paths) = written(&scattered(false));
    for sampling in [
        Sampling { window: Some(10.0), align: stroock_series::table::Align::Start },
        Sampling { window: None, align: stroock_series::table::Align::Start },
        Sampling::default(),
    ] {
        let expected = Table::read(&paths, &options()).unwrap().sampled(sampling);
        let stored = StoredTable::store(&paths, &options(), &little()).unwrap();
        assert_eq!(gathered(&stored.sampled_stored(sampling).unwrap()), expected);
    }
}

#[test]
fn faults_are_told_in_the_same_words() {
    let mut texts = scattered(false);
    texts[2] += "p3,0.03,43,99,1,0\n";
    let (_folder, paths) = written(&texts);
    let options = ReadOptions { duplicates: Duplicates::Error, ..options() };
    let in_memory = Table::read(&paths, &options).unwrap_err().to_string();
    let stored = StoredTable::store(&paths, &options, &little()).unwrap_err().to_string();
    assert_eq!(stored, in_memory);
    assert!(stored.contains("file2.csv`, line 402") && stored.contains("file0.csv`, line "), "{stored}");
    let no_folder = Room { scratch: "/nowhere/at/all".into(), ..little() };
    let refused =
        StoredTable::store(&paths, &ReadOptions { duplicates: Duplicates::Mean, ..options }, &no_folder);
    assert!(matches!(refused, Err(TableError::Series(_))));
}

#[test]
fn an_overview_is_the_same_for_a_reader() {
    let mut codes = String::from("id,time,x,y,z\n");
    for row in 0..600_i32 {
        let (series, time) = (row % 8, row / 8);
        let x = if row % 50 == 7 { -999 } else { row % 13 };
        let y = if row == 77 { 1e7 } else { f64::from(row % 29).exp() };
        codes += &format!("{series},{time},{x},{y},{}\n", if series < 2 { time } else { row });
    }
    let tables = [scattered(false), scattered(true), vec![codes]];
    for (index, texts) in tables.iter().enumerate() {
        let (_folder, paths) = written(texts);
        let options = if index == 2 { ReadOptions::default() } else { options() };
        let expected = Overview::of(&Table::read(&paths, &options).unwrap());
        let stored = StoredTable::store(&paths, &options, &little()).unwrap();
        let overview = Overview::of_stored(&stored, &little()).unwrap();
        assert_eq!(overview.text(), expected.text());
        for (found, expected) in overview.variables.iter().zip(&expected.variables) {
            let medians = [found, expected].map(|one| one.summary.map(|all| (all.min, all.median, all.max)));
            assert_eq!(medians[0], medians[1]);
            assert_eq!(
                (found.count, found.distinct, found.longest_gap),
                (expected.count, expected.distinct, expected.longest_gap)
            );
        }
        assert_eq!(overview.gaps, expected.gaps);
    }
}

#[test]
fn series_in_a_file_are_those_of_a_data_set() {
    let (_folder, paths) = written(&scattered(false));
    let stored = StoredTable::store(&paths, &options(), &little()).unwrap();
    let expected = Table::read(&paths, &options()).unwrap().data;
    let some = Dataset::gather(&stored.data, &[7, 0, 7]).unwrap();
    assert_eq!(some.series()[0], expected.series()[7]);
    assert_eq!(some.series()[1], expected.series()[0]);
    let mut count = 0;
    let visit = &mut |number: usize, series: &_| {
        assert_eq!((number, series), (count, &expected.series()[count]));
        count += 1;
        Ok(())
    };
    stored.data.for_each(visit).unwrap();
    assert_eq!(count, expected.series().len());
}
