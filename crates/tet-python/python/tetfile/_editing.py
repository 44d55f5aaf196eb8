"""Files that grow and change, as edited copies that take their place."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from . import _file, _tetfile
from ._create import Codec, Target, create
from ._dataset import Dataset
from ._elements import elements_of
from ._errors import ChangedError, UsageError
from ._places import scratch_folder
from ._plan import Spec

__all__ = ["append"]

# How often an edit begins again before it gives up.
_TRIES_MAX = 200

# For each dataset: where its elements go, and the elements, of NumPy or dask.
Writes: TypeAlias = Mapping[str, tuple[tuple[int, ...], Any]]


def append(
    path: str | os.PathLike[str],
    datasets: Mapping[str, Any],
    *,
    axis: int | str = 0,
    codec: Codec | None = None,
    compression_level: int | None = None,
    stats: bool = True,
    memory: int | str | None = None,
    threads: int | None = None,
) -> None:
    """Writes elements behind the end of datasets of a file: ``.tet``, ``.tets``, ``.npz``, ``.npy``, ``.safetensors``, ``.zt``
    or ``.tgm``.

    The file is replaced by an edited copy, in which what stays is copied as it is stored: whatever happens, the file
    is the old one or the new one. A folder of parts, ``x.tets``, gets one more part instead. Several processes may append to a
    ``.tet`` file or a folder of parts at the same time; none is lost.

    Args:
        path: The file.
        datasets: The elements to add, by name, as the dataset stores them; the extents along the other axes are those of the
            dataset. Dates become numbers of its units, masked elements its ``_FillValue``.
        axis: The axis, by its number or its name. All datasets with an axis of this name grow together.
        codec: How new chunks of a ``.tet`` file are compressed: ``"raw"`` or ``"zstd"``, or as the file is.
        compression_level: The level of zstd.
        stats: Whether the edited copy of a ``.tet`` file has statistics of its chunks, where they are at most 0.2 % of the
            payloads.
        memory: The most bytes of chunks of which only some elements are written.
        threads: Threads that compress.

    Raises:
        UsageError: The elements do not fit the datasets, a dataset with the axis is left out, or files of this format do not
            grow.
        OverflowError: A dataset does not have the value of an element, as a time of day where it counts whole days.
        OSError: The system refuses to write.

    >>> with tetfile.create("log.tet") as f:
    ...     f["level"] = tetfile.Spec((2, 3), "float32", dims=("time", "site"))
    ...     f["level"][...] = 0
    >>> tetfile.append("log.tet", {"level": [[1, 2, 3]]}, axis="time")
    >>> tetfile.open("log.tet")["level"][-1]
    array([1., 2., 3.], dtype=float32)
    """

    if not isinstance(datasets, Mapping):
        raise TypeError(f"datasets is a mapping of names to arrays, not {type(datasets).__name__}")

    def writes(file: _file.File) -> tuple[dict[str, tuple[tuple[int, ...], Any]], list[tuple[str, int, int]]]:
        found, growths = {}, []
        for name, value in datasets.items():
            held = file.dataset(name)
            number = axis_of(held, axis)
            array = elements_of(value, held.dtype, held.attrs, name)
            check_extents(held, array.shape, number)
            found[name] = (behind(held, number), array)
            growths.append((name, number, array.shape[number]))
        if isinstance(axis, str):
            check_all_grow(file, found, axis)
        return found, growths

    storage = {"codec": codec, "level": compression_level, "stats": stats, "memory": memory, "threads": threads}
    append_to(path, writes, axis, storage)


def append_to(
    path: str | os.PathLike[str],
    writes: Callable[[_file.File], tuple[Writes, list[tuple[str, int, int]]]],
    axis: int | str,
    storage: Mapping[str, Any],
) -> None:
    """Appends along an axis by what ``writes`` says of the file."""
    with _file.open(path) as file:
        if file.format != "tet":
            if (storage.get("codec"), storage.get("level"), storage["stats"]) != (None, None, True):
                raise UsageError(f"a {file.format} file keeps its codec: codec, compression_level and stats are for .tet")
            _append_file(file, writes(file)[0], axis, (storage.get("memory"), storage.get("threads")))
            return
    edit(path, writes, "append", storage)


def _append_file(file: _file.File, found: Writes, axis: int | str, bounds: tuple[int | str | None, int | None]) -> None:
    """Appends elements to a file of any format that grows, by way of a file."""
    held = {name: file.dataset(name) for name in found}
    names = {str(axis) if isinstance(axis, str) or not one.dims else one.dims[axis] for one in held.values()}
    if len(names) != 1:
        raise UsageError(f"axis {axis} of these datasets has the names {sorted(names)}: give one of them")
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "new.tet"
        with create(part, memory=bounds[0], threads=bounds[1]) as out:
            for name, (_, elements) in found.items():
                one = held[name]
                out[name] = Spec(elements.shape, one.dtype, dims=one.dims, attrs=one.attrs)
                out[name][...] = elements
        # All datasets of a folder of parts grow that have the axis.
        growing = [] if file.format == "tets" else [*found]
        _tetfile.append(file.path, names.pop(), growing, part, *bounds)


def edit(
    path: str | os.PathLike[str],
    writes: Callable[[_file.File], tuple[Writes, list[tuple[str, int, int]]]],
    operation: str,
    storage: Mapping[str, Any],
) -> None:
    """Edits a file by what ``writes`` says of it; begins again where another process was faster."""
    for _ in range(_TRIES_MAX):
        try:
            with _file.open(path) as file:
                return _edited(file, *writes(file), operation, storage)
        except (ChangedError, BlockingIOError) as error:
            last = error
            time.sleep(random.uniform(0, 0.02))
    raise last


def _edited(
    file: _file.File, writes: Writes, growths: list[tuple[str, int, int]], operation: str, storage: Mapping[str, Any]
) -> None:
    numbers = {name: number for number, name in enumerate(file)}
    regions = _tetfile.Regions.edit(
        file._core,
        scratch_folder(file.path),
        [(numbers[name], axis, by) for name, axis, by in growths],
        storage.get("codec") or _codec_of(file),
        storage.get("level"),
        storage.get("memory"),
        storage.get("threads"),
    )
    try:
        for name, (start, elements) in writes.items():
            _store(regions, numbers[name], file.dataset(name), start, elements)
        regions.publish(None, file.path, (True, storage["stats"]), operation)
    except BaseException:
        regions.discard()
        raise


def _store(regions: _tetfile.Regions, number: int, held: Dataset, start: tuple[int, ...], elements: Any) -> None:
    """Writes elements at these positions."""
    ends = tuple(at + more for at, more in zip(start, elements.shape, strict=True))
    # The dataset may be longer than it was.
    shape = tuple(map(max, held.shape, ends))
    target = Target(regions, held.name, Spec(shape, held.dtype, chunks=held._core.chunks, attrs=held.attrs), number)
    key = tuple(slice(at, end) for at, end in zip(start, ends, strict=True))
    if hasattr(elements, "dask"):
        import dask.array

        # The target is in this process.
        dask.array.store(elements, target, regions=key, lock=False, scheduler="threads")  # type: ignore[arg-type]
    else:
        target[key] = elements


def axis_of(held: Dataset, axis: int | str) -> int:
    """The number of an axis."""
    if isinstance(axis, str):
        if axis not in (held.dims or ()):
            known = f"its axes are {held.dims}" if held.dims else "its axes have no names: count them"
            raise UsageError(f"{held.name!r} has no axis {axis!r}, {known}", dataset=held.name)
        return (held.dims or ()).index(axis)
    if not -held.ndim <= axis < held.ndim:
        raise UsageError(f"{held.name!r} has no axis {axis}, it has {held.ndim}", dataset=held.name)
    return axis % held.ndim


def check_extents(held: Dataset, shape: tuple[int, ...], axis: int) -> None:
    """Elements fit a dataset that grows along an axis."""
    fits = len(shape) == held.ndim and all(a == b for at, (a, b) in enumerate(zip(shape, held.shape, strict=True)) if at != axis)
    if not fits:
        raise UsageError(f"{held.name!r} has shape {shape}, and {held.shape} in the file", dataset=held.name)


def behind(held: Dataset, axis: int) -> tuple[int, ...]:
    """The position behind the end of an axis."""
    return tuple(extent if at == axis else 0 for at, extent in enumerate(held.shape))


def check_all_grow(file: _file.File, growing: Mapping[str, Any], dim: str) -> None:
    """All datasets with an axis of this name grow."""
    for name in file:
        if dim in (file.dataset(name).dims or ()) and name not in growing:
            raise UsageError(f"{name!r} of the file has the dimension {dim!r}, and is not appended", dataset=name)


def _codec_of(file: _file.File) -> Codec:
    """How the file is compressed, by what its elements take."""
    return "raw" if file._core.stamp()[0] >= sum(file.dataset(name).nbytes for name in file) else "zstd"
