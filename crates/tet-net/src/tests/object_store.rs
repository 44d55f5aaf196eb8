//! A bucket in memory that is written as S3 is: whole objects, and uploads of several parts.
//!
//! A fault is a function of the number of the request, so that a suite makes one request after the other fail. Keys
//! are not compared; `cargo xtask remote` asks servers that compare them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What goes wrong with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteFault {
    /// The status, and nothing is done.
    Status(u16),
    /// The connection ends, and nothing is done.
    Lost,
    /// It is done, and the connection ends without an answer.
    AnswerLost,
    /// It is done, and the answer has no meaning.
    Nonsense,
}

type Faults = dyn Fn(usize) -> Option<WriteFault> + Send + Sync;

#[derive(Default)]
struct State {
    /// Objects with the number of their upload.
    objects: BTreeMap<String, (Vec<u8>, String)>,
    /// The parts of uploads that were begun, with the number of the upload.
    uploads: BTreeMap<String, (BTreeMap<u16, Vec<u8>>, String)>,
    requests: usize,
}

/// A running bucket. Its thread ends with the process.
pub(super) struct ObjectStore {
    state: Arc<Mutex<State>>,
    address: String,
}

impl std::fmt::Debug for ObjectStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ObjectStore").field(&self.address).finish()
    }
}

impl ObjectStore {
    /// An empty bucket with faults by the number of the request, from 0.
    pub(super) fn with(
        faults: impl Fn(usize) -> Option<WriteFault> + Send + Sync + 'static,
    ) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (of_thread, faults) = (Arc::clone(&state), Arc::new(faults));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, faults) = (Arc::clone(&of_thread), Arc::clone(&faults));
                std::thread::spawn(move || {
                    let mut lines = BufReader::new(stream.try_clone().unwrap());
                    while serve(&mut lines, &stream, &state, &*faults).is_some() {}
                });
            }
        });
        ObjectStore { state, address }
    }

    /// The address of the server.
    pub(super) fn endpoint(&self) -> &str {
        &self.address
    }

    /// Puts an object there.
    pub(super) fn put(&self, path: &str, bytes: &[u8]) {
        let object = (bytes.to_vec(), "another".to_owned());
        self.state.lock().unwrap().objects.insert(path.to_owned(), object);
    }

    /// The bytes of an object, such as `/bucket/key`.
    pub(super) fn get(&self, path: &str) -> Option<Vec<u8>> {
        Some(self.state.lock().unwrap().objects.get(path)?.0.clone())
    }

    /// Uploads that are neither ended nor given up.
    pub(super) fn pending(&self) -> usize {
        self.state.lock().unwrap().uploads.len()
    }

    /// The number of requests so far.
    pub(super) fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }
}

/// One request, as it came.
struct Asked {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Asked {
    fn read(lines: &mut BufReader<TcpStream>) -> Option<Asked> {
        let mut line = String::new();
        (lines.read_line(&mut line).ok()? > 0).then_some(())?;
        let mut words = line.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let query = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).ok()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let len = headers.get("content-length").and_then(|len| len.parse().ok()).unwrap_or(0);
        let mut body = vec![0; len];
        lines.read_exact(&mut body).ok()?;
        Some(Asked { method, path: path.to_owned(), query, headers, body })
    }
}

/// Answers one request; `None` where the connection ends.
fn serve(
    lines: &mut BufReader<TcpStream>,
    stream: &TcpStream,
    state: &Mutex<State>,
    faults: &Faults,
) -> Option<()> {
    let asked = Asked::read(lines)?;
    let mut state = state.lock().unwrap();
    state.requests += 1;
    let fault = faults(state.requests - 1);
    let (status, head, body) = match fault {
        Some(WriteFault::Lost) => return None,
        Some(WriteFault::Status(status)) => (status, String::new(), String::new()),
        _ => done(&asked, &mut state),
    };
    drop(state);
    let body = match fault {
        Some(WriteFault::AnswerLost) => return None,
        Some(WriteFault::Nonsense) => "nonsense".to_owned(),
        _ => body,
    };
    let len = if asked.method == "HEAD" { 0 } else { body.len() };
    let mut out = stream;
    write!(out, "HTTP/1.1 {status} x\r\n{head}content-length: {len}\r\n\r\n{}", &body[..len]).ok()
}

/// Does what is asked: status, header and body of the answer.
fn done(asked: &Asked, state: &mut State) -> (u16, String, String) {
    const NS: &str = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";
    let plain = |status| (status, String::new(), String::new());
    let number = asked.headers.get("x-amz-meta-tet-upload").cloned().unwrap_or_default();
    let id = asked.query.get("uploadId");
    let is_refused =
        asked.headers.contains_key("if-none-match") && state.objects.contains_key(&asked.path);
    match (asked.method.as_str(), id) {
        ("PUT" | "POST", _) if is_refused => plain(412),
        ("GET" | "HEAD", _) => match state.objects.get(&asked.path) {
            None => plain(404),
            Some((bytes, number)) => {
                let range = format!("content-range: bytes 0-0/{}\r\n", bytes.len());
                let head = format!("etag: \"x\"\r\nx-amz-meta-tet-upload: {number}\r\n{range}");
                (206, head, char::from(bytes[0] & 127).to_string())
            }
        },
        ("PUT", None) => {
            state.objects.insert(asked.path.clone(), (asked.body.clone(), number));
            plain(200)
        }
        ("POST", None) => {
            let id = format!("upload{}", state.requests);
            state.uploads.insert(id.clone(), (BTreeMap::new(), number));
            let tag = format!("<UploadId>{id}</UploadId>");
            let names = "<Bucket>bucket</Bucket><Key>key</Key>";
            let name = "InitiateMultipartUploadResult";
            (200, String::new(), format!("<{name} {NS}>{names}{tag}</{name}>"))
        }
        ("DELETE", Some(id)) => {
            state.uploads.remove(id);
            plain(204)
        }
        ("PUT", Some(id)) => {
            let part = asked.query.get("partNumber").and_then(|text| text.parse::<u16>().ok());
            let (Some((parts, _)), Some(part)) = (state.uploads.get_mut(id), part) else {
                return plain(404);
            };
            parts.insert(part, asked.body.clone());
            (200, format!("etag: \"{part}\"\r\n"), String::new())
        }
        ("POST", Some(id)) => {
            let text = String::from_utf8_lossy(&asked.body).into_owned();
            let Some((parts, number)) = state.uploads.remove(id) else { return plain(404) };
            assert_eq!(text.matches("<PartNumber>").count(), parts.len(), "{text}");
            let bytes: Vec<u8> = parts.into_values().flatten().collect();
            state.objects.insert(asked.path.clone(), (bytes, number));
            let name = "CompleteMultipartUploadResult";
            (200, String::new(), format!("<{name} {NS}><ETag>\"x\"</ETag></{name}>"))
        }
        _ => plain(400),
    }
}
