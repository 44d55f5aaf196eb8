"""Ctrl-C while files go to servers and come from them: KeyboardInterrupt within a second, and nothing is left."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tetfile
from children import SPAWN, working

XML = (
    '<?xml version="1.0" encoding="UTF-8"?><{0} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    "<Bucket>b</Bucket><Key>x.tet</Key><UploadId>7</UploadId><ETag>1</ETag></{0}>"
)


class Slow(BaseHTTPRequestHandler):
    """A bucket that takes its time for each part, and a file without ranges that comes slowly."""

    protocol_version = "HTTP/1.1"
    seen: list[str]
    began: threading.Event

    def do_HEAD(self) -> None:
        self._answer(404)

    def do_GET(self) -> None:
        if not self.path.endswith(".npy"):
            return self._answer(404)
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 30))
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"\x93NUMPY" * 10_000)
                self.began.set()
                time.sleep(0.05)
        except OSError:
            self.close_connection = True

    def do_POST(self) -> None:
        self._body()
        is_begun = "uploads" in self.path.partition("?")[2]
        self.seen.append("begin" if is_begun else "end")
        self._answer(200, XML.format("InitiateMultipartUploadResult" if is_begun else "CompleteMultipartUploadResult"))

    def do_PUT(self) -> None:
        self._body()
        self.seen.append("part")
        if self.seen.count("part") == 3:
            self.began.set()
        time.sleep(0.5)
        self._answer(200)

    def do_DELETE(self) -> None:
        self.seen.append("abort")
        self._answer(204)

    def _body(self) -> None:
        left = int(self.headers.get("Content-Length", 0))
        while left:
            left -= len(self.rfile.read(min(left, 1 << 20)))

    def _answer(self, status: int, text: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("ETag", '"1"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, type[Slow]]]:
    handler = type("Handler", (Slow,), {"seen": [], "began": threading.Event()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "TET_DOWNLOAD": "2GiB",
    }.items():
        monkeypatch.setenv(name, value)
    yield address, handler
    server.shutdown()
    server.server_close()


def _upload(results: Any, path: Path) -> None:
    _interrupted(results, lambda: tetfile.convert(path, "s3://b/x.tet", codec="raw"))


def _download(results: Any, url: str) -> None:
    _interrupted(results, lambda: tetfile.open(url))


def _interrupted(results: Any, work: Any) -> None:
    try:
        work()
        results.put("done")
    except KeyboardInterrupt:
        results.put("interrupted")
    except BaseException as error:
        results.put(repr(error))


def interrupt(target: Any, given: Any, began: threading.Event) -> tuple[str, float]:
    """What a process says that gets a signal once the server has begun, and how long it takes to stop."""
    results = SPAWN.Queue()
    with working(target, results, given) as process:
        assert began.wait(60) and process.pid is not None
        sent = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        found = results.get(timeout=30)
        took = time.monotonic() - sent
        process.join(30)
    return found, took


def test_an_upload_is_given_up(server: tuple[str, type[Slow]], tmp_path: Path) -> None:
    _, handler = server
    np.save(tmp_path / "a.npy", np.random.default_rng(1).integers(0, 1 << 62, 16 << 20))
    found, took = interrupt(_upload, tmp_path / "a.npy", handler.began)
    assert (found, handler.seen[-1]) == ("interrupted", "abort")
    assert took < 1.5 and handler.seen.count("part") < 16 and "end" not in handler.seen


def test_a_download_is_given_up(server: tuple[str, type[Slow]]) -> None:
    address, handler = server
    found, took = interrupt(_download, f"{address}/a.npy", handler.began)
    assert found == "interrupted" and took < 1.5
