"""New files, written dataset by dataset or region by region."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias

import numpy as np

from . import _functions, _sources, _tetfile, _times
from ._attrs import NewAttrs, PlannedAttrs
from ._dataset import Dataset
from ._elements import array_of, elements_of
from ._errors import NotFoundError, UnsupportedError, UsageError
from ._places import exists, new_place, scratch_folder
from ._plan import Spec, attribute, auto_chunks, document, physical
from ._reductions import Progress

__all__ = ["Target", "Writer", "create"]

Codec: TypeAlias = Literal["raw", "zstd"]
# The attributes by which dates and missing elements become numbers.
_OF_TIMES = ("units", "calendar")
_OF_MISSING = ("_FillValue", "missing_value")


def create(
    path: str | os.PathLike[str],
    datasets: Mapping[str, Any] | None = None,
    *,
    attrs: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    codec: Codec = "raw",
    compression_level: int | None = None,
    stats: bool = True,
    memory: int | str | None = None,
    threads: int | None = None,
) -> Writer:
    """Begins a new file, which appears when it is committed: complete, or not at all.

    Datasets are assigned by name: arrays of NumPy, datasets of open files and parts of them, those of h5py, netCDF4 and zarr with
    their attributes, arrays of xarray and of pandas with their labels, iterators of blocks along the first axis, or a
    :class:`Spec` whose regions are written afterwards, in any order and from any thread. Elements that are
    written are kept in a scratch file in the folder of ``path``, compressed. Masked elements become NaN, or the fill value of an
    array of integers, which is then the attribute ``_FillValue``.

    Args:
        path: The file. ``x.tet`` is written as it is; another suffix, as of :func:`convert`, is converted to.
        datasets: The first datasets, such as those of an open file or a dataset of xarray, whose attributes the file has then.
        attrs: The attributes of the file, more than those.
        overwrite: Whether a file that exists is replaced.
        codec: How chunks are compressed.
        compression_level: The level of zstd, 3 unless it is given.
        stats: Whether the file gets statistics of its chunks, where they are at most 0.2 % of the payloads.
        memory: The most bytes of chunks of which only some elements are written, 1 GiB unless it is given.
        threads: Threads that compress, all processors unless it is given.

    Raises:
        OSError: The system refuses to write in the folder.

    >>> with tetfile.create("new.tet", attrs={"title": "Waves"}) as f:
    ...     f["height"] = tetfile.Spec((3, 4), "float32", chunks=(1, 4), dims=("time", "x"))
    ...     for time in range(3):
    ...         f["height"][time] = np.full(4, time)
    ...     f["x"] = np.arange(4.0)
    >>> tetfile.open("new.tet")["height"][:, 0]
    array([0., 1., 2.], dtype=float32)
    """
    if datasets is not None and not isinstance(datasets, Mapping):
        raise TypeError(f"datasets is a mapping of names to arrays, not {type(datasets).__name__}")
    about = {**getattr(datasets, "attrs", {}), **(attrs or {})}
    writer = Writer(path, about, overwrite, codec, compression_level, stats, memory, threads)
    for name, value in (datasets or {}).items():
        writer[name] = value
    return writer


class Targets(Mapping[str, "Target"]):
    """Datasets that take elements, by name."""

    _where = "is written"
    _regions: _tetfile.Regions
    _targets: dict[str, Target]

    def __getitem__(self, name: str) -> Target:
        try:
            return self._targets[name]
        except KeyError:
            raise NotFoundError(f"no dataset {name!r} {self._where}", dataset=name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets)

    def __len__(self) -> int:
        return len(self._targets)


class Writer(Targets):
    """A file that is being written: a mapping of names to datasets that take elements.

    Attributes are set until it is committed: ``f.attrs[...]`` of the file, ``f["x"].attrs[...]`` of a dataset, and
    ``f.attrs["group/name"]`` of a group.

    It is committed at the end of a ``with`` block that raises nothing, or by :meth:`commit`; before that nothing is at its
    path. Threads may write different regions at the same time.

    >>> f = tetfile.create("squares.tet")
    >>> f["squares"] = (np.arange(3) ** 2 for _ in range(2))
    >>> f["squares"].attrs["units"] = "m2"
    >>> os.path.exists("squares.tet")
    False
    >>> f.commit()
    >>> tetfile.open("squares.tet")["squares"].shape
    (6,)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        attrs: Mapping[str, Any] | None,
        overwrite: bool,
        codec: Codec,
        level: int | None,
        stats: bool,
        memory: int | str | None,
        threads: int | None,
    ) -> None:
        self._path = new_place(path)
        if not overwrite and exists(self._path):
            raise FileExistsError(17, "File exists: pass overwrite=True to replace it", self._path)
        if not self._path.endswith(".tet"):
            _tetfile.check_output(self._path)
        self._overwrite = overwrite
        self._storage = {"codec": codec, "level": level}
        self._stats = stats
        self._threads = threads
        self._targets: dict[str, Target] = {}
        self.attrs: MutableMapping[str, Any] = NewAttrs(dict(attrs or {}), self._check_attr)
        self._regions = _tetfile.Regions.scratch(
            document({}, self.attrs, self._storage), scratch_folder(self._path), memory, threads
        )
        self._is_open = True

    @property
    def path(self) -> str:
        """The path of the file, absolute, or its URL.

        >>> f = tetfile.create("never.tet")
        >>> os.path.basename(f.path)
        'never.tet'
        >>> f.discard()
        """
        return self._path

    def __setitem__(self, name: str, value: Any) -> None:
        """Adds a dataset: all its elements, or a :class:`Spec` of those that follow."""
        if not isinstance(name, str):
            raise TypeError(f"the name of a dataset is text, not {type(name).__name__}")
        if name in self._targets:
            raise UsageError(f"dataset {name!r} is there already: write to a region of it", dataset=name)
        try:
            self._assign(name, _sources.labeled(value))
        except UnsupportedError as error:
            if error.dataset is not None:
                raise
            raise UnsupportedError(f"dataset {name!r}: {error}", dataset=name) from None

    def __getitem__(self, name: str) -> Target:
        if name not in self._targets and any(each.startswith(f"{name}/") for each in self._targets):
            message = f"{name!r} is a group: its attributes are those of the file with its path, as attrs[{f'{name}/source'!r}]"
            raise NotFoundError(message, dataset=name)
        return super().__getitem__(name)

    def _assign(self, name: str, value: Any) -> None:
        if isinstance(value, Spec):
            self._add(name, value)
        elif isinstance(value, Dataset):
            self._add_dataset(name, value)
        elif hasattr(value, "dims") and hasattr(value, "values"):
            self._add_labeled(name, value)
        elif isinstance(value, Iterator) or (isinstance(value, Iterable) and not _is_array(value)):
            self._add_blocks(name, iter(value))
        else:
            found = _sources.of_others(value)
            array = array_of(value) if found is None else found.elements
            attrs = _sources.attrs_of(array, name, whole=True) if found is None else found.attrs
            dims = None if found is None else found.dims
            with self._filling(name, Spec(array.shape, array.dtype, dims=dims, attrs=attrs)) as target:
                target[...] = array

    def _add(self, name: str, spec: Spec) -> Target:
        self._check_open()
        one = document({name: spec}, {}, self._storage)
        target = _NewTarget(self._regions, name, spec, self._regions.add(one), self._check_attr)
        self._targets[name] = target
        return target

    @contextmanager
    def _filling(self, name: str, spec: Spec) -> Iterator[Target]:
        """A new dataset, which is gone if its elements cannot be written."""
        target = self._add(name, spec)
        try:
            yield target
        except BaseException:
            self._regions.forget(target._number)
            self._targets.pop(name, None)
            raise

    def _add_dataset(self, name: str, value: Dataset) -> None:
        """A dataset of a file, or a part of one, chunk by chunk."""
        spec = Spec(value.shape, value.dtype, chunks=value.chunks, dims=value.dims, attrs=dict(value.attrs))
        with self._filling(name, spec) as target:
            for key in value.iter_chunks():
                target[key] = value[key]

    def _add_labeled(self, name: str, value: Any) -> None:
        """An array of xarray, with its coordinates along its own axes."""
        from ._to_tet import encoded

        with ExitStack() as filling:
            for each, (spec, array) in encoded(value, name).items():
                if each == name or each not in self._targets:
                    filling.enter_context(self._filling(each, spec))[...] = array

    def _add_blocks(self, name: str, blocks: Iterator[Any]) -> None:
        """Blocks one after the other along the first axis; how many there are shows at the end."""
        first = array_of(next(blocks, None))
        if first.dtype == object or first.ndim == 0:
            raise UsageError(f"the blocks of {name!r} are not arrays with at least one axis", dataset=name)
        rest, attrs = first.shape[1:], _sources.attrs_of(first, name, whole=False)
        row_len = max(1, int(np.prod(rest, dtype=object)) * first.dtype.itemsize)
        # More than any file holds; the layout counts bytes and chunks in 64 bits.
        extent = (1 << 55) // row_len
        spec = Spec((extent, *rest), first.dtype, chunks=auto_chunks(first.shape, first.dtype), attrs=attrs)
        with self._filling(name, spec) as target:
            at = 0
            block: Any = first
            while block is not None:
                array = array_of(block)
                if array.shape[1:] != rest:
                    raise UsageError(f"a block of {name!r} has shape {array.shape}, the first one {first.shape}")
                target[at : at + len(array)] = array
                at += len(array)
                block = next(blocks, None)
            self._regions.truncate(target._number, at)
            target.spec = Spec((at, *rest), first.dtype, chunks=spec.chunks, attrs=attrs)

    def commit(self, progress: Progress = None) -> None:
        """Writes the file and puts it in its place.

        Raises:
            UsageError: Elements are missing; the message names their chunks.
            FileExistsError: The file exists, and ``overwrite`` is not set.
            OSError: The system refuses to write.

        >>> f = tetfile.create("half.tet", {"x": tetfile.Spec((4,), "int32", chunks=(2,))})
        >>> f["x"][:2] = [1, 2]
        >>> f.commit()
        Traceback (most recent call last):
            ...
        tetfile._errors.UsageError: 1 chunk is not written: [1] of "x"
        >>> f["x"][2:] = [3, 4]
        >>> f.commit()
        """
        self._check_open()
        specs = {name: target.spec for name, target in self._targets.items()}
        plan = document(specs, self.attrs, self._storage)
        if self._path.endswith(".tet"):
            self._regions.publish((plan, self._numbers()), self._path, (self._overwrite, self._stats), "create", progress)
        else:
            self._convert(plan, progress)
        self._is_open = False

    def _convert(self, plan: str, progress: Progress) -> None:
        with tempfile.TemporaryDirectory(prefix=f".{os.path.basename(self._path)}.", dir=scratch_folder(self._path)) as folder:
            between = Path(folder) / "all.tet"
            self._regions.publish((plan, self._numbers()), between, (False, self._stats), "create")
            codec = None if self._storage["codec"] == "raw" else self._storage["codec"]
            _functions.convert(
                between,
                self._path,
                overwrite=self._overwrite,
                codec=codec,  # type: ignore[arg-type]
                compression_level=self._storage["level"],  # type: ignore[arg-type]
                stats=self._stats,
                threads=self._threads,
                progress=progress,
            )

    def _numbers(self) -> list[int]:
        return [target._number for target in self._targets.values()]

    def discard(self) -> None:
        """Gives up the file; nothing is left of it.

        >>> f = tetfile.create("never.tet", {"x": np.zeros(3)})
        >>> f.discard()
        >>> os.path.exists("never.tet")
        False
        """
        self._regions.discard()
        self._is_open = False

    def _check_attr(self, name: str, value: Any) -> None:
        self._check_open()
        attribute(name, value)

    def _check_open(self) -> None:
        if not self._is_open:
            raise ValueError("the file is written already, or given up")

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._is_open:
            return
        if kind is not None:
            self.discard()
            return
        try:
            self.commit()
        except BaseException:
            self.discard()
            raise

    def __repr__(self) -> str:
        state = f"{len(self)} datasets" if self._is_open else "closed"
        return f"<tetfile.Writer {self._path!r}: {state}>"


class Target:
    """A dataset that is being written: ``target[key] = elements``.

    Keys are integers, slices without steps, and ``...``. Elements are broadcast and converted as NumPy does, but those that the
    type does not have raise :class:`OverflowError`: fractions of integers, infinities that would be made, times between those
    that the dataset counts. Dates become numbers of the units of the dataset, masked elements its ``_FillValue``. Regions that cover whole chunks are
    compressed and written at once; of others the elements stay in memory until their chunk is complete.

    >>> with tetfile.create("ones.tet") as f:
    ...     f["ones"] = tetfile.Spec((2, 3), "int8", fill=1)
    ...     f["ones"][1, 1:] = 2
    >>> tetfile.open("ones.tet")["ones"][...]
    array([[1, 1, 1],
           [1, 2, 2]], dtype=int8)
    """

    __slots__ = ("_number", "_regions", "name", "spec")

    def __init__(self, regions: _tetfile.Regions, name: str, spec: Spec, number: int) -> None:
        self._regions = regions
        self._number = number
        self.name = name
        self.spec = spec

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents.

        >>> with tetfile.create("shape.tet", {"zeros": np.zeros((2, 3))}) as f:
        ...     f["zeros"].shape
        (2, 3)
        """
        return self.spec.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements.

        >>> with tetfile.create("zeros.tet", {"zeros": np.zeros(2)}, overwrite=True) as f:
        ...     f["zeros"].dtype
        dtype('float64')
        """
        return self.spec.dtype

    @property
    def attrs(self) -> MutableMapping[str, Any]:
        """The attributes: those of the Spec, and those that are set before the file is committed. In a part of a plan they
        are those of the plan, and read-only.

        Raises:
            UsageError: Elements are stored by what an attribute was, as dates by ``units``, and it is changed.

        >>> with tetfile.create("zeros.tet", {"zeros": np.zeros(2)}, overwrite=True) as f:
        ...     f["zeros"].attrs["units"] = "m"
        >>> tetfile.open("zeros.tet")["zeros"].attrs
        {'units': 'm'}
        """
        return PlannedAttrs(self.spec.attrs)

    @property
    def dims(self) -> tuple[str, ...] | None:
        """The names of the axes, or ``None`` where they have none.

        >>> with tetfile.create("zeros.tet", {"zeros": np.zeros(2)}, overwrite=True) as f:
        ...     f["zeros"].dims
        """
        return self.spec.dims

    @property
    def ndim(self) -> int:
        """The number of axes.

        >>> with tetfile.create("zeros.tet", {"zeros": np.zeros(2)}, overwrite=True) as f:
        ...     f["zeros"].ndim
        1
        """
        return len(self.spec.shape)

    def __setitem__(self, key: Any, elements: Any) -> None:
        start, extents, shown = _region(key, self.spec.shape)
        found = elements_of(elements, self.spec.dtype, self.spec.attrs, self.name)
        try:
            array = np.broadcast_to(found, shown).reshape(extents)
        except ValueError:
            text = f"could not broadcast elements of shape {found.shape} into a region of shape {shown} of {self.name!r}"
            raise ValueError(text) from None
        stored, inner = physical(array)
        if not self.spec.shape:
            start, extents = [0], [1]
        self._regions.write(self._number, start + [0] * len(inner), extents + inner, stored)


class _NewTarget(Target):
    """A dataset of a file that one process writes, whose attributes change until the file is committed."""

    __slots__ = ("_check", "_is_begun")

    def __init__(
        self, regions: _tetfile.Regions, name: str, spec: Spec, number: int, check: Callable[[str, Any], None]
    ) -> None:
        # A Spec may be that of several datasets.
        super().__init__(regions, name, replace(spec), number)
        self._check = check
        self._is_begun = spec.fill is not None

    @property
    def attrs(self) -> MutableMapping[str, Any]:
        held: Any = self.spec.attrs
        return NewAttrs(held, self._check_attr)

    def __setitem__(self, key: Any, elements: Any) -> None:
        self._is_begun = True
        super().__setitem__(key, elements)

    def _check_attr(self, name: str, value: Any) -> None:
        self._check(name, value)
        known = self.spec.attrs
        if not self._is_begun or (name in known and value is not None and attribute(name, known[name]) == attribute(name, value)):
            return
        if (name in _OF_TIMES and self._counts_times()) or (name in _OF_MISSING and (name in known or self.dtype.kind in "mM")):
            message = f"{self.name!r} has elements that are stored by its {name}: set it in the Spec, or before they are written"
            raise UsageError(message, dataset=self.name)

    def _counts_times(self) -> bool:
        units = self.spec.attrs.get("units")
        return self.dtype.kind in "mM" or _times.length(units) is not None or _times.units(dict(self.spec.attrs)) is not None


def _region(key: Any, shape: tuple[int, ...]) -> tuple[list[int], list[int], tuple[int, ...]]:
    """Start and extents of a key, and the shape that NumPy has for it."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if any(part is Ellipsis for part in parts):
        at = next(nth for nth, part in enumerate(parts) if part is Ellipsis)
        parts[at : at + 1] = [slice(None)] * (len(shape) - len(parts) + 1)
    parts += [slice(None)] * (len(shape) - len(parts))
    if len(parts) != len(shape):
        raise IndexError(f"too many indices: the dataset is {len(shape)}-dimensional")
    start, extents, shown = [], [], []
    for axis, (part, extent) in enumerate(zip(parts, shape, strict=True)):
        if isinstance(part, slice):
            first, stop, step = part.indices(extent)
            if step != 1:
                raise UsageError("regions are written without steps: pass slices of step 1")
            if part.stop is not None and part.stop > extent:
                raise IndexError(f"stop {part.stop} is out of range for axis {axis} with size {extent}")
            start.append(first)
            extents.append(max(0, stop - first))
            shown.append(extents[-1])
        elif isinstance(part, (int, np.integer)) and not isinstance(part, bool):
            number = int(part)
            if not -extent <= number < extent:
                raise IndexError(f"index {number} is out of bounds for axis {axis} with size {extent}")
            start.append(number % extent)
            extents.append(1)
        else:
            raise UsageError(f"regions are written by integers and slices, not by {type(part).__name__}")
    return start, extents, tuple(shown)


def _is_array(value: Any) -> bool:
    """Whether NumPy takes it as one array."""
    return isinstance(value, (str, bytes, list, tuple, np.ndarray, np.generic)) or hasattr(value, "__array__")
