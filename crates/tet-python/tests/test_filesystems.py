"""Files of fsspec and of obstore: equal values, few requests, one version, errors with their causes."""

from __future__ import annotations

import io
import os
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dask
import fsspec
import numpy as np
import obstore.store
import pytest
import tetfile
import xarray
from children import SPAWN, interrupt, working
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from test_buckets import bucket
from threads import at_once

__all__ = ["bucket"]

ARRAY = np.arange(1 << 20, dtype="i4").reshape(16, 256, 256)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of 4 MiB in 64 chunks."""
    path = tmp_path_factory.mktemp("content") / "x.tet"
    with tetfile.create(path) as out:
        out["x"] = tetfile.Spec(ARRAY.shape, "i4", chunks=(1, 64, 256), dims=("t", "y", "x"))
        out["x"][...] = ARRAY
    return path.read_bytes()


class Counted(MemoryFileSystem):
    """Files in memory whose reads are counted, and can wait or fail."""

    protocol = "counted"
    store: dict[str, Any] = {}
    pseudo_dirs = [""]
    ranges: list[tuple[int, int]] = []
    wait = 0.0
    failure: BaseException | None = None

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(path.removeprefix("counted://"))  # type: ignore[no-any-return]

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **how: Any) -> bytes:
        assert start is not None and end is not None
        self.ranges.append((start, end))
        time.sleep(self.wait)
        if self.failure is not None and 2 < len(self.ranges):
            raise self.failure
        return bytes(super().cat_file(path, start, end, **how))


fsspec.register_implementation("counted", Counted, clobber=True)


@pytest.fixture
def counted(content: bytes) -> Iterator[Counted]:
    fs = Counted()
    fs.pipe("/x.tet", content)
    Counted.ranges.clear()
    yield fs
    fs.wait, fs.failure = 0.0, None
    Counted.store.clear()


class _Handler(BaseHTTPRequestHandler):
    content = b""
    etag = '"1"'

    def do_HEAD(self) -> None:
        self._answer(self.content, 200)

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        if asked is None:
            return self._answer(self.content, 200)
        start, _, end = asked.removeprefix("bytes=").partition("-")
        return self._answer(self.content[int(start) : int(end) + 1], 206)

    def _answer(self, body: bytes, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", self.etag)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(content: bytes) -> Iterator[tuple[str, type[_Handler]]]:
    handler = type("Handler", (_Handler,), {"content": content})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/x.tet?token=secret", handler
    server.shutdown()
    server.server_close()


def check(file: tetfile.File) -> None:
    """The file has the array."""
    with file:
        found = file["x"]
        np.testing.assert_array_equal(found[...], ARRAY)
        np.testing.assert_array_equal(found[3, 10:200:7, ::-1], ARRAY[3, 10:200:7, ::-1])
        np.testing.assert_array_equal(found.oindex[[1, 5], :, [2]], ARRAY[[1, 5]][:, :, [2]])
        assert found.mean() == ARRAY.mean() and found.dims == ("t", "y", "x")


def test_each_way_to_name_a_file(counted: Counted, content: bytes, tmp_path: Path) -> None:
    check(tetfile.open("/x.tet", filesystem=counted))
    check(tetfile.open("counted://x.tet", filesystem=counted))
    check(tetfile.open(fsspec.open("counted://x.tet")))
    with fsspec.open("counted://x.tet") as opened:
        check(tetfile.open(opened))
    with counted.open("/x.tet") as opened:
        check(tetfile.open(opened))
    check(tetfile.open(io.BytesIO(content)))
    (tmp_path / "x.tet").write_bytes(content)
    with open(tmp_path / "x.tet", "rb", buffering=0) as raw:
        check(tetfile.open(raw))
    local = tetfile.open("x.tet", filesystem=obstore.store.LocalStore(tmp_path))
    assert local.path == "localstore://x.tet"
    check(local)
    store = obstore.store.MemoryStore()
    obstore.put(store, "a/x.tet", content)
    check(tetfile.open("a/x.tet", filesystem=store))
    check(tetfile.open(obstore.open_reader(store, "a/x.tet")))


def test_a_local_file_is_opened_by_its_path(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.tet").write_bytes(content)
    for opened in (fsspec.open(f"file://{tmp_path}/x.tet"), LocalFileSystem().open(tmp_path / "x.tet")):
        file = tetfile.open(opened)
        assert file.path == str(tmp_path / "x.tet")
        check(file)
    with pytest.raises(FileNotFoundError):
        tetfile.open(tmp_path / "y.tet", filesystem=LocalFileSystem())


def test_http(server: tuple[str, type[_Handler]]) -> None:
    url, handler = server
    file = tetfile.open(fsspec.open(url))
    assert "secret" not in file.path and file.path.endswith("/x.tet")
    check(file)
    file = tetfile.open(fsspec.open(url))
    handler.etag = '"2"'
    with pytest.raises(tetfile.ChangedError):
        file["x"][8]


def test_buckets(bucket: str, content: bytes) -> None:
    fs = fsspec.filesystem("s3", key="key", secret="secret", endpoint_url=bucket, skip_instance_cache=True)
    store = obstore.store.S3Store(
        "bucket",
        endpoint=bucket,
        region="us-east-1",
        access_key_id="key",
        secret_access_key="secret",
        client_options={"allow_http": True},
    )
    obstore.put(store, "a/x.tet", content)
    found = tetfile.open("s3://bucket/a/x.tet", filesystem=fs)
    assert found.path == "s3://bucket/a/x.tet"
    by_store = tetfile.open("a/x.tet", filesystem=store)
    again = [pickle.loads(pickle.dumps(file)) for file in (found, by_store)]
    for file in (found, by_store, *again):
        np.testing.assert_array_equal(file["x"][7], ARRAY[7])
    # Another version of the same length.
    obstore.put(store, "a/x.tet", content[::-1])
    with pytest.raises(tetfile.ChangedError):
        by_store["x"][9]
    # fsspec asks for no version: the checksums of other bytes may differ first.
    with pytest.raises((tetfile.ChangedError, tetfile.DamagedError)):
        found["x"][9]
    with pytest.raises(FileNotFoundError) as caught:
        tetfile.open("a/none.tet", filesystem=store)
    assert isinstance(caught.value.__cause__, FileNotFoundError) and "\n" not in str(caught.value)


def test_requests_are_few(counted: Counted) -> None:
    with tetfile.open("/x.tet", filesystem=counted) as file:
        # The head and the tail.
        assert len(counted.ranges) == 2
        found = file["x"]
        assert found[0, 0, 0] == 0 and len(counted.ranges) == 2
        found[8]
        assert len(counted.ranges) == 3
        # Statistics of chunks have the answer.
        assert found.mean() == ARRAY.mean() and len(counted.ranges) == 3
        assert found.std() == pytest.approx(ARRAY.std()) and len(counted.ranges) == 4
    read = sum(stop - start for start, stop in counted.ranges)
    assert read < 1.2 * ARRAY.nbytes


def test_requests_are_made_at_the_same_time(counted: Counted) -> None:
    counted.wait = 0.5
    with tetfile.open("/x.tet", filesystem=counted) as file:
        began = time.monotonic()
        file["x"].oindex[[3, 9], :, :]
        took = time.monotonic() - began
    assert len(counted.ranges) == 2 + 2 and took < 1.8 * 0.5


@pytest.mark.parametrize("change", ["longer", "same length", "removed"])
def test_a_file_that_changes_is_not_mixed(counted: Counted, content: bytes, change: str) -> None:
    with tetfile.open("/x.tet", filesystem=counted) as file:
        np.testing.assert_array_equal(file["x"][5], ARRAY[5])
        if change == "removed":
            counted.rm("/x.tet")
            with pytest.raises(FileNotFoundError) as caught:
                file["x"][9]
            assert isinstance(caught.value.__cause__, FileNotFoundError)
            return
        counted.pipe("/x.tet", content + b"0" if change == "longer" else content)
        with pytest.raises(tetfile.ChangedError):
            file["x"][9]


def test_a_store_says_that_its_object_changed(content: bytes) -> None:
    store = obstore.store.MemoryStore()
    obstore.put(store, "x.tet", content)
    with tetfile.open("x.tet", filesystem=store) as file:
        obstore.put(store, "x.tet", content)
        with pytest.raises(tetfile.ChangedError):
            file["x"][9]


def test_what_a_filesystem_raises_is_the_cause(counted: Counted) -> None:
    class Odd(Exception):
        pass

    for failure, kind in ((Odd("no token\nand more"), OSError), (PermissionError("no"), PermissionError)):
        counted.ranges.clear()
        counted.failure = None
        with tetfile.open("/x.tet", filesystem=counted) as file:
            counted.failure = failure
            for read in (lambda x: x[9], lambda x: x.std(), lambda x: x.oindex[[3, 9], :, :]):
                with pytest.raises(kind, match="x.tet") as caught:
                    read(file["x"])
                assert caught.value.__cause__ is failure
    assert "and more" not in str(caught.value)
    counted.failure = None
    for missing in ("/none.tet", "counted://none.tet"):
        with pytest.raises(FileNotFoundError, match="none.tet"):
            tetfile.open(missing, filesystem=counted)
    counted.makedirs("/folder.zarr", exist_ok=True)
    with pytest.raises(IsADirectoryError):
        tetfile.open("/folder.zarr", filesystem=counted)


def test_other_objects_are_refused(counted: Counted, content: bytes) -> None:
    for wrong in (3, None, b"x", object()):
        with pytest.raises(TypeError):
            tetfile.open(wrong)
    with pytest.raises(TypeError, match="filesystem"):
        tetfile.open("x.tet", filesystem="memory")
    with pytest.raises(tetfile.UsageError, match="compress"):
        tetfile.open(fsspec.open("counted://x.tet", compression="gzip"))
    counted.pipe("/short.tet", content[:1000])
    with pytest.raises(tetfile.DamagedError):
        tetfile.open("/short.tet", filesystem=counted)
    counted.pipe("/empty.tet", b"")
    with pytest.raises(tetfile.TetError):
        tetfile.open("/empty.tet", filesystem=counted)


def test_threads_read_at_the_same_time(counted: Counted) -> None:
    counted.wait = 0.002
    with tetfile.open("/x.tet", filesystem=counted, threads=3) as file:

        def read(nth: int) -> None:
            for at in range(nth, 16, 3):
                np.testing.assert_array_equal(file["x"][at], ARRAY[at])
                assert file["x"][at].max() == file["x"][at : at + 1].max()

        at_once(8, read)


def _interrupted(ready: Any) -> None:
    """Reads a slow file until a signal comes."""
    fs = Counted()
    big = np.zeros((64, 512, 512), dtype="f4")
    with tetfile.create(os.environ["TET_SLOW"]) as out:
        out["x"] = tetfile.Spec(big.shape, "f4", chunks=(1, 512, 512))
        out["x"][...] = big
    fs.pipe("/x.tet", Path(os.environ["TET_SLOW"]).read_bytes())
    file = tetfile.open("/x.tet", filesystem=fs, memory=4 << 20)
    fs.wait = 0.3
    ready.put("reads")
    try:
        file["x"].mean()
    except KeyboardInterrupt:
        fs.wait = 0
        ready.put("stopped" if file["x"][1, 2, 3] == 0 else "wrong")


def test_ctrl_c_stops_a_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TET_SLOW", str(tmp_path / "slow.tet"))
    ready = SPAWN.Queue()
    with working(_interrupted, ready) as process:
        interrupt(process, ready, wait=0.5, bound=1.5)
        process.join(30)


def _sum(file: tetfile.File, at: int) -> int:
    return int(file["x"][at].sum())


def test_files_pickle_where_their_filesystem_does(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.tet").write_bytes(content)
    store = obstore.store.LocalStore(tmp_path)
    file = tetfile.open("x.tet", filesystem=store)
    sums = [int(ARRAY[at].sum()) for at in range(4)]
    with SPAWN.Pool(2) as pool:
        assert pool.starmap(_sum, [(file, at) for at in range(4)]) == sums
    # One open file for all that is unpickled.
    first, second = (pickle.loads(pickle.dumps(file)) for _ in range(2))
    assert first is second and first is not file
    (tmp_path / "x.tet").write_bytes(content)
    data = pickle.dumps(file)
    first.close()
    with pytest.raises(tetfile.ChangedError):
        pickle.loads(data)
    memory = obstore.store.MemoryStore()
    obstore.put(memory, "x.tet", content)
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(tetfile.open("x.tet", filesystem=memory))


def test_tokens_tell_stores_apart(content: bytes, tmp_path: Path) -> None:
    stores = [obstore.store.MemoryStore() for _ in range(2)]
    for store in stores:
        obstore.put(store, "x.tet", content)
    tokens = {dask.base.tokenize(tetfile.open("x.tet", filesystem=store)) for store in stores}
    assert len(tokens) == 2
    (tmp_path / "x.tet").write_bytes(content)
    files = [tetfile.open("x.tet", filesystem=obstore.store.LocalStore(tmp_path)) for _ in range(2)]
    assert len({dask.base.tokenize(file) for file in files}) == 1


def opened_by_xarray(**how: Any) -> Callable[[Any], xarray.Dataset]:
    return lambda path: xarray.open_dataset(path, engine="tet", **how)


def test_xarray(counted: Counted, content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.tet").write_bytes(content)
    store = obstore.store.LocalStore(tmp_path)
    for path, how in (
        (fsspec.open("counted://x.tet"), {}),
        (counted.open("/x.tet"), {}),
        ("x.tet", {"filesystem": store}),
    ):
        with opened_by_xarray(**how)(path) as found:
            np.testing.assert_array_equal(found["x"].isel(t=3), ARRAY[3])
    with xarray.open_dataset("x.tet", engine="tet", filesystem=store, chunks={"t": 4}) as lazy:
        with dask.config.set(scheduler="processes", num_workers=2):
            assert int(lazy["x"].sum()) == int(ARRAY.sum(dtype="i8"))
    with xarray.open_datatree("x.tet", engine="tet", filesystem=store) as tree:
        assert tree["x"].shape == ARRAY.shape


def test_convert_verify_and_diff(counted: Counted, tmp_path: Path) -> None:
    done = tetfile.convert(fsspec.open("counted://x.tet"), tmp_path / "y.tet")
    assert done.datasets == ["x"]
    assert tetfile.verify(counted.open("/x.tet")).ok
    with tetfile.open("/x.tet", filesystem=counted) as file:
        assert tetfile.diff(file, tmp_path / "y.tet").same
        url, offset, length = file.to_references(inline=0)["refs"]["x/0.0.0"]
        assert url.endswith("x.tet") and counted.cat_file("/x.tet", offset, offset + length) == ARRAY.tobytes()[:length]
    counted.pipe("/grid.csv", b"a,b\n1,2\n3,4\n")
    with tetfile.open("/grid.csv", filesystem=counted) as file:
        assert list(file["b"][...]) == [2, 4]
