//! Which column is what: said, guessed, or known from a model.

mod text;

use stroock_series::table::{Expectation, Fault, LabelColumn, ReadOptions, TableError, TableVariable};
use stroock_series::{Dataset, Labels};
use text::{assert_says, cells, list, names, read, read_with, some};

#[test]
fn columns_are_guessed_and_shown() {
    let table =
        read(",Subject ID,Elapsed_Time,HR,ward,Class\n0,s1,0,70,ICU,3\n1,s1,1,71,CCU,3\n2,s2,0,72,ICU,4\n")
            .unwrap();
    assert_eq!(table.columns.id.as_deref(), Some("Subject ID"));
    assert_eq!(table.columns.time, ["Elapsed_Time"]);
    assert_eq!(names(&table), ["HR"]);
    let reasons: Vec<&str> = table.columns.ignored.iter().map(|(_, reason)| reason.as_str()).collect();
    assert_eq!(reasons[0], "counts the rows");
    assert_eq!(reasons[1], "text with 2 different values, such as `CCU`: perhaps the label");
    assert!(reasons[2].contains("perhaps the label"), "{reasons:?}");
    assert_eq!(
        names(&read("t,x,\n0,1,\n1,2,\n").unwrap()),
        ["x"],
        "a comma too many at the end of every line"
    );
    // Mostly numbers is numbers, mostly text is text.
    assert_says(read("t,x\n0,1\n1,2\n2,oops\n"), &["line 4", "oops"]);
    assert_says(read("t,x\n0,a\n1,2\n2,oops\n"), &["no column has numbers", "`x`: text"]);
    assert_says(read("a,b\n0,1\n"), &["looks like times", "`a`, `b`"]);
    assert_says(read("date,b\n31. Dez 2024,1\n"), &["`31. Dez 2024` is neither a number nor a date such as"]);
    assert_says(read("1,2\n0,1\n"), &["header"]);
    assert_says(read("t,x,x\n0,1,2\n"), &["two columns have the name `x`"]);
    for empty in ["", "\n\n", "t,x\n"] {
        assert_says(read(empty), &["no rows"]);
    }
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let content = "id,time,pulse\na,0,1\n";
    let with = |change: &dyn Fn(&mut ReadOptions)| {
        let mut options = ReadOptions::default();
        change(&mut options);
        read_with(content, &options)
    };
    assert_says(
        with(&|o| o.variables = list(&["puls"])),
        &["`variables`", "`puls`", "did you mean `pulse`?"],
    );
    assert_says(with(&|o| o.id = some("Id")), &["`id`", "did you mean `id`?"]);
    assert_says(with(&|o| o.ignore = list(&["zzz"])), &["`ignore`", "`zzz`"]);
    assert_says(with(&|o| o.statics = list(&["zzz"])), &["`statics`", "`zzz`"]);
    assert_says(with(&|o| o.value = some("pulse")), &["no column for `variable`"]);
    assert_says(
        with(&|o| (o.id, o.label) = (some("id"), some("id"))),
        &["`id` cannot be both `id` and `label`"],
    );
    let long = "id,time,variable,value\na,0,pulse,1\n";
    let options = ReadOptions { variables: list(&["puls"]), ..ReadOptions::default() };
    assert_says(read_with(long, &options), &["variable `puls` (did you mean `pulse`?)"]);
}

#[test]
fn variables_are_chosen() {
    let long = "id,time,variable,value\na,0,x,1\na,0,y,2\na,1,note,text\nb,2,z,3\n";
    let options = ReadOptions { variables: list(&["z", "x"]), ..ReadOptions::default() };
    let table = read_with(long, &options).unwrap();
    assert_eq!(names(&table), ["z", "x"]);
    assert_eq!(cells(&table.data.series()[0], 2), [[None, Some(1.0)], [None, None]]);
    assert_eq!(table.account.values, 2);
    let told: Vec<_> = table.columns.ignored.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(told, ["y", "note"]);
    let options = ReadOptions { ignore: list(&["note"]), ..ReadOptions::default() };
    assert_eq!(names(&read_with(long, &options).unwrap()), ["x", "y", "z"]);
    let options = ReadOptions { variables: list(&["y", "x"]), ..ReadOptions::default() };
    let table = read_with("t,x,y,z\n0,1,2,3\n", &options).unwrap();
    assert_eq!((names(&table), &table.data.series()[0].values[..]), (vec!["y", "x"], &[2.0, 1.0][..]));
    assert_eq!(table.columns.ignored, [("z".to_owned(), "not among the chosen variables".to_owned())]);
}

#[test]
fn static_variables_are_observed_at_the_first_time() {
    let options = ReadOptions { statics: list(&["age"]), ..ReadOptions::default() };
    let content = "id,time,x,age\na,2,1,\na,1,2,60\nb,0,3,\nc,0,4,50\n";
    let table = read_with(content, &options).unwrap();
    assert_eq!(names(&table), ["x", "age"]);
    assert!(table.variables[1].is_static && !table.variables[0].is_static);
    assert_eq!(cells(&table.data.series()[0], 2), [[Some(2.0), Some(60.0)], [Some(1.0), None]]);
    assert_eq!(cells(&table.data.series()[1], 2), [[Some(3.0), None]]);
    assert_eq!((table.account.values, table.account.merged), (6, 0));
    let differs = content.replace("a,2,1,", "a,2,1,61");
    assert_says(read_with(&differs, &options), &["line 3", "`age`: `60`, but line 2 has `61`", "`a`"]);
    let long = "id,time,variable,value\na,1,x,1\na,3,age,60\na,0,x,2\n";
    let table = read_with(long, &options).unwrap();
    assert_eq!(cells(&table.data.series()[0], 2), [[Some(2.0), Some(60.0)], [Some(1.0), None], [None, None]]);
}

#[test]
fn labels_belong_to_series_or_to_times() {
    let options = ReadOptions { label: some("state"), ..ReadOptions::default() };
    let of_series = "id,time,x,state\na,0,1,10\na,1,1,\nb,0,1,9\nc,0,1,NA\n";
    let table = read_with(of_series, &options).unwrap();
    assert_eq!(table.classes, ["9", "10"]);
    let targets: Vec<_> = table.data.series().iter().map(|series| series.labels.clone()).collect();
    assert_eq!(targets, [Labels::Class(1), Labels::Class(0), Labels::None]);
    assert_eq!(table.columns.label, Some(LabelColumn { column: "state".into(), per_time: false }));
    let of_times = "id,time,x,state\na,1,1,up\na,0,1,down\na,2,1,\n";
    let table = read_with(of_times, &options).unwrap();
    assert_eq!(table.classes, ["down", "up"]);
    assert_eq!(table.data.series()[0].labels, Labels::ClassPerTime(vec![Some(0), Some(1), None]));
    let per_series = ReadOptions { label_per_time: Some(false), ..options.clone() };
    assert_says(read_with(of_times, &per_series), &["line 3", "`down`, but line 2 has `up`", "series `a`"]);
    let per_time = ReadOptions { label_per_time: Some(true), ..options };
    let table = read_with(of_series, &per_time).unwrap();
    assert_eq!(table.data.series()[0].labels, Labels::ClassPerTime(vec![Some(1), None]));
}

#[test]
fn a_model_finds_its_variables() {
    let trained = read_with(
        "who,when_time,x,y,age,c\na,0,1,2,60,u\nb,0,1,2,50,v\n",
        &ReadOptions {
            id: some("who"),
            statics: list(&["age"]),
            label: some("c"),
            variables: list(&["x", "y"]),
            ..ReadOptions::default()
        },
    )
    .unwrap();
    let expect = Expectation {
        variables: trained.variables.clone(),
        classes: trained.classes.clone(),
        columns: trained.columns.clone(),
        time: trained.time.clone(),
    };
    let options = ReadOptions { expect: Some(expect), ..ReadOptions::default() };
    let table = read_with("time,when_time,c,z,age,y,who\n5,1,v,7,40,9,q\n", &options).unwrap();
    assert_eq!(table.variables, trained.variables);
    assert_eq!((table.data.series()[0].id.as_str(), &table.data.series()[0].times[..]), ("q", &[1.0][..]));
    assert_eq!(cells(&table.data.series()[0], 3), [[None, Some(9.0), Some(40.0)]]);
    assert_eq!(table.data.series()[0].labels, Labels::Class(1));
    let told: Vec<_> = table.columns.ignored.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(told, ["time", "z", "x"]);
    let long = read_with("id,time,variable,value\nq,3,y,9\nq,3,w,1\nq,4,age,40\n", &options).unwrap();
    assert_eq!(cells(&long.data.series()[0], 3), [[None, Some(9.0), Some(40.0)], [None, None, None]]);
    assert_says(
        read_with("who,when_time,q\na,0,1\n", &options),
        &["none of the variables of the model", "`x`, `y`"],
    );
    assert_says(read_with("who,time,x\na,2024-01-01,1\n", &options), &["times as numbers", "dates"]);
    let error = read_with("who,time,x,c\na,0,1,w\n", &options).expect_err("an unknown class");
    let is_class = |fault: &Fault| matches!(fault, Fault::UnknownClass { known, .. } if *known == ["u", "v"]);
    assert!(matches!(&error, TableError::Row { fault, .. } if is_class(fault)), "{error}");
    assert!(TableVariable { name: "x".into(), is_static: false } == trained.variables[0]);
}

#[test]
fn the_beijing_table_is_read_as_its_owners_left_it() {
    let Some(shared) = stroock_testing::golden::shared_folder() else { return };
    let path = shared.join("data/beijing_pm25/PRSA_data_2010.1.1-2014.12.31.csv");
    if !path.is_file() {
        eprintln!("SKIPPED: no table at {}", path.display());
        return;
    }
    let table = Dataset::read(path).unwrap();
    assert_eq!(table.account.rows, 43_824);
    assert_eq!(table.columns.time, ["year", "month", "day", "hour"]);
    assert_eq!(names(&table), ["pm2.5", "DEWP", "TEMP", "PRES", "Iws", "Is", "Ir"]);
    let told: Vec<_> = table.columns.ignored.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(told, ["No", "cbwd"]);
    assert!(table.columns.ignored[1].1.contains("4 different values"), "{:?}", table.columns.ignored);
    let [series] = table.data.series() else { panic!("one series") };
    assert_eq!(series.times.len(), 43_824);
    let observed = series.observed.as_ref().expect("a mask");
    assert_eq!(observed.iter().filter(|observed| !**observed).count(), 2_067);
    assert!((0..43_824).all(|row| (1..7).all(|channel| observed[row * 7 + channel])), "only pm2.5 has gaps");
    assert!(series.times.windows(2).all(|pair| pair[1] - pair[0] == 3600.0));
    assert_eq!(table.time.write(series.times[0]), "2010-01-01T00:00:00Z");
}
