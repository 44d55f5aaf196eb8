"""Files that several processes write: each its parts, one publishes them."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from . import _tetfile, _types
from ._create import Codec, Target, Targets
from ._places import PLAN, exists, home_of, is_url, know_urls, new_place, place
from ._plan import Spec, document
from ._reductions import Progress

__all__ = ["Part", "WritePlan", "plan"]


def plan(
    path: str | os.PathLike[str],
    datasets: Mapping[str, Spec],
    *,
    attrs: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    codec: Codec = "raw",
    compression_level: int | None = None,
    stats: bool = True,
) -> WritePlan:
    """Plans a ``.tet`` file that several processes write, on one machine, or on many that share a folder or a bucket.

    The plan and the parts are in the folder ``PATH.parts`` until the file is published; the file at ``path`` stays what it is
    until then, whatever becomes of the processes.

    Args:
        path: The file, or its URL as ``s3://bucket/key.tet``: a part is then an object, and its process needs room for it in
            the folder for temporary files. :meth:`WritePlan.publish` needs little room.
        datasets: All datasets.
        attrs: The attributes of the file.
        overwrite: Whether a file that exists is replaced.
        codec: How chunks are compressed, by the processes that write them.
        compression_level: The level of zstd, 3 unless it is given.
        stats: Whether the file gets statistics of its chunks, where they are at most 0.2 % of the payloads.

    Raises:
        FileExistsError: The file exists, or another plan of it.

    >>> plan = tetfile.plan("shared.tet", {"x": tetfile.Spec((4,), "int32", chunks=(2,))})
    >>> with plan.part() as part:  # in one process
    ...     part["x"][:2] = [1, 2]
    >>> with plan.part() as part:  # in another
    ...     part["x"][2:] = [3, 4]
    >>> plan.publish()
    >>> tetfile.open("shared.tet")["x"][...]
    array([1, 2, 3, 4], dtype=int32)
    """
    target = new_place(path)
    home = _home(target)
    if not overwrite and exists(target):
        raise FileExistsError(17, "File exists: pass overwrite=True to replace it", target)
    text = document(datasets, attrs or {}, {"codec": codec, "level": compression_level})
    specs = {name: [spec.shape, spec.dtype.name, spec.chunks] for name, spec in datasets.items()}
    kept = {"overwrite": overwrite, "stats": stats, "plan": text, "datasets": specs}
    try:
        home.begin(json.dumps(kept))
    except FileExistsError:
        message = "A plan of the file exists: publish it, or discard it with tetfile.WritePlan.of(path).discard()"
        raise FileExistsError(17, message, home.folder) from None
    return WritePlan(target, dict(datasets), text, (overwrite, stats))


def discard_stale(path: str | os.PathLike[str]) -> None:
    """Discards the plan of a file, if there is one, and its parts: those of a process that was killed."""
    with suppress(FileNotFoundError):
        WritePlan.of(path).discard()


class WritePlan:
    """A file that several processes write. It pickles, so that other processes have it.

    >>> plan = tetfile.plan("later.tet", {"x": tetfile.Spec((4,), "int32")})
    >>> plan.discard()
    """

    def __init__(self, path: str, datasets: dict[str, Spec], text: str, how: tuple[bool, bool]) -> None:
        self._path = path
        self._datasets = datasets
        self._document = text
        # Whether a file is replaced, and whether statistics are written.
        self._how = how

    @property
    def path(self) -> str:
        """The path of the file, absolute, or its URL.

        >>> plan = tetfile.plan("later.tet", {})
        >>> os.path.basename(plan.path)
        'later.tet'
        >>> plan.discard()
        """
        return self._path

    def part(self, *, memory: int | str | None = None, threads: int | None = None) -> Part:
        """Begins a part: some regions of some datasets, which this process writes.

        A region covers whole chunks, or all regions of the part together do. Parts that hold the same chunk, because a task
        ran twice, hold the same elements.

        Args:
            memory: The most bytes of chunks of which only some elements are written.
            threads: Threads that compress.

        >>> plan = tetfile.plan("later.tet", {"x": tetfile.Spec((4,), "int32")})
        >>> with plan.part() as part:
        ...     part["x"][:] = 0
        >>> plan.discard()
        """
        return Part(self, memory, threads)

    def parts(self) -> list[str]:
        """The paths of the parts that are complete.

        >>> plan = tetfile.plan("later.tet", {"x": tetfile.Spec((4,), "int32")})
        >>> plan.parts()
        []
        >>> plan.discard()
        """
        return _home(self._path).parts()

    def publish(self, progress: Progress = None) -> None:
        """Puts the parts together and the file in its place, and deletes the parts.

        Raises:
            UsageError: Chunks are missing, which the message names; the parts stay, and those that are missing can be written.
            DamagedError: A part is damaged.
            OSError: The system refuses to write.

        >>> plan = tetfile.plan("later.tet", {"x": tetfile.Spec((4,), "int32", chunks=(2,))})
        >>> with plan.part() as part:
        ...     part["x"][:2] = 0
        >>> plan.publish()
        Traceback (most recent call last):
            ...
        tetfile._errors.UsageError: 1 chunk is not written: [1] of "x"
        >>> plan.discard()
        """
        parts = self.parts()
        _tetfile.publish_parts(self._document, parts, self._path, self._how, progress)
        _home(self._path).remove()

    def discard(self) -> None:
        """Gives up the file and deletes its parts.

        >>> plan = tetfile.plan("later.tet", {})
        >>> plan.discard()
        >>> os.path.exists("later.tet.parts")
        False
        """
        _home(self._path).remove()

    @staticmethod
    def of(path: str | os.PathLike[str]) -> WritePlan:
        """The plan of a file that another process made.

        Raises:
            FileNotFoundError: There is no plan of this file.

        >>> made = tetfile.plan("later.tet", {"x": tetfile.Spec((4,), "int32")})
        >>> list(tetfile.WritePlan.of("later.tet").part())
        ['x']
        >>> made.discard()
        """
        target = place(path)
        kept = json.loads(_home(target).plan())
        attrs = {each["name"]: each["attrs"] for each in json.loads(kept["plan"])["datasets"]}
        specs = {
            name: Spec(shape, _dtype(dtype), chunks=chunks, attrs=attrs[name])
            for name, (shape, dtype, chunks) in kept["datasets"].items()
        }
        return WritePlan(target, specs, kept["plan"], (kept["overwrite"], kept.get("stats", True)))

    def __repr__(self) -> str:
        return f"<tetfile.WritePlan {self._path!r}: {len(self._datasets)} datasets>"


class Part(Targets):
    """Regions that this process writes: a mapping of names to datasets that take elements.

    It is closed at the end of a ``with`` block that raises nothing, or by :meth:`close`; a part that is not closed is none.

    >>> plan = tetfile.plan("parted.tet", {"x": tetfile.Spec((2, 2), "int32")})
    >>> part = plan.part()
    >>> part["x"][...] = [[1, 2], [3, 4]]
    >>> part.close()
    >>> len(plan.parts())
    1
    >>> plan.publish()
    """

    _where = "is in the plan"

    def __init__(self, plan: WritePlan, memory: int | str | None, threads: int | None) -> None:
        home = _home(plan._path)
        home.check()
        path = f"{home.folder}/p-{uuid.uuid4().hex}.part"
        self._regions = _tetfile.Regions.part(plan._document, path, memory, threads)
        self._targets = {
            name: Target(self._regions, name, spec, number) for number, (name, spec) in enumerate(plan._datasets.items())
        }

    def close(self) -> None:
        """Ends the part, which can be published from then on.

        Raises:
            UsageError: Only some elements of a chunk are written.

        >>> plan = tetfile.plan("parted.tet", {"x": tetfile.Spec((4,), "int32")}, overwrite=True)
        >>> plan.part().close()
        >>> plan.discard()
        """
        self._regions.close()

    def discard(self) -> None:
        """Gives up the part.

        >>> plan = tetfile.plan("parted.tet", {"x": tetfile.Spec((4,), "int32")}, overwrite=True)
        >>> plan.part().discard()
        >>> plan.discard()
        """
        self._regions.discard()

    def __enter__(self) -> Part:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


class _Home:
    """Where the plan and the parts of a file are: a folder beside it."""

    def __init__(self, target: str) -> None:
        self.folder = home_of(target)

    def begin(self, text: str) -> None:
        """Keeps the plan, if there is no other one."""
        os.mkdir(self.folder)
        Path(self.folder, PLAN).write_text(text)

    def check(self) -> None:
        """The plan is there.

        Raises:
            FileNotFoundError: It is not.
        """
        if not os.path.isdir(self.folder):
            message = "There is no plan of the file: it is published already, or discarded"
            raise FileNotFoundError(errno.ENOENT, message, self.folder)

    def plan(self) -> str | bytes:
        """The plan that is kept."""
        self.check()
        return Path(self.folder, PLAN).read_text()

    def names(self) -> list[str]:
        """The names of the files."""
        self.check()
        return os.listdir(self.folder)

    def parts(self) -> list[str]:
        """The paths of the parts that are complete."""
        names = [name for name in self.names() if name.startswith("p-") and name.endswith(".part")]
        return [f"{self.folder}/{name}" for name in sorted(names)]

    def remove(self) -> None:
        """Removes the folder, in which tasks that were not stopped may still make and remove files."""
        for left in reversed(range(100)):
            try:
                shutil.rmtree(self.folder)
                return
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTEMPTY) or not left:
                    raise
            if not os.path.exists(self.folder):
                return
            time.sleep(0.02)


class _Bucket(_Home):
    """The same as objects."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        know_urls(target)

    def check(self) -> None:
        # Parts are objects, which need no folder.
        pass

    def begin(self, text: str) -> None:
        _tetfile.write_object(f"{self.folder}/{PLAN}", text.encode())

    def plan(self) -> str | bytes:
        return _tetfile.read_object(f"{self.folder}/{PLAN}")

    def names(self) -> list[str]:
        return _tetfile.list_objects(self.folder)

    def remove(self) -> None:
        # The plan goes last: as long as it is there, parts that are left are found by it.
        names = self.names()
        _tetfile.remove_objects(self.folder, [name for name in names if name != PLAN])
        _tetfile.remove_objects(self.folder, [name for name in names if name == PLAN])


def _home(target: str) -> _Home:
    return _Bucket(target) if is_url(target) else _Home(target)


def _dtype(name: str) -> np.dtype[Any]:
    found = _types.memory_of(name)
    return np.dtype(name) if found is None else found[1]
