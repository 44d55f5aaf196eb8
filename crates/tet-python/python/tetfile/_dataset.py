"""A dataset, or a part of one."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _attrs, _html, _index, _labels, _repr, _tetfile
from ._errors import NotFoundError
from ._reductions import Progress, Reductions

if TYPE_CHECKING:
    import xarray

    from ._file import File

__all__ = ["Dataset"]


class Dataset(Reductions):
    """An array in a file, or a part of it, read when it is indexed.

    Indexing reads and gives arrays of NumPy, with NumPy's meaning for every key. :meth:`isel` and :meth:`sel` select
    without reading and give a smaller ``Dataset``. Reductions such as :meth:`mean` are computed chunk by chunk, in
    bounded memory.

    Threads may read one dataset at the same time. A dataset pickles by the path of its file and what the file was.

    >>> temp = tetfile.open("climate.tet")["temp"]
    >>> temp
    <tetfile.Dataset temp: float32 (time: 12, lat: 4, lon: 8), chunks (12, 4, 8)>
    >>> temp[0, :2, ::4]
    array([[288., 292.],
           [289., 293.]], dtype=float32)
    >>> temp.sel(lat=30.0).isel(lon=0).mean()
    np.float64(296.5)
    """

    __slots__ = ("__weakref__", "_core", "_file")

    def __init__(self, file: File, core: _tetfile.Selected) -> None:
        self._file = file
        self._core = core

    @property
    def name(self) -> str:
        """The name in the file, with the groups that it is in.

        >>> tetfile.open("climate.tet")["temp"].name
        'temp'
        """
        return self._core.name

    @property
    def file(self) -> File:
        """The file.

        >>> tetfile.open("climate.tet")["temp"].file.format
        'tet'
        """
        return self._file

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents.

        Raises:
            DamagedError: They are not known, as :attr:`fault` says; or the error of another reason. So do :attr:`ndim`,
                :attr:`size`, :attr:`nbytes`, :attr:`chunks` and ``len``.

        >>> tetfile.open("climate.tet")["temp"].shape
        (12, 4, 8)
        """
        return self._core.shape

    @property
    def ndim(self) -> int:
        """The number of axes.

        >>> tetfile.open("climate.tet")["temp"].ndim
        3
        """
        return len(self._core.shape)

    @property
    def size(self) -> int:
        """The number of elements.

        >>> tetfile.open("climate.tet")["temp"].size
        384
        """
        return int(np.prod(self.shape, dtype=object))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements in NumPy: ``object`` for texts.

        ``bfloat16`` and ``float8`` are types of the package ``ml_dtypes``.

        Raises:
            UnsupportedError: NumPy has no such type; :attr:`dtype_name` says which it is.

        >>> tetfile.open("climate.tet")["temp"].dtype
        dtype('float32')
        """
        return self._core.dtype

    @property
    def dtype_name(self) -> str:
        """How the type of the elements is called, whether it can be read or not.

        >>> tetfile.open("climate.tet")["temp"].dtype_name
        'float32'
        """
        return self._core.dtype_name

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory.

        >>> tetfile.open("climate.tet")["temp"].nbytes
        1536
        """
        return self.size * self._core.dtype.itemsize

    @property
    def dims(self) -> tuple[str, ...] | None:
        """The names of the axes, or ``None`` where the file has none, or they are not known.

        >>> tetfile.open("climate.tet")["temp"].dims
        ('time', 'lat', 'lon')
        """
        return self._core.dims

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The extents of a chunk, or ``None`` where the array is stored in one piece.

        >>> tetfile.open("climate.nc")["temp"].chunks
        (5, 4, 4)
        """
        chunks = self._core.chunks
        return chunks if self._core.is_chunked else None

    @property
    def attrs(self) -> _attrs.Attrs:
        """The attributes, read-only: text, scalars and arrays of NumPy, or what their JSON is.

        >>> tetfile.open("climate.tet")["temp"].attrs["units"]
        'K'
        """
        return _attrs.values(self._core.attrs())

    @property
    def fault(self) -> str | None:
        """Why the dataset cannot be read, or ``None`` where it can.

        >>> tetfile.open("climate.tet")["temp"].fault
        """
        return self._core.fault

    def __len__(self) -> int:
        if not self._core.shape:
            raise TypeError("len() of unsized object")
        return self._core.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._core.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[at] for at in range(len(self)))

    def __bool__(self) -> bool:
        return True

    def __setitem__(self, key: Any, elements: Any) -> None:
        """Raises: files are read, and their elements are changed by functions that write an edited copy."""
        raise TypeError(
            "the elements of an open file are read-only: read them into an array, or write a region with "
            "xarray's ds.tet.to_tet(path, region=...), elements at the end with tetfile.append"
        )

    def __getitem__(self, key: Any) -> Any:
        """Reads the elements of a key into an array of NumPy.

        Integers, slices of any step, ``...``, ``np.newaxis``, and arrays of integers or booleans mean what they mean in
        NumPy. Only chunks that are touched are read.

        Raises:
            IndexError: As NumPy.
            DamagedError: A chunk is damaged.
            LimitError: The result has more than 16 GiB.

        >>> temp = tetfile.open("climate.tet")["temp"]
        >>> temp[-1, 0, [7, 0]]
        array([306., 299.], dtype=float32)
        """
        found = _tetfile.get(self._core, key)
        return self._picked(key) if found is NotImplemented else found

    @property
    def oindex(self) -> Outer:
        """Indexing in which each array counts for its own axis, as in zarr: ``d.oindex[[1, 5], :, mask]``.

        Raises:
            IndexError: An array has more than one axis.

        >>> tetfile.open("climate.tet")["temp"].oindex[[0, 11], 0, [True, False] * 4].shape
        (2, 4)
        """
        return Outer(self._core)

    def read(self, key: Any = ..., *, progress: Progress = None) -> Any:
        """Reads as indexing does, and calls ``progress`` with the bytes that are done and the bytes in all.

        >>> tetfile.open("climate.tet")["temp"].read((0, 0)).shape
        (8,)
        """
        found = _tetfile.get(self._core, key, progress)
        return self._picked(key, progress) if found is NotImplemented else found

    def _picked(self, key: Any, progress: Progress = None) -> Any:
        """The elements of a key with arrays; one of names is for a structured array, whose members are datasets here."""
        names = [key] if isinstance(key, str) else key if isinstance(key, list) else []
        if names and all(isinstance(name, str) for name in names):
            self._check_members(names)
        return _index.read(self._core, key, progress)

    def _check_members(self, names: list[str]) -> None:
        """Raises where the members of these names are."""
        found = [f"f[{name!r}]" for name in (f"{self.name}.{name}" for name in names) if self._is_member(name)]
        if found:
            message = f"{self.name!r} has no key {names[0]!r}; did you mean {' and '.join(found)}?"
            raise NotFoundError(message, dataset=self.name)
        if self._core.dtype_name.startswith("compound"):
            self._file.dataset(f"{self.name}.{names[0]}")
        if self.fault is not None:
            self.read()

    def _is_member(self, name: str) -> bool:
        try:
            self._file._core.dataset(name)
        except NotFoundError:
            return False
        return True

    def read_into(self, out: npt.NDArray[Any], *, progress: Progress = None) -> None:
        """Reads all elements into memory that exists: ``out`` has the shape, and is contiguous and writable.

        ``out`` is of the type of the dataset; for ``bfloat16`` and ``float8`` it may also be of unsigned integers of
        the same width, which then hold the bits.

        Raises:
            ValueError: ``out`` has another shape or type, or is not contiguous.

        >>> month = np.empty(12, "int32")
        >>> tetfile.open("climate.tet")["month"].read_into(month)
        >>> month[-1]
        np.int32(12)
        """
        memory = self._core.memory_dtype
        if out.shape != self.shape:
            raise ValueError(f"out is of shape {out.shape}, the selection of {self.shape}")
        if out.dtype not in (memory, self._core.dtype):
            raise ValueError(f"out is of {out.dtype}, the dataset of {self._core.dtype}")
        if self._core.picks:
            out[...] = self.read(progress=progress).view(out.dtype)
            return
        _tetfile.read_into(self._core, out if out.dtype == memory else out.view(memory), progress)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("elements of a file cannot be had without a copy")
        array = np.asarray(self[...])
        return array if dtype is None else array.astype(dtype, copy=False)

    @property
    def values(self) -> npt.NDArray[Any]:
        """All elements, read: what ``dataset[...]`` gives, as an array also of one element.

        >>> tetfile.open("climate.tet")["lat"].values
        array([ 0., 10., 20., 30.], dtype=float32)
        """
        return np.asarray(self[...])

    def to_xarray(self) -> xarray.DataArray:
        """The elements, read, with the labels of their axes and the attributes, as xarray has them.

        Values are those that indexing gives: open the file with ``decoded=True`` for those that are packed.

        Raises:
            ImportError: The package xarray is missing.

        >>> tetfile.open("climate.tet")["temp"].sel(time="2024-03", lat=20.0).to_xarray().sel(lon=45.0).values
        array([293.], dtype=float32)
        """
        from xarray import DataArray

        dims = _labels.names(self._core)
        found = ((at, _labels.along(self._core, at)) for at in range(len(dims)))
        coords = {
            dims[at]: (dims[at], labels, self._attrs_of_labels(at) if labels.dtype.kind in "iuf" else {})
            for at, labels in found
            if labels is not None
        }
        return DataArray(self.values, coords, dims, name=self.name.rpartition("/")[2], attrs=dict(self.attrs))

    def _attrs_of_labels(self, axis: int) -> Mapping[str, Any]:
        """The attributes of the coordinate along an axis."""
        coordinate = _tetfile.coordinate(self._core, axis)
        return {} if coordinate is None else _attrs.values(coordinate.attrs())

    def memmap(self) -> npt.NDArray[Any]:
        """The elements in a memory map of the file: a read-only array, of which only pages that are used are read.

        It is there for arrays that the file stores as they are in memory, in one piece, and for parts of them. Numbers
        keep the byte order of the file. The array keeps the map; closing the file does not end it. Bytes are not
        compared with checksums, and what another program writes to the file is seen in the array: if it shortens the
        file, an access to the bytes that are gone ends the process.

        Raises:
            UnsupportedError: The elements are compressed, in chunks, column-major, or made when they are read.
            ChangedError: The file changed since it was opened.

        >>> temp = tetfile.open("climate.tet")["temp"].memmap()
        >>> temp[0, 0, :2], temp.flags.writeable
        (memmap([288., 289.], dtype=float32), False)
        """
        from . import _mapped

        return _mapped.view(self, self.dtype, "r")

    def __dlpack__(self, *, copy: bool | None = None, **how: Any) -> Any:
        """A capsule of DLPack: of a copy, or with ``copy=False`` of the memory map, as :meth:`memmap` has it."""
        return (self.memmap() if copy is False else np.asarray(self[...])).__dlpack__(copy=copy, **how)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The memory of the processor."""
        return np.empty(0).__dlpack_device__()

    def isel(self, positions: Mapping[str, Any] | None = None, /, **by_name: Any) -> Dataset:
        """The part at these positions, by names of axes; nothing is read.

        An integer takes one position and drops the axis, a slice takes a range of any step, and a list or an array
        takes positions in its order, or those where booleans are true. Lists of several axes count each for its own axis.
        ``positions`` is a mapping of names, for those that are no words of Python.

        Raises:
            NotFoundError: No axis has the name.
            IndexError: A position is out of range.

        >>> temp = tetfile.open("climate.tet")["temp"]
        >>> temp.isel(time=0, lat=slice(1, 3))
        <tetfile.Dataset temp: float32 (lat: 2, lon: 8), part of (12, 4, 8)>
        >>> temp.isel(time=[11, 0], lon=slice(None, None, -1))[:, 0, 0]
        array([306., 295.], dtype=float32)
        """
        items = self._whole()
        for name, position in _by_name(positions, by_name).items():
            axis = self._axis_of(name)
            items[axis] = _index.positions(position, self.shape[axis], axis)
        return Dataset(self._file, _tetfile.select(self._core, items))

    def sel(
        self,
        labels: Mapping[str, Any] | None = None,
        /,
        *,
        method: Literal["nearest"] | None = None,
        tolerance: float | np.timedelta64 | datetime.timedelta | None = None,
        **by_name: Any,
    ) -> Dataset:
        """The part of these labels, by names of axes; labels are read, elements are not.

        A label takes the position that has it and drops the axis; where several positions have it, it takes all of them
        and keeps the axis. A slice takes the labels from its start through its stop, which is included, and a list
        takes one position for each label. All of this is as in xarray.

        Axes whose labels are numbers since a date, as ``days since 2024-01-01``, also take dates: text as ISO 8601
        writes them, :class:`numpy.datetime64`, :class:`datetime.datetime`, and those of pandas and cftime. Text that is
        less precise than the labels takes all times within it: ``time="2024-01"`` is a month.

        Args:
            labels: A mapping of names to labels, for names that are no words of Python.
            method: ``"nearest"`` takes the nearest number or time, and of two that are as near the larger one.
            tolerance: How far the nearest label may be, in the units of the labels, or as a difference of times.
            by_name: A label, a slice or a list for each name.

        Raises:
            NotFoundError: No axis has the name, or no position the label.
            ImportError: The calendar of a time axis needs the package cftime.

        >>> temp = tetfile.open("climate.tet")["temp"]
        >>> temp.sel(lat=slice(10, 30))
        <tetfile.Dataset temp: float32 (time: 12, lat: 3, lon: 8), part of (12, 4, 8)>
        >>> temp.sel(method="nearest", lat=12.3).sel(lon=0.0)[:2]
        array([289., 290.], dtype=float32)
        >>> temp.sel(time="2024-03", lat=[30, 0], lon=45)[...]
        array([[294., 291.]], dtype=float32)
        >>> temp.sel(time=slice("2024-02", "2024-05")).shape
        (3, 4, 8)
        """
        if method not in (None, "nearest"):
            raise ValueError(f"method={method!r} is not None or 'nearest'")
        if tolerance is not None and method is None:
            raise ValueError("a tolerance is one of method='nearest'")
        items = self._whole()
        for name, label in _by_name(labels, by_name).items():
            axis = self._axis_of(name)
            items[axis] = self._index(axis).find(label, method, tolerance)
        return Dataset(self._file, _tetfile.select(self._core, items))

    def select(self, text: str) -> Dataset:
        """The part that a selection in text means, as ``tet cat`` and query documents take it; nothing but labels is read.

        Without the name of an axis positions, as in NumPy; with one labels, both ends included; ``#`` after the name
        takes positions, ``~`` the nearest label; brackets are lists, and ``time.month=6,7,8`` are the times of these months.
        Longitudes of a range have the labels that were asked for, as -20 of a file with 340. What was taken for granted, such as
        the nearest label, is a warning.

        Raises:
            ValueError: The text is no selection, does not fit the dataset, or this is a part of one already.

        >>> temp = tetfile.open("climate.tet")["temp"]
        >>> temp.select("lat=10:30, time=2024-03:2024-04")
        <tetfile.Dataset temp: float32 (time: 2, lat: 3, lon: 8), part of (12, 4, 8)>
        >>> temp.select("time#-1, lat=10, lon=0:45")[...]
        array([300., 301.], dtype=float32)
        >>> temp.select("time=[2024-12,2024-01], lat=10, lon=0")[...]
        array([300., 289., 290.], dtype=float32)
        """
        core, notes = _tetfile.select_text(self._core, text)
        for note in notes:
            warnings.warn(f"{self.name}: {note}", stacklevel=2)
        return Dataset(self._file, core)

    def _whole(self) -> list[int | _index.Pick]:
        return [(0, extent, 1) for extent in self.shape]

    def _index(self, axis: int) -> _labels.Index:
        found = _labels.index(self._core, axis)
        if found is None:
            dims = self.dims
            what = repr(dims[axis]) if dims else axis
            message = f"axis {what} of {self.name!r} has no labels: select by positions, with isel"
            raise NotFoundError(message, dataset=self.name)
        return found

    def labels(self, dim: str | int) -> npt.NDArray[Any]:
        """The labels along an axis: numbers, or texts as objects.

        They are those that the dataset has, or else the elements of the dataset that has the name of the axis. Times
        are the numbers that are stored; in a file that was opened with ``decoded=True`` they are ``datetime64``, or objects
        of the package cftime where the calendar has other days.

        Raises:
            NotFoundError: There is no such axis, or it has no labels.
            ImportError: The calendar needs the package cftime.

        >>> tetfile.open("climate.tet")["temp"].labels("lat")
        array([ 0., 10., 20., 30.], dtype=float32)
        >>> tetfile.open("climate.tet", decoded=True)["temp"].labels("time")[:2].astype("datetime64[h]")
        array(['2024-01-01T00', '2024-01-31T12'], dtype='datetime64[h]')
        """
        found = self._index(self._axis_of(dim))
        return found.shown(self._core.is_decoded)

    @property
    def coords(self) -> dict[str, npt.NDArray[Any]]:
        """The labels of all axes that have a name and labels, as :meth:`labels` gives them.

        >>> list(tetfile.open("climate.tet")["temp"].coords)
        ['time', 'lat', 'lon']
        """
        found = {dim: _labels.along(self._core, at) for at, dim in enumerate(self.dims or ())}
        return {dim: labels for dim, labels in found.items() if labels is not None}

    def iter_chunks(self) -> Iterator[tuple[slice, ...]]:
        """Keys that select one chunk each, in row-major order: ``for key in d.iter_chunks(): d[key]``.

        >>> temp = tetfile.open("climate.nc")["temp"]
        >>> keys = list(temp.iter_chunks())
        >>> len(keys), temp[keys[-1]].shape
        (6, (2, 4, 4))
        """
        picks = dict(self._core.picks)
        kept = [(axis, slice) for axis, slice in enumerate(self._core.slices) if slice[3]]
        cuts = []
        for chunk, (axis, (start, stop, step, _)) in zip(self._core.chunks, kept, strict=True):
            if axis in picks:
                edges = _edges_of_picks(picks[axis].astype(np.intp) * step + start, chunk)
            else:
                edges = _edges(start, len(range(start, stop, step)), step, chunk)
            cuts.append([slice(*pair) for pair in pairwise(edges)])
        return iter(product(*cuts))

    def __repr__(self) -> str:
        return _repr.dataset(self)

    def _repr_html_(self) -> str:
        return _html.dataset(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._file, self._core.key, self._core.slices, self._core.picks, self._core.turns)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        picks = [(axis, positions.tobytes()) for axis, positions in self._core.picks]
        return ("tetfile.Dataset", self._file.__dask_tokenize__(), self._core.key, self._core.slices, picks, self._core.turns)


def _by_name(given: Any, by_name: dict[str, Any]) -> dict[str, Any]:
    """What is selected of each axis, of both ways to name axes."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"a selection is by names of axes, as time=0 or {{'time': 0}}, not {given!r}")
    return {**(given or {}), **by_name}


class Outer:
    """Indexing in which each array counts for its own axis."""

    __slots__ = ("_core",)

    def __init__(self, core: _tetfile.Selected) -> None:
        self._core = core

    def __getitem__(self, key: Any) -> Any:
        return _index.outer(self._core, key)


def _edges(start: int, count: int, step: int, chunk: int) -> list[int]:
    """Positions of a slice at which a chunk begins, and its ends."""
    ends = {-(-(edge - start) // step) for edge in range(start // chunk * chunk, start + count * step, chunk)}
    return sorted({0, count} | {end for end in ends if 0 < end < count})


def _edges_of_picks(positions: npt.NDArray[np.intp], chunk: int) -> list[int]:
    """Picked positions at which another chunk begins, and their ends."""
    inner = np.flatnonzero(np.diff(positions // chunk)) + 1
    return [0, *inner.tolist(), len(positions)] if len(positions) else [0]


def _restored(
    file: File, key: str, slices: _tetfile._Slices, picks: _tetfile._Picks = (), turns: _tetfile._Turns = ()
) -> Dataset:
    core = file._core.dataset(key).with_slices(slices)
    if picks:
        positions: dict[int, Any] = dict(picks)
        kept = [axis for axis, (*_, is_kept) in enumerate(slices) if is_kept]
        items = [positions.get(axis, (0, extent, 1)) for axis, extent in zip(kept, core.shape, strict=True)]
        core = _tetfile.select(core, items).with_turns(turns)
    return Dataset(file, core)
