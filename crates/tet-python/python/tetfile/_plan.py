"""What a new file holds: datasets, their types, and the document that the engine takes."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _tetfile
from ._elements import elements_of
from ._errors import UnsupportedError, UsageError

__all__ = ["Spec"]

# Types that the format has.
_STORED = frozenset("float16 float32 float64 int16 int32 int64 uint8 uint16 uint32 uint64".split())
# Attributes that say what the stored bits are, as the command writes them.
_DTYPE_KEY = "logical_dtype"
_SCALAR_KEY = "tet:scalar"
# What becomes of texts.
_OF_TEXTS = (
    "texts can be the labels of an axis, Spec(shape, dtype, dims=('x',), labels={'x': texts}), or an attribute, attrs={'names': texts}; "
    "files such as .nc, .h5 and .zarr, which xarray writes, have them as elements"
)
# Numbers of times, by the unit of NumPy.
_TIME_UNITS = {"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


@dataclass(frozen=True)
class Spec:
    """A dataset that is to be written.

    Attributes:
        shape: The extents.
        dtype: The type of the elements in NumPy: numbers, ``bool``, complex numbers, ``datetime64``, ``timedelta64``, and
            ``bfloat16`` and ``float8`` of the package ``ml_dtypes``.
        chunks: The extents of a chunk; chosen, of about 4 MiB, where they are not given.
        dims: The names of the axes.
        labels: Texts along axes, by name of the axis or its number.
        attrs: The attributes: text, numbers, arrays, or what JSON has. With ``units``, as ``"days since 2000-01-01"``, dates
            become numbers of these units; ``_FillValue`` is what masked elements become.
        fill: What stands where nothing is written; without it everything must be written.

    >>> tetfile.Spec((365, 180, 360), "float32", dims=("time", "lat", "lon")).chunks
    (16, 180, 360)
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...]
    dims: tuple[str, ...] | None = None
    labels: Mapping[str, Sequence[str]] | Mapping[int, Sequence[str]] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    fill: Any = None

    def __init__(
        self,
        shape: Sequence[int] | int,
        dtype: npt.DTypeLike,
        *,
        chunks: Sequence[int] | int | None = None,
        dims: Sequence[str] | None = None,
        labels: Mapping[str, Sequence[str]] | Mapping[int, Sequence[str]] | None = None,
        attrs: Mapping[str, Any] | None = None,
        fill: Any = None,
    ) -> None:
        extents = _extents(shape)
        kind = np.dtype(dtype)
        chosen = auto_chunks(extents, kind) if chunks is None else _extents(chunks)
        dims = (dims,) if isinstance(dims, str) else dims
        if len(chosen) != len(extents) or any(chunk < 1 for chunk in chosen):
            raise UsageError(f"chunks {chosen} do not fit shape {extents}: give one positive extent for each axis")
        if dims is not None and len(dims) != len(extents):
            raise UsageError(f"dims {tuple(dims)} do not fit shape {extents}: give one name for each axis")
        stored_name(kind)
        _check_labels(labels or {}, extents, dims or ())
        found = {
            "shape": extents,
            "dtype": kind,
            "chunks": chosen,
            "dims": None if dims is None else tuple(dims),
            "labels": dict(labels or {}),
            "attrs": dict(attrs or {}),
            "fill": fill,
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)


def _extents(shape: Any) -> tuple[int, ...]:
    """The extents of a shape, which may be one number."""
    extents = tuple(map(operator.index, (shape,) if np.ndim(shape) == 0 else shape))
    if any(extent < 0 for extent in extents):
        raise UsageError(f"shape {extents} has a negative extent")
    return extents


def _check_labels(labels: Mapping[Any, Sequence[str]], shape: tuple[int, ...], dims: Sequence[str]) -> None:
    """Each position of an axis with labels has one."""
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels is a mapping of axes to texts, as {{'x': ['a', 'b']}}, not {type(labels).__name__}")
    for axis, texts in labels.items():
        number = dims.index(axis) if axis in dims else axis
        if not isinstance(number, int | np.integer) or not 0 <= number < len(shape):
            raise UsageError(f"labels are of axis {axis!r}, and the axes are {tuple(dims) or tuple(range(len(shape)))}")
        if isinstance(texts, str) or len(texts) != shape[number]:
            found = "one text" if isinstance(texts, str) else f"{len(texts)} labels"
            raise UsageError(f"axis {axis!r} has {found} and {shape[number]} positions: give a label for each")


def auto_chunks(shape: Sequence[int], dtype: np.dtype[Any]) -> tuple[int, ...]:
    """Chunks of about 4 MiB, whole along the last axes."""
    return tuple(_tetfile.auto_chunks(list(shape), max(1, dtype.itemsize)))


def document(datasets: Mapping[str, Spec], attrs: Mapping[str, Any], storage: Mapping[str, Any]) -> str:
    """The plan of a file as the engine takes it."""
    if storage.get("level") is not None and storage.get("codec") in (None, "raw"):
        raise UsageError("compression_level is the level of zstd: give codec='zstd' too")
    known = {
        "tet_plan": 1,
        "attrs": {key: attribute(key, value) for key, value in attrs.items()},
        "datasets": [_dataset(name, spec) for name, spec in datasets.items()],
    }
    known |= {key: value for key, value in storage.items() if value is not None}
    return json.dumps(known)


def _dataset(name: str, spec: Spec) -> dict[str, Any]:
    attrs = {key: attribute(key, value) for key, value in spec.attrs.items()}
    shape, chunks, dims = list(spec.shape), list(spec.chunks), list(spec.dims or ())
    if not shape:
        # A scalar is one element, and says so.
        shape, chunks, dims = [1], [1], []
        attrs[_SCALAR_KEY] = "1"
    stored, inner = stored_name(spec.dtype)
    if inner:
        shape, chunks = shape + inner, chunks + inner
        dims = [*dims, "complex"] if dims else dims
    if stored != spec.dtype.name and spec.dtype.kind not in "mM":
        attrs[_DTYPE_KEY] = spec.dtype.name
    if spec.dtype.kind in "mM":
        _add_units(attrs, spec.dtype, name)
    found: dict[str, Any] = {"name": name, "dtype": stored, "shape": shape, "chunks": chunks, "attrs": attrs}
    if dims:
        found["dims"] = dims
    if spec.labels:
        found["labels"] = {str(axis): [str(text) for text in texts] for axis, texts in spec.labels.items()}
    if spec.fill is not None:
        if inner:
            raise UsageError(f"dataset {name!r} is complex and has no fill value: write all of it", dataset=name)
        fill = elements_of(spec.fill, spec.dtype, spec.attrs, name).reshape(1)
        found["fill"] = physical(fill)[0].tobytes().hex()
    return found


def _add_units(attrs: dict[str, Any], dtype: np.dtype[Any], name: str) -> None:
    """What the integers count that times are stored as."""
    unit, count = np.datetime_data(dtype)
    if "units" not in attrs:
        if unit not in _TIME_UNITS or count != 1:
            kind = "datetime64" if dtype.kind == "M" else "timedelta64"
            raise UsageError(f"dataset {name!r} is of {dtype}: convert it to {kind}[ns]", dataset=name)
        if dtype.kind == "M":
            attrs |= {"units": f"{_TIME_UNITS[unit]} since 1970-01-01", "calendar": "proleptic_gregorian"}
        else:
            # xarray makes differences of times of it.
            attrs |= {"units": _TIME_UNITS[unit], "dtype": dtype.name}
    attrs.setdefault("_FillValue", int(np.iinfo(np.int64).min))


def stored_name(dtype: np.dtype[Any]) -> tuple[str, list[int]]:
    """The type of the format that has the elements, and the extents that one element takes."""
    if dtype.kind in "mM":
        return "int64", []
    name = dtype.name
    if name in _STORED:
        return name, []
    if name == "int8":
        return "int16", []
    if name in ("complex64", "complex128"):
        return f"float{dtype.itemsize * 4}", [2]
    if name == "bool" or name.startswith("float8_") or name == "bfloat16":
        return f"uint{dtype.itemsize * 8}", []
    if dtype.kind in "OSUT":
        if dtype.kind == "O":
            advice = f"convert objects to numbers, as with array.astype(float); {_OF_TEXTS}"
        else:
            advice = _OF_TEXTS
    elif dtype.kind in "fc":
        advice = f"convert them to {'float64' if dtype.kind == 'f' else 'complex128'}"
    else:
        advice = "write numbers, and each member of a structure as a dataset of its own"
    raise UnsupportedError(f".tet files have no elements of {dtype}: {advice}")


def physical(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], list[int]]:
    """The elements as the format has them, contiguous and little endian, and the extents that one of them takes."""
    name, inner = stored_name(array.dtype)
    stored = np.dtype(name).newbyteorder("<")
    if array.dtype.name == "int8":
        return np.ascontiguousarray(array, dtype=stored), inner
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return plain.reshape(-1).view(stored), inner


def attribute(name: str, value: Any) -> Any:
    """An attribute as JSON.

    Raises:
        UsageError: Files have no attributes of this type.
    """
    try:
        return _json(value)
    except _NoJsonError as error:
        raise UsageError(f"the attribute {name!r} of type {error} is not written: pass text, numbers or lists") from None


class _NoJsonError(Exception):
    """The type of a value that JSON has no place for."""


def _json(value: Any) -> Any:
    """A value as JSON, which has no NaN: it is the text "NaN"."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if isinstance(value, complex):
        return [_json(value.real), _json(value.imag)]
    if isinstance(value, Mapping):
        return {str(key): _json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_json(each) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise _NoJsonError(type(value).__name__)
