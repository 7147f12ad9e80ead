//! The ways in which tables write dates, decimals and gaps.

mod text;

use stroock_series::table::{CalendarStep, DateFormat, Overview, ReadOptions, Table, TableError, TimeScale};
use text::{assert_says, cells, files, list, names, read, read_with};

const DAY: f64 = 86_400.0;

/// The times of the only series, and how they are written.
fn times(content: &str) -> (Vec<f64>, TimeScale) {
    let table = read(content).unwrap();
    (table.data.series()[0].times.clone(), table.time)
}

fn format(scale: &TimeScale) -> DateFormat {
    let TimeScale::Date { format, .. } = scale else { panic!("{scale:?} has no dates") };
    *format
}

fn calendar(scale: &TimeScale) -> Option<CalendarStep> {
    let TimeScale::Date { calendar, .. } = scale else { panic!("{scale:?} has no dates") };
    *calendar
}

#[test]
fn dates_with_the_year_last_are_read_where_their_order_is_certain() {
    for (content, expected) in [
        ("date,x\n31.12.1970,1\n01.01.1971,2\n", DateFormat::Dmy),
        // Nobody writes the month first with points.
        ("date,x\n02.01.1970,1\n03.01.1970,2\n", DateFormat::Dmy),
        ("date,x\n31/12/1970,1\n1/1/1971,2\n", DateFormat::Dmy),
        ("date,x\n12/31/1970,1\n1/1/1971,2\n", DateFormat::Mdy),
        ("date,x\n12-31-1970,1\n01-01-1971,2\n", DateFormat::Mdy),
    ] {
        let (read, scale) = times(content);
        assert_eq!(format(&scale), expected, "{content}");
        assert_eq!(read[1] - read[0], DAY, "{content}");
    }
    assert_eq!(times("date,x\n02.01.1970 06:30,1\n31.01.1970,2\n").0[0], DAY + 6.5 * 3600.0);
    assert_eq!(
        times("date,x\n1/2/1970 2:05:30 PM,1\n1/31/1970 12:00 am,2\n").0[0],
        DAY + 14.0 * 3600.0 + 330.0
    );
    // An order that is certain at first is held to.
    assert_says(
        read("date,x\n30/12/2024,1\n31/12/2024,1\n12/31/2024,2\n"),
        &["line 4", "12/31/2024", "day first"],
    );
    assert_says(read("date,x\n31/12/2024,1\n12/31/2024,2\n"), &["`date`", "day or the month"]);
}

#[test]
fn an_order_that_cannot_be_seen_is_asked_for() {
    let content = "date,x\n01/02/2024,1\n03/02/2024,2\n";
    assert_says(read(content), &["`date`", "01/02/2024", "day or the month"]);
    let said = |format| ReadOptions { date_format: Some(format), ..ReadOptions::default() };
    let dates = |format| {
        let table = read_with(content, &said(format)).unwrap();
        table.data.series()[0].times.iter().map(|time| table.time.write(*time)).collect::<Vec<_>>()
    };
    assert_eq!(dates(DateFormat::Dmy), ["2024-02-01T00:00:00Z", "2024-02-03T00:00:00Z"]);
    assert_eq!(dates(DateFormat::Mdy), ["2024-01-02T00:00:00Z", "2024-03-02T00:00:00Z"]);
    // What is said goes before what is seen.
    assert_says(
        read_with("date,x\n31/12/2024,1\n", &said(DateFormat::Mdy)),
        &["31/12/2024", "month first", "line 2"],
    );
    // Times of the user are read in the order of the table.
    let (_, scale) = times("date,x\n31/12/1970,1\n1/1/1971,2\n");
    assert_eq!(scale.parse("2/1/1971"), scale.parse("1971-01-02"));
}

#[test]
fn a_model_knows_the_order_of_its_dates() {
    let first = read("date,x\n31/12/2024,1\n01/01/2025,2\n").unwrap();
    let expect = stroock_series::table::Expectation {
        variables: first.variables.clone(),
        classes: Vec::new(),
        columns: first.columns.clone(),
        time: first.time.clone(),
    };
    let options = ReadOptions { expect: Some(expect), ..ReadOptions::default() };
    let table = read_with("date,x\n01/02/2025,1\n", &options).unwrap();
    assert_eq!(table.time.write(table.data.series()[0].times[0]), "2025-02-01T00:00:00Z");
}

#[test]
fn months_have_names() {
    let expected = [0.0, DAY, 31.0 * DAY];
    for content in [
        "date,x\nJan 1 1970,1\nJan 2 1970,2\nFeb 1 1970,3\n",
        "date;x\nJanuary 1, 1970;1\njan 2, 1970;2\nFebruary 1, 1970;3\n",
        "date,x\n1 Jan 1970,1\n2 January 1970,2\n01 FEB 1970,3\n",
        "date,x\n01-Jan-1970,1\n02-Jan-1970,2\n01-Feb-1970,3\n",
        "date,x\n1970-Jan-01,1\n1970-Jan-02,2\n1970-Feb-01 00:00,3\n",
    ] {
        assert_eq!(times(content).0, expected, "{content}");
    }
    assert_says(read("date,x\nJan 1 1970,1\nJune 31 1970,2\n"), &["line 3", "June 31 1970"]);
}

#[test]
fn months_quarters_and_years_are_known_as_such() {
    let cases = [
        ("date,x\n2023-01,1\n2023-02,2\n2023-04,3\n", DateFormat::Month, 1, "2023-02"),
        ("period,x\n202301,1\n202302,2\n202303,3\n", DateFormat::Month, 1, "2023-02"),
        ("time,x\nJan 2023,1\nFeb 2023,2\nMar 2023,3\n", DateFormat::Month, 1, "2023-02"),
        ("time,x\n01/2023,1\n02/2023,2\n03/2023,3\n", DateFormat::Month, 1, "2023-02"),
        ("date,x\n2023M1,1\n2023M2,2\n2023M3,3\n", DateFormat::Month, 1, "2023-02"),
        ("quarter_date,x\n2023Q1,1\n2023Q2,2\n2023Q3,3\n", DateFormat::Quarter, 3, "2023Q2"),
        ("t,x\nQ1 2023,1\nQ2 2023,2\nQ4 2023,3\n", DateFormat::Quarter, 3, "2023Q2"),
        ("year,x\n2001,1\n2002,2\n2003,3\n", DateFormat::Year, 12, "2002"),
        ("date,x\n2001,1\n2003,2\n2005,3\n", DateFormat::Year, 24, "2003"),
    ];
    for (content, expected, months, second) in cases {
        let (read, scale) = times(content);
        assert_eq!(format(&scale), expected, "{content}");
        assert_eq!(calendar(&scale), Some(CalendarStep { months, month_end: false }), "{content}");
        assert_eq!(scale.write(read[1]), second);
        assert_eq!(scale.parse(second), Some(read[1]));
        assert_eq!(scale.calendar_steps_after(read[0], 1), Some(read[1]), "{content}");
    }
    // Whole dates may keep to the calendar as well.
    let (read, scale) = times("date,x\n2024-01-31,1\n2024-02-29,2\n2024-03-31,3\n");
    assert_eq!(calendar(&scale), Some(CalendarStep { months: 1, month_end: true }));
    assert_eq!(scale.calendar_steps_after(read[0], 2), Some(read[2]));
    assert_eq!(calendar(&times("date,x\n2024-01-01,1\n2024-01-02,2\n2024-02-01,3\n").1), None);
    assert_eq!(times("date,x\n2024-01-01,1\n2024-01-02,2\n").1.calendar_steps_after(0.0, 1), None);
    // Months of a zone begin at its midnights.
    let vienna = ReadOptions { time_zone: Some("Europe/Vienna".into()), ..ReadOptions::default() };
    let table = read_with("date,x\n2023-03,1\n2023-04,2\n2023-05,3\n", &vienna).unwrap();
    let read = &table.data.series()[0].times;
    assert_eq!(table.time.write_all(read), ["2023-03", "2023-04", "2023-05"]);
    assert_eq!(table.time.write_all(&[read[0], read[0] + 1.0])[0], "2023-03-01T00:00:00+01:00");
}

#[test]
fn numbers_that_look_like_dates_are_dates_or_said_to_look_so() {
    let (read_times, scale) = times("date,x\n19700102,1\n19700131,2\n");
    assert_eq!((read_times, format(&scale)), (vec![DAY, 30.0 * DAY], DateFormat::Yyyymmdd));
    assert_eq!(scale.write(DAY), "19700102");
    assert_eq!(times("day,time,x\n19700102,06:30,1\n19700103,00:00,2\n").0, [DAY + 23_400.0, 2.0 * DAY]);
    // Eight digits that are no days, and the numbers of a clock.
    assert_eq!(times("time,x\n19700102,1\n19700132,2\n").1, TimeScale::Number);
    for (content, expected, words) in [
        ("t,x\n1990,1\n1991,2\n", DateFormat::Year, "look like years"),
        ("t,x\n199001,1\n199002,2\n", DateFormat::Month, "look like months"),
    ] {
        let table = read(content).unwrap();
        assert_eq!((table.time.clone(), table.columns.looks_like), (TimeScale::Number, Some(expected)));
        assert!(Overview::of(&table).text().contains(words), "{}", Overview::of(&table).text());
        let options = ReadOptions { date_format: Some(expected), ..ReadOptions::default() };
        let table = read_with(content, &options).unwrap();
        assert_eq!((format(&table.time), table.columns.looks_like), (expected, None));
    }
    let table = read("t,x\n0,1\n1,2\n").unwrap();
    assert_eq!(table.columns.looks_like, None);
    assert!(Overview::of(&table).text().contains("t (numbers)"));
    let text = Overview::of(&read("date,x\n2023Q1,1\n2023Q2,2\n2023Q3,3\n").unwrap()).text();
    assert!(text.contains("date (quarters of years, in steps of 3 months)"), "{text}");
}

#[test]
fn decimal_commas_are_read_where_they_are_certain() {
    let table = read("id;zeit_time;x;y\na;0,5;1,25;7\na;1,0;-0,5;1.234,5\n").unwrap();
    assert_eq!(table.data.series()[0].times, [0.5, 1.0]);
    assert_eq!(cells(&table.data.series()[0], 2), [[Some(1.25), Some(7.0)], [Some(-0.5), Some(1234.5)]]);
    // In quotes, between commas.
    assert_eq!(read("t,x\n0,\"1,5\"\n1,2\n").unwrap().data.series()[0].values, [1.5, 2.0]);
    // A comma may be between thousands: nothing is guessed.
    let content = "t;x;y\n0;1,250;1\n1;2,500;2\n";
    let table = read(content).unwrap();
    assert_eq!(names(&table), ["y"]);
    assert!(table.columns.ignored[0].1.contains("decimals or thousands"), "{:?}", table.columns.ignored);
    let comma = ReadOptions { decimal: Some(b','), ..ReadOptions::default() };
    assert_eq!(read_with(content, &comma).unwrap().data.series()[0].values, [1.25, 1.0, 2.5, 2.0]);
    let point = ReadOptions { decimal: Some(b'.'), ..ReadOptions::default() };
    assert_says(read_with("t;x;y\n0;1,5;1\n1;2.5;2\n0;3.5;2\n", &point), &["line 2", "`1,5`"]);
    // With points among the commas neither is certain, and a point is not silently a thousand.
    assert_says(read("t;x;y\n0;1,5;1\n1;2.5;2\n0;3.5;2\n"), &["line 2", "`1,5`"]);
    assert_says(read_with("t;x\n0;1,5\n1;2.5\n", &comma), &["line 3", "`2.5`"]);
}

#[test]
fn numbers_and_texts_may_mean_missing() {
    let mut options = ReadOptions::default();
    options.missing.extend(list(&["-999", "kaputt"]));
    let table = read_with("t,x\n0,-999\n1,-999.0\n2,Kaputt\n3,NA\n4,1\n5,\n", &options).unwrap();
    let observed = table.data.series()[0].observed.clone().unwrap();
    assert_eq!(observed, [false, false, false, false, true, false]);
    let table = read_with("t;x\n0;-999,0\n1;1,5\n", &options).unwrap();
    assert_eq!(table.data.series()[0].observed, Some(vec![false, true]));
}

#[test]
fn cells_stay_as_they_are_written() {
    let content =
        ",note,day,unit,x,grade\n0,\"a, b\",31.12.2024,007,1.50,good\n1,,01.01.2025,007,NA,\n2,c,bad,7,,\n";
    let (_folder, paths) = files(&[content.as_bytes()]);
    let options = ReadOptions { skip_bad_rows: true, id: Some("unit".into()), ..ReadOptions::default() };
    let (table, mut cells) = Table::read_with_cells(&paths, &options).unwrap();
    assert_eq!((table.account.skipped, cells.rows()), (1, 3));
    let time = table.data.series()[0].times[1];
    assert_eq!((cells.key(1), cells.key(2)), (Some(("007", time)), None));
    assert!(cells.set(1, "x", 2.25) && !cells.set(1, "y", 1.0) && !cells.set(9, "x", 1.0));
    let written = |typed| {
        let mut bytes = Vec::new();
        cells.data_frame(typed).to_csv(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!(written(false), content.replace("007,NA", "007,2.25"));
    assert_eq!(written(true), content.replace("007,NA", "007,2.25").replace("1.50", "1.5"));
    // Decimal commas become points, as in everything else that is written; names stay.
    let (_folder, paths) = files(&["t;x;n\n0,5;1,5;a\n1;;1,5\n2;2;b\n".as_bytes()]);
    let (_, mut cells) = Table::read_with_cells(&paths, &ReadOptions::default()).unwrap();
    cells.set(1, "x", 0.25);
    let mut bytes = Vec::new();
    cells.data_frame(false).to_csv(&mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "t,x,n\n0.5,1.5,a\n1,0.25,\"1,5\"\n2,2,b\n");
    // Files that are a series each say which one it is, and a column that a file lacks stays empty.
    let (_folder, paths) = files(&[b"t,x\n0,1\n", b"x,t\n2,0\n"]);
    let (_, cells) = Table::read_with_cells(&paths, &ReadOptions::default()).unwrap();
    let mut bytes = Vec::new();
    cells.data_frame(false).to_csv(&mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "id,t,x\nfile0,0,1\nfile1,0,2\n");
}

#[test]
fn what_the_first_rows_show_is_not_said_of_all() {
    let mut content = String::from("t,x,state\n");
    for row in 0..1500 {
        content += &format!("{row},{},s{}\n", row % 7, row / 200);
    }
    let table = read(&content).unwrap();
    let reason = &table.columns.ignored[0].1;
    assert!(reason.contains("5 different values in the first 1000 rows"), "{reason}");
    let reason = read("t,x,state\n0,1,a\n1,2,b\n").unwrap().columns.ignored[0].1.clone();
    assert!(reason.contains("2 different values,"), "{reason}");
}

#[test]
fn an_error_is_not_a_panic() {
    for content in
        ["date,x\n9999-12-31,1\n", "date,x\n00000000,1\n", "year,x\n9999,1\n", "date,x\n-0001Q1,1\n"]
    {
        let _: Result<Table, TableError> = read(content);
    }
}
