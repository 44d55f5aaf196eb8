"""The datasets of a file as the arrays of a Zarr hierarchy, and why some of them have no place in one."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _tetfile
from ._dataset import Dataset
from ._dims import Dims
from ._errors import TetError
from ._file import File, above

# Names of documents, which no array has.
_DOCUMENTS = frozenset(["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"])
# The attribute that names missing values.
_MISSING = "_FillValue"
# A raw chunk of more bytes is read in parts of about the second number.
_RAW_MAX = 64 << 20
_PART_LEN = 4 << 20
# Any chunk of more bytes is read in parts of so many.
_CHUNK_MAX = 1 << 30


@dataclass(frozen=True)
class Array:
    """A dataset as an array of Zarr.

    Attributes:
        path: Its path in the hierarchy, which is its name.
        dataset: The dataset.
        dtype: The type of its elements; ``object`` for texts.
        dims: A name for each axis.
        attrs: Its attributes as JSON, without ``_FillValue``.
        fill: The element that stands for those that are not stored.
        missing: The attribute ``_FillValue``, if it has one.
    """

    path: str
    dataset: Dataset
    dtype: np.dtype[Any]
    dims: tuple[str, ...]
    attrs: dict[str, Any]
    fill: Any
    missing: Any

    @property
    def is_text(self) -> bool:
        """Whether its elements are texts."""
        return self.dtype == object


@dataclass(frozen=True)
class Hierarchy:
    """The groups of a file with their attributes, its arrays, and the datasets that are left out, with the reasons."""

    groups: dict[str, dict[str, Any]]
    arrays: dict[str, Array]
    left_out: dict[str, str]


def of_file(file: File) -> Hierarchy:
    """The hierarchy of a file."""
    names = frozenset(file)
    dims = Dims(file)
    arrays: dict[str, Array] = {}
    left_out: dict[str, str] = {}
    for name in file:
        try:
            arrays[name] = _array(file.dataset(name), name, names, dims)
        except (TetError, _NoPlaceError) as error:
            left_out[name] = str(error)
    paths = sorted({*file._groups()} | {group for path in arrays for group in above(path)})
    return Hierarchy({path: _plain(file._attrs_of(path)) for path in paths}, arrays, left_out)


class _NoPlaceError(Exception):
    """Why a dataset has no place in a hierarchy."""


def _array(dataset: Dataset, name: str, names: frozenset[str], dims: Dims) -> Array:
    _check_name(name, names)
    if dataset.fault is not None:
        raise _NoPlaceError(dataset.fault)
    dtype = dataset.dtype
    if dtype != object and dtype.kind not in "biufc":
        raise _NoPlaceError(f"Zarr has no elements of {dataset.dtype_name}")
    attrs = dict(dataset.attrs)
    missing = attrs.pop(_MISSING, None)
    if missing is None and dataset._core.is_masked and dtype.kind == "i":
        missing = np.iinfo(dtype).min
    if missing is not None and dtype != object:
        missing = np.asarray(missing).reshape(-1)[:1].astype(dtype)[0]
    bytes_of_fill = dataset._core.fill_value
    if dtype == object:
        fill: Any = ""
    elif bytes_of_fill is None or len(bytes_of_fill) != dtype.itemsize:
        fill = dtype.type(0)
    else:
        fill = np.frombuffer(bytes_of_fill, dtype.newbyteorder("<")).astype(dtype)[0]
    return Array(name, dataset, dtype, dims.of(dataset), _plain(attrs), fill, missing)


def _check_name(name: str, names: frozenset[str]) -> None:
    parts = name.split("/")
    if name.startswith("#"):
        raise _NoPlaceError("other datasets have the same name")
    if any(part in ("", ".", "..") or part in _DOCUMENTS or "\\" in part for part in parts):
        raise _NoPlaceError("its name is no path of a Zarr hierarchy")
    for group in above(name):
        if group in names:
            raise _NoPlaceError(f"its name is below the array {group!r}")


def _plain(attrs: dict[str, Any]) -> dict[str, Any]:
    return {name: _json(value) for name, value in attrs.items()}


def _json(value: Any) -> Any:
    """An attribute as JSON: numbers of NumPy become those of Python, complex ones pairs."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    if value.dtype.kind == "c":
        value = np.stack([value.real, value.imag], axis=-1)
    return value.tolist()


def number(value: Any) -> Any:
    """A fill value in the metadata of an array: what JSON has no number for is a text."""
    if isinstance(value, str | bool | np.bool_):
        return bool(value) if isinstance(value, np.bool_) else value
    if np.iscomplexobj(value):
        return [number(value.real), number(value.imag)]
    plain = value.item()
    if isinstance(plain, float) and not np.isfinite(plain):
        return "NaN" if np.isnan(plain) else "Infinity" if plain > 0 else "-Infinity"
    return plain


def missing_attribute(value: Any) -> Any:
    """The attribute ``_FillValue`` as xarray stores it in Zarr 3: floats are the base64 of their float64."""
    if isinstance(value, np.complexfloating):
        return [missing_attribute(value.real), missing_attribute(value.imag)]
    if isinstance(value, np.floating):
        return base64.standard_b64encode(struct.pack("<d", float(value))).decode()
    return number(value)


def chunks(array: Array) -> tuple[int, ...]:
    """Extents of a chunk, as a reader should read the array: those of the file, or parts of a large raw chunk.

    An array that the file stores in one piece is cut into slabs of about 4 MiB.
    """
    core, shape = array.dataset._core, array.dataset.shape
    found = tuple(max(min(pair), 1) for pair in zip(core.chunks, shape, strict=True))
    length = prod(found) * array.dtype.itemsize
    if length > _RAW_MAX and not array.is_text and _is_raw(core):
        return slab(found, array.dtype.itemsize)
    return slab(found, array.dtype.itemsize, _CHUNK_MAX) if length > _CHUNK_MAX else found


def positions(counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The coordinates of a grid in row-major order, of which none is kept: a file may state any number of chunks."""
    if not counts:
        yield ()
        return
    for first in range(counts[0]):
        for rest in positions(counts[1:]):
            yield (first, *rest)


def _is_raw(core: _tetfile.Selected) -> bool:
    """Whether parts of a chunk can be read without the rest. Damage is an error of the reads, and hides no array."""
    try:
        return _tetfile.is_raw(core)
    except TetError:
        return False


def slab(shape: tuple[int, ...], itemsize: int, length: int = _PART_LEN) -> tuple[int, ...]:
    """The extents of a slab of at most ``length`` bytes: trailing axes are whole, and one is cut; slabs are contiguous."""
    room = max(length // itemsize, 1)
    found = [1] * len(shape)
    for axis in reversed(range(len(shape))):
        extent = max(shape[axis], 1)
        if extent > room:
            found[axis] = room
            break
        found[axis] = extent
        room //= extent
    return tuple(found)


def texts(values: npt.NDArray[Any]) -> bytes:
    """A chunk of texts in the codec ``vlen-utf8``: their number, and each behind its length."""
    encoded = [text.encode() for text in values.reshape(-1)]
    return struct.pack("<I", len(encoded)) + b"".join(struct.pack("<I", len(text)) + text for text in encoded)
