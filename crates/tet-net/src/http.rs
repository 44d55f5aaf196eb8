//! Ranges by HTTP: one request, its answer checked.
//!
//! A header with a credential goes to the server of the URL, and to none where a redirect leads.

use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ureq::http::{HeaderMap, Method, Request, Response};
use ureq::{Agent, BodyReader, SendBody};
use url::Url;

use crate::body::Body;
use crate::connect::{self, Proxies};
use crate::ranges::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Wanted};
use crate::settings::Settings;

/// How many redirects are followed.
const REDIRECTS_MAX: usize = 5;
/// The longest header of an answer.
const HEADER_LEN_MAX: usize = 64 << 10;
/// The longest body of an answer that is no file.
const ANSWER_LEN_MAX: u64 = 1 << 20;
/// A body may take the time for this many bytes a second, after the wait for a byte.
const RATE_MIN: u64 = 64 << 10;

/// A file on a server, by HTTP.
///
/// ```
/// use tet_net::{Http, RangeSource, Settings};
///
/// let url = "https://host/climate.tet?token=secret".parse()?;
/// let http = Http::new(url, "https://host/climate.tet".into(), &Settings::default());
/// assert_eq!(http.name(), "https://host/climate.tet");
/// assert!(!format!("{http:?}").contains("secret"));
/// # Ok::<(), url::ParseError>(())
/// ```
pub struct Http {
    client: Client,
    url: Url,
    name: String,
    /// Where redirects led last.
    place: Mutex<Option<Url>>,
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Http").field(&self.name).finish()
    }
}

impl Http {
    /// The file of a URL, with its name in messages.
    #[must_use]
    pub fn new(url: Url, name: String, settings: &Settings) -> Self {
        Self::by(Client::new(settings), url, name)
    }

    /// The file of a URL, asked for by `client`.
    pub(crate) fn by(client: Client, url: Url, name: String) -> Self {
        Http { client, url, name, place: Mutex::default() }
    }

    /// Requests the whole file, whose body may have up to `len_max` bytes.
    pub(crate) fn get_whole(&self, len_max: u64) -> Result<WholeAnswer, RangeFailure> {
        self.client.get_whole(&mut self.url.clone(), len_max)
    }

    fn place(&self) -> MutexGuard<'_, Option<Url>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RangeSource for Http {
    fn name(&self) -> &str {
        &self.name
    }

    fn get(
        &self,
        wanted: Wanted,
        pinned: Option<&FileVersion>,
        out: &mut Vec<u8>,
    ) -> Result<RangeAnswer, RangeFailure> {
        let known = self.place().clone();
        if let Some(mut url) = known {
            // The place of a redirect may be good for a while only.
            match self.client.get(&mut url, &[], wanted, pinned, out) {
                Err(RangeFailure::Final(_)) => *self.place() = None,
                outcome => return outcome,
            }
        }
        let mut url = self.url.clone();
        let answer = self.client.get(&mut url, &[], wanted, pinned, out)?;
        if url != self.url {
            *self.place() = Some(url);
        }
        Ok(answer)
    }
}

/// A request that is not one for a range, with its body.
#[derive(Clone, Copy)]
pub(crate) enum Send<'a> {
    Get,
    Head,
    Put(Body<'a>),
    Post(&'a [u8]),
    Delete,
}

/// Response of the server.
pub(crate) struct ServerResponse {
    headers: HeaderMap,
    pub(crate) body: String,
}

impl ServerResponse {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// HTTP client that pools connections; clones share them.
#[derive(Clone)]
pub(crate) struct Client {
    /// Made for the first request, or why it cannot be: a program that reads local files alone reads no certificates.
    agent: Arc<OnceLock<Result<Agent, String>>>,
    settings: Settings,
    proxies: Proxies,
}

impl Client {
    pub(crate) fn new(settings: &Settings) -> Self {
        let proxies = Proxies::from_variables(&settings.lookup);
        Client { agent: Arc::default(), settings: settings.clone(), proxies }
    }

    /// It makes the requests.
    fn agent(&self) -> Result<&Agent, RangeFailure> {
        let agent = self.agent.get_or_init(|| agent(&self.settings).map_err(|it| it.to_string()));
        agent.as_ref().map_err(RangeFailure::refused)
    }

    /// Requests a range, with these headers; `url` becomes the one where redirects led.
    pub(crate) fn get(
        &self,
        url: &mut Url,
        headers: &[(&str, &str)],
        wanted: Wanted,
        pinned: Option<&FileVersion>,
        out: &mut Vec<u8>,
    ) -> Result<RangeAnswer, RangeFailure> {
        let mut response = self.answer(url, headers, GetRequest::Part(wanted, pinned))?;
        match response.status().as_u16() {
            206 => part(&mut response, wanted, pinned, out),
            200 => whole(&mut response, wanted, pinned, out),
            416 => past_end(&response, wanted, pinned),
            412 => Err(RangeFailure::Changed),
            status => Err(refusal(status, response.headers())),
        }
    }

    /// Requests a whole file, whose body may have up to `len_max` bytes.
    fn get_whole(&self, url: &mut Url, len_max: u64) -> Result<WholeAnswer, RangeFailure> {
        let response = self.answer(url, &[], GetRequest::Whole { len_max })?;
        let headers = response.headers().clone();
        let status = response.status().as_u16();
        if status != 200 {
            return Err(refusal(status, &headers));
        }
        check_encoding(&headers)?;
        let len = response.body().content_length();
        if len.is_none() && !headers.contains_key("transfer-encoding") {
            return Err(RangeFailure::refused("the server does not state how long the file is"));
        }
        Ok(WholeAnswer { headers, len, body: response.into_body().into_reader() })
    }

    /// The answer to a request for a range or for a whole file; `url` becomes the one where redirects led.
    fn answer(
        &self,
        url: &mut Url,
        headers: &[(&str, &str)],
        asked: GetRequest<'_>,
    ) -> Result<Response<ureq::Body>, RangeFailure> {
        let server = url.origin();
        for _ in 0..=REDIRECTS_MAX {
            let headers = if url.origin() == server { headers } else { &[] };
            let response = self.ask(url, headers, asked)?;
            if let 301 | 302 | 303 | 307 | 308 = response.status().as_u16()
                && let Some(next) = next_place(url, &response)?
            {
                *url = next;
                continue;
            }
            return Ok(response);
        }
        Err(RangeFailure::refused(format!("more than {REDIRECTS_MAX} redirects")))
    }

    /// Makes a request that is not one for a range.
    pub(crate) fn send(
        &self,
        send: Send<'_>,
        url: &Url,
        headers: &[(&str, &str)],
    ) -> Result<ServerResponse, RangeFailure> {
        let agent = self.agent()?;
        let (method, body) = match send {
            Send::Get => (Method::GET, None),
            Send::Head => (Method::HEAD, None),
            Send::Delete => (Method::DELETE, None),
            Send::Put(body) => (Method::PUT, Some(body)),
            Send::Post(body) => (Method::POST, Some(Body::Bytes(body))),
        };
        let mut request = Request::builder().method(method).uri(url.as_str());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let wrong = |_| RangeFailure::refused("this is not a URL");
        let sent = match body {
            None => {
                let request = agent.configure_request(request.body(()).map_err(wrong)?);
                agent.run(request.proxy(self.proxies.get(url)).build())
            }
            Some(mut body) => {
                let time = self.time(body.len());
                let request = request.header("content-length", body.len());
                let request = request.body(SendBody::from_reader(&mut body)).map_err(wrong)?;
                let request = agent.configure_request(request);
                let request = request.timeout_send_body(Some(time));
                agent.run(request.proxy(self.proxies.get(url)).build())
            }
        };
        let mut response = sent.map_err(of_client)?;
        match response.status().as_u16() {
            200..=299 => {}
            412 => return Err(RangeFailure::Changed),
            // Azure, where a blob may not be replaced.
            409 if fault_of_azure(response.headers()) == Some("BlobAlreadyExists") => {
                return Err(RangeFailure::Changed);
            }
            409 => {
                return Err(RangeFailure::later(io::Error::other(
                    "another upload of this file goes on (status 409)",
                )));
            }
            status => return Err(refusal(status, response.headers())),
        }
        let body = response.body_mut().with_config().limit(ANSWER_LEN_MAX).read_to_string();
        let body = body.map_err(of_client)?;
        Ok(ServerResponse { headers: response.headers().clone(), body })
    }

    /// How long a body of this length may take.
    fn time(&self, len: u64) -> Duration {
        self.settings.read_timeout + Duration::from_secs(len / RATE_MIN)
    }

    fn ask(
        &self,
        url: &Url,
        headers: &[(&str, &str)],
        asked: GetRequest<'_>,
    ) -> Result<Response<ureq::Body>, RangeFailure> {
        let mut request = self.agent()?.get(url.as_str());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let len = match asked {
            GetRequest::Whole { len_max } => len_max,
            GetRequest::Part(wanted, pinned) => {
                request = request.header("range", range(wanted));
                if let Some(etag) = pinned.and_then(FileVersion::strong_etag) {
                    request = request.header("if-match", etag);
                } else if let Some(modified) = pinned.and_then(|it| it.modified.as_ref()) {
                    request = request.header("if-unmodified-since", modified);
                }
                wanted.len()
            }
        };
        let config = request.config().timeout_recv_body(Some(self.time(len)));
        let request = config.proxy(self.proxies.get(url)).build();
        request.call().map_err(of_client)
    }
}

/// An agent that keeps connections, and trusts the certificates that the settings name.
fn agent(settings: &Settings) -> io::Result<Agent> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .accept("*/*")
        .accept_encoding("identity")
        .user_agent(concat!("tet/", env!("CARGO_PKG_VERSION")))
        .max_response_header_size(HEADER_LEN_MAX)
        .max_idle_connections(2 * settings.depth)
        .max_idle_connections_per_host(2 * settings.depth)
        .timeout_resolve(Some(settings.connect_timeout))
        .timeout_connect(Some(settings.connect_timeout))
        .timeout_recv_response(Some(settings.read_timeout))
        .timeout_per_read(Some(settings.read_timeout))
        .proxy(None);
    Ok(config.tls_config(connect::tls(settings)?).build().new_agent())
}

/// Purpose of a GET.
#[derive(Clone, Copy)]
enum GetRequest<'a> {
    /// A range of a version.
    Part(Wanted, Option<&'a FileVersion>),
    /// The whole file, in any version, of up to this many bytes.
    Whole { len_max: u64 },
}

/// The value of the header of a range.
pub(crate) fn range(wanted: Wanted) -> String {
    match wanted {
        Wanted::From { offset, len } => {
            format!("bytes={offset}-{}", offset.saturating_add(len.saturating_sub(1)))
        }
        Wanted::Last { len } => format!("bytes=-{len}"),
    }
}

/// A whole file, as it arrives.
pub(crate) struct WholeAnswer {
    headers: HeaderMap,
    /// Its length, where the server states it.
    pub(crate) len: Option<u64>,
    body: BodyReader<'static>,
}

impl WholeAnswer {
    /// The version of the file. A length that the server does not state is `len`.
    pub(crate) fn version(&self, len: u64) -> FileVersion {
        version(&self.headers, self.len.unwrap_or(len))
    }

    /// Reads the next bytes; 0 at the end.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize, RangeFailure> {
        self.body.read(out).map_err(|error| RangeFailure::later(plain(error)))
    }
}

/// Where a redirect leads, if it says so.
fn next_place(url: &Url, response: &Response<ureq::Body>) -> Result<Option<Url>, RangeFailure> {
    let Some(location) = header(response.headers(), "location") else { return Ok(None) };
    let next = url.join(location).ok().filter(|next| {
        let is_weaker = url.scheme() == "https" && next.scheme() != "https";
        let is_plain = next.username().is_empty() && next.password().is_none();
        ["http", "https"].contains(&next.scheme()) && next.has_host() && is_plain && !is_weaker
    });
    next.map(Some).ok_or_else(|| RangeFailure::refused("a redirect leads to what is not followed"))
}

/// The answer with a part of the file.
fn part(
    response: &mut Response<ureq::Body>,
    wanted: Wanted,
    pinned: Option<&FileVersion>,
    out: &mut Vec<u8>,
) -> Result<RangeAnswer, RangeFailure> {
    check_encoding(response.headers())?;
    let range = header(response.headers(), "content-range").and_then(content_range);
    let Some((first, len, file_len)) = range else {
        return Err(RangeFailure::refused("the server does not say which range its answer is"));
    };
    let version = version(response.headers(), file_len);
    check_version(&version, pinned)?;
    if (first, len) != wanted.within(file_len) {
        return Err(RangeFailure::refused(
            "the server's answer is another range than was asked for",
        ));
    }
    body(response, len, out)?;
    Ok(RangeAnswer { offset: first, version })
}

/// The answer with the whole file: only one that is no longer than requested is taken.
fn whole(
    response: &mut Response<ureq::Body>,
    wanted: Wanted,
    pinned: Option<&FileVersion>,
    out: &mut Vec<u8>,
) -> Result<RangeAnswer, RangeFailure> {
    check_encoding(response.headers())?;
    let len =
        header(response.headers(), "content-length").and_then(|text| text.trim().parse().ok());
    let Some(len) = len.filter(|&len| wanted.within(len) == (0, len)) else {
        let text = "the server has no range requests: set --download SIZE, or TET_DOWNLOAD=SIZE, to \
                    download files of up to SIZE bytes whole";
        return Err(RangeFailure::Final(io::Error::new(io::ErrorKind::Unsupported, text)));
    };
    let version = version(response.headers(), len);
    check_version(&version, pinned)?;
    body(response, len, out)?;
    Ok(RangeAnswer { offset: 0, version })
}

/// The answer that there is nothing of the range. Of the ranges that open a file, which begin at its first byte or
/// end at its last one, this is right for a file of no bytes alone, whether the answer has its length or not.
fn past_end(
    response: &Response<ureq::Body>,
    wanted: Wanted,
    pinned: Option<&FileVersion>,
) -> Result<RangeAnswer, RangeFailure> {
    let range = header(response.headers(), "content-range");
    let len = range.and_then(|range| range.strip_prefix("bytes */")?.trim().parse::<u64>().ok());
    match (pinned, len.unwrap_or(0), wanted) {
        (Some(_), ..) => Err(RangeFailure::Changed),
        (None, 0, Wanted::From { offset: 0, .. } | Wanted::Last { .. }) => {
            Ok(RangeAnswer { offset: 0, version: version(response.headers(), 0) })
        }
        _ => Err(RangeFailure::refused("the server refuses the range (status 416)")),
    }
}

/// Reads a body of exactly `len` bytes.
fn body(
    response: &mut Response<ureq::Body>,
    len: u64,
    out: &mut Vec<u8>,
) -> Result<(), RangeFailure> {
    let stated = response.body().content_length();
    if stated.is_some_and(|stated| stated != len) {
        return Err(RangeFailure::refused("the server's answer has another length than it should"));
    }
    let begin = out.len();
    out.reserve(usize::try_from(len).unwrap_or(0));
    let mut reader = response.body_mut().as_reader().take(len.saturating_add(1));
    reader.read_to_end(out).map_err(|error| RangeFailure::later(plain(error)))?;
    match (out.len() - begin) as u64 {
        read if read == len => Ok(()),
        read if read < len => {
            let text = format!("the connection ended after {read} of {len} bytes");
            Err(RangeFailure::later(io::Error::new(io::ErrorKind::ConnectionAborted, text)))
        }
        _ => Err(RangeFailure::refused("the server's answer is longer than it should be")),
    }
}

fn check_encoding(headers: &HeaderMap) -> Result<(), RangeFailure> {
    match header(headers, "content-encoding") {
        None | Some("identity" | "") => Ok(()),
        Some(_) => {
            Err(RangeFailure::refused("the server's answer is compressed, which was not asked for"))
        }
    }
}

fn check_version(found: &FileVersion, pinned: Option<&FileVersion>) -> Result<(), RangeFailure> {
    let is_same =
        pinned.is_none_or(|pinned| found.text() == pinned.text() && found.len == pinned.len);
    if is_same { Ok(()) } else { Err(RangeFailure::Changed) }
}

fn version(headers: &HeaderMap, len: u64) -> FileVersion {
    let text = |name| header(headers, name).map(str::to_owned);
    let (etag, modified) = (text("etag"), text("last-modified"));
    FileVersion { len, etag, modified, generation: text("x-goog-generation") }
}

fn fault_of_azure(headers: &HeaderMap) -> Option<&str> {
    header(headers, "x-ms-error-code")
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The first offset, the length and the length of the file in `bytes 0-9/100`.
fn content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, file_len) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last) = (first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?);
    let file_len = file_len.trim().parse::<u64>().ok()?;
    let len = last.checked_sub(first)?.checked_add(1)?;
    (last < file_len).then_some((first, len, file_len))
}

/// The failure of an answer without bytes.
fn refusal(status: u16, headers: &HeaderMap) -> RangeFailure {
    use io::ErrorKind::NotFound;
    if let Some(region) = header(headers, "x-amz-bucket-region")
        && let 301 | 307 | 400 | 403 = status
        && region.len() < 64
        && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    {
        return RangeFailure::Region(region.to_owned());
    }
    match status {
        400 if fault_of_azure(headers) == Some("InvalidBlockList") => {
            let text = "another program wrote this file, and the parts of this upload are gone";
            RangeFailure::Final(io::Error::new(NotFound, text))
        }
        404 => {
            RangeFailure::Final(io::Error::new(NotFound, format!("not found (status {status})")))
        }
        401 | 403 => RangeFailure::denied(status),
        501 => {
            let text = "the server cannot do this (status 501)";
            RangeFailure::Final(io::Error::new(io::ErrorKind::Unsupported, text))
        }
        408 | 429 | 500..=599 => {
            let after = header(headers, "retry-after").and_then(|text| text.trim().parse().ok());
            let error = io::Error::other(format!("the server fails (status {status})"));
            RangeFailure::Later { error, after: after.map(Duration::from_secs) }
        }
        _ => RangeFailure::refused(format!("the server answers with status {status}")),
    }
}

/// An error of a connection, in plain words.
fn plain(error: io::Error) -> io::Error {
    use io::ErrorKind::{TimedOut, UnexpectedEof};
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    match (error.kind(), inner) {
        (TimedOut, _) | (_, Some(ureq::Error::Timeout(_))) => silence(),
        (_, Some(ureq::Error::Protocol(_))) => not_http(),
        (UnexpectedEof, _) => io::Error::new(UnexpectedEof, "the server closed the connection"),
        _ => error,
    }
}

fn not_http() -> io::Error {
    io::Error::other("the server's answer is not HTTP")
}

fn silence() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the server does not answer in time")
}

fn of_client(error: ureq::Error) -> RangeFailure {
    match error {
        ureq::Error::Io(error) => RangeFailure::later(plain(error)),
        ureq::Error::Timeout(_) => RangeFailure::later(silence()),
        ureq::Error::HostNotFound => RangeFailure::refused("the host is not known"),
        ureq::Error::ConnectionFailed => {
            let text = "the server cannot be reached";
            RangeFailure::later(io::Error::new(io::ErrorKind::ConnectionRefused, text))
        }
        ureq::Error::LargeResponseHeader(..) => {
            RangeFailure::refused("the header of the server's answer is too long")
        }
        ureq::Error::Protocol(_) => RangeFailure::later(not_http()),
        ureq::Error::BadUri(_) => RangeFailure::refused("this is not a URL"),
        error => RangeFailure::refused(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::settings::Lookup;

    #[test]
    fn certificates_are_read_for_the_first_request_alone() {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let lookup = Lookup::new(|name| {
            let is_asked = name == "SSL_CERT_FILE";
            COUNT.fetch_add(usize::from(is_asked), Ordering::Relaxed);
            is_asked.then(|| "/no/such/file".to_owned())
        });
        let client = Client::new(&Settings { lookup, ..Settings::default() });
        assert_eq!(COUNT.load(Ordering::Relaxed), 0);
        for client in [&client, &client.clone()] {
            let sent = client.send(Send::Head, &"https://[::1]:1/".parse().unwrap(), &[]);
            let Err(RangeFailure::Final(error)) = sent else { panic!("it is refused") };
            assert!(error.to_string().starts_with("SSL_CERT_FILE: "), "{error}");
        }
        assert_eq!(COUNT.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_content_range_is_a_range_within_its_file() {
        assert_eq!(content_range("bytes 0-9/100"), Some((0, 10, 100)));
        assert_eq!(content_range("bytes 90-99/100"), Some((90, 10, 100)));
        for wrong in [
            "bytes 0-9/*",
            "bytes 0-100/100",
            "bytes 9-0/100",
            "bytes */100",
            "items 0-9/100",
            "bytes 0-18446744073709551615/18446744073709551615",
            "",
        ] {
            assert_eq!(content_range(wrong), None, "{wrong}");
        }
    }
}
