"""Where files are: paths of this machine, and URLs."""

from __future__ import annotations

import os
import tempfile

from . import _tetfile

__all__ = ["exists", "is_url", "know_urls", "place", "scratch_folder", "shown"]


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a URL."""
    return "://" in os.fspath(path)


def shown(path: str) -> str:
    """A path for text: a URL without its query, its fragment and its user, which may be secret."""
    return _tetfile.without_secrets(path) if is_url(path) else path


# The process and the environment that URLs are opened with.
_known: tuple[int, dict[str, str]] | None = None


def know_urls(*paths: str | os.PathLike[str]) -> None:
    """Has URLs among the paths opened with the credentials that the environment has now.

    As long as it stays the same, files share connections, and keys that were fetched; a process that is forked has its own.
    """
    global _known
    if any(is_url(path) for path in paths):
        now = (os.getpid(), dict(os.environ))
        if now != _known:
            _tetfile.open_urls(now[1])
            _known = now


def place(path: str | os.PathLike[str]) -> str:
    """A path as it is from any folder: absolute, or a URL."""
    know_urls(path)
    where = os.fspath(path)
    if is_url(where) and not where.partition("://")[2].strip("/"):
        raise ValueError(f"{where!r} is a URL without a host")
    return where if is_url(where) else os.path.abspath(where)


def exists(where: str) -> bool:
    """Whether there is a file."""
    return _tetfile.has_object(where) if is_url(where) else os.path.exists(where)


def scratch_folder(where: str) -> str:
    """Where files are made that are on the way to a place."""
    return tempfile.gettempdir() if is_url(where) else os.path.dirname(where)
