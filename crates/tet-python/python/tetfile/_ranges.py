"""Files that objects of other packages read: of a filesystem of fsspec, of a store of obstore, and open files.

The engine asks such an object for ranges, several at the same time from threads of its own. It knows:

- ``name``: the file in messages, as a URL, without secrets.
- ``stat()``: its length now, and what tells this version of it from others, if anything does.
- ``read(start, stop)``: bytes of it.
- ``is_pinned``: whether ``read`` raises :class:`ChangedError` for another version than the one of the first ``stat``.

For containers of several files, such as Zarr hierarchies, it also knows:

- ``is_folder``: whether it is a folder; ``None`` where its name or ``stat`` shows that.
- ``beside(key)``: the object of another file in the same folder, or below it.
- ``begin(limit, is_long)``: its length, its version, and its first bytes: all if they are fewer than ``limit``. Whether
  ``is_long`` is expected changes the calls that are made, and nothing else.
- ``list(count_max)``: the files and the folders in it.

:class:`FileNotFoundError` means that there is no such file, which Zarr has for chunks of fill values: no other failure may
raise it. An object pickles if what it reads by does.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

from . import _places
from ._errors import ChangedError, UnsupportedError, UsageError

__all__ = ["Ranges", "place"]

# What filesystems call the version of a file, the best first.
_VERSIONS = ("ETag", "etag", "e_tag", "version_id", "generation", "md5Hash", "content_md5", "Content-MD5")
# And the time of its last change.
_TIMES = ("LastModified", "Last-Modified", "last_modified", "updated", "mtime", "modified", "created")


Listed = tuple[list[tuple[str, int]], list[str], bool]


class Ranges:
    """A file or a folder that ``source`` has at ``path``."""

    name: str
    is_pinned = False

    def __init__(self, source: Any, path: str, is_folder: bool | None = None) -> None:
        self.source = source
        self.path = path
        self.is_folder = is_folder
        self._token = uuid4().hex

    def stat(self) -> tuple[int, str | None]:
        raise NotImplementedError

    def read(self, start: int, stop: int) -> Any:
        raise NotImplementedError

    def begin(self, limit: int, is_long: bool) -> tuple[int, str | None, Any]:
        raise NotImplementedError

    def list(self, count_max: int) -> Listed:
        raise NotImplementedError

    def beside(self, key: str) -> Ranges:
        # A URL may have a signature, which all files of the folder need.
        path, mark, query = self.path.partition("?") if "://" in self.path else (self.path, "", "")
        folder, slash, _ = path.rpartition("/")
        return type(self)(self.source, f"{folder}{slash}{key}{mark}{query}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._place() == other._place()

    def __hash__(self) -> int:
        return hash((type(self), self.path))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._place()

    def _place(self) -> tuple[Any, str, bool | None]:
        return self.source, self.path, self.is_folder

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        # What has no name for itself is like no other.
        return type(self).__name__, self._token, self.path, self.is_folder


class _Fsspec(Ranges):
    """A file or a folder of a filesystem of fsspec."""

    def __init__(self, source: Any, path: str, is_folder: bool | None = None) -> None:
        super().__init__(source, source._strip_protocol(path), is_folder)
        self._token = source._fs_token
        self.name = _places.shown(source.unstrip_protocol(self.path))

    def stat(self) -> tuple[int, str | None]:
        # A listing that the filesystem keeps may be older than the file.
        self.source.invalidate_cache(self.path)
        with _known_absence():
            info = self.source.info(self.path)
        if info.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, "Is a directory", self.name)
        if info.get("size") is None:
            raise UnsupportedError("the filesystem does not know how long the file is", path=self.name)
        known = (info[key] for key in (*_VERSIONS, *_TIMES) if info.get(key) is not None)
        version = next(known, None)
        return int(info["size"]), None if version is None else str(version)

    def read(self, start: int, stop: int) -> Any:
        with _known_absence():
            return self.source.cat_file(self.path, start=start, end=stop)

    def begin(self, limit: int, is_long: bool) -> tuple[int, str | None, Any]:
        if is_long:
            found = self.stat()
            # The version of a short file is that of its bytes, each time.
            return (*found, b"") if limit <= found[0] else self.begin(limit, False)
        try:
            head = self.read(0, limit)
        except Exception as error:
            # Servers refuse any range of an empty file.
            if isinstance(error, FileNotFoundError | PermissionError | TimeoutError) or not _is_empty(self):
                raise
            head = b""
        return (len(head), None, head) if len(head) != limit else (*self.stat(), b"")

    def list(self, count_max: int) -> Listed:
        self.source.invalidate_cache(self.path)
        try:
            with _known_absence():
                found = self.source.ls(self.path, detail=True)
        except (FileNotFoundError, NotADirectoryError):
            found = []
        is_web = "://" in self.path
        kinds: dict[str, tuple[bool, int]] = {}
        for info in found:
            name = _name_in(self.path, info["name"])
            kinds[unquote(name) if is_web else name] = info.get("type") == "directory", int(info.get("size") or 0)
        kinds.pop("", None)
        if is_web and not kinds:
            # A group has at least its own document.
            why = "the server lists nothing, and the metadata are not consolidated"
            raise UnsupportedError(f"{self.name}: {why}", path=self.name)
        lens = ((name, size) for name, (is_folder, size) in kinds.items() if not is_folder)
        return _listed(lens, (name for name, (is_folder, _) in kinds.items() if is_folder), count_max)


class _Obstore(Ranges):
    """An object of a store of obstore, or a prefix of objects."""

    def __init__(self, source: Any, path: str, is_folder: bool | None = None) -> None:
        super().__init__(source, path.strip("/"), is_folder)
        self.name = f"{type(source).__name__.lower()}://{self.path}"
        self._etag: str | None = None

    @property
    def is_pinned(self) -> bool:  # type: ignore[override]
        return self._etag is not None

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        if not hasattr(self.source, "__getnewargs_ex__"):
            return super().__dask_tokenize__()
        made = json.dumps(self.source.__getnewargs_ex__(), sort_keys=True, default=str)
        return type(self.source).__name__, made, self.path, self.is_folder

    def stat(self) -> tuple[int, str | None]:
        import obstore

        return self._seen(obstore.head(self.source, self.path))

    def _seen(self, meta: Any) -> tuple[int, str | None]:
        """The length and the version of an object, the first of which is that of later requests."""
        self._etag = self._etag or meta["e_tag"]
        return meta["size"], meta["e_tag"] or str(meta["last_modified"])

    def read(self, start: int, stop: int) -> Any:
        import obstore

        options: dict[str, Any] = {"range": (start, stop)}
        if self._etag is not None and self._etag.startswith('"'):
            options["if_match"] = self._etag
        try:
            found = obstore.get(self.source, self.path, options=options)  # type: ignore[arg-type]
        except obstore.exceptions.PreconditionError as error:
            raise ChangedError(f"{self.name} changed", path=self.name) from error
        # Some servers ignore which version is asked for.
        if self._etag is not None and found.meta["e_tag"] != self._etag:
            raise ChangedError(f"{self.name} changed", path=self.name)
        return found.bytes()

    def begin(self, limit: int, is_long: bool) -> tuple[int, str | None, Any]:
        import obstore

        try:
            found = obstore.get(self.source, self.path, options={"range": (0, limit)})
        except Exception as error:
            # Stores refuse any range of an empty object.
            if isinstance(error, FileNotFoundError | PermissionError) or not _is_empty(self):
                raise
            return *self.stat(), b""
        return *self._seen(found.meta), found.bytes()

    def list(self, count_max: int) -> Listed:
        import obstore

        try:
            found = obstore.list_with_delimiter(self.source, self.path or None)
        except FileNotFoundError:
            return [], [], False
        files = ((_name_in(self.path, each["path"]), each["size"]) for each in found["objects"])
        return _listed(files, (_name_in(self.path, each) for each in found["common_prefixes"]), count_max)


class _Opened(Ranges):
    """An open file, whose position moves."""

    def __init__(self, source: Any, path: str = "", is_folder: bool | None = False) -> None:
        super().__init__(source, path, is_folder)
        name = getattr(source, "name", None)
        self.name = f"file-object://{os.path.basename(name) if isinstance(name, str) else ''}"
        self._lock = threading.Lock()

    def stat(self) -> tuple[int, str | None]:
        with self._lock:
            return int(self.source.seek(0, os.SEEK_END)), None

    def read(self, start: int, stop: int) -> Any:
        pieces, left = [], stop - start
        with self._lock:
            self.source.seek(start)
            while left and (piece := self.source.read(left)):
                pieces.append(bytes(piece))
                left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def beside(self, key: str) -> Ranges:
        raise UnsupportedError(f"an open file has no {key!r} next to it: pass a path and its filesystem", path=self.name)


def place(path: Any, filesystem: Any = None) -> str | Ranges:
    """Where a file or a folder is that is read: an absolute path, a URL, or an object that reads it.

    Raises:
        TypeError: Such an object reads no files.
    """
    if filesystem is None:
        if isinstance(path, str | os.PathLike):
            return _places.place(path)
        filesystem, inner = getattr(path, "fs", None), getattr(path, "path", None)
        if filesystem is not None and isinstance(root := getattr(path, "root", None), str):
            # A mapper of fsspec, whose keys are the files of a folder.
            return place(f"{root}/", filesystem)
        if filesystem is not None and isinstance(inner, str):
            if getattr(path, "compression", None) is not None:
                raise UsageError("a compressed file has no ranges: open it without compression=...")
            return place(inner, filesystem)
        if hasattr(path, "read") and hasattr(path, "seek"):
            return _Opened(path)
        raise TypeError(f"a path, a URL or a file is opened, not {type(path).__name__}")
    where = os.fspath(path)
    is_folder = True if where.endswith("/") else None
    if hasattr(filesystem, "cat_file"):
        if type(filesystem).__module__ == "fsspec.implementations.local":
            return os.path.abspath(str(filesystem._strip_protocol(where)))
        return _Fsspec(filesystem, where, is_folder)
    if type(filesystem).__module__.partition(".")[0] == "obstore":
        return _Obstore(filesystem, where, is_folder or not where or None)
    raise TypeError(f"filesystem is one of fsspec or a store of obstore, not {type(filesystem).__name__}")


@contextmanager
def _known_absence() -> Iterator[None]:
    """Lets :class:`FileNotFoundError` through where there is no such file: the filesystem of HTTP raises it whatever failed."""
    try:
        yield
    except FileNotFoundError as error:
        cause = error.__cause__
        status = getattr(cause, "status", None)
        is_system = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
        if status in (404, 410) or not (status or is_system or type(cause).__module__.startswith("aiohttp")):
            raise
        assert cause is not None
        raise cause from None


def _is_empty(ranges: Ranges) -> bool:
    """Whether a file is there and has no bytes."""
    try:
        return ranges.stat()[0] == 0
    except Exception:
        return False


def _name_in(folder: str, path: str) -> str:
    """The name of what is directly in a folder; empty for anything else."""
    folder, path = folder.strip("/"), path.strip("/")
    start = f"{folder}/" if folder else ""
    name = path[len(start) :] if path.startswith(start) else ""
    return "" if "/" in name else name


def _listed(files: Iterable[tuple[str, int]], folders: Iterable[str], count_max: int) -> Listed:
    """Files with their lengths and folders, as many as are asked for, and whether there are more."""
    all_files, all_folders = sorted(each for each in files if each[0]), sorted(each for each in folders if each)
    left = max(0, count_max - len(all_files))
    is_cut = count_max < len(all_files) or left < len(all_folders)
    return all_files[:count_max], all_folders[:left], is_cut
