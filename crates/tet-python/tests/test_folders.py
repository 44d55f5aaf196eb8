"""Folders of fsspec and of obstore: Zarr hierarchies, folders of parts, models in shards; equal to those of this machine."""

from __future__ import annotations

import functools
import io
import json
import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dask
import fsspec
import numpy as np
import obstore.store
import pytest
import tetfile
import xarray
import zarr
from children import SPAWN, interrupt, working
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from safetensors.numpy import save_file
from test_buckets import bucket
from threads import at_once

__all__ = ["bucket"]

ARRAY = np.random.default_rng(1).integers(0, 1000, (8, 40, 50)).astype("i4")
NAMES = ["two.zarr", "two-listed.zarr", "three.zarr", "three-listed.zarr", "day.tets", "model.safetensors.index.json"]


def write_zarr(path: Path, version: Any, consolidated: bool) -> None:
    """A hierarchy of which two chunks of each array are not stored."""
    root = zarr.create_group(path, zarr_format=version, attributes={"title": "places"})
    inner = root.create_group("deep er")
    for at, name in ((root, "x"), (inner, "%41")):
        array = at.create_array(name, shape=ARRAY.shape, chunks=(1, 40, 50), dtype="i4", fill_value=7)
        array[:6] = ARRAY[:6]
    if version == 3:
        shards = root.create_array("s", shape=(512, 512), chunks=(64, 64), shards=(256, 512), dtype="f4", compressors=None)
        shards[...] = np.arange(1 << 18, dtype="f4").reshape(512, 512)
    if consolidated:
        with warnings.catch_warnings(action="ignore"):
            zarr.consolidate_metadata(path, zarr_format=version)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one container of each kind that is several files."""
    folder = tmp_path_factory.mktemp("containers")
    for name in NAMES[:4]:
        write_zarr(folder / name, 2 if "two" in name else 3, "listed" not in name)
    data = xarray.Dataset({"x": (("t", "i", "j"), ARRAY)}, {"t": np.arange(8)})
    with tetfile.create(folder / "first.tet", data):
        pass
    tetfile.convert(folder / "first.tet", folder / "day.tets")
    (folder / "first.tet").unlink()
    for day in range(1, 4):
        tetfile.append(folder / "day.tets", {"x": ARRAY + day, "t": np.arange(8) + 8 * day}, axis="t")
    shards = {"a": {"x": ARRAY}, "b": {"y": ARRAY[0].astype("f4"), "z": ARRAY[1]}}
    for name, tensors in shards.items():
        save_file(tensors, folder / f"model-{name}.safetensors")
    weight_map = {tensor: f"model-{name}.safetensors" for name, tensors in shards.items() for tensor in tensors}
    (folder / NAMES[-1]).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return folder


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def check(found: tetfile.File, local: Path) -> None:
    """The file has what the one at a local path has."""
    with found, tetfile.open(local) as wanted:
        assert found.findings == wanted.findings == []
        assert list(found) == list(wanted) and found.attrs == wanted.attrs and found.format == wanted.format
        for name in wanted:
            one, other = found.dataset(name), wanted.dataset(name)
            assert (one.shape, one.dtype, one.chunks, one.dims) == (other.shape, other.dtype, other.chunks, other.dims)
            np.testing.assert_array_equal(one[...], other[...])
            np.testing.assert_array_equal(one[1:3], other[1:3])
            np.testing.assert_array_equal(one.oindex[[0, -1]], other.oindex[[0, -1]])
            assert one.max() == other.max()


class Counted(MemoryFileSystem):
    """Files in memory whose calls are counted, and can wait or fail."""

    protocol = "tallied"
    store: dict[str, Any] = {}
    pseudo_dirs = [""]
    calls: list[tuple[str, str]] = []
    wait = 0.0
    failures: dict[str, BaseException] = {}

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(path.removeprefix("tallied://"))  # type: ignore[no-any-return]

    def _called(self, what: str, path: str) -> None:
        self.calls.append((what, path))
        time.sleep(self.wait)
        for name, failure in self.failures.items():
            if path.endswith(name):
                raise failure

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **how: Any) -> bytes:
        self._called("cat", path)
        return bytes(super().cat_file(path, start, end, **how))

    def info(self, path: str, **how: Any) -> Any:
        self._called("info", path)
        return super().info(path, **how)

    def ls(self, path: str, detail: bool = True, **how: Any) -> Any:
        self._called("ls", path)
        return super().ls(path, detail, **how)


fsspec.register_implementation("tallied", Counted, clobber=True)


@pytest.fixture
def counted(folder: Path) -> Iterator[Counted]:
    fs = Counted()
    for name, content in files(folder):
        fs.pipe(f"/b/{name}", content)
    Counted.calls.clear()
    yield fs
    fs.wait = 0.0
    Counted.failures.clear()
    Counted.store.clear()


def stored(store: Any, folder: Path, prefix: str = "") -> Any:
    for name, content in files(folder):
        obstore.put(store, f"{prefix}{name}", content)
    return store


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[tuple[str, dict[str, int], list[str]]]:
    """A server that lists folders, the statuses of paths that it refuses, and the paths that it was asked for."""
    refused: dict[str, int] = {}
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def send_head(self) -> Any:
            asked.append(self.path)
            status = next((status for path, status in refused.items() if path in self.path), None)
            if status is not None:
                return self.send_error(status)
            return super().send_head()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", refused, asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", NAMES)
def test_each_way_to_name_a_folder(counted: Counted, folder: Path, name: str) -> None:
    same = functools.partial(check, local=folder / name)
    same(tetfile.open(f"b/{name}", filesystem=counted))
    same(tetfile.open(f"tallied://b/{name}", filesystem=counted))
    same(tetfile.open(name, filesystem=DirFileSystem("/b", counted)))
    same(tetfile.open(name, filesystem=obstore.store.LocalStore(folder)))
    same(tetfile.open(f"a/{name}", filesystem=stored(obstore.store.MemoryStore(), folder, "a/")))
    same(tetfile.open(str(folder / name), filesystem=LocalFileSystem()))
    same(tetfile.open(fsspec.open(f"tallied://b/{name}")))
    if name.endswith(".json"):
        # Its shards are at the top of the store.
        same(tetfile.open(name, filesystem=stored(obstore.store.MemoryStore(), folder)))
        return
    same(tetfile.open(f"b/{name}/", filesystem=counted))
    same(tetfile.open(counted.get_mapper(f"b/{name}")))
    same(tetfile.open(fsspec.get_mapper(f"file://{folder}/{name}")))
    # The store is the folder.
    same(tetfile.open("", filesystem=obstore.store.LocalStore(folder / name)))
    same(tetfile.open("/", filesystem=stored(obstore.store.MemoryStore(), folder / name)))


def test_a_folder_may_have_any_name(counted: Counted, folder: Path) -> None:
    for name, content in files(folder / "two-listed.zarr"):
        counted.pipe(f"/plain/{name}", content)
    check(tetfile.open("/plain", filesystem=counted), folder / "two-listed.zarr")
    # The document, or an array, in place of the root.
    with tetfile.open("/plain/.zgroup", filesystem=counted) as file:
        assert file["x"].shape == ARRAY.shape
    with tetfile.open("/plain/x", filesystem=counted) as file:
        np.testing.assert_array_equal(file["x"][:6], ARRAY[:6])
    with tetfile.open(counted.get_mapper("/plain")) as file:
        assert file.path == "tallied:///plain" and repr(file).startswith("<tetfile.File 'tallied:///plain'")


@pytest.mark.parametrize("name", NAMES)
def test_http(server: tuple[str, dict[str, int], list[str]], folder: Path, name: str) -> None:
    url, _, asked = server
    fs = fsspec.filesystem("http", skip_instance_cache=True)
    check(tetfile.open(f"{url}/{name}", filesystem=fs), folder / name)
    if not name.endswith(".json"):
        check(tetfile.open(fs.get_mapper(f"{url}/{name}")), folder / name)
    if name == "two.zarr":
        asked.clear()
        signed = tetfile.open(f"{url}/{name}/?sig=secret", filesystem=fs)
        assert "secret" not in signed.path
        check(signed, folder / name)
        assert asked and all(path.endswith("?sig=secret") for path in asked)


def test_http_says_what_is_absent(server: tuple[str, dict[str, int], list[str]], folder: Path) -> None:
    url, refused, _ = server
    fs = fsspec.filesystem("http", skip_instance_cache=True)
    read = lambda: tetfile.open(f"{url}/two.zarr", filesystem=fs)["x"][...]
    try:
        for status in (403, 500):
            # The chunk 2, and the chunk 7, which is not stored.
            for chunk in ("/x/2.0.0", "/x/7.0.0"):
                refused.clear()
                refused[chunk] = status
                with pytest.raises(OSError, match="two.zarr" + chunk) as caught:
                    read()
                assert not isinstance(caught.value, FileNotFoundError) and str(status) in repr(caught.value.__cause__)
        refused.clear()
        refused["/x/2.0.0"] = 404
        assert (read()[2] == 7).all()
        # Folders that are not listed are not empty.
        refused.clear()
        refused["two-listed.zarr/?"] = refused["two-listed.zarr/"] = 404
        with pytest.raises(FileNotFoundError):
            tetfile.open(f"{url}/two-listed.zarr", filesystem=fs)
    finally:
        refused.clear()


def test_what_http_cannot_reach_is_not_missing(server: tuple[str, dict[str, int], list[str]]) -> None:
    url, refused, _ = server
    fs = fsspec.filesystem("http", skip_instance_cache=True)
    name = "model-a.safetensors"
    try:
        refused[name] = 403
        with pytest.raises(OSError, match="403") as caught:
            tetfile.open(f"{url}/{name}", filesystem=fs)
        assert not isinstance(caught.value, FileNotFoundError)
        refused[name] = 404
        with pytest.raises(FileNotFoundError, match=name):
            tetfile.open(f"{url}/{name}", filesystem=fs)
    finally:
        refused.clear()
    # No server is there.
    for path in ("http://127.0.0.1:1/x.zarr", "http://127.0.0.1:1/x.tet"):
        with pytest.raises(OSError) as caught:
            tetfile.open(path, filesystem=fs)
        assert not isinstance(caught.value, FileNotFoundError)


def test_a_server_that_lists_nothing_has_no_empty_groups(folder: Path) -> None:
    class Handler(SimpleHTTPRequestHandler):
        def list_directory(self, path: Any) -> Any:
            return self.send_error(404)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url, fs = f"http://127.0.0.1:{server.server_port}", fsspec.filesystem("http", skip_instance_cache=True)
        with pytest.raises(tetfile.UnsupportedError, match="lists nothing"):
            tetfile.open(f"{url}/two-listed.zarr", filesystem=fs)
        check(tetfile.open(f"{url}/three.zarr", filesystem=fs), folder / "three.zarr")
        server.shutdown()


def test_buckets(bucket: str, folder: Path) -> None:
    fs = fsspec.filesystem("s3", key="key", secret="secret", endpoint_url=bucket, skip_instance_cache=True)
    store = obstore.store.S3Store(
        "bucket",
        endpoint=bucket,
        region="us-east-1",
        access_key_id="key",
        secret_access_key="secret",
        client_options={"allow_http": True},
    )
    stored(store, folder, "a/")
    for name in NAMES:
        check(tetfile.open(f"bucket/a/{name}", filesystem=fs), folder / name)
        check(tetfile.open(f"a/{name}", filesystem=store), folder / name)
    mapped = tetfile.open(fs.get_mapper("bucket/a/three-listed.zarr"))
    by_store = tetfile.open("a/three-listed.zarr", filesystem=store)
    assert mapped.path == "s3://bucket/a/three-listed.zarr"
    with dask.config.set(scheduler="processes", num_workers=2):
        for path, how in ((fs.get_mapper("bucket/a/two.zarr"), {}), ("a/two.zarr", {"filesystem": store})):
            with xarray.open_dataset(path, engine="tet", chunks={}, **how) as lazy:
                assert int(lazy["x"][:6].sum()) == int(ARRAY[:6].sum())
    for file in (mapped, by_store):
        other = pickle.loads(pickle.dumps(file))
        np.testing.assert_array_equal(other["s"][300:, 7], file["s"][300:, 7])
        # A shard of another version, and of the same length.
        shard = "three-listed.zarr/s/c/1/0"
        obstore.put(store, f"a/{shard}", bytes(1 << 19) + (folder / shard).read_bytes()[1 << 19 :])
        for opened in (file, other):
            with pytest.raises((tetfile.ChangedError, tetfile.DamagedError)):
                opened["s"][256:]
        stored(store, folder, "a/")
    # Of an empty object no range is given.
    obstore.put(store, "a/two.zarr/x/2.0.0", b"")
    for file in (tetfile.open("bucket/a/two.zarr", filesystem=fs), tetfile.open("a/two.zarr", filesystem=store)):
        with file, pytest.raises(tetfile.DamagedError):
            file["x"][2]
    with pytest.raises(FileNotFoundError):
        tetfile.open(fs.get_mapper("bucket/a/none.zarr"))
    with pytest.raises(FileNotFoundError):
        tetfile.open("a/none.zarr", filesystem=store)


def test_calls_are_few(counted: Counted, folder: Path) -> None:
    with tetfile.open("b/two.zarr", filesystem=counted) as file:
        # Which document is there, and the metadata.
        assert len(counted.calls) <= 6 and {what for what, _ in counted.calls} == {"cat"}
        counted.calls.clear()
        file["x"][2:4]
        # The document is compared after each answer.
        document = ("cat", "/b/two.zarr/.zmetadata")
        assert sorted(counted.calls) == [document, *(("cat", f"/b/two.zarr/x/{at}.0.0") for at in (2, 3))]
        counted.calls.clear()
        file["x"][2:4]
        assert counted.calls == [document]
        # Chunks that are not there are asked for once each.
        counted.calls.clear()
        assert (file["x"][6:] == 7).all() and len(counted.calls) == 3
    counted.calls.clear()
    with tetfile.open("b/three.zarr", filesystem=counted) as file:
        counted.calls.clear()
        file["s"][...]
        # Two shards of half a MiB: their first bytes, length, index, chunks, and length again; the second at once.
        assert len(counted.calls) <= 2 * 6
    counted.calls.clear()
    with tetfile.open("b/day.tets", filesystem=counted) as file:
        file["x"][...]
        # The manifest, and each part as a whole.
        assert len(counted.calls) <= 2 + 4


def test_short_and_long_files_are_read_by_turns(counted: Counted) -> None:
    about = {"zarr_format": 2, "dtype": "<i4", "compressor": None, "filters": None, "order": "C", "fill_value": 0}
    counted.pipe("/m.zarr/.zgroup", b'{"zarr_format": 2}')
    # More chunks than files that stay open, and one of exactly the length that is read at first.
    for name, count, size in (("short", 300, 10), ("long", 3, 1 << 17), ("exact", 2, 1 << 16)):
        shape = {"shape": [count, size], "chunks": [1, size]}
        counted.pipe(f"/m.zarr/{name}/.zarray", json.dumps(about | shape).encode())
        for at in range(count):
            counted.pipe(f"/m.zarr/{name}/{at}.0", np.full(size, at, dtype="i4").tobytes())
    with tetfile.open("/m.zarr", filesystem=counted) as file:
        for _ in range(3):
            for name in ("short", "exact", "long"):
                found = file[name][...]
                np.testing.assert_array_equal(found, np.repeat(np.arange(len(found)), found.shape[1]).reshape(found.shape))
        # It is opened again, and is another one.
        counted.pipe("/m.zarr/short/0.0", np.full(10, 8, dtype="i4").tobytes())
        with pytest.raises(tetfile.ChangedError):
            file["short"][...]


def test_files_are_opened_at_the_same_time(counted: Counted) -> None:
    with tetfile.open("b/two.zarr", filesystem=counted) as file:
        counted.wait = 0.3
        began = time.monotonic()
        file["x"][...]
        assert time.monotonic() - began < 3 * 0.3
    counted.wait = 0.0
    with tetfile.open("b/three.zarr", filesystem=counted) as file:
        counted.wait = 0.2
        counted.calls.clear()
        began = time.monotonic()
        file["s"][...]
        assert time.monotonic() - began < 0.9 * 0.2 * len(counted.calls)


class Odd(Exception):
    pass


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (PermissionError("no"), PermissionError),
        (TimeoutError("late"), TimeoutError),
        (Odd("no token"), OSError),
        (KeyError("k"), OSError),
    ],
)
def test_only_what_is_not_found_is_absent(counted: Counted, failure: BaseException, kind: type[BaseException]) -> None:
    def fails(name: str, read: Callable[[], Any]) -> None:
        counted.failures.clear()
        counted.failures[name] = failure
        with pytest.raises(kind) as caught:
            read()
        assert caught.value.__cause__ is failure and not isinstance(caught.value, FileNotFoundError)
        counted.failures.clear()

    for name in ("two.zarr", "three.zarr", "two-listed.zarr"):
        with tetfile.open(f"b/{name}", filesystem=counted) as file:
            chunk = "/x/c/7/0/0" if "three" in name else "/x/7.0.0"
            # It is not stored, which cannot be known now.
            fails(chunk, lambda file=file: file["x"][7])
            fails(chunk, lambda file=file: file["x"][...])
            fails(chunk, lambda file=file: file["x"].max())
            assert (file["x"][7] == 7).all()
    fails("/.zmetadata", lambda: tetfile.open("b/two.zarr", filesystem=counted))
    # A group below the root, its listing, and the attributes of an array.
    for name in ("/deep er/.zgroup", "/deep er", "/x/.zattrs", "/x/zarr.json"):
        fails(name, lambda: tetfile.open("b/two-listed.zarr", filesystem=counted))
    fails("model-b.safetensors", lambda: tetfile.open(f"b/{NAMES[-1]}", filesystem=counted)["y"][...])
    for part in sorted(path for path in counted.find("/b/day.tets") if path.endswith(".tet")):
        fails(part, lambda: tetfile.open("b/day.tets", filesystem=counted)["x"][...])


def test_an_empty_chunk_is_not_an_absent_one(counted: Counted, folder: Path) -> None:
    store = stored(obstore.store.MemoryStore(), folder)
    obstore.put(store, "two.zarr/x/2.0.0", b"")
    counted.pipe("/b/two.zarr/x/2.0.0", b"")
    for file in (tetfile.open("b/two.zarr", filesystem=counted), tetfile.open("two.zarr", filesystem=store)):
        with file, pytest.raises(tetfile.DamagedError):
            file["x"][2]


def test_what_is_missing_is_said(counted: Counted) -> None:
    for path in ("b/none.zarr", "b/none.zarr/", "b/none.tets", "b/none"):
        with pytest.raises(FileNotFoundError, match="none"):
            tetfile.open(path, filesystem=counted)
    with pytest.raises(FileNotFoundError, match="none"):
        tetfile.open(counted.get_mapper("b/none"))
    counted.makedirs("/b/empty", exist_ok=True)
    with pytest.raises(IsADirectoryError):
        tetfile.open("b/empty", filesystem=counted)
    part = max(path for path in counted.find("/b/day.tets") if path.endswith(".tet"))
    content = counted.cat_file(part)
    counted.rm(part)
    with pytest.raises(tetfile.DamagedError, match="part"):
        tetfile.open("b/day.tets", filesystem=counted)["x"][...]
    counted.pipe(part, content)
    counted.rm("/b/model-b.safetensors")
    with pytest.warns(UserWarning, match="the shard is missing"):
        opened = tetfile.open(f"b/{NAMES[-1]}", filesystem=counted)
    with opened as file:
        np.testing.assert_array_equal(file["x"][...], ARRAY)
        with pytest.raises(tetfile.TetError, match="model-b"):
            file["y"][...]
    with pytest.raises(tetfile.UnsupportedError, match="next to it"):
        tetfile.open(io.BytesIO(counted.cat_file(f"/b/{NAMES[-1]}")))


@pytest.mark.parametrize("change", ["longer", "same length", "removed"])
def test_a_file_that_changes_is_not_mixed(counted: Counted, folder: Path, change: str) -> None:
    shard = "/b/three.zarr/s/c/1/0"
    content = counted.cat_file(shard)
    with tetfile.open("b/three.zarr", filesystem=counted) as file:
        np.testing.assert_array_equal(file["s"][256], np.arange(512, dtype="f4") + 256 * 512)
        if change == "removed":
            counted.rm(shard)
            with pytest.raises(FileNotFoundError):
                file["s"][400]
            return
        counted.pipe(shard, content + b"0" if change == "longer" else content)
        with pytest.raises(tetfile.ChangedError):
            file["s"][400]


def test_a_part_that_changes_is_refused(folder: Path) -> None:
    store = stored(obstore.store.MemoryStore(), folder)
    with tetfile.open("day.tets", filesystem=store) as file:
        paths = [each["path"] for each in obstore.list_with_delimiter(store, "day.tets")["objects"]]
        part = max(path for path in paths if path.endswith(".tet"))
        content = bytearray(obstore.get(store, part).bytes())
        content[len(content) // 2] ^= 1
        obstore.put(store, part, bytes(content))
        with pytest.raises((tetfile.ChangedError, tetfile.DamagedError)):
            file["x"][...]


def _sum(file: tetfile.File, at: int) -> int:
    return int(file["x"][at].sum())


def test_files_pickle_where_their_filesystem_does(folder: Path, tmp_path: Path) -> None:
    target = stored(obstore.store.LocalStore(tmp_path), folder / "two.zarr", "two.zarr/")
    file = tetfile.open("two.zarr", filesystem=target)
    sums = [int(ARRAY[at].sum()) for at in range(4)]
    with SPAWN.Pool(2) as pool:
        assert pool.starmap(_sum, [(file, at) for at in range(4)]) == sums
    tokens = {dask.base.tokenize(tetfile.open("two.zarr", filesystem=obstore.store.LocalStore(tmp_path))) for _ in range(2)}
    assert len(tokens) == 1
    data = pickle.dumps(file)
    document = tmp_path / "two.zarr/.zmetadata"
    document.write_text(document.read_text().replace("places", "Places"))
    root = tmp_path / "two.zarr/.zgroup"
    root.write_text(root.read_text().replace("2", " 2"))
    with pytest.raises(tetfile.ChangedError):
        pickle.loads(data)
    memory = stored(obstore.store.MemoryStore(), folder / "two.zarr")
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(tetfile.open("", filesystem=memory))


def test_xarray_convert_and_verify(counted: Counted, folder: Path, tmp_path: Path) -> None:
    store = obstore.store.LocalStore(folder)
    for path, how in (
        (counted.get_mapper("b/three.zarr"), {}),
        ("b/three.zarr", {"filesystem": counted}),
        ("three.zarr", {"filesystem": store}),
    ):
        with xarray.open_dataset(path, engine="tet", **how) as found:
            np.testing.assert_array_equal(found["x"][:6], ARRAY[:6])
        with xarray.open_datatree(path, engine="tet", **how) as tree:
            assert tree["deep er/%41"].shape == ARRAY.shape
        output = tmp_path / "y.tet"
        assert "x" in tetfile.convert(path, output, overwrite=True, **how).datasets
        assert tetfile.verify(path, **how).ok
        with tetfile.open(path, **how) as file:
            assert tetfile.diff(file, folder / "three.zarr").same and tetfile.diff(file, output).same
    for name in NAMES[4:]:
        assert tetfile.verify(f"b/{name}", filesystem=counted).ok
        with tetfile.open(f"b/{name}", filesystem=counted) as file:
            assert tetfile.diff(file, folder / name).same


def test_references_of_fsspec_are_a_folder(folder: Path) -> None:
    with tetfile.open(folder / "two.zarr") as file:
        refs = file.to_references(url=str(folder / "two.zarr"))
    fs = fsspec.filesystem("reference", fo=refs, skip_instance_cache=True)
    with tetfile.open(fs.get_mapper("")) as file:
        np.testing.assert_array_equal(file["x"][:6], ARRAY[:6])


def test_threads_read_at_the_same_time(counted: Counted) -> None:
    counted.wait = 0.002
    with tetfile.open("b/three.zarr", filesystem=counted, threads=3) as file:

        def read(nth: int) -> None:
            for at in range(nth, 6, 2):
                np.testing.assert_array_equal(file["x"][at], ARRAY[at])
                assert file["s"][at * 50 : at * 50 + 60].max() == (at * 50 + 60) * 512 - 1

        at_once(6, read)


def _interrupted(ready: Any) -> None:
    """Reads a folder of slow files until a signal comes."""
    fs = Counted()
    about = {"zarr_format": 2, "shape": [400, 100], "chunks": [1, 100], "dtype": "<f4", "fill_value": 0}
    fs.pipe("/x.zarr/.zgroup", b'{"zarr_format": 2}')
    fs.pipe("/x.zarr/x/.zarray", json.dumps(about | {"compressor": None, "filters": None, "order": "C"}).encode())
    for at in range(400):
        fs.pipe(f"/x.zarr/x/{at}.0", np.ones(100, dtype="f4").tobytes())
    file = tetfile.open("/x.zarr", filesystem=fs)
    fs.wait = 0.5
    ready.put("reads")
    try:
        file["x"].mean()
    except KeyboardInterrupt:
        ready.put("stopped")
        fs.wait = 0
        ready.put("right" if file["x"][...].sum() == 400 * 100 else "wrong")
    fs.wait = 0.5
    ready.put("opens")
    try:
        tetfile.open("/x.zarr", filesystem=fs)
    except KeyboardInterrupt:
        ready.put("stopped")


def test_ctrl_c_stops_a_read() -> None:
    ready = SPAWN.Queue()
    with working(_interrupted, ready) as process:
        interrupt(process, ready, wait=0.7, bound=2)
        assert process.pid is not None
        assert ready.get(timeout=30) == "right" and ready.get(timeout=30) == "opens"
        time.sleep(0.7)
        os.kill(process.pid, signal.SIGINT)
        assert ready.get(timeout=30) == "stopped"
        process.join(30)
