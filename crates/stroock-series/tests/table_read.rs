//! Tables from CSV files, as their owners write them.

mod text;

use std::io::Write;

use stroock_series::Dataset;
use stroock_series::table::{Duplicates, Form, ReadOptions, Table, TableError};
use text::{assert_says, cells, files, list, names, read, read_with};

#[test]
fn long_and_wide_forms_of_a_table_are_the_same() {
    let wide = read("id,time,pulse,temp\nb,2,,37\na,0,80,36.5\na,1,NA,nan\nb,1,70,").unwrap();
    let long = read(
        "id,time,variable,value\nb,2,temp,37\nb,2,pulse,\na,0,temp,36.5\nb,1,pulse,70\na,0,pulse,80\na,1,pulse,NA",
    )
    .unwrap();
    assert_eq!(names(&wide), ["pulse", "temp"]);
    assert_eq!(names(&long), ["temp", "pulse"]);
    let expected = [
        ("b", vec![1.0, 2.0], vec![vec![Some(70.0), None], vec![None, Some(37.0)]]),
        ("a", vec![0.0, 1.0], vec![vec![Some(80.0), Some(36.5)], vec![None, None]]),
    ];
    for (index, (id, times, values)) in expected.into_iter().enumerate() {
        let (of_wide, of_long) = (&wide.data.series()[index], &long.data.series()[index]);
        assert_eq!((of_wide.id.as_str(), of_long.id.as_str()), (id, id));
        assert_eq!((&of_wide.times, &of_long.times), (&times, &times));
        assert_eq!(cells(of_wide, 2), values);
        let swapped: Vec<_> = values.iter().map(|row| vec![row[1], row[0]]).collect();
        assert_eq!(cells(of_long, 2), swapped);
    }
    assert_eq!((wide.account.rows, wide.account.values), (4, 4));
    assert_eq!((long.account.rows, long.account.values), (6, 4));
    assert!(
        matches!(&long.columns.form, Form::Long { variable, value } if variable == "variable" && value == "value")
    );
}

#[test]
fn every_way_of_writing_a_file_is_understood() {
    let plain = read("id,time,x y\nä ö,0,1.5\n\"b, c\",1,2\n").unwrap();
    assert_eq!(plain.data.series()[0].id, "ä ö");
    assert_eq!(plain.data.series()[1].id, "b, c");
    for content in [
        "id,time,x y\r\nä ö,0,1.5\r\n\"b, c\",1,2\r\n",
        "\u{feff}id,time,x y\nä ö,0,1.5\n\"b, c\",1,2",
        "id;time;x y\nä ö;0;1.5\nb, c;1;2\n",
        "id\ttime\tx y\nä ö\t0\t1.5\nb, c\t1\t2\n",
        "id|time|x y\rä ö|0|1.5\rb, c|1|2\r",
        "\"id\", \"time\" , x y\n\n ä ö ,0, 1.5 \n\n\n\"b, c\",1,2\n\n",
    ] {
        let content = content.replace("\"time\" ", "time ").replace(" \"time", " time");
        let table = read(&content).unwrap_or_else(|error| panic!("{content:?}: {error}"));
        assert_eq!(table.data, plain.data, "{content:?}");
    }
    let mut gzipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzipped.write_all(b"id,time,x y\n\xc3\xa4 \xc3\xb6,0,1.5\n\"b, c\",1,2\n").unwrap();
    assert_eq!(read(gzipped.finish().unwrap()).unwrap().data, plain.data);
}

#[test]
fn bad_cells_are_named_by_line_column_and_value() {
    let content = "id,time,temp\na,0,1\n\n\"a\nb\",1,2\na,2,abc\n";
    assert_says(
        read(content),
        &["file0.csv`, line 6, column `temp`: `abc` is not a number", "leave the cell empty"],
    );
    assert_says(read(content.replace('\n', "\r\n")), &["line 6, column `temp`: `abc`"]);
    assert_says(read("id,time,x\na,0,1\na,1,1e309\n"), &["line 3", "`x`", "1e309", "finite"]);
    assert_says(read("id,time,x\na,0,1\na,1,inf\n"), &["line 3", "inf", "finite"]);
    assert_says(read("id,time,x\na,0,1\na,1,-\n"), &["line 3", "`-` is not a number"]);
    assert_says(
        read("id,time,x\na,0,1\na,soon,2\n"),
        &["line 3", "`time`: `soon` is not a number, as the other times"],
    );
    assert_says(read("id,time,x\na,0,1\na,,2\n"), &["line 3", "column `time` is empty", "a time"]);
    assert_says(read("id,time,x\na,0,1\n,1,2\n"), &["line 3", "column `id` is empty"]);
    assert_says(read("id,time,x\na,0,1\na,1\n"), &["line 3", "2 fields, but the header has 3"]);
    assert_says(read("id,time,x\na,0,1\na,1,2,3\n"), &["line 3", "4 fields"]);
    assert_says(read(b"id,time,x\na,0,1\na\xff,1,2\n"), &["line 3", "`id`", "UTF-8"]);
    assert_says(read("id,time,variable,value\na,0,x,1\na,1,x,abc\n"), &["line 3", "column `x`: `abc`"]);
    assert_says(read("id,time,variable,value\na,0,x,1\na,1,,2\n"), &["line 3", "`variable` is empty"]);
}

#[test]
fn bad_rows_are_skipped_and_counted_and_leave_no_trace() {
    let options = ReadOptions { skip_bad_rows: true, ..ReadOptions::default() };
    let content = "id,time,x,y\na,0,1,2\nb,0,1,oops\na,x,1,2\na,1,3\na,2,,5\n";
    let table = read_with(content, &options).unwrap();
    assert_eq!(table.data.series().len(), 1);
    assert_eq!(cells(&table.data.series()[0], 2), [[Some(1.0), Some(2.0)], [None, Some(5.0)]]);
    let account = &table.account;
    assert_eq!((account.rows, account.skipped, account.values, account.merged), (5, 3, 3, 0));
    assert_eq!(account.faults.len(), 3);
    assert!(
        account.faults[0].ends_with("line 3, column `y`: `oops` is not a number"),
        "{:?}",
        account.faults
    );

    let content = "id,time,variable,value\nnew,0,other,bad\na,0,x,1\n";
    let table = read_with(content, &options).unwrap();
    assert_eq!((names(&table), table.data.series().len()), (vec!["x"], 1));
    assert_says(read_with("id,time,x\na,0\na,1\na,2,3,4\n", &options), &["none of the 3 rows", "line 2"]);
}

#[test]
fn values_and_times_are_kept_to_the_last_digit() {
    let (values, times) = ([16_777_217.0, 0.1, 1e-300, -1.797e308], [0.1, 0.3, 1e9 + 0.1, 1e15 + 0.5]);
    let rows = values.iter().zip(times).map(|(value, time)| format!("a,{time},{value}\n"));
    let table = read(format!("id,time,x\n{}", rows.collect::<String>())).unwrap();
    assert_eq!((&*table.data.series()[0].times, &*table.data.series()[0].values), (&times[..], &values[..]));
}

#[test]
fn tables_are_made_of_columns_in_memory() {
    let (ids, times, x) = (["b", "a", "b"], [2.0, 0.0, 1.0], [0.1, f64::NAN, 16_777_217.0]);
    let table = Table::from_columns(&ids, &times, &[("x", &x)]).unwrap();
    assert_eq!(cells(&table.data.series()[0], 1), [[Some(16_777_217.0)], [Some(0.1)]]);
    assert_eq!(cells(&table.data.series()[1], 1), [[None]]);
    assert_eq!((table.account.rows, table.account.values), (3, 2));
    assert_eq!(table.data, read("id,time,x\nb,2,0.1\na,0,\nb,1,16777217\n").unwrap().data);
    assert_says(Table::from_columns(&ids, &times, &[("x", &x[1..])]), &["`x` has 2", "3 ids"]);
    assert_says(Table::from_columns(&["a", "a"], &[0.0, 0.0], &[("x", &x[..2])]), &["series `a`", "time 1"]);
    assert_says(Table::from_columns(&["a"], &[0.0], &[("x", &[f64::INFINITY])]), &["not finite"]);
}

#[test]
fn duplicated_times_are_refused_or_merged() {
    let content = "id,time,x,y\na,1,1,5\na,0,7,\na,1,3,\na,1,,6\n";
    assert_says(read(content), &["line 4: series `a` has a second `x` at time 1", "line 2)"]);
    let with =
        |duplicates| read_with(content, &ReadOptions { duplicates, ..ReadOptions::default() }).unwrap();
    let (mean, last) = (with(Duplicates::Mean), with(Duplicates::Last));
    assert_eq!(cells(&mean.data.series()[0], 2), [[Some(7.0), None], [Some(2.0), Some(5.5)]]);
    assert_eq!(cells(&last.data.series()[0], 2), [[Some(7.0), None], [Some(3.0), Some(6.0)]]);
    assert_eq!((mean.account.values, mean.account.merged), (5, 2));
    assert_eq!((last.account.values, last.account.merged), (5, 2));
    let refused = read("time,x\n0,1\n0,2\n").unwrap_err();
    assert!(matches!(refused, TableError::Duplicate { has_id: false, .. }), "{refused}");
    // Rows of one time that tell of different variables do not contradict each other.
    assert_eq!(cells(&read("time,x,y\n0,1,\n0,,2\n").unwrap().data.series()[0], 2), [[Some(1.0), Some(2.0)]]);
    assert!(read("time,x\n0,1\n-0,2\n").is_err(), "minus zero is zero");
}

#[test]
fn several_files_are_one_table() {
    let (_folder, paths) = files(&[b"id,time,x,y\na,0,1,2\n", b"y,x,time,id\n4,3,1,a\n6,5,0,b\n"]);
    let table = Table::read(&paths, &ReadOptions::default()).unwrap();
    assert_eq!(table.data.series()[0].values, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!((table.data.series()[1].id.as_str(), table.account.files, table.account.rows), ("b", 2, 3));
    let (_folder, paths) = files(&[b"time,x\n0,1\n1,2\n", b"time,x\n0,3\n", b"time,x\n0,3\n0,4\n"]);
    let table = Table::read(&paths[..2], &ReadOptions::default()).unwrap();
    let ids: Vec<_> = table.data.series().iter().map(|series| series.id.as_str()).collect();
    assert_eq!(ids, ["file0", "file1"]);
    assert_says(Table::read(&paths, &ReadOptions::default()), &["file2.csv`, line 3", "file2.csv`, line 2"]);
    let (_folder, paths) = files(&[b"time,x\n0,1\n", b"time,y\n0,3\n"]);
    assert_says(Table::read(&paths, &ReadOptions::default()), &["file1.csv` lacks the column `x`"]);
    let (_folder, paths) = files(&[b"time,x\n0,1\n", b"time,x,y\n0,3,1\n"]);
    assert_says(Table::read(&paths, &ReadOptions::default()), &["file1.csv` has the column `y`"]);
    assert_says(Table::read(&[], &ReadOptions::default()), &["no file"]);
    assert_says(Dataset::read("does/not/exist.csv"), &["does/not/exist.csv"]);
}

#[test]
fn missing_marks_are_an_option() {
    let options = ReadOptions { missing: list(&["?", "-999"]), ..ReadOptions::default() };
    let table = read_with("t,x\n0,?\n1,-999.0\n2,5\n3,\n", &options).unwrap();
    assert_eq!(cells(&table.data.series()[0], 1), [[None], [None], [Some(5.0)], [None]]);
    assert_says(read_with("t,x\n0,1\n1,NA\n", &options), &["`NA` is not a number"]);
}

#[test]
fn too_many_variables_are_refused_before_memory_ends() {
    let mut content = "id,time,variable,value\n".to_owned();
    (0..40_000).for_each(|row| content.push_str(&format!("a,{row},v{row},1\n")));
    assert_says(read(content), &["40000 times with 40000 variables", "fewer"]);
}

/// Run by the next test in a process of its own, with a table at its standard input.
#[test]
#[ignore = "waits for a table at the standard input"]
fn standard_input() {
    let table = Dataset::read("-").unwrap();
    assert_eq!((table.data.series()[0].id.as_str(), table.account.rows), ("series", 2));
}

#[test]
fn the_standard_input_is_a_file() {
    let this = std::env::current_exe().unwrap();
    let run = |content: &[u8]| {
        let mut child = std::process::Command::new(&this)
            .args(["--ignored", "--exact", "standard_input"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(content).unwrap();
        child.wait().unwrap().success()
    };
    assert!(run(b"time,x\n0,1\n1,2\n"));
    assert!(!run(b"time,x\n0,1\n"), "one row too few");
}
