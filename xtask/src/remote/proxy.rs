//! A server before another: it delays answers, limits the rate of each connection, and counts.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// Bytes that are forwarded at once.
const PIECE_LEN: usize = 64 << 10;

/// How answers are delayed.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// Before the first byte of an answer.
    pub(super) latency: Duration,
    /// Bytes a second of one connection; 0 for no limit.
    pub(super) rate: u64,
}

/// Bytes forwarded since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) requests: u64,
    /// Those of the bodies of answers.
    pub(super) bytes: u64,
    /// Those of the bodies of requests.
    pub(super) sent: u64,
}

#[derive(Default)]
struct Counters {
    requests: AtomicU64,
    bytes: AtomicU64,
    sent: AtomicU64,
}

/// A running proxy. Its threads end with the process.
pub(super) struct Proxy {
    pub(super) url: String,
    pub(super) port: u16,
    counters: Arc<Counters>,
}

impl Proxy {
    /// Forwards requests to the server at `port` of this machine.
    pub(super) fn start(server: u16, pace: Pace) -> Result<Proxy> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let counters = Arc::new(Counters::default());
        let shared = Arc::clone(&counters);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let counters = Arc::clone(&shared);
                // A connection that ends is no failure.
                std::thread::spawn(move || forward(&client, server, pace, &counters));
            }
        });
        Ok(Proxy { url: format!("http://127.0.0.1:{port}"), port, counters })
    }

    /// The counts since the last call.
    pub(super) fn take(&self) -> Counts {
        let Counters { requests, bytes, sent } = &*self.counters;
        Counts {
            requests: requests.swap(0, Ordering::Relaxed),
            bytes: bytes.swap(0, Ordering::Relaxed),
            sent: sent.swap(0, Ordering::Relaxed),
        }
    }
}

/// Forwards one request after the other, until the connection ends.
fn forward(client: &TcpStream, server: u16, pace: Pace, counters: &Counters) -> Result<()> {
    let server = TcpStream::connect(("127.0.0.1", server))?;
    for stream in [client, &server] {
        stream.set_nodelay(true)?;
    }
    let (mut asking, mut answering) = (BufReader::new(client), BufReader::new(&server));
    let (mut to_client, mut to_server) = (client, &server);
    let mut piece = vec![0; PIECE_LEN];
    while let Some(asked) = head(&mut asking)? {
        counters.requests.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(pace.latency);
        to_server.write_all(asked.as_bytes())?;
        let sent = std::io::copy(&mut (&mut asking).take(content_length(&asked)), &mut to_server)?;
        counters.sent.fetch_add(sent, Ordering::Relaxed);
        let answer = head(&mut answering)?.context("the server ended the connection")?;
        to_client.write_all(answer.as_bytes())?;
        if answer.to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked\r\n") {
            forward_chunks(&mut answering, &mut to_client)?;
            continue;
        }
        let mut left = if asked.starts_with("HEAD ") { 0 } else { content_length(&answer) };
        let (begin, mut sent) = (Instant::now(), 0_u64);
        while left > 0 {
            let len = usize::try_from(left).unwrap_or(PIECE_LEN).min(PIECE_LEN);
            answering.read_exact(&mut piece[..len])?;
            to_client.write_all(&piece[..len])?;
            (left, sent) = (left - len as u64, sent + len as u64);
            counters.bytes.fetch_add(len as u64, Ordering::Relaxed);
            let due = (sent * 1_000_000_000).checked_div(pace.rate).map(Duration::from_nanos);
            if let Some(early) = due.and_then(|due| due.checked_sub(begin.elapsed())) {
                std::thread::sleep(early);
            }
        }
    }
    Ok(())
}

/// Forwards a body whose length is not known before it ends; such bodies are short.
fn forward_chunks(from: &mut impl BufRead, to: &mut impl Write) -> Result<()> {
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let len = u64::from_str_radix(line.trim_end(), 16)?;
        // Each chunk ends with a line, and so does the body, which has no trailers.
        let mut chunk = vec![0; usize::try_from(len)? + 2];
        from.read_exact(&mut chunk)?;
        to.write_all(&[line.as_bytes(), &chunk].concat())?;
        if len == 0 {
            return Ok(());
        }
    }
}

/// The head of a request or of an answer; `None` where the connection ends before it.
fn head(lines: &mut impl BufRead) -> Result<Option<String>> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if lines.read_line(&mut head)? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(head))
}

fn content_length(head: &str) -> u64 {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut lines = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    lines.next().and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
}

/// Requests the first `len` bytes of a file in ranges of `request_len`, `depth` at the same time: what any reader of
/// these bytes takes at least.
pub(super) fn plain_ranges(
    proxy: &Proxy,
    path: &str,
    len: u64,
    request_len: u64,
    depth: u64,
) -> Result<Duration> {
    let (begin, next) = (Instant::now(), AtomicU64::new(0));
    let worker = || -> Result<()> {
        let stream = TcpStream::connect(("127.0.0.1", proxy.port))?;
        stream.set_nodelay(true)?;
        let (mut to, mut from) = (&stream, BufReader::new(&stream));
        let mut body = Vec::new();
        loop {
            let first = next.fetch_add(request_len, Ordering::Relaxed);
            if len <= first {
                return Ok(());
            }
            let last = (first + request_len).min(len) - 1;
            write!(to, "GET {path} HTTP/1.1\r\nhost: x\r\nrange: bytes={first}-{last}\r\n\r\n")?;
            let head = head(&mut from)?.context("no answer")?;
            ensure!(head.starts_with("HTTP/1.1 206"), "{head}");
            body.clear();
            let read = (&mut from).take(last + 1 - first).read_to_end(&mut body)? as u64;
            ensure!(read == last + 1 - first, "{read} bytes");
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..depth).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|it| it.join().map_err(|_| anyhow::anyhow!("panic"))?)
    })?;
    Ok(begin.elapsed())
}
