"""A Zarr store over any file that this package reads: zarr-python and xarray open it as they open a Zarr hierarchy.

The store has the documents of Zarr 3, and uncompressed chunks that are decoded when they are asked for.

>>> import zarr
>>> from tetfile.zarr import Store
>>> root = zarr.open_group(Store("climate.nc"), mode="r")
>>> root["temp"][0, 0, :2]
array([288., 289.], dtype=float32)
>>> root["temp"].chunks, root["temp"].metadata.dimension_names
((5, 4, 4), ('time', 'lat', 'lon'))
"""

from __future__ import annotations

import asyncio
import json
import os
import warnings
from collections.abc import AsyncIterator, Iterable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _file, _functions, _hierarchy
from ._hierarchy import Array, Hierarchy
from ._places import shown

try:
    from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest
    from zarr.abc.store import Store as _Store
except ImportError as error:
    raise ImportError("tetfile.zarr needs zarr 3: pip install 'zarr>=3'") from error

if TYPE_CHECKING:
    from zarr.core.buffer import Buffer, BufferPrototype

__all__ = ["Store"]

_DOCUMENT = "zarr.json"
_CHUNKS = "c"


class Store(_Store):
    """A read-only store of zarr-python 3 over an open file, or over a path that is opened.

    Groups, arrays, attributes, dimension names and fill values are those of the file. Axes without a name get one, as
    netCDF4 names them, because xarray needs it. Chunks are those of the file; an array in one piece is read in slabs of
    about 4 MiB. Elements are integers, floats, booleans, complex numbers and texts; datasets of other types, and those
    whose name is no path of Zarr, are left out with a warning, and in :attr:`left_out`.

    Chunks are read on threads, so the event loop goes on. Stores pickle as files do. All that would write raises
    :class:`ValueError`.

    Raises:
        OSError: The system refuses to open the path.
        TetError: The file is not read; see :func:`tetfile.open`.

    >>> import xarray
    >>> climate = xarray.open_zarr(tetfile.zarr.Store("climate.tet"))
    >>> climate["temp"].sel(lat=10.0).mean("lon").sizes["time"]
    12
    """

    supports_writes = False
    supports_deletes = False
    supports_listing = True

    def __init__(self, file: _file.File | str | os.PathLike[str]) -> None:
        super().__init__(read_only=True)
        self._file = file if isinstance(file, _file.File) else _file.open(file)
        self._hierarchy = _hierarchy.of_file(self._file)
        if left := self._hierarchy.left_out:
            text = _functions.listed([f"{name!r}: {reason}" for name, reason in left.items()], "Store.left_out")
            warnings.warn(f"datasets of {shown(self._file.path)} are left out: {text}", stacklevel=2)
        self._chunks = {path: _hierarchy.chunks(array) for path, array in self._hierarchy.arrays.items()}
        self._documents = _documents(self._hierarchy, self._chunks)

    @property
    def file(self) -> _file.File:
        """The file.

        >>> tetfile.zarr.Store("climate.tet").file.format
        'tet'
        """
        return self._file

    @property
    def left_out(self) -> dict[str, str]:
        """The datasets that Zarr has no place for, by name, with the reasons.

        >>> tetfile.zarr.Store("climate.tet").left_out
        {}
        """
        return dict(self._hierarchy.left_out)

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """The bytes of a document or a chunk, or ``None`` where there is none of this key."""
        if key in self._documents or self._find(key) is None:
            return self.get_sync(key, prototype=prototype, byte_range=byte_range)
        return await asyncio.to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The same on the thread that calls."""
        from zarr.core.buffer import default_buffer_prototype

        value = self._documents.get(key)
        if value is None:
            found = self._find(key)
            if found is None:
                return None
            value = self._read(*found)
        buffer = (prototype or default_buffer_prototype()).buffer
        part = value[_slice(byte_range, len(value))]
        return buffer.from_bytes(part) if isinstance(part, bytes) else buffer.from_array_like(part)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """The bytes of several keys."""
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def exists(self, key: str) -> bool:
        """Whether there is a document or a chunk of this key."""
        return key in self._documents or self._find(key) is not None

    async def getsize(self, key: str) -> int:
        """The length of a value in bytes; only chunks of texts are read for it."""
        if key in self._documents:
            return len(self._documents[key])
        found = self._find(key)
        if found is None:
            raise FileNotFoundError(key)
        array, at = found
        if array.is_text:
            return len(await asyncio.to_thread(self._read, array, at))
        return prod(self._chunks[array.path]) * array.dtype.itemsize

    async def list(self) -> AsyncIterator[str]:
        """All keys."""
        for key in self._keys(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """The keys that begin with a text."""
        for key in self._keys(prefix):
            yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The names directly below a path."""
        for name in self._below(prefix.strip("/")):
            yield name

    async def set(self, key: str, value: Buffer) -> None:
        """Refuses: the store is read-only."""
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Refuses: the store is read-only."""
        self._check_writable()

    async def delete_dir(self, prefix: str) -> None:
        """Refuses: the store is read-only."""
        self._check_writable()

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Refuses: the store is read-only."""
        self._check_writable()

    def with_read_only(self, read_only: bool = False) -> Store:
        """The same store; there is none that writes."""
        if not read_only:
            raise ValueError("tetfile.zarr.Store is read-only")
        return type(self)(self._file)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Store) and self._file.__dask_tokenize__() == other._file.__dask_tokenize__()

    def __hash__(self) -> int:
        return hash(self._file.__dask_tokenize__())

    def __repr__(self) -> str:
        return f"<tetfile.zarr.Store {shown(self._file.path)!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._file,)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return ("tetfile.zarr.Store", self._file.__dask_tokenize__())

    def _counts(self, array: Array) -> tuple[int, ...]:
        """How many chunks there are along each axis."""
        axes = zip(array.dataset.shape, self._chunks[array.path], strict=True)
        return tuple(-(-extent // chunk) for extent, chunk in axes)

    def _find(self, key: str) -> tuple[Array, tuple[int, ...]] | None:
        """The array of the chunk of a key, and where the chunk is in the grid."""
        parts = key.split("/")
        for split in (at for at, part in enumerate(parts) if part == _CHUNKS):
            array = self._hierarchy.arrays.get("/".join(parts[:split]))
            if array is None or len(parts) - split - 1 != array.dataset.ndim:
                continue
            at = tuple(int(part) if part.isascii() and part.isdecimal() else -1 for part in parts[split + 1 :])
            is_there = all(0 <= number < count for number, count in zip(at, self._counts(array), strict=True))
            if is_there and list(map(str, at)) == parts[split + 1 :]:
                return array, at
        return None

    def _read(self, array: Array, at: tuple[int, ...]) -> Any:
        """The bytes of a chunk: little-endian, filled up at the edges."""
        extents = self._chunks[array.path]
        starts = (number * extent for number, extent in zip(at, extents, strict=True))
        key = tuple(slice(start, start + extent) for start, extent in zip(starts, extents, strict=True))
        part = np.asarray(array.dataset[key], dtype=array.dtype)
        if part.shape != extents:
            whole = np.full(extents, array.fill, array.dtype)
            whole[tuple(map(slice, part.shape))] = part
            part = whole
        if array.is_text:
            return _hierarchy.texts(part)
        little = part.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        return little.reshape(-1).view("u1")

    def _keys(self, prefix: str) -> Iterator[str]:
        yield from (key for key in self._documents if key.startswith(prefix))
        for path, array in self._hierarchy.arrays.items():
            start = f"{path}/{_CHUNKS}"
            if not start.startswith(prefix) and not prefix.startswith(start):
                continue
            for at in _hierarchy.positions(self._counts(array)):
                key = "/".join([start, *map(str, at)])
                if key.startswith(prefix):
                    yield key

    def _below(self, path: str) -> Iterator[str]:
        start = f"{path}/" if path else ""
        if path in self._hierarchy.groups:
            nodes = [*self._hierarchy.groups, *self._hierarchy.arrays]
            inner = {node[len(start) :].split("/")[0] for node in nodes if node != path and node.startswith(start)}
            yield from (_DOCUMENT, *sorted(inner))
        elif path in self._hierarchy.arrays:
            yield _DOCUMENT
            if all(self._counts(self._hierarchy.arrays[path])):
                yield _CHUNKS
        else:
            yield from self._coordinates(path)

    def _coordinates(self, path: str) -> Iterator[str]:
        """The names below a path of a part of a chunk's coordinates."""
        parts = path.split("/")
        for split in (at for at, part in enumerate(parts) if part == _CHUNKS):
            array = self._hierarchy.arrays.get("/".join(parts[:split]))
            missing = array.dataset.ndim - (len(parts) - split - 1) if array else 0
            if array and missing > 0 and self._find("/".join([*parts, *["0"] * missing])):
                yield from map(str, range(self._counts(array)[-missing]))


def _slice(byte_range: ByteRequest | None, length: int) -> slice:
    """The part of a value of this length."""
    if byte_range is None:
        return slice(None)
    if isinstance(byte_range, RangeByteRequest):
        return slice(byte_range.start, byte_range.end)
    if isinstance(byte_range, OffsetByteRequest):
        return slice(byte_range.offset, None)
    return slice(max(length - byte_range.suffix, 0), None)


def _documents(hierarchy: Hierarchy, chunks: dict[str, tuple[int, ...]]) -> dict[str, bytes]:
    """The documents by key; that of the root has all the others in it."""
    nodes: dict[str, dict[str, Any]] = {
        path: {"zarr_format": 3, "node_type": "group", "attributes": attrs} for path, attrs in hierarchy.groups.items()
    }
    nodes |= {path: _metadata(array, chunks[path]) for path, array in hierarchy.arrays.items()}
    inner = {path: node for path, node in nodes.items() if path}
    consolidated = {"kind": "inline", "must_understand": False, "metadata": inner}
    whole = nodes | {"": nodes[""] | {"consolidated_metadata": consolidated}}
    return {f"{path}/{_DOCUMENT}".lstrip("/"): json.dumps(node).encode() for path, node in whole.items()}


def _metadata(array: Array, chunk_shape: tuple[int, ...]) -> dict[str, Any]:
    codec = {"name": "vlen-utf8"} if array.is_text else {"name": "bytes", "configuration": {"endian": "little"}}
    missing = {} if array.missing is None else {"_FillValue": _hierarchy.missing_attribute(array.missing)}
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": array.dataset.shape,
        "data_type": "string" if array.is_text else array.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk_shape}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": _hierarchy.number(array.fill),
        "codecs": [codec],
        "attributes": array.attrs | missing,
        "dimension_names": array.dims,
    }
