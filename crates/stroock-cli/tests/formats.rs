//! Tables as other programs write them, and tables that come back as they were.

mod command;
mod sensors;

use command::{done, refused};
use sensors::sensors;

/// Sales by the month as a spreadsheet of central Europe writes them, with `-999` for gaps.
fn sales() -> String {
    let mut table = String::from("Filiale;Datum_date;Bemerkung;Umsatz;Kunden\n");
    for shop in 0..6 {
        for month in 0..24 {
            let wave = (0.5 * f64::from(month) + f64::from(shop)).sin();
            let (sales, guests) = (format!("{:.1}", 120.5 + 10.0 * wave).replace('.', ","), 50 + month % 7);
            let sales = if month % 5 == 3 { "-999".to_owned() } else { sales };
            let remark = if month == 0 { "neu; frisch" } else { "" };
            let date = format!("01.{:02}.{}", 1 + month % 12, 2022 + month / 12);
            table += &format!("F{shop};{date};\"{remark}\";{sales};{guests}\n");
        }
    }
    table
}

#[test]
fn a_spreadsheet_with_decimal_commas_and_its_own_dates_comes_back_filled() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sales.csv"), sales()).unwrap();
    let read = ["--id", "Filiale", "--missing", "-999"];
    let (described, _) = done(&[&["describe", "sales.csv"][..], &read].concat(), at);
    assert!(described.contains("dates, day first, in steps of a month"), "{described}");
    assert!(described.contains("Umsatz") && described.contains("Kunden"), "{described}");
    assert!(!described.contains("-999"), "{described}");

    let fit = ["fit", "sales.csv", "--out", "run", "--epochs", "2"];
    let (_, said) = done(&[&fit[..], &read].concat(), at);
    assert!(said.contains("time in `Datum_date` (dates, day first"), "{said}");
    let (wide, _) = done(&["impute", "run", "sales.csv", "--wide", "--missing=-999"], at);
    let given = sales();
    let (mut filled, rows) = (0, wide.lines().zip(given.lines()));
    assert_eq!(wide.lines().count(), given.lines().count());
    for (row, given) in rows.skip(1) {
        let given: Vec<&str> = given.split(';').collect();
        assert!(row.starts_with(&format!("{},{},", given[0], given[1])), "{row}: the date is as it was");
        if given[given.len() - 2] == "-999" {
            let value: f64 = row.split(',').nth(3).unwrap().parse().unwrap();
            assert!(value > 0.0, "{row}");
            filled += 1;
        }
    }
    assert_eq!(wide.lines().next(), Some("Filiale,Datum_date,Bemerkung,Umsatz,Kunden"));
    assert!(wide.contains("F0,01.01.2022,neu; frisch,120.5,50"), "{wide}");
    assert_eq!(filled, 6 * 5);
}

#[test]
fn the_wide_form_keeps_every_column_and_row() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(8)).unwrap();
    done(&["fit", "sensors.csv", "--out", "run", "--epochs", "2"], at);
    // Another order, a text, a label, an unknown number, a column of the model that is not there; rows out of order.
    let new = "note,power,hour,state,extra,temperature,sensor\n\
               \"x, y\",,3.50,calm,1e3,21.50,b\n,2.5,1,calm,,,a\nlast,,0.5,,7,,b\n";
    std::fs::write(at.join("new.csv"), new).unwrap();
    let (wide, said) = done(&["impute", "run", "new.csv", "--wide"], at);
    assert!(said.contains("pressure"), "{said}");
    let rows: Vec<&str> = wide.lines().collect();
    assert_eq!(rows[0], "note,power,hour,state,extra,temperature,sensor");
    assert!(rows[1].starts_with("\"x, y\",") && rows[1].ends_with(",3.50,calm,1e3,21.50,b"), "{wide}");
    assert!(rows[2].starts_with(",2.5,1,calm,,") && rows[2].ends_with(",a"), "{wide}");
    assert!(rows[3].starts_with("last,") && rows[3].ends_with(",b"), "{wide}");
    assert_eq!(rows.len(), 4);
    assert!(!wide.contains(",,1,") && !rows[3].contains(",,0.5"), "gaps are filled: {wide}");
    // With types where the format has them.
    let (json, _) = done(&["impute", "run", "new.csv", "--wide", "--json"], at);
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["temperature"], &first["note"]), (&21.5.into(), &"x, y".into()));
}

#[test]
fn doubts_are_said_with_the_flag_that_ends_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("order.csv"), "date,x\n01/02/2024,1\n03/02/2024,2\n").unwrap();
    let said = refused(&["describe", "order.csv"], 1, at);
    assert!(said.contains("01/02/2024") && said.contains("--date-format dmy"), "{said}");
    done(&["describe", "order.csv", "--date-format", "mdy"], at);
    std::fs::write(at.join("years.csv"), "t,x\n1990,1\n1991,2\n").unwrap();
    let (said, _) = done(&["describe", "years.csv"], at);
    assert!(said.contains("look like years") && said.contains("--date-format year"), "{said}");
    let (said, _) = done(&["describe", "years.csv", "--date-format", "year"], at);
    assert!(said.contains("t (years") && !said.contains("--date-format"), "{said}");
    std::fs::write(at.join("thousands.csv"), "t;x;y\n0;1,250;1\n1;2,500;2\n").unwrap();
    let (said, _) = done(&["describe", "thousands.csv"], at);
    assert!(said.contains("--decimal ,"), "{said}");
    std::fs::write(at.join("late.csv"), "t;x\n0;1.5\n1;2,5\n").unwrap();
    let said = refused(&["describe", "late.csv"], 1, at);
    assert!(said.contains("`2,5`") && said.contains("--decimal ,"), "{said}");
}
