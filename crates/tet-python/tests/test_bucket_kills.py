"""Workers and coordinators that write to a bucket are killed at one request after the other."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tetfile
from children import working
from moto.server import DomainDispatcherApplication, create_backend_app
from test_buckets import URL, begun, prepared
from test_parts import write_part
from werkzeug.serving import make_server

OLD, NEW = np.arange(3), np.arange(100)


class Killing:
    """A server of buckets that kills a process when it has asked for so much, before or after that is done."""

    def __init__(self) -> None:
        self.app = DomainDispatcherApplication(create_backend_app)
        self.victim: int | None = None
        self.count = self.at = 0
        self.is_done_first = False

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        if self.victim is None:
            return self.app(environ, start)
        self.count += 1
        is_last = self.count == self.at
        if is_last and not self.is_done_first:
            os.kill(self.victim, signal.SIGKILL)
            start("500 killed", [])
            return []
        answer = list(self.app(environ, start))
        if is_last:
            os.kill(self.victim, signal.SIGKILL)
        return answer


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Killing]:
    killing = Killing()
    server = make_server("127.0.0.1", 0, killing, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    prepared(f"http://127.0.0.1:{server.port}", monkeypatch)
    yield killing
    server.shutdown()


def publish() -> None:
    tetfile.WritePlan.of(URL).publish()


def killed(bucket: Killing, at: int, is_done_first: bool, work: Callable[..., None], *args: Any) -> bool:
    """Runs work in a process that is killed at a request; whether it was."""
    bucket.count, bucket.at, bucket.is_done_first = 0, at, is_done_first
    with working(work, *args) as process:
        bucket.victim = process.pid
        process.join(60)
        bucket.victim = None
        assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def begun_with_an_old_object() -> tetfile.WritePlan:
    with tetfile.create(URL, {"x": OLD}, overwrite=True):
        pass
    return begun(overwrite=True)


@pytest.mark.parametrize("is_done_first", [False, True], ids=["before", "after"])
def test_a_worker_that_is_killed_leaves_the_old_object(bucket: Killing, is_done_first: bool) -> None:
    for at in range(1, 20):
        plan = begun_with_an_old_object()
        was_killed = killed(bucket, at, is_done_first, write_part, plan, 0)
        np.testing.assert_array_equal(tetfile.open(URL)["x"][...], OLD)
        for start in range(10, 100, 10):
            write_part(plan, start)
        try:
            plan.publish()
        except tetfile.UsageError:
            # The rows of the worker are missing, and can be written.
            assert was_killed
            np.testing.assert_array_equal(tetfile.open(URL)["x"][...], OLD)
            write_part(plan, 0)
            plan.publish()
        np.testing.assert_array_equal(tetfile.open(URL)["x"][...], NEW)
        if not was_killed:
            break
    assert not was_killed and at > 1


@pytest.mark.parametrize("is_done_first", [False, True], ids=["before", "after"])
def test_a_coordinator_that_is_killed_leaves_the_old_object_or_the_new_one(
    bucket: Killing, is_done_first: bool
) -> None:
    seen = set()
    for at in range(1, 200, 7):
        plan = begun_with_an_old_object()
        for start in range(0, 100, 10):
            write_part(plan, start)
        was_killed = killed(bucket, at, is_done_first, publish)
        found = tetfile.open(URL)["x"][...]
        is_new = len(found) == len(NEW)
        np.testing.assert_array_equal(found, NEW if is_new else OLD)
        seen.add(is_new)
        if not was_killed:
            break
        if is_new:
            plan.discard()
        else:
            publish()
        np.testing.assert_array_equal(tetfile.open(URL)["x"][...], NEW)
        assert tetfile.verify(URL).ok
    assert not was_killed and seen == {False, True}
