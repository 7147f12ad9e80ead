//! Downloads from a server on this machine that answers well, badly, and not at all.

mod data_server;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use data_server::{Answer, Server};
use stroock_experiments::data::download::{
    DownloadError, DownloadSettings, Downloaded, Progress, UrlProblem, download,
};
use stroock_experiments::data::{DataError, FileProblem};

fn content() -> Vec<u8> {
    (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn patience() -> DownloadSettings {
    DownloadSettings {
        connect_timeout: Duration::from_secs(5),
        read_timeout: Duration::from_secs(5),
        attempts: 3,
        pause: Duration::from_millis(1),
    }
}

struct Trial {
    folder: tempfile::TempDir,
    steps: Vec<Progress>,
}

impl Trial {
    fn new() -> Self {
        Trial { folder: tempfile::tempdir().unwrap(), steps: Vec::new() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("sub/file.bin")
    }

    fn part(&self) -> PathBuf {
        self.folder.path().join("sub/file.bin.part")
    }

    fn run(&mut self, urls: &[String]) -> Result<Downloaded, DataError> {
        self.run_with(urls, &patience())
    }

    /// Accepts the expected content and nothing else.
    fn run_with(&mut self, urls: &[String], settings: &DownloadSettings) -> Result<Downloaded, DataError> {
        let mut verify = |complete: &Path| {
            let found = fs::read(complete).unwrap();
            if found == content() {
                return Ok(());
            }
            let problem = FileProblem::Count { what: "bytes", found: found.len() as u64, expected: 300_000 };
            Err(DataError::File { place: complete.display().to_string(), problem })
        };
        let path = self.path();
        let steps = &mut self.steps;
        download(urls, &path, settings, &mut verify, &mut |progress| steps.push(progress))
    }

    fn assert_complete(&self) {
        assert_eq!(fs::read(self.path()).unwrap(), content());
        let names: Vec<_> =
            fs::read_dir(self.path().parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["file.bin"], "nothing else is left");
    }
}

fn failures(error: DataError) -> Vec<(UrlProblem, u64)> {
    match error {
        DataError::Download(DownloadError { failures, .. }) => {
            failures.into_iter().map(|failure| (failure.problem, failure.received)).collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_file_arrives_with_progress() {
    let server = Server::start(|request, _| Answer::file(request, &content(), &[]));
    let mut trial = Trial::new();
    let url = server.url("file.bin");
    let downloaded = trial.run(std::slice::from_ref(&url)).unwrap();
    assert_eq!(downloaded, Downloaded { url, bytes: 300_000 });
    trial.assert_complete();
    assert_eq!(trial.steps[0], Progress { received: 0, total: Some(300_000) });
    assert_eq!(*trial.steps.last().unwrap(), Progress { received: 300_000, total: Some(300_000) });
    assert!(trial.steps.windows(2).all(|pair| pair[0].received < pair[1].received));
    let request = &server.requests()[0];
    assert_eq!((request.line.as_str(), request.header("range")), ("GET /file.bin HTTP/1.1", None));
    assert_eq!(request.header("accept-encoding"), Some("identity"));
    assert!(request.header("user-agent").unwrap().starts_with("stroock/"));
}

#[test]
fn a_dropped_connection_is_resumed() {
    let server = Server::start(|request, number| {
        let answer = Answer::file(request, &content(), &[("ETag", "\"v1\"")]);
        if number < 4 { answer.cut(70_000) } else { answer }
    });
    let mut trial = Trial::new();
    // More drops than attempts: each one brings something new.
    assert_eq!(trial.run(&[server.url("f")]).unwrap().bytes, 300_000);
    trial.assert_complete();
    let ranges: Vec<_> = server.requests().iter().map(|request| request.range()).collect();
    assert_eq!(ranges, [None, Some(70_000), Some(140_000), Some(210_000), Some(280_000)]);
    assert_eq!(server.requests()[1].header("if-range"), Some("\"v1\""));
    assert!(trial.steps.windows(2).all(|pair| pair[0].received <= pair[1].received));
}

#[test]
fn a_later_run_continues_where_an_earlier_one_stopped() {
    let server = Server::start(|request, number| match number {
        0 => Answer::file(request, &content(), &[("Last-Modified", "Wed, 27 May 2009 14:03:25 GMT")])
            .cut(1_000),
        1..4 => Answer::new("503 Service Unavailable", &[], b"busy"),
        _ => Answer::file(request, &content(), &[]),
    });
    let mut trial = Trial::new();
    let urls = [server.url("f")];
    let error = trial.run(&urls).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains(&urls[0]) && message.contains("503") && message.contains("1000 bytes"),
        "{message}"
    );
    assert!(!trial.path().exists() && fs::metadata(trial.part()).unwrap().len() == 1_000);

    let mut later = Trial { steps: Vec::new(), ..trial };
    later.run(&urls).unwrap();
    later.assert_complete();
    let last = server.requests().pop().unwrap();
    assert_eq!((last.range(), last.header("if-range")), (Some(1_000), Some("Wed, 27 May 2009 14:03:25 GMT")));
    assert_eq!(later.steps[0], Progress { received: 1_000, total: Some(300_000) });
}

#[test]
fn a_server_without_ranges_starts_anew() {
    let server = Server::start(|_, number| {
        let answer = Answer::new("200 OK", &[], &content());
        if number == 0 { answer.cut(100_000) } else { answer }
    });
    let mut trial = Trial::new();
    trial.run(&[server.url("f")]).unwrap();
    trial.assert_complete();
    assert_eq!(server.requests()[1].range(), Some(100_000));

    // It never gets further: attempts end.
    let server = Server::start(|_, _| Answer::new("200 OK", &[], &content()).cut(100_000));
    let mut trial = Trial::new();
    let failures = failures(trial.run(&[server.url("f")]).unwrap_err());
    assert!(matches!(&failures[..], [(UrlProblem::Connection(_), 100_000)]), "{failures:?}");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_part_that_is_complete_is_recognised() {
    let server = Server::start(|request, _| Answer::file(request, &content(), &[]));
    let mut trial = Trial::new();
    let url = server.url("f");
    fs::create_dir(trial.path().parent().unwrap()).unwrap();
    fs::write(trial.part(), content()).unwrap();
    fs::write(trial.folder.path().join("sub/file.bin.part.json"), format!("{{\"url\":\"{url}\"}}")).unwrap();
    trial.run(&[url]).unwrap();
    trial.assert_complete();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn pieces_that_do_not_fit_are_thrown_away_once() {
    let server = Server::start(|request, _| Answer::file(request, &content(), &[]));
    for part in [vec![7; 5_000], vec![7; 400_000]] {
        let mut trial = Trial::new();
        let url = server.url("f");
        fs::create_dir(trial.path().parent().unwrap()).unwrap();
        fs::write(trial.part(), part).unwrap();
        fs::write(trial.folder.path().join("sub/file.bin.part.json"), format!("{{\"url\":\"{url}\"}}"))
            .unwrap();
        trial.run(&[url]).unwrap();
        trial.assert_complete();
    }
    // A part whose origin is not known is not continued.
    let mut trial = Trial::new();
    fs::create_dir(trial.path().parent().unwrap()).unwrap();
    fs::write(trial.part(), vec![7; 5_000]).unwrap();
    trial.run(&[server.url("f")]).unwrap();
    trial.assert_complete();
    assert_eq!(server.requests().last().unwrap().range(), None);
}

#[test]
fn a_wrong_range_is_not_written() {
    let server = Server::start(|request, number| match (number, request.range()) {
        (0, _) => Answer::file(request, &content(), &[]).cut(50_000),
        (_, Some(_)) => {
            Answer::new("206 Partial Content", &[("Content-Range", "bytes 0-299999/300000")], &content())
        }
        _ => Answer::file(request, &content(), &[]),
    });
    let mut trial = Trial::new();
    trial.run(&[server.url("f")]).unwrap();
    trial.assert_complete();
}

#[test]
fn the_next_address_is_asked_when_one_fails() {
    let server = Server::start(|request, _| match request.path() {
        "/gone" => Answer::new("404 Not Found", &[], b"no"),
        "/wrong" => Answer::new("200 OK", &[], b"<html>log in first</html>"),
        _ => Answer::file(request, &content(), &[]),
    });
    let mut trial = Trial::new();
    let urls = ["gone", "wrong", "right"].map(|name| server.url(name));
    assert_eq!(trial.run(&urls).unwrap().url, urls[2]);
    trial.assert_complete();
    // Neither status 404 nor wrong content is worth another try.
    assert_eq!(
        server.requests().iter().map(|request| request.path().to_owned()).collect::<Vec<_>>(),
        ["/gone", "/wrong", "/right"]
    );
}

#[test]
fn the_address_of_the_part_is_asked_first() {
    let server = Server::start(|request, number| match (request.path(), number) {
        ("/first", _) => Answer::new("404 Not Found", &[], b""),
        (_, 1) => Answer::file(request, &content(), &[]).cut(9_000),
        (_, 2..4) => Answer::new("500 Internal Server Error", &[], b""),
        _ => Answer::file(request, &content(), &[]),
    });
    let mut trial = Trial::new();
    let urls = ["first", "second"].map(|name| server.url(name));
    let failures = failures(trial.run(&urls).unwrap_err());
    assert!(matches!(&failures[..], [(UrlProblem::Status(404), 0), (UrlProblem::Status(500), 9_000)]));
    trial.run(&urls).unwrap();
    trial.assert_complete();
    let last = server.requests().pop().unwrap();
    assert_eq!((last.path(), last.range()), ("/second", Some(9_000)));
}

#[test]
fn wrong_content_keeps_the_old_file_and_leaves_no_part() {
    let server = Server::start(|_, _| Answer::new("200 OK", &[], b"other"));
    let mut trial = Trial::new();
    fs::create_dir(trial.path().parent().unwrap()).unwrap();
    fs::write(trial.path(), "old").unwrap();
    let failures = failures(trial.run(&[server.url("f")]).unwrap_err());
    assert!(matches!(&failures[..], [(UrlProblem::Content(_), 0)]), "{failures:?}");
    assert!(failures[0].0.to_string().contains("has 5 bytes"), "{}", failures[0].0);
    assert_eq!(fs::read(trial.path()).unwrap(), b"old");
    assert!(!trial.part().exists());
}

#[test]
fn passing_faults_are_waited_for() {
    let server = Server::start(|request, number| match number {
        0 => Answer::new("429 Too Many Requests", &[("Retry-After", "0")], b""),
        1 => Answer::new("502 Bad Gateway", &[], b""),
        _ => Answer::file(request, &content(), &[]),
    });
    let mut trial = Trial::new();
    let settings = DownloadSettings { pause: Duration::from_millis(40), ..patience() };
    let start = Instant::now();
    trial.run_with(&[server.url("f")], &settings).unwrap();
    // 40 ms, then 80 ms.
    assert!(start.elapsed() >= Duration::from_millis(120));
    trial.assert_complete();
}

#[test]
fn redirections_are_followed_with_the_range() {
    let server = Server::start(|request, number| match (request.path(), number) {
        ("/old", _) => Answer::new("302 Found", &[("Location", "/new")], b""),
        (_, 1) => Answer::file(request, &content(), &[]).cut(20_000),
        _ => Answer::file(request, &content(), &[]),
    });
    let mut trial = Trial::new();
    trial.run(&[server.url("old")]).unwrap();
    trial.assert_complete();
    assert_eq!(server.requests().pop().unwrap().range(), Some(20_000));
}

#[test]
fn nobody_there_and_silence_end_in_an_error() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut trial = Trial::new();
    let urls = [
        format!("http://{closed}/f"),
        format!("http://{}/f", silent.local_addr().unwrap()),
        "nonsense".into(),
    ];
    let settings = DownloadSettings { read_timeout: Duration::from_millis(100), attempts: 2, ..patience() };
    let start = Instant::now();
    let failures = failures(trial.run_with(&urls, &settings).unwrap_err());
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(failures.len(), 3);
    assert!(failures.iter().all(|(problem, _)| matches!(problem, UrlProblem::Connection(_))), "{failures:?}");
}

#[test]
fn a_disk_that_refuses_is_an_error_at_once() {
    let server = Server::start(|request, _| Answer::file(request, &content(), &[]));
    let trial = Trial::new();
    fs::write(trial.folder.path().join("sub"), "a file where the folder should be").unwrap();
    let mut trial = trial;
    assert!(matches!(trial.run(&[server.url("f")]), Err(DataError::Io { .. })));
    assert!(server.requests().is_empty());
}

/// Run by [`a_proxy_of_the_environment_is_honoured`] in a process of its own.
#[test]
#[ignore = "needs a proxy in the environment"]
fn download_through_the_proxy() {
    let mut trial = Trial::new();
    trial.run(&["http://data.invalid/file.bin".into()]).unwrap();
    trial.assert_complete();
}

#[test]
fn a_proxy_of_the_environment_is_honoured() {
    let proxy = Server::start(|request, _| Answer::file(request, &content(), &[]));
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "download_through_the_proxy"])
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .env("ALL_PROXY", proxy.url(""))
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    let asked = proxy.requests();
    assert!(asked[0].line.contains("data.invalid"), "{asked:?}");
}
