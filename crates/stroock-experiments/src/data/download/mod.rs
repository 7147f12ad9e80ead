//! One file from the first of several addresses that has it: resumable, verified, and placed in one step.
//!
//! Bytes go to `NAME.part` beside the destination; `NAME.part.json` keeps where they came from. A broken download
//! continues where it stopped, in this run or a later one, as long as the server still has the same file. The
//! destination appears when the content has been verified. The environment names a proxy, if there is one
//! (`ALL_PROXY`, `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`).

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use ureq::http::{HeaderMap, StatusCode, header};
use ureq::{Agent, Body};

use super::error::DataError;
use super::placement;
use part::{Origin, Part};

mod error;
mod part;

pub use error::{DownloadError, UrlFailure, UrlProblem};

/// How far a download is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes on the disk, those of earlier attempts included.
    pub received: u64,
    /// Bytes of the whole file, where the server tells.
    pub total: Option<u64>,
}

/// How patient a download is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadSettings {
    /// For a connection to be made.
    pub connect_timeout: Duration,
    /// For the server to say anything.
    pub read_timeout: Duration,
    /// Attempts in a row at one address that bring nothing new, before the next address is asked.
    pub attempts: u32,
    /// Pause after the first of them; it doubles after each.
    pub pause: Duration,
}

impl Default for DownloadSettings {
    /// 20 s, 60 s, 5 attempts, 1 s.
    fn default() -> Self {
        DownloadSettings {
            connect_timeout: Duration::from_secs(20),
            read_timeout: Duration::from_secs(60),
            attempts: 5,
            pause: Duration::from_secs(1),
        }
    }
}

/// A download that was verified and placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downloaded {
    /// Where it came from.
    pub url: String,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Downloads the file at the first of `urls` that has it, has `verify` look at the complete file, and gives it the
/// name `path`, in place of what was there.
///
/// # Errors
/// When no address has a file that `verify` accepts, or the disk refuses. What was received so far is kept for the
/// next time, unless `verify` refused it.
pub fn download<U: AsRef<str>>(
    urls: &[U],
    path: &Path,
    settings: &DownloadSettings,
    verify: &mut dyn FnMut(&Path) -> Result<(), DataError>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Downloaded, DataError> {
    placement::create_parent(path)?;
    let part = Part::beside(path);
    let agent = agent(settings);
    let mut failures = Vec::new();
    // The address that the received part is from comes first.
    let begun = part.origin().map(|origin| origin.url);
    let mut order: Vec<&str> = urls.iter().map(AsRef::as_ref).collect();
    order.sort_by_key(|url| begun.as_deref() != Some(*url));
    for url in order {
        match from_url(&agent, url, &part, settings, verify, progress)? {
            Ok(bytes) => {
                part.place(path)?;
                return Ok(Downloaded { url: url.to_owned(), bytes });
            }
            Err(problem) => {
                let received = part.length_from(url);
                failures.push(UrlFailure { url: url.to_owned(), received, problem });
            }
        }
    }
    Err(DownloadError { path: path.to_owned(), failures }.into())
}

/// Asks one address until the file is complete and verified, or there is no hope.
fn from_url(
    agent: &Agent,
    url: &str,
    part: &Part,
    settings: &DownloadSettings,
    verify: &mut dyn FnMut(&Path) -> Result<(), DataError>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Result<u64, UrlProblem>, DataError> {
    let mut longest = part.length_from(url);
    // Whether the file may be made of pieces that do not fit together; after a fresh start nothing is tried again.
    let (mut is_pieced, mut is_fresh) = (longest > 0, false);
    let mut in_vain = 0;
    loop {
        let (problem, wait) = match attempt(agent, url, part, progress)? {
            Attempt::Complete(bytes) => match verify(part.path()) {
                Ok(()) => return Ok(Ok(bytes)),
                Err(error) => {
                    part.discard()?;
                    if is_fresh || !is_pieced {
                        return Ok(Err(UrlProblem::Content(Box::new(error))));
                    }
                    (is_fresh, longest, in_vain) = (true, 0, 0);
                    continue;
                }
            },
            Attempt::Hopeless(problem) => return Ok(Err(problem)),
            Attempt::Broken(problem, wait) => (problem, wait),
        };
        let length = part.length_from(url);
        in_vain = if length > longest { 1 } else { in_vain + 1 };
        longest = longest.max(length);
        is_pieced |= length > 0;
        if in_vain >= settings.attempts.max(1) {
            return Ok(Err(problem));
        }
        let pause = settings.pause.saturating_mul(1 << (in_vain - 1).min(6));
        thread::sleep(wait.map_or(pause, |wait| wait.max(pause)).min(LONGEST_PAUSE));
    }
}

const LONGEST_PAUSE: Duration = Duration::from_secs(60);

enum Attempt {
    /// The file is complete, with so many bytes.
    Complete(u64),
    /// It may work another time, after the time that the server asked for.
    Broken(UrlProblem, Option<Duration>),
    /// It will not work another time.
    Hopeless(UrlProblem),
}

fn attempt(
    agent: &Agent,
    url: &str,
    part: &Part,
    progress: &mut dyn FnMut(Progress),
) -> Result<Attempt, DataError> {
    let offset = part.length_from(url);
    let mut request = agent.get(url);
    if offset > 0 {
        request = request.header(header::RANGE, format!("bytes={offset}-"));
        if let Some(validator) = part.origin().and_then(|origin| origin.validator) {
            request = request.header(header::IF_RANGE, validator);
        }
    }
    let response = match request.call() {
        Ok(response) => response,
        Err(error) => return Ok(failed(error)),
    };
    let status = response.status();
    let (headers, body) = (response.headers(), response.body());
    match status {
        StatusCode::OK => {
            let (total, origin) = (body.content_length(), Origin::new(url, headers));
            let file = part.start(&origin)?;
            receive(response.into_body(), file, part, Progress { received: 0, total }, progress)
        }
        StatusCode::PARTIAL_CONTENT => match content_range(headers) {
            Some((Some(start), total)) if start == offset && offset > 0 => {
                let file = part.resume()?;
                receive(response.into_body(), file, part, Progress { received: offset, total }, progress)
            }
            _ => {
                part.discard()?;
                let answer = text(headers, header::CONTENT_RANGE).unwrap_or_default().to_owned();
                Ok(Attempt::Broken(UrlProblem::Range { asked: offset, answer }, None))
            }
        },
        // There is nothing behind what is here already: the file is complete, or another one.
        StatusCode::RANGE_NOT_SATISFIABLE if offset > 0 => match content_range(headers) {
            Some((None, Some(total))) if total == offset => Ok(Attempt::Complete(total)),
            _ => {
                part.discard()?;
                Ok(Attempt::Broken(UrlProblem::Status(status.as_u16()), None))
            }
        },
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => {
            Ok(Attempt::Broken(UrlProblem::Status(status.as_u16()), retry_after(headers)))
        }
        _ if status.is_server_error() => {
            Ok(Attempt::Broken(UrlProblem::Status(status.as_u16()), retry_after(headers)))
        }
        _ => Ok(Attempt::Hopeless(UrlProblem::Status(status.as_u16()))),
    }
}

/// Appends what the server sends.
fn receive(
    body: Body,
    mut file: File,
    part: &Part,
    mut at: Progress,
    progress: &mut dyn FnMut(Progress),
) -> Result<Attempt, DataError> {
    let write = || DataError::io("write", part.path());
    let mut body = body.into_reader();
    let mut buffer = vec![0; 1 << 16];
    progress(at);
    let ended = loop {
        match body.read(&mut buffer) {
            Ok(0) => break Ok(()),
            Ok(bytes) => {
                file.write_all(&buffer[..bytes]).map_err(write())?;
                at.received += bytes as u64;
                progress(at);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => break Err(error.to_string()),
        }
    };
    file.sync_all().map_err(write())?;
    Ok(match (ended, at.total) {
        (Err(reason), _) => Attempt::Broken(UrlProblem::Connection(reason), None),
        (Ok(()), Some(total)) if at.received != total => {
            Attempt::Broken(UrlProblem::Connection(format!("it ended before byte {total}")), None)
        }
        (Ok(()), _) => Attempt::Complete(at.received),
    })
}

fn agent(settings: &DownloadSettings) -> Agent {
    // Files are to arrive as they are published: no encoding on the way.
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .accept_encoding("identity")
        .user_agent(concat!("stroock/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(settings.connect_timeout))
        .timeout_connect(Some(settings.connect_timeout))
        .timeout_recv_response(Some(settings.read_timeout))
        .timeout_per_read(Some(settings.read_timeout));
    config.build().into()
}

fn failed(error: ureq::Error) -> Attempt {
    let problem = UrlProblem::Connection(error.to_string());
    match error {
        ureq::Error::Io(_)
        | ureq::Error::Timeout(_)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::ConnectProxyFailed(_)
        | ureq::Error::Protocol(_) => Attempt::Broken(problem, None),
        _ => Attempt::Hopeless(problem),
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// First byte and length of the whole file from `bytes 5-9/10` or `bytes */10`, where they are told.
fn content_range(headers: &HeaderMap) -> Option<(Option<u64>, Option<u64>)> {
    let (range, total) = text(headers, header::CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    let start = range.split_once('-').and_then(|(start, _)| start.parse().ok());
    Some((start, total.parse().ok()))
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    text(headers, header::RETRY_AFTER)?.parse().ok().map(Duration::from_secs)
}
