//! Whole data sets from a mirror on this machine.

mod data_server;

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use data_server::{Answer, Server};
use stroock_experiments::data::content::Content;
use stroock_experiments::data::download::DownloadSettings;
use stroock_experiments::data::source::{self, DataFile, DataSet};
use stroock_experiments::data::{DataError, DataFolder, FetchEvent, FetchSettings, check, fetch};
use stroock_testing::golden::shared_folder;

/// Without publishers, so that no test can ask them.
const SMALL: DataSet = DataSet {
    name: "small",
    description: "labels",
    licence: "none",
    page: "",
    folder: "small_set",
    files: &[
        DataFile {
            name: "labels",
            also: &["labels.gz"],
            urls: &[],
            sha256: Some("62180e91d20064c977b67c4e0aff23ceb5a32df8f72a2e787a2e6e2f09752ccb"),
            content: Content::MnistLabels { count: 2 },
            is_extra: false,
        },
        DataFile {
            name: "more",
            also: &[],
            urls: &[],
            sha256: None,
            content: Content::MnistLabels { count: 1 },
            is_extra: true,
        },
    ],
};
const LABELS: &[u8] = &[0, 0, 8, 1, 0, 0, 0, 2, 3, 5];
const MORE: &[u8] = &[0, 0, 8, 1, 0, 0, 0, 1, 7];

fn mirror() -> Server {
    Server::start(|request, _| match request.path() {
        "/data/small_set/labels" => Answer::file(request, LABELS, &[]),
        "/data/small_set/more" => Answer::file(request, MORE, &[]),
        _ => Answer::new("404 Not Found", &[], b""),
    })
}

fn settings(server: &Server, extras: bool) -> FetchSettings {
    let download = DownloadSettings { attempts: 1, pause: Duration::ZERO, ..DownloadSettings::default() };
    FetchSettings { mirror: Some(server.url("data/")), extras, download }
}

fn run(data_set: &DataSet, path: &Path, settings: &FetchSettings) -> (Result<usize, DataError>, Vec<String>) {
    let mut events: Vec<String> = Vec::new();
    let folder = DataFolder::find(Some(path)).unwrap();
    let result = fetch(data_set, &folder, settings, &mut |event| {
        let text = match event {
            FetchEvent::Present { file, .. } => format!("present {}", file.name),
            FetchEvent::Invalid { file, reason } => format!("invalid {}: {reason}", file.name),
            FetchEvent::Progress { file, .. } => format!("progress {}", file.name),
            FetchEvent::Arrived { file, downloaded } => format!("arrived {} {}", file.name, downloaded.bytes),
        };
        if events.last() != Some(&text) {
            events.push(text);
        }
    });
    (result.map(|paths| paths.len()), events)
}

#[test]
fn a_data_set_arrives_once() {
    let (server, folder) = (mirror(), tempfile::tempdir().unwrap());
    let (result, events) = run(&SMALL, folder.path(), &settings(&server, false));
    assert_eq!(result.unwrap(), 1);
    assert_eq!(events, ["progress labels", "arrived labels 10"]);
    assert_eq!(fs::read(folder.path().join("small_set/labels")).unwrap(), LABELS);

    let (result, events) = run(&SMALL, folder.path(), &settings(&server, true));
    assert_eq!(
        (result.unwrap(), events),
        (2, vec!["present labels".into(), "progress more".into(), "arrived more 9".into()])
    );
    assert_eq!(server.requests().len(), 2);
    let report = check(&SMALL, &DataFolder::find(Some(folder.path())).unwrap());
    assert!(report.is_whole(), "{report:?}");
}

#[test]
fn an_unsound_file_is_replaced_by_a_sound_one_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small_set/labels");
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(&path, &LABELS[..9]).unwrap();

    let wrong = Server::start(|_, _| Answer::new("200 OK", &[], &[0, 0, 8, 1, 0, 0, 0, 2, 3, 6]));
    let (result, events) = run(&SMALL, folder.path(), &settings(&wrong, false));
    let message = result.unwrap_err().to_string();
    assert!(message.contains("SHA-256") && message.contains("(10 bytes)"), "{message}");
    assert!(events[0].starts_with("invalid labels") && events[0].contains("SHA-256"), "{events:?}");
    assert_eq!(fs::read(&path).unwrap(), &LABELS[..9]);

    let (result, _) = run(&SMALL, folder.path(), &settings(&mirror(), false));
    assert_eq!((result.unwrap(), fs::read(&path).unwrap().as_slice()), (1, LABELS));
}

#[test]
fn a_part_of_a_file_is_not_fetched_for_the_whole() {
    const ROW: &str = "A01,020-000-032-221,633790226052091205,27.05.2009 14:03:25:210,4.3,1.8,0.9,walking\n";
    const TWO_ROWS: DataSet = DataSet {
        files: &[DataFile {
            name: "ConfLongDemo_JSI.txt",
            content: Content::Activity { rows: 2 },
            sha256: None,
            ..SMALL.files[0]
        }],
        ..SMALL
    };
    let server = Server::start(|_, _| Answer::new("200 OK", &[], ROW.as_bytes()));
    let folder = tempfile::tempdir().unwrap();
    let message = run(&TWO_ROWS, folder.path(), &settings(&server, false)).0.unwrap_err().to_string();
    assert!(message.contains("what the server sent has 1 rows, but 2 are published"), "{message}");
    let server = Server::start(|_, _| Answer::new("200 OK", &[], ROW.repeat(2).as_bytes()));
    assert!(run(&TWO_ROWS, folder.path(), &settings(&server, false)).0.is_ok());
}

#[test]
fn two_processes_do_not_fetch_the_same() {
    let (server, folder) = (mirror(), tempfile::tempdir().unwrap());
    fs::create_dir(folder.path().join("small_set")).unwrap();
    let lock = File::create(folder.path().join("small_set/.fetch.lock")).unwrap();
    lock.lock().unwrap();
    let result = run(&SMALL, folder.path(), &settings(&server, false)).0;
    assert!(matches!(result, Err(DataError::InUse { .. })));
    drop(lock);
    assert!(run(&SMALL, folder.path(), &settings(&server, false)).0.is_ok());
}

#[test]
fn the_digits_arrive_as_published() {
    let Some(shared) = shared_folder() else { return };
    let server = Server::start(move |request, number| {
        let content = fs::read(shared.join(&request.path()[1..])).unwrap();
        let answer = Answer::file(request, &content, &[("ETag", "\"original\"")]);
        if number == 0 { answer.cut(5_000_000) } else { answer }
    });
    let folder = tempfile::tempdir().unwrap();
    let (result, events) = run(
        source::find("mnist").unwrap(),
        folder.path(),
        &FetchSettings {
            mirror: Some(server.url("data")),
            download: DownloadSettings { pause: Duration::ZERO, ..DownloadSettings::default() },
            ..FetchSettings::default()
        },
    );
    assert_eq!(result.unwrap(), 4);
    assert_eq!(events[1], "arrived train-images-idx3-ubyte.gz 9912422");
    assert_eq!(server.requests()[1].range(), Some(5_000_000));
    assert_eq!(server.requests().len(), 5);
}
