"""Where the stored bytes of a file are, for readers of Zarr: references of kerchunk, and manifests of VirtualiZarr.

::

    dataset -> Stored: a grid of whole chunks, each at (file, offset, length), and the codecs that decode them
            -> or its bytes, where these are few
"""

from __future__ import annotations

import base64
import errno
import json
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _hierarchy, _mapped, _tetfile
from ._dataset import Dataset
from ._errors import NotFoundError, UnsupportedError, UsageError
from ._file import File
from ._hierarchy import Array

# The number of the file of a chunk that is not stored.
_ABSENT = 0xFFFF_FFFF
# References in a file of the Parquet form, as kerchunk has it.
_RECORDS = 10_000

_CLIPPED = (
    "the chunks at its edges have fewer elements than the others, and Zarr has whole chunks alone: write a copy with "
    "tetfile.convert to Zarr, or with chunks that divide the extents; tetfile.zarr.Store reads it as it is"
)


@dataclass(frozen=True)
class Stored:
    """The chunks of a dataset, in row-major order of their grid.

    Attributes:
        chunk_shape: The extents of a chunk, also of those at the edges.
        counts: How many chunks there are along each axis.
        dtype: The type of the elements, with their byte order.
        codecs: Codecs of numcodecs, in the order in which they were applied.
        files: The paths of the files.
        file: The number of the file of each chunk, 2^32 - 1 where a chunk is not stored.
        offset: Where each chunk is in its file, in bytes.
        length: The stored bytes of each chunk.
    """

    chunk_shape: tuple[int, ...]
    counts: tuple[int, ...]
    dtype: np.dtype[Any]
    codecs: list[dict[str, Any]]
    files: list[str]
    file: npt.NDArray[np.uint32]
    offset: npt.NDArray[np.uint64]
    length: npt.NDArray[np.uint64]

    @property
    def is_whole(self) -> bool:
        """Whether all chunks are stored."""
        return not bool((self.file == _ABSENT).any())

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], tuple[str, int, int]]]:
        """The coordinates of each chunk that is stored, its file, and its place there."""
        places = zip(self.file.tolist(), self.offset.tolist(), self.length.tolist(), strict=True)
        for at, (file, offset, length) in zip(_hierarchy.positions(self.counts), places, strict=True):
            if file != _ABSENT:
                yield at, (self.files[file], offset, length)


def stored(dataset: Dataset) -> Stored | str:
    """The chunks of a dataset, or why a reader of Zarr cannot read them in place."""
    if dataset._core.is_text:
        return "its elements are texts"
    if dataset._core.is_computed:
        return "its elements are decoded when they are read: open the file without decoded=True"
    found = _tetfile.storage(dataset._core)
    if found["refusal"] is not None:
        return str(found["refusal"])
    dtype = dataset.dtype.newbyteorder(">" if found["is_big_endian"] else "<")
    codecs = [{"id": id} | dict([setting] if setting else []) for id, setting in found["codecs"]]
    places = Stored(
        dataset._core.chunks,
        _counts(dataset.shape, dataset._core.chunks),
        dtype,
        codecs,
        found["files"],
        np.frombuffer(found["file"], "<u4"),
        np.frombuffer(found["offset"], "<u8"),
        np.frombuffer(found["len"], "<u8"),
    )
    if not codecs and dataset.size and _mapped.is_one_piece(found, dataset, dtype.itemsize):
        return _slabs(dataset, places)
    return places if found["is_full"] else _CLIPPED


def _counts(shape: tuple[int, ...], chunks: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-(-extent // chunk) for extent, chunk in zip(shape, chunks, strict=True))


def _slabs(dataset: Dataset, places: Stored) -> Stored:
    """An array in one piece, cut into slabs of one length."""
    chunk_shape = _hierarchy.slab(dataset.shape, dataset.dtype.itemsize, divides=True)
    counts = _counts(dataset.shape, chunk_shape)
    length = prod(chunk_shape) * dataset.dtype.itemsize
    offset = np.uint64(places.offset[0]) + np.arange(prod(counts), dtype="u8") * np.uint64(length)
    file, lengths = np.zeros(len(offset), "u4"), np.full(len(offset), length, "u8")
    return Stored(chunk_shape, counts, places.dtype, [], places.files, file, offset, lengths)


def chosen(
    file: File, include: Sequence[str], exclude: Sequence[str], inline: int
) -> tuple[_hierarchy.Hierarchy, dict[str, Stored | None]]:
    """The arrays that are asked for, each with its chunks; ``None`` for those of few bytes, which are copied.

    Raises:
        NotFoundError: A name is that of no dataset.
        UnsupportedError: A dataset cannot be read in place.
    """
    found = _hierarchy.of_file(file)
    known = found.arrays.keys() | found.left_out.keys()
    for name in (*include, *exclude):
        if name not in known:
            raise NotFoundError(f"no dataset {name!r} in {file.path}", path=file.path, dataset=name)
    names = [name for name in file if (not include or name in include) and name not in exclude]
    places = {name: _place(found, name, inline, file) for name in names}
    arrays = {name: found.arrays[name] for name in names}
    above = {""}.union(*map(_hierarchy.above, names))
    groups = {path: attrs for path, attrs in found.groups.items() if path in above}
    return _hierarchy.Hierarchy(groups, arrays, {}), places


def _place(found: _hierarchy.Hierarchy, name: str, inline: int, file: File) -> Stored | None:
    array = found.arrays.get(name)
    if array is None:
        reason: Stored | str = found.left_out[name]
    elif array.dataset.size * (8 if array.is_text else array.dtype.itemsize) <= inline:
        return None
    else:
        reason = stored(array.dataset)
        if isinstance(reason, Stored) and not reason.is_whole and not _is_fill_known(array):
            reason = "some chunks are not stored, and their fill value is not the missing value of the attributes"
    if isinstance(reason, Stored):
        return reason
    advice = f"exclude=[{name!r}] leaves it out, and a larger inline copies it into the result"
    raise UnsupportedError(f"{name!r} has no references: {reason}. {advice}", path=file.path, dataset=name)


def _is_fill_known(array: Array) -> bool:
    """Whether a reader that takes the fill value for the missing value reads the same."""
    same = array.fill == array.missing or (array.fill != array.fill and array.missing != array.missing)
    return array.missing is None or bool(same)


def document(
    file: File, url: str | None, include: Sequence[str], exclude: Sequence[str], inline: int
) -> dict[str, Any]:
    """References of version 1."""
    hierarchy, places = chosen(file, include, exclude, inline)
    refs: dict[str, Any] = {}
    for path, attrs in hierarchy.groups.items():
        start = f"{path}/" if path else ""
        refs[f"{start}.zgroup"] = json.dumps({"zarr_format": 2})
        refs[f"{start}.zattrs"] = json.dumps(attrs)
    for path, array in hierarchy.arrays.items():
        refs |= _of_array(array, places[path], file, url)
    return {"version": 1, "refs": refs}


def _of_array(array: Array, places: Stored | None, file: File, url: str | None) -> dict[str, Any]:
    shape, path = array.dataset.shape, array.path
    filters = [{"id": "vlen-utf8"}] if array.is_text else (places.codecs[:-1] if places else []) or None
    dtype = array.dtype.newbyteorder("<") if places is None else places.dtype
    metadata = {
        "zarr_format": 2,
        "shape": shape,
        "chunks": places.chunk_shape if places else tuple(max(extent, 1) for extent in shape),
        "dtype": "|O" if array.is_text else dtype.str,
        "order": "C",
        "filters": filters,
        "compressor": places.codecs[-1] if places and places.codecs else None,
        "fill_value": _fill(array, places),
    }
    found: dict[str, Any] = {
        f"{path}/.zarray": json.dumps(metadata),
        f"{path}/.zattrs": json.dumps(array.attrs | {"_ARRAY_DIMENSIONS": array.dims}),
    }
    if places is None:
        if array.dataset.size:
            key = ".".join("0" * len(shape)) or "0"
            found[f"{path}/{key}"] = "base64:" + base64.standard_b64encode(_elements(array)).decode()
        return found
    urls = [address(name, file, url) for name in places.files]
    by_name = dict(zip(places.files, urls, strict=True))
    for at, (name, offset, length) in places:
        found[f"{path}/{'.'.join(map(str, at)) or '0'}"] = [by_name[name], offset, length]
    return found


def _fill(array: Array, places: Stored | None) -> Any:
    """The fill value of Zarr 2, which xarray takes for the missing value: it is that, or needed for absent chunks."""
    if array.missing is not None:
        return _hierarchy.number(array.missing)
    is_needed = places is not None and not places.is_whole and bool(array.fill != 0)
    return _hierarchy.number(array.fill) if is_needed else None


def _elements(array: Array) -> bytes:
    """All elements as the one chunk of an array."""
    values = np.asarray(array.dataset[...], dtype=array.dtype)
    if array.is_text:
        return texts(values)
    return values.astype(array.dtype.newbyteorder("<"), order="C", copy=False).tobytes()


def texts(values: npt.NDArray[Any]) -> bytes:
    """A chunk of texts in the codec ``vlen-utf8``: their number, and each behind its length."""
    encoded = [text.encode() for text in values.reshape(-1)]
    return struct.pack("<I", len(encoded)) + b"".join(struct.pack("<I", len(text)) + text for text in encoded)


def address(path: str, file: File, url: str | None) -> str:
    """The address of a file: its path, or what ``url`` has in place of the path of the opened file."""
    if url is None:
        return path
    rest = os.path.relpath(path, file.path)
    if rest == ".":
        return url
    if rest.startswith(".."):
        raise UsageError(f"{path} is not below {file.path}: url cannot name it", path=file.path)
    return f"{url.rstrip('/')}/{rest}"


def write(references: dict[str, Any], path: str | os.PathLike[str], format: str, overwrite: bool) -> None:
    """Writes references; a file appears complete or not at all.

    Raises:
        FileExistsError: The path exists, and ``overwrite`` is not set.
    """
    target = Path(path)
    if target.exists() and not overwrite:
        raise FileExistsError(errno.EEXIST, "File exists", str(target))
    if format == "json":
        _write_json(references, target)
    elif format == "parquet":
        _write_parquet(references, target)
    else:
        raise ValueError(f"format={format!r} is not one of json, parquet")


def _write_json(references: dict[str, Any], target: Path) -> None:
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    with open(new, "x") as out:
        try:
            json.dump(references, out)
            out.flush()
            os.fsync(out.fileno())
            os.replace(new, target)
        except BaseException:
            os.unlink(new)
            raise


def _write_parquet(references: dict[str, Any], target: Path) -> None:
    try:
        import fastparquet  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: F401
        from kerchunk.df import refs_to_dataframe  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise ImportError(
            "references in Parquet need kerchunk and fastparquet: pip install kerchunk fastparquet"
        ) from error
    if any(key.endswith("/.zgroup") for key in references["refs"]):
        raise UnsupportedError(
            "fsspec cannot read references to groups in Parquet: write format='json', or include datasets of no group"
        )
    # What makes the folder removes one that is there.
    if target.exists() and not (target / ".zmetadata").is_file():
        raise FileExistsError(errno.EEXIST, "File exists and is no folder of references", str(target))
    refs_to_dataframe(references, str(target.resolve()), record_size=_RECORDS)
