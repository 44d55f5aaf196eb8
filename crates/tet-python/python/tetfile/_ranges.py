"""Files that objects of other packages read: of a filesystem of fsspec, of a store of obstore, and open files.

The engine asks such an object for ranges, several at the same time from threads of its own. It knows:

- ``name``: the file in messages, as a URL, without secrets.
- ``stat()``: its length now, and what tells this version of it from others, if anything does.
- ``read(start, stop)``: bytes of it.
- ``is_pinned``: whether ``read`` raises :class:`ChangedError` for another version than the one of the first ``stat``.

It pickles if what it reads by does.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from . import _places
from ._errors import ChangedError, UnsupportedError, UsageError

__all__ = ["Ranges", "place"]

# What filesystems call the version of a file, the best first.
_VERSIONS = ("ETag", "etag", "e_tag", "version_id", "generation", "md5Hash", "content_md5", "Content-MD5")
# And the time of its last change.
_TIMES = ("LastModified", "Last-Modified", "last_modified", "updated", "mtime", "modified", "created")


class Ranges:
    """A file that ``source`` has at ``path``."""

    name: str
    is_pinned = False

    def __init__(self, source: Any, path: str) -> None:
        self.source = source
        self.path = path
        self._token = uuid4().hex

    def stat(self) -> tuple[int, str | None]:
        raise NotImplementedError

    def read(self, start: int, stop: int) -> Any:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.source, self.path) == (other.source, other.path)

    def __hash__(self) -> int:
        return hash((type(self), self.path))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.path)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        # What has no name for itself is like no other.
        return type(self).__name__, self._token, self.path


class _Fsspec(Ranges):
    """A file of a filesystem of fsspec."""

    def __init__(self, source: Any, path: str) -> None:
        super().__init__(source, source._strip_protocol(path))
        self._token = source._fs_token
        self.name = _without_secrets(source.unstrip_protocol(self.path))

    def stat(self) -> tuple[int, str | None]:
        # A listing that the filesystem keeps may be older than the file.
        self.source.invalidate_cache(self.path)
        info = self.source.info(self.path)
        if info.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, "Is a directory", self.name)
        if info.get("size") is None:
            raise UnsupportedError("the filesystem does not know how long the file is", path=self.name)
        known = (info[key] for key in (*_VERSIONS, *_TIMES) if info.get(key) is not None)
        version = next(known, None)
        return int(info["size"]), None if version is None else str(version)

    def read(self, start: int, stop: int) -> Any:
        return self.source.cat_file(self.path, start=start, end=stop)


class _Obstore(Ranges):
    """An object of a store of obstore."""

    def __init__(self, source: Any, path: str) -> None:
        super().__init__(source, path)
        self.name = f"{type(source).__name__.lower()}://{path.lstrip('/')}"
        self._etag: str | None = None

    @property
    def is_pinned(self) -> bool:  # type: ignore[override]
        return self._etag is not None

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        if not hasattr(self.source, "__getnewargs_ex__"):
            return super().__dask_tokenize__()
        made = json.dumps(self.source.__getnewargs_ex__(), sort_keys=True, default=str)
        return type(self.source).__name__, made, self.path

    def stat(self) -> tuple[int, str | None]:
        import obstore

        found = obstore.head(self.source, self.path)
        self._etag = self._etag or found["e_tag"]
        return found["size"], found["e_tag"] or str(found["last_modified"])

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


class _Opened(Ranges):
    """An open file, whose position moves."""

    def __init__(self, source: Any, path: str = "") -> None:
        super().__init__(source, path)
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


def place(path: Any, filesystem: Any = None) -> str | Ranges:
    """Where a file is that is read: an absolute path, a URL, or an object that reads it.

    Raises:
        TypeError: Such an object reads no files.
    """
    if filesystem is None:
        if isinstance(path, str | os.PathLike):
            return _places.place(path)
        filesystem, inner = getattr(path, "fs", None), getattr(path, "path", None)
        if filesystem is not None and isinstance(inner, str):
            if getattr(path, "compression", None) is not None:
                raise UsageError("a compressed file has no ranges: open it without compression=...")
            return place(inner, filesystem)
        if hasattr(path, "read") and hasattr(path, "seek"):
            return _Opened(path)
        raise TypeError(f"a path, a URL or a file is opened, not {type(path).__name__}")
    where = os.fspath(path)
    if hasattr(filesystem, "cat_file"):
        if type(filesystem).__module__ == "fsspec.implementations.local":
            return os.path.abspath(str(filesystem._strip_protocol(where)))
        return _Fsspec(filesystem, where)
    if type(filesystem).__module__.partition(".")[0] == "obstore":
        return _Obstore(filesystem, where)
    raise TypeError(f"filesystem is one of fsspec or a store of obstore, not {type(filesystem).__name__}")


def _without_secrets(url: str) -> str:
    """A URL without its query and without who asks."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl() if parts.query or "@" in parts.netloc else url
