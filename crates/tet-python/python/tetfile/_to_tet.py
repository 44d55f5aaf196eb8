"""Datasets of xarray written as ``.tet`` files: all of it, a region, or behind what is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isqrt
from typing import Any

import numpy as np
import xarray
from xarray import Variable

from . import _editing, _file
from ._create import Codec, create
from ._dataset import Dataset
from ._encoded import encoded_variables, units_of_bounds
from ._errors import UsageError
from ._parts import WritePlan, discard_stale, plan
from ._plan import Spec, auto_chunks

# How values are packed, which elements that are added keep.
_PACKING = ("units", "calendar", "scale_factor", "add_offset", "_FillValue", "missing_value", "dtype", "_Unsigned")
# Blocks of dask of more bytes are several chunks.
_CHUNK_LEN_MAX = 16 << 20


@xarray.register_dataset_accessor("tet")  # type: ignore[no-untyped-call]
class DatasetAccessor:
    """What ``ds.tet`` has.

    >>> import xarray, tetfile.xarray
    >>> ds = xarray.Dataset({"t": ("x", np.arange(3.0))})
    >>> ds.tet.to_tet("t.tet")
    """

    def __init__(self, dataset: xarray.Dataset) -> None:
        self._dataset = dataset

    def to_tet(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        region: Mapping[str, slice] | None = None,
        append_dim: str | None = None,
        compute: bool = True,
        codec: Codec | None = None,
        compression_level: int | None = None,
        stats: bool = True,
        memory: int | str | None = None,
    ) -> Any:
        """Writes the dataset as a ``.tet`` file, encoded as the CF conventions and ``encoding`` say.

        Arrays of dask are computed and written block by block, by the threads, processes or cluster that dask has: each
        task writes a part, and one publishes the file. A task that fails or a worker that dies leaves the file at ``path`` as it
        was. Chunks are those of ``encoding["chunks"]`` or ``["chunksizes"]`` where blocks consist of them, else blocks.

        Args:
            path: The file.
            overwrite: Whether a file that exists is replaced, and the parts discarded that a process left which was killed.
            region: Writes to these slices of an existing file, by dimension. Variables without any of them are not
                allowed. The file is replaced by an edited copy.
            append_dim: Writes behind the end of this dimension of an existing file, in an edited copy of it; a folder of parts,
                ``x.tets``, gets one more part. Variables without it must be those that the file has.
            compute: Whether the file is written now. Otherwise a ``dask.delayed`` object is returned which does it. There is
                no file before it is computed: regions are written to the file afterwards. Processes that write regions of a
                file that is not there yet use :func:`tetfile.plan`.
            codec: How chunks are compressed: ``"raw"``, or ``"zstd"``; what the file has where it is edited.
            compression_level: The level of zstd.
            stats: Whether the file gets statistics of its chunks, where they are at most 0.2 % of the payloads.
            memory: The most bytes of chunks of which only some elements are written.

        Raises:
            FileExistsError: The file exists, and it is neither replaced nor edited.
            UsageError: The dataset does not fit the file, which has other units, or texts are no labels.
            OverflowError: The type, the packing or the units of a variable, those of the file where it is edited, do not have a
                value.

        >>> import xarray, tetfile.xarray
        >>> days = xarray.Dataset({"t": ("day", [10.0, 11.0])}, {"day": [0, 1]})
        >>> days.tet.to_tet("days.tet")
        >>> days.assign_coords(day=[2, 3]).tet.to_tet("days.tet", append_dim="day")
        >>> xarray.open_dataset("days.tet")["t"].sel(day=3).item()
        11.0
        """
        if region is not None and not isinstance(region, Mapping):
            raise TypeError(f"region is a mapping of dimensions to slices, as {{'time': slice(0, 10)}}, not {region!r}")
        if region is not None and append_dim is not None:
            raise ValueError("region and append_dim exclude each other")
        storage: dict[str, Any] = {"codec": codec, "level": compression_level, "stats": stats, "memory": memory}
        if region is None and append_dim is None:
            return _write(self._dataset, path, overwrite, compute, storage)
        if not compute:
            from dask.delayed import delayed

            return delayed(_edit)(self._dataset, path, region, append_dim, storage)
        _edit(self._dataset, path, region, append_dim, storage)
        return None


def _write(
    dataset: xarray.Dataset, path: str | os.PathLike[str], overwrite: bool, compute: bool, storage: dict[str, Any]
) -> Any:
    variables, attrs = encoded_variables(dataset)
    lazy = {name: variable for name, variable in variables.items() if _is_dask(variable)}
    lazy = {name: _regular(variable) for name, variable in lazy.items()}
    labels = _labels(variables)
    specs = {
        name: _spec(lazy.get(name, variable), labels)
        for name, variable in variables.items()
        if not _is_text(variable)
    }
    memory = storage["memory"]
    how: dict[str, Any] = {
        "attrs": attrs,
        "overwrite": overwrite,
        "codec": storage["codec"] or "raw",
        "compression_level": storage["level"],
        "stats": storage["stats"],
    }
    if not lazy and compute:
        with create(path, memory=memory, **how) as out:
            for name, spec in specs.items():
                out[name] = spec
                out[name][...] = np.asarray(variables[name].data)
        return None
    if overwrite:
        discard_stale(path)
    made = plan(path, specs, **how)
    try:
        with made.part(memory=memory) as part:
            for name in specs.keys() - lazy.keys():
                part[name][...] = np.asarray(variables[name].data)
        done = _published(made, lazy)
    except BaseException:
        made.discard()
        raise
    if not compute:
        return done
    try:
        done.compute()
    except BaseException:
        made.discard()
        raise
    return None


def _published(made: WritePlan, lazy: Mapping[str, Variable]) -> Any:
    """A delayed object that writes all blocks and publishes the file."""
    import dask.array
    from dask.delayed import delayed

    sources = [variable.data for variable in lazy.values()]
    targets = [_PartTarget(made, name) for name in lazy]
    stored = None
    if sources:
        stored = dask.array.store(sources, targets, lock=False, compute=False)  # type: ignore[arg-type]
    return delayed(_publish)(made, stored)


def _publish(made: WritePlan, stored: Any) -> None:
    made.publish()


class _PartTarget:
    """Takes the blocks of a dataset, in any process, each as a part of its own."""

    def __init__(self, made: WritePlan, name: str) -> None:
        self.made = made
        self.name = name

    def __setitem__(self, key: Any, block: Any) -> None:
        with self.made.part(threads=1) as part:
            part[self.name][key] = block


def _edit(
    dataset: xarray.Dataset,
    path: str | os.PathLike[str],
    region: Mapping[str, slice] | None,
    append_dim: str | None,
    storage: dict[str, Any],
) -> None:
    def writes(file: _file.File) -> tuple[dict[str, tuple[tuple[int, ...], Any]], list[tuple[str, int, int]]]:
        variables = _encoded_as(dataset, file)
        _check_dims(file, variables)
        if append_dim is None:
            starts = {name: _inside(file.dataset(name), of, region or {}) for name, of in variables.items()}
            return {name: (start, variables[name].data) for name, start in starts.items()}, []
        grown = {name: of for name, of in variables.items() if _grows(file.dataset(name), of, append_dim)}
        _editing.check_all_grow(file, grown, append_dim)
        found, growths = {}, []
        for name, variable in grown.items():
            held, axis = file.dataset(name), variable.dims.index(append_dim)
            _editing.check_extents(held, variable.shape, axis)
            found[name] = (_editing.behind(held, axis), variable.data)
            growths.append((name, axis, variable.shape[axis]))
        return found, growths

    if append_dim is None:
        _editing.edit(path, writes, "write", storage)
    else:
        _editing.append_to(path, writes, append_dim, storage)


def _check_dims(file: _file.File, variables: Mapping[str, Variable]) -> None:
    for name, variable in variables.items():
        if name not in file:
            raise UsageError(f"the file has no dataset {name!r}: only datasets that it has are edited", dataset=name)
        held = file.dataset(name).dims or ()
        if held != variable.dims:
            raise UsageError(f"{name!r} has dimensions {variable.dims}, and {held} in the file", dataset=name)


def _grows(held: Dataset, variable: Variable, dim: str) -> bool:
    """Whether a variable has the dimension; one that does not must equal that of the file."""
    if dim in variable.dims:
        return True
    if not np.array_equal(np.asarray(variable.data), held[...], equal_nan=variable.dtype.kind in "fc"):
        message = f"{held.name!r} does not have the dimension {dim!r}, and differs from that of the file"
        raise UsageError(message, dataset=held.name)
    return False


def _inside(held: Dataset, variable: Variable, region: Mapping[str, slice]) -> tuple[int, ...]:
    """Where a variable begins in the region."""
    name = held.name
    if not any(dim in region for dim in variable.dims):
        raise UsageError(
            f"{name!r} has none of the dimensions of the region: leave it out with drop_vars({name!r})", dataset=name
        )
    first = []
    for dim, extent, old in zip(variable.dims, variable.shape, held.shape, strict=True):
        start, stop, step = region.get(str(dim), slice(None)).indices(old)
        if step != 1 or stop - start != extent:
            raise UsageError(
                f"{name!r} has {extent} positions along {dim!r}, and the region of {old} has {max(0, stop - start)}",
                dataset=name,
            )
        first.append(start)
    return tuple(first)


def _encoded_as(dataset: xarray.Dataset, file: _file.File) -> dict[str, Variable]:
    """The variables packed as those of the file are."""
    changed = dataset.copy()
    for name, variable in changed.variables.items():
        if str(name) not in file:
            continue
        held = file.dataset(str(name))
        known = {key: value for key, value in held.attrs.items() if key in _PACKING}
        for key in known.keys() & variable.attrs.keys():
            # Elements that are not decoded, or numbers that have units.
            if not _is_equal(variable.attrs[key], known[key]):
                message = f"{name!r} has {key} {variable.attrs[key]!r}, and {known[key]!r} in the file: convert it"
                raise UsageError(message, dataset=str(name))
        is_raw = not variable.attrs.keys().isdisjoint(("scale_factor", "add_offset"))
        changed[name].encoding = {"dtype": held.dtype} if is_raw else known | {"dtype": held.dtype}
        for key in () if is_raw else known:
            changed[name].attrs.pop(key, None)
    attrs = {name: file.dataset(name).attrs for name in file}
    units = units_of_bounds(attrs) | {name: each for name, each in attrs.items() if "units" in each}
    return {name: variable for name, variable in encoded_variables(changed, units)[0].items() if not _is_text(variable)}


def _is_equal(one: Any, other: Any) -> bool:
    try:
        return np.array_equal(one, other, equal_nan=True)
    except TypeError:
        return bool(np.array_equal(one, other))


def _spec(variable: Variable, labels: Mapping[str, list[str]]) -> Spec:
    dims = tuple(str(dim) for dim in variable.dims)
    known = {dim: labels[dim] for dim in dims if dim in labels}
    attrs = {str(key): value for key, value in variable.attrs.items()}
    return Spec(variable.shape, variable.dtype, chunks=_chunks(variable), dims=dims or None, labels=known, attrs=attrs)


def _chunks(variable: Variable) -> tuple[int, ...]:
    asked = variable.encoding.get("chunks") or variable.encoding.get("chunksizes")
    chosen = tuple(asked) if asked and len(asked) == variable.ndim and all(asked) else None
    if not _is_dask(variable):
        return chosen or auto_chunks(variable.shape, variable.dtype)
    blocks = variable.data.chunksize
    if chosen and all(block % chunk == 0 or block == extent for block, chunk, extent in zip(blocks, chosen, variable.shape, strict=True)):
        return chosen
    return _divided(tuple(max(1, block) for block in blocks), variable.dtype.itemsize)


def _divided(block: tuple[int, ...], item_len: int) -> tuple[int, ...]:
    """Chunks that a block consists of, along the first axes, of no more bytes than are read at once."""
    chunks = list(block)
    for axis, extent in enumerate(block):
        rest = int(np.prod(chunks[axis + 1 :], dtype=object)) * item_len
        chunks[axis] = _divisor(extent, max(1, _CHUNK_LEN_MAX // max(1, rest)))
        if chunks[axis] > 1 or rest <= _CHUNK_LEN_MAX:
            break
    return tuple(chunks)


def _divisor(extent: int, most: int) -> int:
    """The largest divisor of an extent that is at most so large."""
    pairs = ((low, extent // low) for low in range(1, isqrt(extent) + 1) if extent % low == 0)
    return max((each for pair in pairs for each in pair if each <= most), default=1)


def _regular(variable: Variable) -> Variable:
    """The variable in blocks of one shape, but for the last ones along each axis."""
    chunks = variable.data.chunks
    if all(len(set(along[:-1])) <= 1 and along[-1] <= along[0] for along in chunks):
        return variable
    return variable.chunk(dict(zip(variable.dims, (max(along) for along in chunks), strict=True)))


def _labels(variables: Mapping[str, Variable]) -> dict[str, list[str]]:
    """Texts along an axis, which are labels in the file."""
    found = {}
    for name, variable in variables.items():
        if not _is_text(variable):
            continue
        if variable.dims != (name,):
            raise UsageError(
                f"{name!r} has texts, which .tet files have as coordinates of their own dimension only: "
                f"write a .nc or .zarr file with xarray, or leave it out with drop_vars({name!r})",
                dataset=name,
            )
        if not any(name in other.dims for other in variables.values() if not _is_text(other)):
            raise UsageError(
                f"{name!r} has texts and labels no numbers, so a .tet file has no place for them: "
                f"write a .nc or .zarr file with xarray, or leave it out with drop_vars({name!r})",
                dataset=name,
            )
        found[name] = [str(text) for text in np.asarray(variable.data)]
    return found


def _is_text(variable: Variable) -> bool:
    return variable.dtype.kind in "OUST"


def _is_dask(variable: Variable) -> bool:
    return hasattr(variable.data, "dask")


def encoded(array: Any, name: str) -> dict[str, tuple[Spec, Any]]:
    """An array of xarray and its coordinates, as datasets of a file."""
    variables, _ = encoded_variables(array.to_dataset(name=name))
    labels = _labels(variables)
    shown = {each: variable for each, variable in variables.items() if not _is_text(variable)}
    return {each: (_spec(variable, labels), np.asarray(variable.data)) for each, variable in shown.items()}


__all__ = ["DatasetAccessor", "encoded"]
