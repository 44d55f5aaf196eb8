//! A bucket in memory that is read, written and listed as S3 is, or as Azure: ranges, whole objects, uploads of several parts,
//! conditions, and lists with a delimiter.
//!
//! A fault is a function of the number of the request, so that a suite makes one request after the other fail. Keys
//! are not compared; `cargo xtask remote` asks servers that compare them.

#[path = "bucket/azure.rs"]
mod azure;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Faults of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketFault {
    /// The status, and nothing is done.
    Status(u16),
    /// The connection ends, and nothing is done.
    Lost,
    /// It is done, and the connection ends without an answer.
    AnswerLost,
    /// It is done, and the answer has no meaning.
    Nonsense,
    /// Another program writes the object first, and then it is done.
    Overtaken,
}

type Faults = dyn Fn(usize) -> Option<BucketFault> + Send + Sync;

/// An object.
#[derive(Clone)]
struct Object {
    bytes: Vec<u8>,
    /// The number of its upload.
    number: String,
    /// It has another one each time that it is written.
    etag: String,
    /// When it was written, in seconds before the time of the server.
    age: u64,
}

/// An upload.
#[derive(Default)]
struct Pending {
    path: String,
    parts: BTreeMap<u16, Vec<u8>>,
    number: String,
    /// When it was begun, in seconds before the time of the server.
    age: u64,
}

#[derive(Default)]
struct BucketState {
    objects: BTreeMap<String, Object>,
    /// Uploads that are not finished.
    uploads: BTreeMap<String, Pending>,
    /// The blocks of blobs that are in no list.
    blocks: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    requests: usize,
    written: usize,
    log: Vec<String>,
}

impl Object {
    /// Its generation at Google.
    fn generation(&self) -> &str {
        self.etag.trim_matches('"')
    }
}

impl BucketState {
    /// The answer to a write.
    fn written(&self, status: u16, path: &str) -> BucketResponse {
        (status, format!("etag: {}\r\n", self.objects[path].etag), Vec::new())
    }

    fn put(&mut self, path: &str, bytes: Vec<u8>, number: String) {
        self.written += 1;
        let etag = format!("\"{:08}\"", self.written);
        self.objects.insert(path.to_owned(), Object { bytes, number, etag, age: 0 });
    }
}

/// A running bucket. Its thread ends with the process.
pub struct ObjectStore {
    state: Arc<Mutex<BucketState>>,
    address: String,
}

impl std::fmt::Debug for ObjectStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ObjectStore").field(&self.address).finish()
    }
}

impl ObjectStore {
    /// An empty bucket with faults by the number of the request, from 0.
    pub fn with(faults: impl Fn(usize) -> Option<BucketFault> + Send + Sync + 'static) -> Self {
        let state = Arc::new(Mutex::new(BucketState::default()));
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
    pub fn endpoint(&self) -> &str {
        &self.address
    }

    /// Puts an object there.
    pub fn put(&self, path: &str, bytes: &[u8]) {
        self.state.lock().unwrap().put(path, bytes.to_vec(), "another".to_owned());
    }

    /// The bytes of an object, such as `/bucket/key`.
    pub fn get(&self, path: &str) -> Option<Vec<u8>> {
        Some(self.state.lock().unwrap().objects.get(path)?.bytes.clone())
    }

    /// The paths of all objects.
    pub fn paths(&self) -> Vec<String> {
        self.state.lock().unwrap().objects.keys().cloned().collect()
    }

    /// Makes all objects and uploads older.
    pub fn age(&self, seconds: u64) {
        let mut state = self.state.lock().unwrap();
        state.objects.values_mut().for_each(|it| it.age += seconds);
        state.uploads.values_mut().for_each(|it| it.age += seconds);
    }

    /// Begins an upload that is not ended.
    pub fn begin_upload(&self, id: &str, path: &str) {
        let upload = Pending { path: path.to_owned(), ..Pending::default() };
        self.state.lock().unwrap().uploads.insert(id.to_owned(), upload);
    }

    /// The requests since the last call: method and path.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().log)
    }

    /// Uploads that are neither ended nor given up.
    pub fn pending(&self) -> usize {
        self.state.lock().unwrap().uploads.len()
    }

    /// The number of requests so far.
    pub fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }
}

/// Reads one request: its first line, its headers by their names in small letters, and its body; `None` where the
/// connection ends.
pub fn request(lines: &mut impl BufRead) -> Option<(String, BTreeMap<String, String>, Vec<u8>)> {
    let (mut first, mut headers) = (String::new(), BTreeMap::new());
    (lines.read_line(&mut first).ok()? > 0).then_some(())?;
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let len = headers.get("content-length").and_then(|len| len.parse().ok()).unwrap_or(0);
    let mut body = vec![0; len];
    lines.read_exact(&mut body).ok()?;
    Some((first, headers, body))
}

/// One request, as it came.
struct BucketRequest {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl BucketRequest {
    fn read(lines: &mut BufReader<TcpStream>) -> Option<BucketRequest> {
        let (line, headers, body) = request(lines)?;
        let mut words = line.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let query = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let path = path.replace("%20", " ");
        Some(BucketRequest { method, path, query, headers, body })
    }
}

/// Answers one request; `None` where the connection ends.
fn serve(
    lines: &mut BufReader<TcpStream>,
    stream: &TcpStream,
    state: &Mutex<BucketState>,
    faults: &Faults,
) -> Option<()> {
    let asked = BucketRequest::read(lines)?;
    let mut state = state.lock().unwrap();
    state.requests += 1;
    let is_copy = [COPIED, COPIED_BLOCK].iter().any(|name| asked.headers.contains_key(*name));
    let method = if is_copy { "COPY" } else { &asked.method };
    state.log.push(format!("{method} {}", asked.path));
    let fault = faults(state.requests - 1);
    let (status, head, body) = match fault {
        Some(BucketFault::Lost) => return None,
        Some(BucketFault::Status(status)) => (status, String::new(), Vec::new()),
        Some(BucketFault::Overtaken) => {
            state.put(&asked.path, b"overtaken".to_vec(), "another".to_owned());
            done(&asked, &mut state)
        }
        _ => done(&asked, &mut state),
    };
    drop(state);
    let (head, body) = match fault {
        Some(BucketFault::AnswerLost) => return None,
        Some(BucketFault::Nonsense) => (String::new(), b"nonsense".to_vec()),
        _ => (head, body),
    };
    let stated = body.len();
    let sent = if asked.method == "HEAD" { &[] } else { &*body };
    let date = "date: Thu, 26 Nov 2026 12:00:00 GMT\r\n";
    let head = format!("HTTP/1.1 {status} x\r\n{head}{date}content-length: {stated}\r\n\r\n");
    // In one piece: a client answers the first of two late.
    let mut out = stream;
    out.write_all(&[head.as_bytes(), sent].concat()).ok()
}

/// Status, header and body.
type BucketResponse = (u16, String, Vec<u8>);

/// Does what is asked.
fn done(asked: &BucketRequest, state: &mut BucketState) -> BucketResponse {
    if azure::is_azure(asked) {
        return azure::done(asked, state);
    }
    let plain = |status| (status, String::new(), Vec::new());
    let names = ["x-amz-meta-tet-upload", "x-goog-meta-tet-upload"];
    let number =
        names.iter().find_map(|name| asked.headers.get(*name)).cloned().unwrap_or_default();
    let id = asked.query.get("uploadId");
    if is_refused(asked, state) {
        return plain(412);
    }
    match (asked.method.as_str(), id) {
        ("GET", _) if asked.query.contains_key("list-type") => listed(asked, state),
        ("GET", _) if asked.query.contains_key("uploads") => listed_uploads(asked, state),
        ("GET" | "HEAD", _) => match state.objects.get(&asked.path) {
            None => plain(404),
            Some(object) => part_of(object, asked),
        },
        ("PUT", None) if asked.headers.contains_key(COPIED_WHOLE) => {
            let from = asked.headers[COPIED_WHOLE].replace("%20", " ");
            let Some(object) = state.objects.get(&from).cloned() else { return plain(404) };
            state.put(&asked.path, object.bytes, object.number);
            state.written(200, &asked.path)
        }
        ("PUT", None) => {
            state.put(&asked.path, asked.body.clone(), number);
            state.written(200, &asked.path)
        }
        ("POST", None) => {
            let id = format!("upload{}", state.requests);
            let path = asked.path.clone();
            state.uploads.insert(id.clone(), Pending { path, number, ..Pending::default() });
            let tag = format!("<UploadId>{id}</UploadId>");
            let names = "<Bucket>bucket</Bucket><Key>key</Key>";
            let name = "InitiateMultipartUploadResult";
            (200, String::new(), format!("<{name} {NS}>{names}{tag}</{name}>").into_bytes())
        }
        ("DELETE", Some(id)) => {
            state.uploads.remove(id);
            plain(204)
        }
        ("DELETE", None) => {
            state.objects.remove(&asked.path);
            plain(204)
        }
        ("PUT", Some(_)) if asked.headers.contains_key(COPIED) => copied(asked, state),
        ("PUT", Some(id)) => {
            let part = asked.query.get("partNumber").and_then(|text| text.parse::<u16>().ok());
            let (Some(upload), Some(part)) = (state.uploads.get_mut(id), part) else {
                return plain(404);
            };
            upload.parts.insert(part, asked.body.clone());
            (200, format!("etag: \"{part}\"\r\n"), Vec::new())
        }
        ("POST", Some(id)) => {
            let text = String::from_utf8_lossy(&asked.body).into_owned();
            let Some(Pending { parts, number, .. }) = state.uploads.remove(id) else {
                return plain(404);
            };
            assert_eq!(text.matches("<PartNumber>").count(), parts.len(), "{text}");
            state.put(&asked.path, parts.into_values().flatten().collect(), number);
            let name = "CompleteMultipartUploadResult";
            let body = format!("<{name} {NS}><ETag>\"x\"</ETag></{name}>");
            (200, String::new(), body.into_bytes())
        }
        _ => plain(400),
    }
}

/// The header with the object that a part is copied of.
const COPIED: &str = "x-amz-copy-source";
/// The header of Azure with the URL of the blob that a block is copied of.
const COPIED_BLOCK: &str = "x-ms-copy-source";
/// The header of Google with the object that another one is copied of.
const COPIED_WHOLE: &str = "x-goog-copy-source";

/// Makes a part of the bytes of another object.
fn copied(asked: &BucketRequest, state: &mut BucketState) -> BucketResponse {
    let plain = |status| (status, String::new(), Vec::new());
    let path = format!("/{}", asked.headers[COPIED].replace("%20", " "));
    let Some(object) = state.objects.get(&path) else { return plain(404) };
    if asked.headers.get(&format!("{COPIED}-if-match")) != Some(&object.etag) {
        return plain(412);
    }
    let range = asked.headers[&format!("{COPIED}-range")].strip_prefix("bytes=").unwrap();
    let (first, last) = range.split_once('-').unwrap();
    let range = first.parse::<usize>().unwrap()..=last.parse().unwrap();
    let Some(bytes) = object.bytes.get(range).map(<[u8]>::to_vec) else { return plain(416) };
    let part: u16 = asked.query["partNumber"].parse().unwrap();
    let Some(upload) = state.uploads.get_mut(&asked.query["uploadId"]) else { return plain(404) };
    upload.parts.insert(part, bytes);
    let time = "<LastModified>2026-11-26T12:00:00.000Z</LastModified>";
    let tags = format!("{time}<ETag>\"{part}\"</ETag>");
    // Some servers name no namespace.
    let name = if part.is_multiple_of(2) {
        format!("CopyPartResult {NS}")
    } else {
        "CopyPartResult".into()
    };
    let body = format!("<{name}>{tags}</CopyPartResult>");
    (200, String::new(), body.into_bytes())
}

/// The namespace of the answers.
const NS: &str = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

/// Whether a condition of a request does not hold.
fn is_refused(asked: &BucketRequest, state: &BucketState) -> bool {
    let is_last = asked.method == "PUT" && !asked.query.contains_key("uploadId")
        || asked.method == "POST" && asked.query.contains_key("uploadId")
        || asked.method == "GET";
    let object = state.objects.get(&asked.path);
    let is_there = asked.headers.contains_key("if-none-match") && object.is_some();
    let other = |etag: &String| object.is_none_or(|object| object.etag != *etag);
    // Google ignores the conditions of others, and has none for uploads.
    let is_google = asked.headers.contains_key("authorization");
    let generation = asked.headers.get("x-goog-if-generation-match");
    let differs = |wanted: &String| object.map_or("0", Object::generation) != wanted;
    if is_google {
        return asked.method == "PUT" && generation.is_some_and(differs);
    }
    is_last && (is_there || asked.headers.get("if-match").is_some_and(other))
}

/// The range of an object that is asked for.
fn part_of(object: &Object, asked: &BucketRequest) -> BucketResponse {
    let Object { bytes, number, etag, .. } = object;
    let names = ["x-amz-meta-tet-upload", "x-goog-meta-tet-upload", "x-ms-meta-tetupload"];
    let numbers = names.map(|name| format!("{name}: {number}\r\n")).concat();
    let head = format!("etag: {etag}\r\nx-goog-generation: {}\r\n{numbers}", object.generation());
    let range =
        asked.headers.get("range").and_then(|it| it.strip_prefix("bytes=")?.split_once('-'));
    let Some((first, last)) = range else { return (200, head, bytes.clone()) };
    let range = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => first..last.saturating_add(1).min(bytes.len()),
        (Err(_), Ok(len)) => bytes.len().saturating_sub(len)..bytes.len(),
        _ => return (400, head, Vec::new()),
    };
    if range.is_empty() {
        return (416, format!("{head}content-range: bytes */{}\r\n", bytes.len()), Vec::new());
    }
    let (first, last) = (range.start, range.end - 1);
    let head = format!("{head}content-range: bytes {first}-{last}/{}\r\n", bytes.len());
    (206, head, bytes[range].to_vec())
}

/// Objects a list has at most: few, so that suites see lists that go on.
const LISTED_MAX: usize = 3;

/// The time, this number of seconds ago.
fn time(age: u64) -> String {
    let seconds = 26 * 86_400 + 12 * 3600 - age;
    let (day, hour, minute) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    format!("2026-11-{day:02}T{hour:02}:{minute:02}:00.000Z")
}

/// The uploads below a prefix, one a page.
fn listed_uploads(asked: &BucketRequest, state: &BucketState) -> BucketResponse {
    let plain = |name: &str| asked.query.get(name).map(|it| it.replace("%2F", "/"));
    let prefix = plain("prefix").unwrap_or_default();
    let bucket = format!("{}/", asked.path.trim_end_matches('/'));
    let after = plain("key-marker").zip(plain("upload-id-marker"));
    let of = |(id, upload): (&String, &Pending)| {
        let key = upload.path.strip_prefix(&bucket).filter(|key| key.starts_with(&prefix))?;
        Some((key.to_owned(), id.clone(), upload.age))
    };
    let mut all: Vec<_> = state.uploads.iter().filter_map(of).collect();
    all.sort();
    all.retain(|(key, id, _)| {
        after.as_ref().is_none_or(|after| *after < (key.clone(), id.clone()))
    });
    let mut body = format!("<ListMultipartUploadsResult {NS}>");
    body += &format!("<Bucket>bucket</Bucket><IsTruncated>{}</IsTruncated>", 1 < all.len());
    if let Some((key, id, age)) = all.first() {
        body += &format!("<NextKeyMarker>{key}</NextKeyMarker>");
        body += &format!("<NextUploadIdMarker>{id}</NextUploadIdMarker>");
        let about = format!("<UploadId>{id}</UploadId><Initiated>{}</Initiated>", time(*age));
        body += &format!("<Upload><Key>{key}</Key>{about}</Upload>");
    }
    body += "</ListMultipartUploadsResult>";
    (200, String::new(), body.into_bytes())
}

/// Lists the objects directly below a prefix.
fn listed(asked: &BucketRequest, state: &BucketState) -> BucketResponse {
    let plain = |text: &str| text.replace("%2F", "/");
    let prefix = asked.query.get("prefix").map(|it| plain(it)).unwrap_or_default();
    let after = asked.query.get("continuation-token").map(|it| plain(it)).unwrap_or_default();
    let bucket = format!("{}/", asked.path.trim_end_matches('/'));
    let (mut entries, mut last) = (BTreeMap::new(), None);
    for (path, object) in &state.objects {
        let Some(key) = path.strip_prefix(&bucket).filter(|key| key.starts_with(&prefix)) else {
            continue;
        };
        let rest = &key[prefix.len()..];
        let (name, entry) = match rest.split_once('/') {
            Some((folder, _)) => {
                let name = format!("{prefix}{folder}/");
                let entry = format!("<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>");
                (name, entry)
            }
            None => {
                let (len, time) = (object.bytes.len(), time(object.age));
                let about = format!("<LastModified>{time}</LastModified><Size>{len}</Size>");
                (key.to_owned(), format!("<Contents><Key>{key}</Key>{about}</Contents>"))
            }
        };
        if after < name {
            entries.insert(name, entry);
        }
    }
    let is_cut = LISTED_MAX < entries.len();
    let mut body = format!("<ListBucketResult {NS}><IsTruncated>{is_cut}</IsTruncated>");
    for (name, entry) in entries.into_iter().take(LISTED_MAX) {
        body += &entry;
        last = Some(name);
    }
    if let Some(last) = last.filter(|_| is_cut) {
        body += &format!("<NextContinuationToken>{last}</NextContinuationToken>");
    }
    body += "</ListBucketResult>";
    (200, "content-type: application/xml\r\n".to_owned(), body.into_bytes())
}
