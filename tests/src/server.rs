//! A server of files in memory, with range requests, a log, and faults on request.
//!
//! It does what RFC 9110 says of ranges and conditions, on threads, and nothing more. A fault is a function of
//! the number of the request: each suite makes one request after the other fail.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Faults of one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The status, with no bytes.
    Status(u16),
    /// The connection ends after so many bytes of the body.
    Cut(usize),
    /// The answer is of the bytes one further on.
    Shifted,
    /// The ETag is another.
    OtherEtag,
    /// The bytes and the ETag are those of another file of the same length.
    OtherFile,
    /// The whole file with status 200.
    Whole,
    /// The whole file in an encoding that does not state its length.
    WholeChunked,
    /// A body with status 200 that does not end.
    WholeEndless,
    /// The whole of another version, with status 200.
    WholeOther,
    /// The body claims to be compressed.
    Compressed,
    /// The body does not end.
    Endless,
    /// The body is one byte longer than its range, which its header admits.
    Longer,
    /// A redirect to the same place.
    Redirect,
    /// No `Content-Range`.
    NoRange,
    /// A header of a megabyte.
    LongHeader,
    /// The connection ends without an answer.
    Nothing,
    /// No byte for a while.
    Silence,
}

/// One request, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The path.
    pub path: String,
    /// The value of `Range`.
    pub range: Option<String>,
    /// The value of `If-Match`.
    pub if_match: Option<String>,
}

type Faults = dyn Fn(usize, &str) -> Option<Fault> + Send + Sync;

/// How answers are delayed: before the first byte, and for each byte.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Before the first byte.
    pub latency: Duration,
    /// Bytes a second of one connection; 0 for no limit.
    pub rate: u64,
}

struct Shared {
    files: BTreeMap<String, Arc<Vec<u8>>>,
    faults: Box<Faults>,
    pace: Pace,
    log: Mutex<Vec<Request>>,
}

/// A running server; it ends with this value.
pub struct Server {
    shared: Arc<Shared>,
    address: String,
    port: u16,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Server").field(&self.address).finish()
    }
}

impl Server {
    /// Serves files by their paths, such as `/a.tet`.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Server {
        Server::with(files, Pace::default(), |_, _| None)
    }

    /// A server with faults by the number of the request, from 0, and its path.
    pub fn with(
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
        pace: Pace,
        faults: impl Fn(usize, &str) -> Option<Fault> + Send + Sync + 'static,
    ) -> Server {
        let files = files.into_iter().map(|(path, bytes)| (path, Arc::new(bytes))).collect();
        let (log, faults) = (Mutex::default(), Box::new(faults));
        let shared = Arc::new(Shared { files, faults, pace, log });
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // The last reference is that of this thread: the server has ended.
                if Arc::strong_count(&of_thread) == 1 {
                    return;
                }
                let (Ok(stream), shared) = (stream, Arc::clone(&of_thread)) else { continue };
                std::thread::spawn(move || while serve(&stream, &shared).is_some() {});
            }
        });
        Server { shared, address: format!("http://127.0.0.1:{port}"), port }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// Takes the requests since the last call.
    pub fn take_log(&self) -> Vec<Request> {
        std::mem::take(&mut self.shared.log.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let nothing = Shared {
            files: BTreeMap::new(),
            faults: Box::new(|_, _| None),
            pace: Pace::default(),
            log: Mutex::default(),
        };
        self.shared = Arc::new(nothing);
        // Wakes the thread that waits for a connection.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

/// Answers one request; `None` where the connection ends.
fn serve(stream: &TcpStream, shared: &Shared) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let path = first.split(' ').nth(1)?.split('?').next()?.to_owned();
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let (range, if_match) = (headers.get("range").cloned(), headers.get("if-match").cloned());
    let request = Request { path, range, if_match };
    let path = &request.path;
    let number = {
        let mut log = shared.log.lock().unwrap();
        log.push(request.clone());
        log.len() - 1
    };
    std::thread::sleep(shared.pace.latency);
    let fault = (shared.faults)(number, path);
    let Some(bytes) = shared.files.get(path) else { return plain(stream, 404, "") };
    match fault {
        Some(Fault::Nothing) => return None,
        Some(Fault::Silence) => {
            std::thread::sleep(Duration::from_millis(600));
            return None;
        }
        Some(Fault::Status(status)) => return plain(stream, status, ""),
        Some(Fault::Redirect) => return plain(stream, 302, &format!("location: {path}\r\n")),
        _ => {}
    }
    answer(stream, shared.pace, bytes, fault, &request)
}

/// Answers with bytes of a file, as far as the fault lets it.
fn answer(
    stream: &TcpStream,
    pace: Pace,
    bytes: &[u8],
    fault: Option<Fault>,
    request: &Request,
) -> Option<()> {
    let Request { range, if_match, .. } = request;
    let is_other = matches!(fault, Some(Fault::OtherEtag | Fault::OtherFile | Fault::WholeOther));
    let etag = if is_other { "\"b\"" } else { "\"a\"" };
    if if_match.as_ref().is_some_and(|asked| asked != etag) && fault != Some(Fault::OtherFile) {
        return plain(stream, 412, "");
    }
    let len = bytes.len();
    let is_whole = range.is_none()
        || matches!(
            fault,
            Some(Fault::Whole | Fault::WholeChunked | Fault::WholeEndless | Fault::WholeOther)
        );
    let part = range.as_deref().map_or(Some((0, len)), |range| range_of(range, len));
    let Some((mut start, mut end)) = part else {
        return plain(stream, 416, &format!("content-range: bytes */{len}\r\n"));
    };
    if fault == Some(Fault::Shifted) && end < len {
        (start, end) = (start + 1, end + 1);
    }
    if fault == Some(Fault::Longer) && end < len {
        end += 1;
    }
    let mut body = bytes[start..end].to_vec();
    let range = format!("content-range: bytes {start}-{}/{len}\r\n", end - 1);
    let (mut status, mut head) = (206, format!("etag: {etag}\r\n{range}"));
    if is_whole {
        (status, head) = (200, format!("etag: {etag}\r\n"));
        body = bytes.to_vec();
    }
    match fault {
        Some(Fault::OtherFile) => body.iter_mut().for_each(|byte| *byte ^= 1),
        Some(Fault::NoRange) => head = format!("etag: {etag}\r\n"),
        Some(Fault::Compressed) => head += "content-encoding: gzip\r\n",
        Some(Fault::LongHeader) => head += &format!("x-long: {}\r\n", "y".repeat(1 << 20)),
        _ => {}
    }
    let is_endless = matches!(fault, Some(Fault::Endless | Fault::WholeEndless));
    if is_endless || fault == Some(Fault::WholeChunked) {
        head += "transfer-encoding: chunked\r\n";
    } else {
        head += &format!("content-length: {}\r\n", body.len());
    }
    let mut out = stream;
    out.write_all(format!("HTTP/1.1 {status} x\r\n{head}\r\n").as_bytes()).ok()?;
    send(stream, pace, &body, fault)
}

/// Sends the bytes of an answer.
fn send(mut out: &TcpStream, pace: Pace, body: &[u8], fault: Option<Fault>) -> Option<()> {
    if let Some(Fault::Endless | Fault::WholeEndless) = fault {
        while out.write_all(format!("1000\r\n{}\r\n", "z".repeat(0x1000)).as_bytes()).is_ok() {}
        return None;
    }
    if fault == Some(Fault::WholeChunked) {
        for piece in body.chunks(1 << 18) {
            let framed = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
            out.write_all(&framed).ok()?;
        }
        return out.write_all(b"0\r\n\r\n").ok();
    }
    if let Some(Fault::Cut(cut)) = fault {
        out.write_all(&body[..cut.min(body.len() - 1)]).ok()?;
        let _ = out.shutdown(Shutdown::Both);
        return None;
    }
    for piece in body.chunks(1 << 18) {
        out.write_all(piece).ok()?;
        let nanos = (piece.len() as u64 * 1_000_000_000).checked_div(pace.rate);
        std::thread::sleep(Duration::from_nanos(nanos.unwrap_or(0)));
    }
    Some(())
}

fn plain(mut out: &TcpStream, status: u16, head: &str) -> Option<()> {
    out.write_all(format!("HTTP/1.1 {status} x\r\n{head}content-length: 0\r\n\r\n").as_bytes()).ok()
}

/// Where a range is in a file of `len` bytes; `None` where it has none of its bytes.
fn range_of(text: &str, len: usize) -> Option<(usize, usize)> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        let count: usize = last.parse().ok()?;
        return (len > 0).then(|| (len - count.min(len), len));
    }
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first < len && first <= last).then(|| (first, len.min(last + 1)))
}
