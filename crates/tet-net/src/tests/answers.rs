//! Answers byte by byte, of servers that differ from the others in what they leave out or claim.

use std::io::{Read, Write};
use std::net::TcpListener;

use tet_io::{Error, Kind, Source};

use super::settings;

/// Opens a file of a server that answers every request with these bytes, and closes the connection.
fn opened(answer: &str) -> tet_io::Result<Source> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.tet", listener.local_addr().unwrap());
    let answer = answer.to_owned();
    // The thread ends with the process: it waits for connections that may not come.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut asked) = (stream.unwrap(), Vec::new());
            while !asked.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).unwrap_or(0) == 0 {
                    break;
                }
                asked.push(byte[0]);
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    crate::open(&url, &settings())
}

fn text(result: tet_io::Result<Source>) -> String {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert_eq!(error.kind(), Kind::Io);
    error.to_string()
}

#[test]
fn a_file_of_no_bytes_is_one() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 416 X\r\nContent-Range: bytes */0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 416 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ] {
        assert_eq!(opened(answer).unwrap().len(), 0, "{answer}");
    }
    let answer = "HTTP/1.1 416 X\r\nContent-Range: bytes */9\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert!(text(opened(answer)).contains("416"), "the server has bytes, and refuses them");
}

/// The greatest length that fits its number: reading near its end is an error, whatever the build does at an overflow.
#[test]
fn a_file_may_claim_any_length() {
    let answer = "HTTP/1.1 206 X\r\nContent-Range: bytes 0-262143/18446744073709551615\r\n\
                  Content-Length: 262144\r\nConnection: close\r\n\r\n";
    let source = opened(&(answer.to_owned() + &"x".repeat(256 << 10))).unwrap();
    assert_eq!(source.len(), u64::MAX);
    assert!(source.read_vec(u64::MAX - 100, 100).is_err());
    assert!(source.read_vec(u64::MAX - 100, 101).is_err());
    assert_eq!(source.read_vec(5, 3).unwrap(), b"xxx");
}

#[test]
fn what_is_lost_has_plain_words() {
    let answer = "HTTP/1.1 206 X\r\nContent-Range: bytes 0-3/4\r\nContent-Length: 4\r\nConnection: close\r\n\r\nab";
    assert!(text(opened(answer)).contains("the server closed the connection, 3 times"));
    let answer = "HTTP/1.1 206 X\r\nContent-Range: bytes 0-3/4\r\nTransfer-Encoding: chunked\r\n\
                  Connection: close\r\n\r\nzz\r\nabcd";
    assert!(text(opened(answer)).contains("the server's answer is not HTTP, 3 times"));
}
