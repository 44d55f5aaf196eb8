use std::time::{Duration, Instant};

use tet_format::Span;
use tet_io::{Error, Source};

use self::server::{Fault, Pace, Server};
use crate::{Lookup, Settings};

#[allow(unreachable_pub, reason = "the suites of several crates share it")]
#[path = "../../../tests/src/server.rs"]
mod server;

#[allow(dead_code, unreachable_pub, reason = "the suites of several crates share it")]
#[path = "../../../tests/src/bucket.rs"]
mod bucket;

mod answers;
mod cache;
mod credentials;
mod download;
mod upload;

/// Bytes that differ from their neighbors.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8 ^ (at / 251) as u8).collect()
}

fn settings() -> Settings {
    Settings {
        tries: 3,
        backoff: Duration::from_millis(2),
        read_timeout: Duration::from_millis(300),
        ..Settings::default()
    }
}

fn serving(path: &str, len: usize) -> Server {
    Server::new([(path.to_owned(), bytes(len))])
}

fn open(server: &Server, path: &str) -> tet_io::Result<Source> {
    crate::open(&server.url(path), &settings())
}

/// Two windows at open; what they have needs no request; reads past them are exactly those that were counted.
#[test]
fn every_read_takes_the_requests_that_it_counts() {
    let len = 10 << 20;
    let (server, all) = (serving("/a.tet", len), bytes(len));
    let source = open(&server, "/a.tet").unwrap();
    assert_eq!(server.take_log().len(), 2);
    assert_eq!(source.len(), len as u64);
    for (offset, count) in [
        (0, 1),
        (0, 256 << 10),
        ((256 << 10) - 1, 2),
        (len - (64 << 10), 64 << 10),
        (1 << 20, 100_000),
        (5 << 20, 5 << 20),
        (0, len),
        (len, 0),
    ] {
        let mut out = vec![0; count];
        let span = Span::new(offset as u64, count as u64).unwrap();
        source.read_ranges(&mut [(offset as u64, &mut out)]).unwrap();
        assert_eq!(out, all[offset..][..count]);
        assert_eq!(server.take_log().len() as u64, source.request_count(span), "{offset} {count}");
    }
    let mut out = [0; 8];
    for offset in [3_000_000, 3_000_100, 3_010_000] {
        source.read_exact_at(offset, &mut out).unwrap();
        assert_eq!(out, all[usize::try_from(offset).unwrap()..][..8]);
    }
    assert_eq!(server.take_log().len(), 1, "small reads near each other are one request");
    assert!(matches!(source.read_exact_at(len as u64, &mut out), Err(Error::PastEnd { .. })));
    let asked = |it: &server::Request| it.if_match.as_deref() == Some("\"a\"");
    source.read_exact_at(6_000_000, &mut out).unwrap();
    assert!(server.take_log().iter().all(asked), "each request asks for the version");
}

#[test]
fn files_of_all_lengths_are_read() {
    for len in [0, 1, 65_535, 65_536, 262_143, 262_144, 262_145, 327_679, 327_680, 327_681] {
        for path in ["/a.tet", "/a.npy"] {
            let server = serving(path, len);
            let source = open(&server, path).unwrap();
            assert_eq!(source.read_vec(0, len as u64).unwrap(), bytes(len));
            source.check_unchanged().unwrap();
            let most = if path == "/a.tet" { 3 } else { 2 };
            assert!(server.take_log().len() <= most, "{path} of {len} bytes");
        }
    }
}

/// Whatever goes wrong, and with whichever request: the right bytes or an error, soon, and never other bytes.
#[test]
fn a_fault_is_repaired_or_an_error() {
    use Fault::*;
    let len = 1 << 20;
    let all = bytes(len);
    let faults = [
        (Status(503), true),
        (Status(429), true),
        (Status(403), false),
        (Status(404), false),
        (Status(500), true),
        (Status(418), false),
        (Cut(0), true),
        (Cut(1000), true),
        (Nothing, true),
        (Silence, true),
        (Shifted, false),
        (OtherEtag, false),
        (OtherFile, false),
        (Whole, false),
        (Compressed, false),
        (Endless, false),
        (Longer, false),
        (Redirect, true),
        (NoRange, false),
        (LongHeader, false),
    ];
    for (fault, is_repaired) in faults {
        for at in 0..4 {
            let faults = move |number, _: &str| (number == at).then_some(fault);
            let server = Server::with([("/a.npy".into(), all.clone())], Pace::default(), faults);
            let began = Instant::now();
            let found = open(&server, "/a.npy").and_then(|source| {
                let mut out = vec![0; 300_000];
                source.read_exact_at(500_000, &mut out)?;
                let last = source.read_vec(len as u64 - 200_000, 100_000)?;
                Ok((out, last))
            });
            assert!(began.elapsed() < Duration::from_secs(10), "{fault:?} at {at}");
            let log = server.take_log();
            let about = format!("{fault:?} at {at}: {:?}, {log:?}", found.as_ref().err());
            match found {
                Ok((out, last)) => {
                    assert_eq!(out, all[500_000..800_000], "{about}");
                    assert_eq!(last, all[len - 200_000..len - 100_000], "{about}");
                    // The first answer says which version it is.
                    let is_first = at == 0 && matches!(fault, OtherEtag | OtherFile);
                    assert!(is_repaired || log.len() <= at || is_first, "{about}");
                }
                Err(error) => {
                    assert!(!is_repaired, "{about}");
                    assert!(error.to_string().contains("/a.npy"), "{error}");
                    if let (OtherEtag | OtherFile, 1..) = (fault, at) {
                        assert!(matches!(error, Error::Changed { .. }), "{about}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_server_that_fails_for_good_is_an_error() {
    for fault in [Fault::Status(503), Fault::Cut(10), Fault::Redirect, Fault::Silence] {
        let faults = move |_, _: &str| Some(fault);
        let server = Server::with([("/a.tet".into(), bytes(1 << 20))], Pace::default(), faults);
        let began = Instant::now();
        let error = open(&server, "/a.tet").unwrap_err().to_string();
        assert!(error.starts_with("cannot open http://127.0.0.1:"), "{error}");
        assert!(began.elapsed() < Duration::from_secs(10), "{fault:?}");
    }
    let error = open(&serving("/a", 1), "/b").unwrap_err();
    let kind = error.system().map(|(_, error)| error.kind());
    assert_eq!(kind, Some(std::io::ErrorKind::NotFound), "{error}");
}

#[test]
fn requests_of_one_read_are_made_at_the_same_time() {
    let pace = Pace { latency: Duration::from_millis(100), rate: 0 };
    let len = 64 << 20;
    let server = Server::with([("/a.npy".into(), bytes(len))], pace, |_, _| None);
    let source = open(&server, "/a.npy").unwrap();
    let began = Instant::now();
    assert_eq!(source.read_vec(0, len as u64).unwrap().len(), len);
    assert_eq!(server.take_log().len(), 17);
    assert!(began.elapsed() < Duration::from_millis(1500), "16 requests, 8 at once");
}

/// An endpoint by the variables of the AWS tools: signed in the query where there are keys, and no key in a
/// message.
#[test]
fn objects_are_asked_for_by_bucket_and_key() {
    let server = serving("/bucket/a%20b/x.tet", 1 << 20);
    for is_signed in [false, true] {
        let endpoint = server.url("");
        let lookup = Lookup::new(move |name| match name {
            "AWS_ENDPOINT_URL" => Some(endpoint.clone()),
            "AWS_ACCESS_KEY_ID" if is_signed => Some("THEKEY".into()),
            "AWS_SECRET_ACCESS_KEY" if is_signed => Some("THESECRET".into()),
            _ => None,
        });
        let settings = Settings { lookup, ..settings() };
        let source = crate::open("s3://bucket/a b/x.tet", &settings).unwrap();
        assert_eq!(source.read_vec(700_000, 9).unwrap(), bytes(1 << 20)[700_000..700_009]);
        assert_eq!(source.path(), Some("s3://bucket/a b/x.tet".as_ref()));
        let error = crate::open("s3://bucket/none", &settings).unwrap_err();
        let (text, debug) = (error.to_string(), format!("{error:?} {settings:?} {source:?}"));
        assert!(text.contains("s3://bucket/none") && text.contains("not found"), "{text}");
        assert!(!text.contains("THE") && !debug.contains("THE"), "{text} {debug}");
    }
}
