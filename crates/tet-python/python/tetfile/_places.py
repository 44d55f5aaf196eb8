"""Where files are: paths of this machine, and URLs."""

from __future__ import annotations

import errno
import os
import tempfile

from . import _tetfile

__all__ = ["PLAN", "exists", "home_of", "is_planned", "is_url", "know_urls", "new_place", "place", "scratch_folder", "shown"]

# The name of the plan beside the parts.
PLAN = "plan.json"


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
    if isinstance(path, bytes):
        raise TypeError("a path is text or a pathlib.Path, not bytes")
    know_urls(path)
    where = os.fspath(path)
    if is_url(where) and not where.partition("://")[2].strip("/"):
        raise ValueError(f"{where!r} is a URL without a host")
    return where if is_url(where) else os.path.abspath(where)


def new_place(path: str | os.PathLike[str]) -> str:
    """The place of a new file, whose folder exists.

    Raises:
        FileNotFoundError: There is no such folder.
        NotADirectoryError: It is a file.
    """
    where = place(path)
    if is_url(where):
        return where
    folder = _tetfile.missing_folder(where)
    if folder is not None:
        raise FileNotFoundError(errno.ENOENT, f"No such file or directory: the folder {folder} does not exist", where)
    if not os.path.isdir(os.path.dirname(where)):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.path.dirname(where))
    return where


def home_of(where: str) -> str:
    """The folder of the plan and the parts of a file that several processes write."""
    return f"{where}.parts"


def is_planned(where: str) -> bool:
    """Whether a file of this machine is planned, and not published yet."""
    return not is_url(where) and os.path.exists(os.path.join(home_of(where), PLAN))


def exists(where: str) -> bool:
    """Whether there is a file."""
    return _tetfile.has_object(where) if is_url(where) else os.path.exists(where)


def scratch_folder(where: str) -> str:
    """Where files are made that are on the way to a place."""
    return tempfile.gettempdir() if is_url(where) else os.path.dirname(where)
