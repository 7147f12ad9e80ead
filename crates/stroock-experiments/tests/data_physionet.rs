//! Stays in intensive care: the published archives, hand-made records, and damaged ones. Expected numbers of the
//! real archives were counted by an independent program.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use stroock::series::{Labels, Series};
use stroock_experiments::data::physionet::{
    Measurement, PhysionetSettings, Prepared, ScaleOver, Scaling, Stay, VARIABLES, prepare, read_outcomes,
    read_stays, slot_series, with_outcomes,
};
use stroock_experiments::data::{DataError, FileProblem, LineProblem};
use stroock_testing::golden::shared_folder;

fn real(name: &str) -> Option<PathBuf> {
    Some(shared_folder()?.join("data/physionet2012").join(name))
}

fn real_stays() -> Option<Vec<Stay>> {
    Some(read_stays(&[real("set-b.tar.gz")?, real("set-a.tar.gz")?]).unwrap())
}

fn variable(name: &str) -> usize {
    VARIABLES.iter().position(|variable| *variable == name).unwrap()
}

fn observed(series: &Series) -> &[bool] {
    series.observed.as_deref().unwrap()
}

struct Totals {
    rows: usize,
    entries: usize,
    slots: u64,
    sum: f64,
}

fn totals(prepared: &Prepared, step: f64) -> Totals {
    let mut totals = Totals { rows: 0, entries: 0, slots: 0, sum: 0.0 };
    for series in prepared.dataset.series() {
        totals.rows += series.times.len();
        totals.slots += series.times.iter().map(|time| (time / step).round() as u64).sum::<u64>();
        for (value, _) in series.values.iter().zip(observed(series)).filter(|(_, observed)| **observed) {
            totals.entries += 1;
            totals.sum += f64::from(*value);
        }
    }
    totals
}

#[test]
fn the_published_archives_hold_what_is_published() {
    let Some(stays) = real_stays() else { return };
    assert_eq!(stays.len(), 8_000);
    assert_eq!((stays[0].id, stays[7_999].id), (132_539, 152_864));
    assert!(stays.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert_eq!(stays.iter().map(Stay::rows).sum::<usize>(), 1_757_980 + 1_762_535);
    let mut seen = [false; 41];
    stays.iter().flat_map(|stay| &stay.measurements).for_each(|m| seen[usize::from(m.variable)] = true);
    assert!(seen.iter().all(|seen| *seen));
}

#[test]
fn six_minutes_are_the_published_protocol() {
    let Some(stays) = real_stays() else { return };
    let prepared = prepare(&stays, &PhysionetSettings::six_minutes(), ScaleOver::All).unwrap();
    let series = prepared.dataset.series();

    let mut lengths: Vec<usize> = series.iter().map(|series| series.times.len()).collect();
    lengths.sort_unstable();
    assert_eq!((lengths[3_999], lengths[4_000], lengths[7_999]), (70, 70, 185));
    let totals = totals(&prepared, 0.1);
    assert_eq!((totals.rows, totals.entries, totals.slots), (577_283, 3_482_477, 125_941_596));
    assert!((totals.sum - 1_098_025.420_2).abs() < 0.1, "{}", totals.sum);
    assert!(series.iter().all(|series| series.times[0] == 0.0));
    assert_eq!(series.iter().filter_map(|series| series.times.last()).fold(0.0, |a, b| b.max(a)), 48.0);

    let Scaling { minimum, maximum } = &prepared.scaling;
    for (name, least, greatest) in [
        ("Height", -1.0, 462.3),
        ("Gender", -1.0, 1.0),
        ("Temp", -17.8, 42.2),
        ("MechVent", 1.0, 1.0),
        ("NIDiasABP", 0.0, 201.0),
        ("pH", 0.4, 735.0),
    ] {
        assert_eq!((minimum[variable(name)], maximum[variable(name)]), (least, greatest), "{name}");
    }

    // 132540 has two values of urine in slot 14, 770 and 0; the published scaling is (x - min) / max.
    let stay = &series[1];
    assert_eq!((stay.id.as_str(), stay.times.len()), ("132540", 87));
    assert_eq!(observed(stay).iter().filter(|observed| **observed).count(), 526);
    assert_eq!(stay.times[..4], [0.0, 7.0 * 0.1, 12.0 * 0.1, 14.0 * 0.1]);
    let scaled = |row: usize, name: &str| stay.values[row * 41 + variable(name)];
    assert_eq!(scaled(3, "Urine"), 385.0 / 11_000.0);
    assert_eq!(scaled(0, "Height"), (175.3f32 + 1.0) / 462.3);
    assert_eq!(scaled(1, "pH"), (7.45f32 - 0.4) / 735.0);
}

#[test]
fn other_settings_give_other_series() {
    let Some(stays) = real_stays() else { return };
    for settings in [PhysionetSettings::one_minute(), PhysionetSettings::published_one_minute()] {
        let prepared = prepare(&stays, &settings, ScaleOver::All).unwrap();
        let totals = totals(&prepared, settings.step);
        assert_eq!((totals.rows, totals.entries), (598_332, 3_504_810));
        assert_eq!(totals.slots, if settings.step == 0.016 { 809_263_679 } else { 776_894_113 });
        assert!((totals.sum - 1_099_312.385_6).abs() < 0.1, "{}", totals.sum);
    }

    let training: Vec<usize> = (0..8_000).step_by(2).collect();
    let settings = PhysionetSettings::six_minutes().clean();
    let prepared = prepare(&stays, &settings, ScaleOver::Stays(&training)).unwrap();
    let totals = totals(&prepared, 0.1);
    assert_eq!((totals.rows, totals.entries), (577_283, 3_477_975));
    assert!((totals.sum - 1_179_704.365_3).abs() < 0.2, "{}", totals.sum);
    let height = variable("Height");
    assert_eq!((prepared.scaling.minimum[height], prepared.scaling.maximum[height]), (1.8, 431.8));
}

#[test]
fn outcomes_are_classes() {
    let Some(path) = real("set-a.tar.gz") else { return };
    let stays = read_stays(&[path]).unwrap();
    let outcomes = read_outcomes(&real("Outcomes-a.txt").unwrap()).unwrap();
    assert_eq!(
        (outcomes.len(), outcomes.iter().filter(|outcome| outcome.in_hospital_death).count()),
        (4_000, 554)
    );
    assert_eq!((outcomes[0].id, outcomes[0].saps_i, outcomes[0].survival), (132_539, Some(6), None));
    let dataset = prepare(&stays, &PhysionetSettings::six_minutes(), ScaleOver::All).unwrap().dataset;
    let dataset = with_outcomes(&dataset, &outcomes).unwrap();
    assert_eq!(dataset.series().iter().filter(|series| series.labels == Labels::Class(1)).count(), 554);
    let error = with_outcomes(&dataset, &outcomes[1..]).unwrap_err();
    assert!(matches!(&error, DataError::NoOutcome { id } if id == "132539"), "{error}");
}

const RECORD: &str = "Time,Parameter,Value\n00:00,RecordID,17\n00:00,Age,54\n00:00,Height,-1\n";

fn scratch_archive(folder: &Path, members: &[(&str, &str)]) -> PathBuf {
    let path = folder.join("set-x.tar.gz");
    let mut archive = tar::Builder::new(GzEncoder::new(File::create(&path).unwrap(), Compression::fast()));
    for (name, text) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
    path
}

#[test]
fn slots_are_rounded_averaged_and_always_start_at_zero() {
    let at = |minute, name, value| Measurement { minute, variable: variable(name) as u8, value };
    let stay = Stay {
        id: 17,
        // 3 min is half a slot: to the even slot 0. 15 min is two and a half: to 2. The order does not matter.
        measurements: vec![at(15, "HR", 50.0), at(3, "HR", 80.0), at(13, "HR", 60.0), at(13, "Temp", -1.0)],
        nameless: 0,
    };
    let settings = PhysionetSettings::six_minutes();
    let series = &slot_series(std::slice::from_ref(&stay), &settings).unwrap()[0];
    assert_eq!(series.times, [0.0, 0.2]);
    let (hr, temp) = (variable("HR"), variable("Temp"));
    assert_eq!((series.values[hr], series.values[41 + hr]), (80.0, 55.0));
    // -1 is a code for descriptors only.
    assert_eq!((series.values[41 + temp], observed(series)[41 + temp]), (-1.0, true));
    assert_eq!(observed(series).iter().filter(|observed| **observed).count(), 3);

    // 9 min is one and a half slots; in floating point, as published, 0.15 / 0.1 is a little less.
    let nearly = Stay { id: 20, measurements: vec![at(9, "HR", 50.0)], nameless: 0 };
    assert_eq!(slot_series(&[nearly], &settings).unwrap()[0].times, [0.0, 0.1]);

    let late = Stay { id: 18, measurements: vec![at(60, "Weight", -1.0)], nameless: 0 };
    let series = &slot_series(std::slice::from_ref(&late), &settings).unwrap()[0];
    assert_eq!((series.times.as_slice(), observed(series)[41 + 4]), (&[0.0, 1.0][..], true));
    let series = &slot_series(&[late], &settings.clean()).unwrap()[0];
    assert_eq!((series.times.len(), observed(series).contains(&true)), (2, false));

    // Variables that are never seen, and a maximum of 0, divide by 1.
    let zero = Stay { id: 19, measurements: vec![at(0, "HR", 0.0), at(60, "HR", -6.0)], nameless: 0 };
    let scaling = prepare(&[zero], &settings, ScaleOver::All).unwrap().scaling;
    assert_eq!((scaling.minimum[hr], scaling.maximum[hr]), (-6.0, 1.0));
    assert_eq!((scaling.minimum[temp], scaling.maximum[temp]), (0.0, 1.0));
}

#[test]
fn settings_and_numbers_are_checked() {
    for step in [0.0, -1.0, f64::NAN, 100.0] {
        let settings = PhysionetSettings { step, ..PhysionetSettings::six_minutes() };
        assert!(matches!(slot_series(&[], &settings), Err(DataError::Setting { name: "step", .. })));
    }
    let error = prepare(&[], &PhysionetSettings::six_minutes(), ScaleOver::Stays(&[3])).unwrap_err();
    assert!(matches!(error, DataError::NoSuchStay { number: 3, count: 0 }));
}

#[test]
fn archives_and_folders_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let other = RECORD.replace("17", "9").replace('\n', "\r\n");
    let members = [
        ("set-x/17.txt", RECORD),
        ("set-x/9.txt", other.as_str()),
        ("set-x/._17.txt", "?"),
        ("set-x/a.txt", "?"),
    ];
    let archive = scratch_archive(folder.path(), &members);
    let stays = read_stays(&[&archive]).unwrap();
    assert_eq!(stays.iter().map(|stay| (stay.id, stay.rows())).collect::<Vec<_>>(), [(9, 3), (17, 3)]);

    let unpacked = folder.path().join("set-x");
    fs::create_dir(&unpacked).unwrap();
    for (name, text) in members {
        fs::write(folder.path().join(name), text).unwrap();
    }
    assert_eq!(read_stays(&[&unpacked]).unwrap(), stays);
    let error = read_stays(&[unpacked, archive]).unwrap_err();
    assert!(matches!(error, DataError::StayTwice { id: 9 }), "{error}");
}

#[test]
fn rows_without_a_name_are_passed_over_but_counted() {
    let folder = tempfile::tempdir().unwrap();
    let archive =
        scratch_archive(folder.path(), &[("17.txt", &format!("{RECORD}10:45,,1.9\n10:45,AST,1.2e+04"))]);
    let stay = &read_stays(&[archive]).unwrap()[0];
    assert_eq!((stay.rows(), stay.nameless, stay.measurements.len()), (5, 1, 3));
    assert_eq!(stay.measurements[2].value, 12_000.0);
}

#[test]
fn damaged_records_are_named_to_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let error = |text: &str| {
        let archive = scratch_archive(folder.path(), &[("set-x/17.txt", text)]);
        let error = read_stays(&[archive]).unwrap_err();
        assert!(error.to_string().contains("set-x.tar.gz: set-x/17.txt"), "{error}");
        match error {
            DataError::Line { line, problem, .. } => (line, problem),
            other => panic!("{other}"),
        }
    };
    let with = |row: &str| error(&format!("{RECORD}{row}\n"));
    let not_a_number = |value: &str| LineProblem::NotANumber { column: "the value", value: value.into() };
    assert_eq!(with("00:07,HR,7x3"), (5, not_a_number("7x3")));
    assert_eq!(with("00:07,HR,inf"), (5, not_a_number("inf")));
    assert_eq!(with("00:07,HR,"), (5, not_a_number("")));
    let (line, problem) = with("00:07,Glucos,99");
    let message = problem.to_string();
    assert!(
        line == 5 && message.contains("unknown variable `Glucos` (did you mean `Glucose`?)"),
        "{message}"
    );
    assert!(matches!(with("00:07,Mood,1"), (5, LineProblem::UnknownName { suggestion: None, .. })));
    assert!(matches!(with("0:07,HR,73"), (5, LineProblem::Time { .. })));
    assert!(matches!(with("48:01,HR,73"), (5, LineProblem::Time { .. })));
    assert!(matches!(with("00:07,HR"), (5, LineProblem::Columns { found: 2, expected: 3, .. })));
    assert!(matches!(with("00:07,HR,7,3"), (5, LineProblem::Columns { found: 4, .. })));
    assert!(matches!(with(""), (5, LineProblem::Columns { found: 1, .. })));
    assert!(matches!(with("00:00,RecordID,17"), (5, LineProblem::RecordId { .. })));
    assert!(matches!(with("00:00,RecordID,18"), (5, LineProblem::RecordId { expected: 17, .. })));
    assert!(matches!(error(&RECORD.replace("Time", "Zeit")), (1, LineProblem::Header { .. })));
    assert!(matches!(error(""), (1, LineProblem::Header { .. })));
    assert!(matches!(error("Time,Parameter,Value\n00:00,Age,5\n"), (2, LineProblem::RecordId { .. })));
}

#[test]
fn truncated_and_foreign_archives_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let noise: String =
        (0..4_000u32).map(|i| format!("00:07,HR,{}\n", i.wrapping_mul(2_654_435_761) % 997)).collect();
    let archive = scratch_archive(folder.path(), &[("set-x/17.txt", &format!("{RECORD}{noise}"))]);
    let whole = fs::read(&archive).unwrap();
    let unreadable = |content: &[u8]| {
        fs::write(&archive, content).unwrap();
        let error = read_stays(&[&archive]).unwrap_err();
        assert!(error.to_string().contains("set-x.tar.gz"), "{error}");
        matches!(error, DataError::File { problem: FileProblem::Unreadable { .. }, .. })
    };
    for length in [5, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        assert!(unreadable(&whole[..length]), "{length} bytes");
    }
    // The checksum lies in the last bytes.
    let mut flipped = whole.clone();
    flipped[whole.len() - 6] ^= 1;
    assert!(unreadable(&flipped));

    // A plain archive that ends within a member.
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&whole[..]), &mut plain).unwrap();
    assert!(unreadable(&plain[..10_000]));
    fs::write(&archive, &plain).unwrap();
    assert_eq!(read_stays(&[&archive]).unwrap()[0].rows(), 4_003);

    File::create(&archive).unwrap().write_all(b"<html>not found</html>").unwrap();
    assert!(read_stays(&[&archive]).is_err());
    assert!(matches!(read_stays(&[folder.path().join("no")]), Err(DataError::Io { .. })));
}

#[test]
fn damaged_outcomes_are_named_to_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Outcomes-x.txt");
    let header = "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death\n";
    let problem = |text: &str| {
        fs::write(&path, text).unwrap();
        match read_outcomes(&path).unwrap_err() {
            DataError::Line { line, problem, .. } => (line, problem),
            other => panic!("{other}"),
        }
    };
    assert!(matches!(problem("RecordID\n"), (1, LineProblem::Header { .. })));
    assert!(matches!(problem(&format!("{header}1,2,3,4,5,0\n1,2,3\n")), (3, LineProblem::Columns { .. })));
    let wrong = problem(&format!("{header}1,2,3,4,5,2\n"));
    assert_eq!(wrong, (2, LineProblem::NotANumber { column: "the in-hospital death", value: "2".into() }));
    assert!(matches!(
        problem(&format!("{header}1,x,3,4,5,1\n")),
        (2, LineProblem::NotANumber { column: "SAPS-I", .. })
    ));
}
