"""The engine ``tet`` of xarray: every container that this package reads, opened lazily.

xarray decodes packed values, times and coordinates by itself, from the attributes. Chunks of the file are the chunks that
``chunks={}`` makes of it for dask.

>>> import xarray
>>> climate = xarray.open_dataset("climate.nc", engine="tet")
>>> climate["temp"].sel(lat=10.0).mean("lon").sizes["time"]
12
>>> str(climate["time"].values[1])[:10]
'2024-01-31'
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from typing import Any
from warnings import warn

import numpy as np
from xarray import Dataset as XDataset
from xarray import Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.backends.common import AbstractDataStore
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing

from . import _file, _tetfile
from ._dataset import Dataset
from ._dims import Dims
from ._errors import TetError, UnsupportedError
from ._places import is_url, shown
from ._to_tet import DatasetAccessor

__all__ = ["DatasetAccessor", "TetBackend"]

# Files do not tell every level of zlib; this is the usual one.
_LEVEL = 4
# Texts of any length, as xarray marks them.
_TEXT: np.dtype[Any] = np.dtype("O", metadata={"element_type": str})

# Suffixes that no other engine of xarray reads.
_SUFFIXES = (".tet", ".tets", ".tgm", ".zt", ".safetensors", ".gguf", ".npz", ".npy", ".zarr.zip")


class TetBackend(BackendEntrypoint):
    """Opens files with ``xarray.open_dataset(path, engine="tet")``.

    ``group`` is the path of a group, whose datasets are the variables; ``open_datatree`` opens all groups. ``filesystem``,
    ``io``, ``digests``, ``stats``, ``memory`` and ``threads`` are those of :func:`tetfile.open`, which also takes files of
    fsspec.

    >>> import xarray
    >>> xarray.open_dataset("groups.h5", engine="tet", group="ocean")["temp"].shape
    (2, 2)
    """

    description = "HDF5, NetCDF, Zarr, NumPy, safetensors, zTensor, Tensogram and .tet files by tetfile"
    supports_groups = True

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        filesystem: Any = None,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        io: _file.Io = "auto",
        digests: _file.Digests = "auto",
        stats: _file.StatsPolicy = "verified",
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> XDataset:
        """The datasets of a group as variables."""
        file = _file.open(
            filename_or_obj,
            filesystem=filesystem,
            io=io,
            digests=digests,
            stats=stats,
            memory=memory,
            threads=threads,
        )
        dropped = [drop_variables] if isinstance(drop_variables, str) else drop_variables or ()
        store = _Store(file, (group or "").strip("/"), frozenset(dropped))
        try:
            store.check_group()
        except BaseException:
            file.close()
            raise
        return StoreBackendEntrypoint().open_dataset(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        filesystem: Any = None,
        group: str | None = None,
        drop_variables: str | Iterable[str] | None = None,
        **how: Any,
    ) -> dict[str, XDataset]:
        """Every group below ``group`` with its variables, by path."""
        top = (group or "").strip("/")
        with _file.open(filename_or_obj, filesystem=filesystem) as file:
            groups = [path for path in file._groups() if not top or path.startswith(f"{top}/")]
        paths = {path[len(top) :].strip("/") for path in groups} | {""}
        found = {}
        for path in sorted(paths):
            inner = "/".join(part for part in (top, path) if part)
            found[f"/{path}"] = self.open_dataset(
                filename_or_obj, filesystem=filesystem, group=inner or None, drop_variables=drop_variables, **how
            )
        return found

    def open_datatree(  # type: ignore[override]
        self,
        filename_or_obj: str | os.PathLike[str],
        *,
        drop_variables: str | Iterable[str] | None = None,
        **how: Any,
    ) -> Any:
        """A tree of all groups."""
        from xarray import DataTree

        return DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, drop_variables=drop_variables, **how))

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the suffix is one that no other engine reads."""
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        return str(os.fspath(filename_or_obj)).rstrip("/").endswith(_SUFFIXES)


class _Lazy(BackendArray):
    """Elements that are read when they are needed."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.shape = dataset.shape
        self.dtype = _TEXT if dataset.dtype == object else dataset.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._read)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        return await asyncio.to_thread(self.__getitem__, key)

    def _read(self, key: tuple[Any, ...]) -> Any:
        # Keys without arrays mean the same in both, and are read with less to do in Python.
        has_arrays = any(isinstance(item, np.ndarray) for item in key)
        return np.asarray(self.dataset.oindex[key] if has_arrays else self.dataset[key], dtype=self.dtype)


class _Store(AbstractDataStore):
    """The datasets of one group, for xarray."""

    def __init__(self, file: _file.File, group: str, dropped: frozenset[str]) -> None:
        self.file = file
        self.group = group
        self.dropped = dropped

    def check_group(self) -> None:
        """The file has the group."""
        if self.group in self.file._groups():
            return
        self.file._check_above(self.group)
        raise KeyError(f"no group {self.group!r} in {shown(self.file.path)}")

    def get_variables(self) -> dict[str, Variable]:
        """The variables."""
        variables: dict[str, Variable] = {}
        dims = Dims(self.file)
        labeled: dict[str, Dataset] = {}
        for name, dataset in self._homeless():
            warn(f"{name!r} is left out: {dataset.fault or 'no group has a part without a name'}", stacklevel=2)
        for name, dataset in self._datasets():
            if name in self.dropped:
                continue
            try:
                if dataset.fault is not None:
                    raise UnsupportedError(dataset.fault)
                lazy = indexing.LazilyIndexedArray(_Lazy(dataset))
            except TetError as error:
                warn(f"{name!r} is left out: {error}", stacklevel=2)
                continue
            names = dims.of(dataset)
            attrs, encoding = dict(dataset.attrs), _encoding(dataset, names)
            if dataset.dtype == object:
                # The engine made texts of the characters.
                attrs.pop("_Encoding", None)
                encoding["dtype"] = str
            variables[name] = Variable(names, lazy, attrs, encoding)
            labeled |= {dim: dataset for dim in dataset.dims or ()}
        for dim, dataset in labeled.items():
            # Labels that the dataset has by itself.
            if dim not in variables and dim in (known := dataset.coords):
                variables[dim] = Variable((dim,), known[dim])
        return variables

    def get_attrs(self) -> dict[str, Any]:
        """The attributes."""
        return dict(self.file._attrs_of(self.group))

    def get_encoding(self) -> dict[str, Any]:
        """The names of the axes that can grow."""
        pairs = (zip(dataset.dims or (), dataset._core.unlimited, strict=False) for _, dataset in self._datasets())
        return {"unlimited_dims": {dim for pair in pairs for dim, can_grow in pair if can_grow}}

    def _datasets(self) -> Iterator[tuple[str, Dataset]]:
        start = f"{self.group}/" if self.group else ""
        for name in self.file:
            if name.startswith(start) and "/" not in name[len(start) :]:
                yield name[len(start) :], self.file.dataset(name)

    def _homeless(self) -> Iterator[tuple[str, Dataset]]:
        """Datasets below the group that are in no group, such as ``/``, which stands for a root that cannot be read."""
        start = f"{self.group}/" if self.group else ""
        for name in self.file:
            if name.startswith(start) and "/" in (rest := name[len(start) :]) and "" in rest.split("/"):
                yield name, self.file.dataset(name)

    def get_dimensions(self) -> dict[str, int]:
        """The extents of the dimensions."""
        return {str(dim): extent for of in self.get_variables().values() for dim, extent in of.sizes.items()}

    def close(self) -> None:
        """Closes the file."""
        self.file.close()


def _encoding(dataset: Dataset, names: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {"source": dataset.file.path, "original_shape": dataset.shape}
    if dataset.chunks is not None:
        chunks = tuple(int(np.clip(chunk, 1, max(extent, 1))) for chunk, extent in zip(dataset.chunks, dataset.shape, strict=True))
        found |= {"chunksizes": chunks, "preferred_chunks": dict(zip(names, chunks, strict=True))}
        # The codecs are those of the first chunk, which takes requests to find on a server.
        if dataset.file.format == "hdf5" and not is_url(dataset.file.path) and dataset.size:
            found |= _filters(dataset)
    return found


def _filters(dataset: Dataset) -> dict[str, Any]:
    """The filters of NetCDF-4, as the engine ``netcdf4`` has them and ``to_netcdf`` takes them."""
    try:
        codecs = {name for name, _ in _tetfile.codecs(dataset._core)}
    except TetError:
        # Reading it raises the error.
        return {}
    found: dict[str, Any] = {name: True for name in ("shuffle", "fletcher32") if name in codecs}
    return found | {"zlib": True, "complevel": _LEVEL} if "zlib" in codecs else found
