//! A tiny HTTP server on this machine, which answers as it is told and remembers what it was asked.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What a client asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub line: String,
    pub headers: Vec<(String, String)>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap_or_default()
    }

    /// First byte of the range that was asked for.
    pub fn range(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

/// Status and headers, and the part of the body that is really sent before the connection ends.
pub struct Answer {
    head: String,
    body: Vec<u8>,
}

impl Answer {
    pub fn new(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Self {
        let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !headers.iter().any(|(name, _)| *name == "Content-Length") && !status.starts_with("100") {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        Answer { head: head + "\r\n", body: body.to_vec() }
    }

    /// Ends the connection after so many bytes of the body.
    pub fn cut(mut self, bytes: usize) -> Self {
        self.body.truncate(bytes);
        self
    }

    /// A whole file, or what is behind the first byte that was asked for.
    pub fn file(request: &Request, content: &[u8], headers: &[(&str, &str)]) -> Self {
        match request.range() {
            Some(start) if start < content.len() => {
                let range = format!("bytes {start}-{}/{}", content.len() - 1, content.len());
                let headers = [headers, &[("Content-Range", range.as_str())]].concat();
                Answer::new("206 Partial Content", &headers, &content[start..])
            }
            Some(_) => {
                let range = format!("bytes */{}", content.len());
                Answer::new("416 Range Not Satisfiable", &[("Content-Range", range.as_str())], b"")
            }
            None => Answer::new("200 OK", headers, content),
        }
    }
}

pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Predictions every request, given with its number from 0.
    pub fn start(answer: impl Fn(&Request, usize) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (log, over) = (requests.clone(), is_over.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let stream = stream.unwrap();
                while let Some(request) = read_request(&stream) {
                    let number = log.lock().unwrap().len();
                    log.lock().unwrap().push(request.clone());
                    // A proxy opens a tunnel first; what follows on the connection is the request proper.
                    let is_tunnel = request.line.starts_with("CONNECT");
                    let answer = match is_tunnel {
                        true => Answer { head: "HTTP/1.1 200 OK\r\n\r\n".into(), body: vec![] },
                        false => answer(&request, number),
                    };
                    // A client may have left: that is its affair.
                    let _ = (&stream).write_all(&[answer.head.as_bytes(), &answer.body].concat());
                    if !is_tunnel {
                        break;
                    }
                }
            }
        });
        Server { address, requests, is_over, thread: Some(thread) }
    }

    /// Address of a file of this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// What was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // A last connection wakes the thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines();
    let line = lines.next()?.ok().filter(|line| !line.is_empty())?;
    let mut headers = Vec::new();
    for line in lines {
        match line.ok()?.split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None => break,
        }
    }
    Some(Request { line, headers })
}
