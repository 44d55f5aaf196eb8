"""Virtual datasets of VirtualiZarr: manifests of the stored bytes of a file."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import xarray

from . import _hierarchy, _references
from ._errors import NotFoundError
from ._file import File
from ._hierarchy import Array
from ._references import Stored

try:
    from virtualizarr.manifests import ChunkManifest, ManifestArray
    from virtualizarr.manifests.utils import create_v3_array_metadata
except ImportError as error:
    raise ImportError("to_virtual needs VirtualiZarr: pip install virtualizarr") from error

# Codecs of numcodecs that Zarr 3 has itself, with the settings that decoding ignores.
_OF_ZARR: dict[str, dict[str, Any]] = {
    "gzip": {"name": "gzip", "configuration": {"level": 5}},
    "zstd": {"name": "zstd", "configuration": {"level": 0, "checksum": False}},
}


def dataset(
    file: File, group: str, url: str | None, include: Sequence[str], exclude: Sequence[str], inline: int
) -> xarray.Dataset:
    """The arrays of a group as variables."""
    inside = [name for name in file if str(PurePosixPath(name).parent).strip(".") == group]
    if not inside:
        raise NotFoundError(f"no dataset in group {group!r} of {file.path}", path=file.path)
    names = [name for name in inside if not include or name in include]
    hierarchy, places = _references.chosen(file, names, exclude, inline)
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


def _variable(array: Array, places: Stored | None, file: File, url: str | None) -> xarray.Variable:
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


def _manifest(places: Stored, file: File, url: str | None) -> ChunkManifest:
    # The path of a chunk that is not stored is empty.
    names = [_references.address(name, file, url) if url else Path(name).as_uri() for name in places.files]
    table = np.array([*names, ""], dtype=np.dtypes.StringDType())
    paths: Any = table[np.minimum(places.file, len(names))].reshape(places.counts)
    return ChunkManifest.from_arrays(
        paths=paths,
        offsets=places.offset.astype("u8").reshape(places.counts),
        lengths=places.length.astype("u8").reshape(places.counts),
        validate_paths=False,
    )
