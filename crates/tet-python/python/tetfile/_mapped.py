"""Views of stored elements in a memory map, without a copy."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _tetfile
from ._dataset import Dataset
from ._errors import ChangedError, UnsupportedError

Mode = Literal["r", "c"]


def view(dataset: Dataset, dtype: np.dtype[Any], mode: Mode) -> npt.NDArray[Any]:
    """The selected elements in a map of the file: read-only, or private to the process when written.

    Raises:
        UnsupportedError: The elements are not one after the other in the file, as they are in memory.
        ChangedError: The file changed since it was opened.
    """
    whole = dataset.file.dataset(dataset._core.key)
    found = _tetfile.storage(whole._core)
    reason = _refusal(found, whole) if not dataset._core.picks else "its positions are picked one by one"
    if reason is not None:
        message = f"{dataset.name!r} has no memory map: {reason}; index it, which reads a copy"
        raise UnsupportedError(message, path=dataset.file.path, dataset=dataset.name)
    stored = dtype.newbyteorder(">" if found["is_big_endian"] else "<")
    # With the axis of one position that a scalar may be stored along.
    shape = tuple(stop for _, stop, _, _ in whole._core.slices)
    if whole.size == 0:
        array = np.empty(shape, stored)
        array.flags.writeable = mode != "r"
    else:
        (path,) = found["files"]
        _check(dataset, path)
        offset = int(np.frombuffer(found["offset"], "<u8", 1)[0])
        array = np.memmap(path, stored, mode, offset, shape)
    axes = dataset._core.slices
    key = (slice(start, stop, step) if is_kept else start for start, stop, step, is_kept in axes)
    # With `...` no element becomes a scalar.
    return array[(*key, ...)]


def _refusal(found: dict[str, Any], whole: Dataset) -> str | None:
    """Why the elements cannot be seen in place."""
    if whole._core.is_text:
        return "its elements are texts"
    if whole._core.is_computed:
        return "its elements are decoded when they are read"
    if found["refusal"] is not None:
        return str(found["refusal"])
    if found["codecs"]:
        return f"its chunks are compressed: {'+'.join(id for id, _ in found['codecs'])}"
    is_seen = whole.size == 0 or found["is_one_piece"]
    return None if is_seen else "its chunks are not one piece in row-major order"


def _check(dataset: Dataset, path: str) -> None:
    """Compares the file with the one that was opened."""
    file = dataset.file
    if path != file.path:
        return
    now = os.stat(path)
    if (now.st_size, now.st_mtime_ns) != file._stamp:
        raise ChangedError(f"{path} changed after it was opened: open it again", path=path, dataset=dataset.name)
