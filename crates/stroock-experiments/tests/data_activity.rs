//! Positions of tags: the part of the published file that is here, hand-made files, and damaged ones. Expected
//! numbers of the real file were counted by an independent program.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use stroock::series::{Labels, Observation, Series};
use stroock_experiments::data::activity::{
    ActivityFile, ActivitySettings, GRID_POINTS, LabelList, ROWS, windows,
};
use stroock_experiments::data::{DataError, LineProblem};
use stroock_testing::golden::shared_folder;

const ANKLE_LEFT: &str = "010-000-024-033";
const ANKLE_RIGHT: &str = "010-000-030-096";
const BELT: &str = "020-000-032-221";

fn real() -> Option<ActivityFile> {
    let folder = shared_folder()?.join("data/activity");
    Some(ActivityFile::read(&folder.join("ConfLongDemo_JSI.part-AB.txt.gz")).unwrap())
}

fn classes(series: &Series) -> Vec<u32> {
    match &series.labels {
        Labels::ClassPerTime(classes) => classes.iter().map(|class| class.unwrap()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn persons_a_and_b_are_told_to_be_a_part() {
    let Some(file) = real() else { return };
    let coverage = file.coverage();
    assert_eq!(
        (coverage.rows, coverage.recordings, coverage.persons.as_slice()),
        (57_623, 10, &['A', 'B'][..])
    );
    assert!(!coverage.is_whole() && ROWS == 164_860);
    assert_eq!(coverage.to_string(), "persons A, B only: 57623 of 164860 rows (35 %)");
}

#[test]
fn windows_are_the_published_ones() {
    let Some(file) = real() else { return };
    let windows = windows(&file, &ActivitySettings::default()).unwrap();
    let series = windows.dataset.series();
    assert_eq!(windows.dataset.observation(), Observation::Vector { channels: 12 });
    // The whole file gives 6 554 windows; 35 % of its rows give 35 % of them.
    assert_eq!((series.len(), windows.recordings.len()), (2_289, 2_289));
    let per_recording: Vec<usize> = file
        .recordings
        .iter()
        .map(|recording| windows.recordings.iter().filter(|name| **name == recording.name).count())
        .collect();
    assert_eq!(per_recording, [232, 226, 212, 214, 207, 264, 242, 225, 230, 237]);
    assert_eq!(
        (series[0].id.as_str(), series[231].id.as_str(), series[232].id.as_str()),
        ("A01/0", "A01/231", "A02/0")
    );

    assert!(series.iter().all(|series| series.times.len() == 50 && series.times[0] == 0.0));
    let latest = series.iter().map(|series| series.times[49]).fold(0.0, f64::max);
    assert_eq!(latest as usize, GRID_POINTS - 1);
    let mut ticks: Vec<i64> =
        series.iter().flat_map(|series| &series.times).map(|time| *time as i64).collect();
    ticks.sort_unstable();
    ticks.dedup();
    assert_eq!(ticks.len(), 216);

    let mut labels = [0; 7];
    series.iter().flat_map(classes).for_each(|class| labels[class as usize] += 1);
    assert_eq!(labels, [17_528, 1_882, 45_424, 21_028, 14_122, 4_582, 9_884]);
    let switches = series.iter().filter(|series| classes(series).windows(2).any(|pair| pair[0] != pair[1]));
    assert_eq!(switches.count(), 498);

    let (mut masks, mut sum) = ([0; 4], 0.0);
    for series in series {
        let observed = series.observed.as_ref().unwrap();
        for (place, _) in observed.iter().enumerate().filter(|(_, observed)| **observed) {
            masks[place % 12 / 3] += 1;
            sum += f64::from(series.values[place]);
        }
    }
    assert_eq!(masks, [89_505, 81_345, 79_863, 92_673]);
    assert!((sum - 559_116.918_36).abs() < 0.1, "{sum}");
}

#[test]
fn the_misspelt_activity_can_count_as_walking_as_published() {
    let Some(file) = real() else { return };
    let settings = ActivitySettings { labels: LabelList::Misspelt, ..ActivitySettings::default() };
    let mut labels = [0; 7];
    let windows = windows(&file, &settings).unwrap();
    windows.dataset.series().iter().flat_map(classes).for_each(|class| labels[class as usize] += 1);
    assert_eq!(labels, [19_484, 1_882, 45_424, 21_028, 12_166, 4_582, 9_884]);
}

/// A stamp of the size of the published ones.
const START: u64 = 633_790_226_051_280_000;

fn row(name: &str, tag: &str, ticks: f64, x: f64, activity: &str) -> String {
    let stamp = START + (ticks * 1e5) as u64;
    format!("{name},{tag},{stamp},27.05.2009 14:03:25:127,{x},2,3,{activity}\n")
}

fn read(folder: &Path, text: &str) -> Result<ActivityFile, DataError> {
    let path = folder.join("ConfLongDemo_JSI.txt");
    fs::write(&path, text).unwrap();
    ActivityFile::read(&path)
}

#[test]
fn rows_are_merged_windows_cut_and_ticks_sorted() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        row("A01", ANKLE_LEFT, 0.0, 1.0, "walking"),
        // The same tick: another tag, then the first one again, with a higher and a lower class.
        row("A01", BELT, 0.3, 5.0, "sitting down"),
        row("A01", ANKLE_LEFT, -0.0, 4.0, "falling"),
        row("A01", ANKLE_RIGHT, 3.0, 7.0, "on all fours"),
        // Before its predecessor.
        row("A01", BELT, 2.0, 8.0, "sitting on the ground"),
        row("A01", BELT, 6.0, 9.0, "lying"),
        row("A01", BELT, 7.0, 9.0, "lying"),
        row("A01", BELT, 9.0, 9.0, "lying"),
        row("B02", BELT, 0.0, 9.0, "lying"),
    ];
    let file = read(folder.path(), &text.concat()).unwrap();
    let settings = ActivitySettings { window: 3, stride: 2, labels: LabelList::Merged };
    let made = windows(&file, &settings).unwrap();
    // Six rows: windows start at 0 and 2; the one at 2 ends before the last row.
    let [first, second] = made.dataset.series() else { panic!("{:?}", made.dataset.series().len()) };
    assert_eq!(made.recordings, ["A01", "A01"]);
    assert_eq!((first.id.as_str(), second.id.as_str()), ("A01/0", "A01/1"));
    assert_eq!(
        (first.times.as_slice(), second.times.as_slice()),
        (&[0.0, 2.0, 3.0][..], &[0.0, 4.0, 5.0][..])
    );
    assert_eq!((classes(first), classes(second)), (vec![0, 6, 5], vec![6, 2, 2]));
    let mut row = [0.0; 12];
    row[..3].copy_from_slice(&[2.5, 2.0, 3.0]);
    row[9..].copy_from_slice(&[5.0, 2.0, 3.0]);
    assert_eq!(first.values[..12], row);
    let observed = first.observed.as_ref().unwrap();
    assert_eq!(
        observed[..12].iter().map(|seen| u8::from(*seen)).collect::<Vec<_>>(),
        [1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1]
    );
    assert_eq!(first.values[12 + 9], 8.0);

    for settings in [ActivitySettings { window: 0, ..settings }, ActivitySettings { stride: 0, ..settings }] {
        assert!(matches!(windows(&file, &settings), Err(DataError::Setting { .. })));
    }
}

#[test]
fn a_tick_that_comes_back_within_a_window_is_merged() {
    let folder = tempfile::tempdir().unwrap();
    let ticks = [0.0, 5.0, 4.0, 5.0, 8.0];
    let text: String = ticks.iter().map(|&tick| row("A01", BELT, tick, tick + 1.0, "lying")).collect();
    let text = text.replacen("6,2,3", "2,2,3", 1);
    let file = read(folder.path(), &text).unwrap();
    let settings = ActivitySettings { window: 4, stride: 4, labels: LabelList::Merged };
    let made = windows(&file, &settings).unwrap();
    assert_eq!(made.dataset.series()[0].times, [0.0, 4.0, 5.0]);
    assert_eq!(made.dataset.series()[0].values[2 * 12 + 9], 4.0);
}

#[test]
fn halves_go_to_the_even_tick() {
    let folder = tempfile::tempdir().unwrap();
    let text: String =
        [0.0, 2.5, 3.5, 9.0].iter().map(|&tick| row("A01", BELT, tick, tick, "lying")).collect();
    // Smaller stamps than the published ones, so that a double holds them exactly.
    let file = read(folder.path(), &text.replace("6337902260", "")).unwrap();
    let settings = ActivitySettings { window: 3, stride: 4, labels: LabelList::Merged };
    assert_eq!(windows(&file, &settings).unwrap().dataset.series()[0].times, [0.0, 2.0, 4.0]);
}

#[test]
fn plain_and_packed_files_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let text = row("C03", BELT, 0.0, 1.5, "standing up from sitting on the ground").replace('\n', "\r\n");
    let plain = read(folder.path(), &text).unwrap();
    let path: PathBuf = folder.path().join("ConfLongDemo_JSI.txt.gz");
    let mut packed = GzEncoder::new(fs::File::create(&path).unwrap(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap();
    assert_eq!(ActivityFile::read(&path).unwrap(), plain);
    assert_eq!(plain.recordings[0].readings[0].position, [1.5, 2.0, 3.0]);
}

#[test]
fn damaged_files_are_named_to_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let good = row("A01", BELT, 0.0, 1.0, "lying");
    let problem = |bad: String| match read(folder.path(), &format!("{good}{bad}")).unwrap_err() {
        DataError::Line { place, line, problem } => {
            assert!(place.ends_with("ConfLongDemo_JSI.txt"));
            assert_eq!(line, 2);
            problem
        }
        other => panic!("{other}"),
    };
    let number = |column, value: &str| LineProblem::NotANumber { column, value: value.into() };
    assert_eq!(problem(good.replace(",2,", ",y,")), number("y", "y"));
    assert_eq!(problem(good.replace(",3,", ",NaN,")), number("z", "NaN"));
    assert!(matches!(
        problem(good.replace(BELT, "020-000-032-222")),
        LineProblem::UnknownName { what: "tag", .. }
    ));
    let message = problem(good.replace("lying", "laying")).to_string();
    assert!(message.contains("unknown activity `laying` (did you mean `lying`?)"), "{message}");
    assert!(matches!(problem(good.replace("63379", "-3379")), LineProblem::Time { .. }));
    assert!(matches!(problem("A01,1,2\n".into()), LineProblem::Columns { found: 3, expected: 8, .. }));

    let scattered = [good.clone(), good.replace("A01", "A02"), good.clone()].concat();
    let error = read(folder.path(), &scattered).unwrap_err();
    assert!(error.to_string().contains("line 3: recording `A01` goes on here"), "{error}");
}
