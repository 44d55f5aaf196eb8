"""Virtual datasets of VirtualiZarr: manifests of the stored bytes of a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray

from . import _hierarchy, _tetfile
from ._dataset import Dataset
from ._errors import NotFoundError, UnsupportedError, UsageError
from ._file import File, above
from ._hierarchy import Array
from ._places import shown

try:
    from virtualizarr.manifests import ChunkManifest, ManifestArray
    from virtualizarr.manifests.utils import create_v3_array_metadata
except ImportError as error:
    raise ImportError("to_virtual needs VirtualiZarr: pip install virtualizarr") from error

# The number of the file of a chunk that is not stored.
_ABSENT = 0xFFFF_FFFF
# Codecs of numcodecs that Zarr 3 has itself, with the settings that decoding ignores.
_OF_ZARR: dict[str, dict[str, Any]] = {
    "gzip": {"name": "gzip", "configuration": {"level": 5}},
    "zstd": {"name": "zstd", "configuration": {"level": 0, "checksum": False}},
}


@dataclass(frozen=True)
class _Stored:
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


def _stored(dataset: Dataset) -> _Stored | str:
    """The chunks of a dataset, or why a reader of Zarr cannot read them in place."""
    if dataset._core.is_text:
        return "its elements are texts"
    if dataset._core.is_computed:
        return "its elements are decoded when they are read: open the file without decoded=True"
    found = _tetfile.storage(dataset._core)
    if found["refusal"] is not None:
        return str(found["refusal"])
    if found["is_column_major"]:
        return "its elements are in column-major order: to_references has them"
    if not found["is_full"]:
        return "the chunks at its edges have fewer elements than the others: to_references(edges='inline') fills them"
    # A scalar may be stored along an axis of one position.
    rank = len(dataset.shape)
    return _Stored(
        tuple(found["chunk_shape"][:rank]),
        tuple(found["counts"][:rank]),
        dataset.dtype.newbyteorder(">" if found["is_big_endian"] else "<"),
        [{"id": id} | dict([setting] if setting else []) for id, setting in found["codecs"]],
        found["files"],
        np.frombuffer(found["file"], "<u4"),
        np.frombuffer(found["offset"], "<u8"),
        np.frombuffer(found["len"], "<u8"),
    )


def dataset(
    file: File, group: str, url: str | None, include: Sequence[str], exclude: Sequence[str], inline: int
) -> xarray.Dataset:
    """The arrays of a group as variables."""
    inside = [name for name in file if str(PurePosixPath(name).parent).strip(".") == group]
    if not inside:
        raise NotFoundError(f"no dataset in group {group!r} of {shown(file.path)}", path=file.path)
    names = [name for name in inside if not include or name in include]
    hierarchy, places = _chosen(file, names, exclude, inline)
    with warnings.catch_warnings():
        # Zarr 3 has no specification of the codecs that older files are written with.
        warnings.filterwarnings("ignore", message="Numcodecs codecs are not in the Zarr version 3 specification")
        variables = {
            PurePosixPath(name).name: _variable(array, places[name], file, url)
            for name, array in hierarchy.arrays.items()
        }
    coords = {name: found for name, found in variables.items() if found.dims == (name,)}
    data = {name: found for name, found in variables.items() if name not in coords}
    # An index would read the labels.
    return xarray.Dataset(data, xarray.Coordinates(coords, indexes={}), hierarchy.groups.get(group, {}))


def _variable(array: Array, places: _Stored | None, file: File, url: str | None) -> xarray.Variable:
    if places is None:
        missing = {} if array.missing is None else {"_FillValue": array.missing}
        return xarray.Variable(array.dims, np.asarray(array.dataset[...]), array.attrs | missing)
    missing = {} if array.missing is None else {"_FillValue": _hierarchy.missing_attribute(array.missing)}
    metadata = create_v3_array_metadata(
        shape=array.dataset.shape,
        data_type=places.dtype,
        chunk_shape=places.chunk_shape,
        fill_value=array.fill,
        codecs=[_codec(codec) for codec in places.codecs],
        attributes=array.attrs | missing,
        dimension_names=array.dims,
    )
    return xarray.Variable(array.dims, ManifestArray(metadata, _manifest(places, file, url)), array.attrs | missing)


def _codec(codec: dict[str, Any]) -> dict[str, Any]:
    settings = {key: value for key, value in codec.items() if key != "id"}
    return _OF_ZARR.get(codec["id"], {"name": f"numcodecs.{codec['id']}", "configuration": settings})


def _manifest(places: _Stored, file: File, url: str | None) -> ChunkManifest:
    # The path of a chunk that is not stored is empty.
    names = [_address(name, file, url) if url else Path(name).as_uri() for name in places.files]
    table = np.array([*names, ""], dtype=np.dtypes.StringDType())
    paths: Any = table[np.minimum(places.file, len(names))].reshape(places.counts)
    return ChunkManifest.from_arrays(
        paths=paths,
        offsets=places.offset.astype("u8").reshape(places.counts),
        lengths=places.length.astype("u8").reshape(places.counts),
        validate_paths=False,
    )


def _chosen(
    file: File, include: Sequence[str], exclude: Sequence[str], inline: int
) -> tuple[_hierarchy.Hierarchy, dict[str, _Stored | None]]:
    """The arrays that are asked for, each with its chunks; ``None`` for those of few bytes, which are copied.

    Raises:
        NotFoundError: A name is that of no dataset.
        UnsupportedError: A dataset cannot be read in place.
    """
    found = _hierarchy.of_file(file)
    known = found.arrays.keys() | found.left_out.keys()
    for name in (*include, *exclude):
        if name not in known:
            raise NotFoundError(f"no dataset {name!r} in {shown(file.path)}", path=file.path, dataset=name)
    names = [name for name in file if (not include or name in include) and name not in exclude]
    places = {name: _place(found, name, inline, file) for name in names}
    arrays = {name: found.arrays[name] for name in names}
    kept = {""}.union(*map(above, names))
    groups = {path: attrs for path, attrs in found.groups.items() if path in kept}
    return _hierarchy.Hierarchy(groups, arrays, {}), places


def _place(found: _hierarchy.Hierarchy, name: str, inline: int, file: File) -> _Stored | None:
    array = found.arrays.get(name)
    if array is None:
        reason: _Stored | str = found.left_out[name]
    elif array.dataset.size * (8 if array.is_text else array.dtype.itemsize) <= inline:
        return None
    else:
        reason = _stored(array.dataset)
        if isinstance(reason, _Stored) and _ABSENT in reason.file and not _is_fill_known(array):
            reason = "some chunks are not stored, and their fill value is not the missing value of the attributes"
    if isinstance(reason, _Stored):
        return reason
    advice = f"exclude=[{name!r}] leaves it out, and a larger inline copies it into the result"
    raise UnsupportedError(f"{name!r} has no references: {reason}. {advice}", path=file.path, dataset=name)


def _is_fill_known(array: Array) -> bool:
    """Whether a reader that takes the fill value for the missing value reads the same."""
    same = array.fill == array.missing or (array.fill != array.fill and array.missing != array.missing)
    return array.missing is None or bool(same)


def _address(path: str, file: File, url: str | None) -> str:
    """The address of a file: its path, or what ``url`` has in place of the path of the opened file."""
    if url is None:
        return path
    rest = os.path.relpath(path, file.path)
    if rest == ".":
        return url
    if rest.startswith(".."):
        raise UsageError(f"{path} is not below {shown(file.path)}: url cannot name it", path=file.path)
    return f"{url.rstrip('/')}/{rest}"
