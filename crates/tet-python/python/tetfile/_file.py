"""An open file and its groups."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from fnmatch import fnmatchcase
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakValueDictionary

from . import _attrs, _functions, _html, _ranges, _repr, _tetfile
from ._dataset import Dataset
from ._errors import ChangedError, NotFoundError
from ._places import is_planned, know_urls, shown
from ._ranges import Ranges
from ._reductions import Progress
from ._results import Answer, Plan, Stats

if TYPE_CHECKING:
    import xarray

__all__ = ["File", "Group", "open"]

Io: TypeAlias = Literal["auto", "pread", "mmap"]
Digests: TypeAlias = Literal["auto", "always", "never"]
StatsPolicy: TypeAlias = Literal["verified", "never", "trust"]
# Formats that have groups, also such as have nothing but attributes.
_HIERARCHIES = ("hdf5", "zarr", "tet", "tets", "ztensor")
# The tensor that a zTensor file has its attributes in.
_METADATA = "__metadata__"
# How a file that is planned gets written.
_PLANNED = (
    "compute what to_tet(compute=False) gave, or publish tetfile.WritePlan.of(path), "
    "whose part() takes regions until then"
)
Options: TypeAlias = tuple[str, tuple[str, str], bool, int | str | None, int | None]


def open(
    path: Any,
    *,
    filesystem: Any = None,
    decoded: bool = False,
    io: Io = "auto",
    digests: Digests = "auto",
    stats: StatsPolicy = "verified",
    memory: int | str | None = None,
    threads: int | None = None,
) -> File:
    """Opens an array file of any format that is read, which its content tells: HDF5, NetCDF, Zarr, NumPy, safetensors,
    GGUF, zTensor, Tensogram, FITS, CSV, PyTorch's and ``.tet``.

    Args:
        path: A file, or the folder of a Zarr hierarchy. A URL, as ``https://host/climate.tet`` or
            ``s3://bucket/key``, is read by range requests; variables such as ``AWS_REGION`` are taken from the environment,
            also ``TET_CACHE``, a folder that keeps what was read. Or a file of fsspec, as ``fsspec.open`` and ``fs.open``
            give it, or a folder, as ``fs.get_mapper`` does, read through its filesystem; or any other open file that seeks.
        filesystem: What has the file or the folder at ``path``: a filesystem of fsspec, or a store of obstore. Ranges are
            read through it as through a URL: with few requests, several at the same time, of one version. So are the other
            files of the same container: the chunks of Zarr, the parts of a ``.tets`` folder, the shards of a model.
        decoded: Whether packed and masked values are decoded as the CF conventions say: multiplied by
            ``scale_factor``, with NaN in place of ``_FillValue``; integers that are times stay integers, with NumPy's "not a
            time" in place of it. Otherwise elements are those that are stored, as h5py and zarr give them.
        io: ``"pread"`` reads by position, ``"mmap"`` through a map that is given up before another program changes the
            file; ``"auto"`` chooses.
        digests: Which chunks are compared with the checksums that the file has of them: ``"auto"`` all that are read
            whole, ``"always"`` all that are touched, ``"never"`` none.
        stats: When the statistics of chunks that ``.tet`` files have are used instead of the chunks, so that minima, maxima and
            counts read little: ``"verified"`` after they were compared with their checksum, ``"trust"`` without a
            comparison, ``"never"`` not at all.
        memory: The most bytes in flight while something is read, 1 GiB unless it is given: a number, or a text as
            ``"512MiB"`` or ``"2GB"``, where K, M and G are powers of 1024, as for ``--memory`` of the command.
        threads: Threads of one read, from 1 to 1024; one for each processor for 0, or unless it is given.

    Raises:
        OSError: The system refuses to open it, as :class:`FileNotFoundError`. What the filesystem raised is its cause.
        UnsupportedError: The format is not read.
        DamagedError: The file is damaged.

    What of the file cannot be read and is not listed, such as a part of it or an attribute, is a warning; :attr:`File.findings`
    has these, and what is odd.

    >>> with tetfile.open("climate.nc") as f:
    ...     f["temp"].mean()
    np.float64(298.5)
    """
    where = _ranges.place(path, filesystem)
    try:
        file = File(where, (io, (digests, stats), bool(decoded), memory, threads))
    except FileNotFoundError as error:
        if not isinstance(where, str) or not is_planned(where):
            raise
        raise FileNotFoundError(error.errno, f"The file is planned and not written yet: {_PLANNED}", where) from None
    for warning in file._core.warnings():
        warnings.warn(f"{shown(file.path)}: {warning}", stacklevel=2)
    return file


class Names(KeysView[str]):
    """The names of the datasets of a group, which is what it iterates over."""

    def __init__(self, group: Group, pattern: str | None) -> None:
        super().__init__(group)
        self._group, self._pattern = group, pattern

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._group if self._has(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._has(name) and name in self._group._below()

    def __repr__(self) -> str:
        return repr(list(self))

    def __eq__(self, other: object) -> bool:
        return list(self) == other if isinstance(other, list) else super().__eq__(other)

    def _has(self, name: str) -> bool:
        return self._pattern is None or fnmatchcase(name, self._pattern)


class Group(Mapping[str, Any]):
    """The datasets under a path of a file, by their names from there on.

    Iterating gives the names of datasets, in all groups below; :meth:`children` is one level. A key is the name of a dataset or
    the path of a group; one that begins with a slash counts from the file. Datasets that share a name, as those of
    Tensogram files may, are ``#N``: their positions in the file. :meth:`dataset` and :meth:`group` have types that checkers know.

    >>> ocean = tetfile.open("groups.h5")["ocean"]
    >>> list(ocean), ocean["deep/salt"].shape
    (['deep/salt', 'temp'], (3,))
    """

    def __init__(self, file: File, path: str) -> None:
        self._file = file
        self._path = path

    @property
    def file(self) -> File:
        """The file.

        >>> tetfile.open("groups.h5")["ocean"].file.format
        'hdf5'
        """
        return self._file

    @property
    def path(self) -> str:
        """The path in the file, empty for all of it.

        >>> tetfile.open("groups.h5")["ocean/deep"].path
        'ocean/deep'
        """
        return self._path

    @property
    def attrs(self) -> _attrs.Attrs:
        """The attributes of the group, read-only.

        >>> tetfile.open("groups.h5")["ocean"].attrs
        {'source': 'buoys'}
        """
        return self._file._attrs_of(self._path)

    @property
    def groups(self) -> list[str]:
        """The names of the groups of the next level.

        >>> tetfile.open("groups.h5").groups
        ['ocean']
        """
        return [name for name, each in self.children().items() if isinstance(each, Group)]

    def children(self) -> dict[str, Dataset | Group]:
        """The datasets and groups of the next level, by name.

        >>> list(tetfile.open("groups.h5")["ocean"].children())
        ['deep', 'temp']
        """
        start = f"{self._path}/" if self._path else ""
        groups = [path[len(start) :] for path in self._file._groups() if path.startswith(start)]
        found = {}
        for name in (*self._below(), *(f"{group}/" for group in groups if group)):
            first, slash, _ = name.partition("/")
            if first not in found:
                found[first] = self.group(first) if slash else self.dataset(first)
        return found

    def keys(self, pattern: str | None = None) -> Names:
        """The names of datasets; those that match ``pattern``, where ``*`` stands for anything.

        >>> tetfile.open("groups.h5").keys("*/t*")
        ['ocean/temp']
        """
        return Names(self, pattern)

    def dataset(self, name: str) -> Dataset:
        """The dataset of this name, or the one at position N of the file for ``#N``.

        Raises:
            NotFoundError: There is no such dataset, or several have the name.

        >>> tetfile.open("groups.h5").dataset("#0").name
        'ocean/deep/salt'
        """
        full = f"{self._path}/{name}" if self._path and not name.startswith("#") else name
        try:
            return Dataset(self._file, self._file._core.dataset(full))
        except NotFoundError:
            plain = self._from_file(name)
            if plain == full or plain not in self._file._names():
                raise
        return Dataset(self._file, self._file._core.dataset(plain))

    def group(self, name: str) -> Group:
        """The group of this path.

        Raises:
            NotFoundError: There is no such group.

        >>> tetfile.open("groups.h5").group("ocean").path
        'ocean'
        """
        path = self._from_file(name)
        if not path:
            return self._file
        if path not in self._file._groups():
            self._file._check_above(path)
            raise NotFoundError(f"no group {name!r}", path=self._file.path)
        return Group(self._file, path)

    def _from_file(self, name: str) -> str:
        """A path from the file on, without slashes at its ends."""
        parts = (name,) if name.startswith("/") else (self._path, name)
        return "/".join(part for each in parts for part in each.split("/") if part)

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"the name of a dataset is text, not {type(name).__name__}")
        try:
            return self.dataset(name)
        except NotFoundError:
            if not name or self._from_file(name) not in ("", *self._file._groups()):
                raise
        return self.group(name)

    def __setitem__(self, name: str, value: Any) -> None:
        """Raises: files are read."""
        raise TypeError("an open file is read-only: tetfile.create writes a new one, and tetfile.convert joins files with merge=True")

    def __iter__(self) -> Iterator[str]:
        return iter(self._below())

    def __len__(self) -> int:
        return len(self._below())

    def _below(self) -> Sequence[str]:
        """The names of the datasets of the group."""
        names = self._file._names()
        if not self._path:
            return names
        start = f"{self._path}/"
        return [name[len(start) :] for name in names if name.startswith(start)]

    def __contains__(self, name: object) -> bool:
        """Whether there is a dataset of this name, or a group."""
        if not isinstance(name, str):
            return False
        try:
            self[name]
        except NotFoundError:
            return False
        return True

    def __bool__(self) -> bool:
        return True

    # Files of the same content are not the same file, and arrays are not compared.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return _repr.group(self)

    def _repr_html_(self) -> str:
        return _html.group(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Group, (self._file, self._path)


class File(Group):
    """An open file: a mapping of names to datasets and groups.

    It is closed at the end of a ``with`` block, by :meth:`close`, or when nothing refers to it. It pickles by its path and
    its length and time of change, or by what reads it; what changed since raises :class:`ChangedError` when it is unpickled.

    >>> f = tetfile.open("climate.tet")
    >>> f
    <tetfile.File '.../climate.tet': tet, 5 datasets>
      temp: float32 (time: 12, lat: 4, lon: 8)
      time: float64 (time: 12)
      lat: float32 (lat: 4)
      lon: float32 (lon: 8)
      month: int32 (time: 12)
    """

    def __init__(self, path: str | Ranges, options: Options) -> None:
        self._core = _tetfile.OpenFile(path, *options)
        self._source = path
        self._where = path if isinstance(path, str) else path.name
        self._options = options
        self._stamp = self._core.stamp()
        self._known_groups: dict[str, dict[str, _attrs.Stored]] | None = None
        super().__init__(self, "")

    @property
    def file(self) -> File:
        """The file itself.

        >>> f = tetfile.open("climate.tet")
        >>> f.file is f
        True
        """
        return self

    # A reference to itself would keep the file open until the collector of garbage runs.
    @property
    def _file(self) -> File:
        return self

    @_file.setter
    def _file(self, file: File) -> None:
        pass

    @property
    def path(self) -> str:
        """The path of the file, absolute, or its URL.

        >>> os.path.basename(tetfile.open("climate.tet").path)
        'climate.tet'
        """
        return self._where

    @property
    def format(self) -> str:
        """The format, which the content told.

        >>> tetfile.open("climate.nc").format
        'hdf5'
        """
        return self._core.format

    @property
    def attrs(self) -> _attrs.Attrs:
        """The attributes of the file, read-only.

        >>> tetfile.open("climate.nc").attrs["title"]
        'A small climate'
        """
        return self._attrs_of("")

    @property
    def closed(self) -> bool:
        """Whether the file is closed.

        >>> with tetfile.open("climate.tet") as f:
        ...     f.closed
        False
        >>> f.closed
        True
        """
        return self._core.closed

    @property
    def findings(self) -> list[str]:
        """What is odd about the file, or wrong with a part of it, as far as opening it tells.

        >>> tetfile.open("climate.tet").findings
        []
        """
        return self._core.findings()

    def close(self) -> None:
        """Closes the file. Reads that go on in other threads end first; later ones raise :class:`ValueError`.

        >>> f = tetfile.open("climate.tet")
        >>> f.close()
        >>> f["temp"]
        Traceback (most recent call last):
            ...
        ValueError: the file is closed
        """
        self._core.close()

    def tree(self) -> str:
        """Groups and datasets as text, each group indented.

        >>> print(tetfile.open("groups.h5").tree())
        /.../groups.h5
          ocean/
            deep/
              salt  float64 (3,)
            temp  float32 (2, 2)
          plain  int64 (4,)
        """
        return _repr.tree(self)

    def query(self, document: str | Mapping[str, Any], *, progress: Progress = None) -> Answer:
        """Answers a query document, as ``tet query`` does: see the reference of query documents.

        Raises:
            UsageError: The document is wrong, or does not fit the file; the message shows the place.

        >>> f = tetfile.open("climate.tet")
        >>> f.query({"dataset": "temp", "mean": ["lat", "lon"]}).values[:2]
        array([293., 294.])
        """
        return _functions.query(self._core, document, progress)

    def explain(self, document: str | Mapping[str, Any]) -> Plan:
        """What a query document would read; nothing of the elements is read.

        >>> f = tetfile.open("climate.tet")
        >>> f.explain({"dataset": "temp", "mean": []}).chunk_count
        1
        """
        return _functions.explain(self._core, document)

    def stats(
        self, name: str | None = None, *, quartiles: bool = True, progress: Progress = None
    ) -> dict[str, Stats]:
        """Count, ends, mean, standard deviation and quartiles of one dataset, or of all that have numbers.

        >>> tetfile.open("climate.tet").stats("month")["month"].max
        np.int32(12)
        """
        if name is not None:
            return {name: _functions.stats(self.dataset(name)._core, quartiles, progress)}
        found = {}
        for each in self:
            core = self.dataset(each)._core
            if core.fault is not None:
                warnings.warn(f"{each!r} is left out: {core.fault}", stacklevel=2)
            elif core.is_number:
                found[each] = _functions.stats(core, quartiles, progress)
        return found

    def to_references(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        format: Literal["json", "parquet"] = "json",
        zarr_format: Literal[2, 3] = 2,
        edges: Literal["inline", "sidecar"] | None = None,
        concat: str | None = None,
        others: Sequence[str | os.PathLike[str]] = (),
        url: str | None = None,
        include: str | Iterable[str] = (),
        exclude: str | Iterable[str] = (),
        inline: int = 4096,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """References of kerchunk: fsspec, zarr-python and xarray read the stored bytes in place, with no copy.

        Args:
            path: Where they are written; nowhere by default.
            format: ``"json"``, a document of version 1, or ``"parquet"``, a folder that is read lazily.
            zarr_format: The version of Zarr that the metadata are of; Parquet has version 2.
            edges: How chunks at the edges that have fewer elements are filled: ``"inline"`` in the references, or
                ``"sidecar"`` in the file ``path.edges``. They are refused by default.
            concat: The axis along which the datasets of the other files follow those of this one, by name or number:
                the chunks of all are one array.
            others: The paths of the other files.
            url: What readers open in place of the path of this file, such as ``"s3://bucket/climate.nc"``; with other
                files in place of the folder that each is in.
            include: Only these datasets, or those whose names match these patterns.
            exclude: All but these.
            inline: Datasets of at most so many bytes are copied into the references.
            overwrite: Whether references that exist are replaced.

        Returns:
            The document of version 1.

        Raises:
            UnsupportedError: Datasets are of a type that Zarr lacks, their codecs are not those of numcodecs, or the
                chunks at their edges have fewer elements; the message names them and says why. Or the file has
                groups, which fsspec does not read from Parquet.
            FileExistsError: The path exists, and ``overwrite`` is not set.
            ImportError: Parquet needs the packages ``kerchunk`` and ``fastparquet``.

        >>> found = tetfile.open("climate.nc").to_references("climate.json", inline=0)
        >>> url, offset, length = found["refs"]["temp/0.0.0"]
        >>> os.path.basename(url), length > 0
        ('climate.nc', True)
        """
        from . import _references

        asked = {
            "include": _functions.names_of(include),
            "exclude": _functions.names_of(exclude),
            "inline": inline,
            "url": url,
            "zarr_format": zarr_format,
            "edges": edges,
            "overwrite": overwrite,
            "concat": concat,
            "others": [os.path.abspath(os.fspath(other)) for other in others],
        }
        return _references.document(self, path, format, asked)

    def to_virtual(
        self,
        group: str = "",
        *,
        url: str | None = None,
        include: str | Iterable[str] = (),
        exclude: str | Iterable[str] = (),
        inline: int = 4096,
    ) -> xarray.Dataset:
        """A virtual dataset of VirtualiZarr: an ``xarray.Dataset`` of manifests of the stored bytes of a group.

        It can be concatenated with others and written to Icechunk or kerchunk through its accessor ``vz``. Datasets of
        at most ``inline`` bytes are loaded. The other arguments are those of :meth:`to_references`.

        Raises:
            UnsupportedError: As :meth:`to_references`.
            ImportError: It needs the package ``virtualizarr``.

        >>> tetfile.open("climate.nc").to_virtual(inline=0)["temp"].data
        ManifestArray<shape=(12, 4, 8), dtype=float32, chunks=(5, 4, 4)>
        """
        from . import _virtual

        return _virtual.dataset(self, group.strip("/"), url, _functions.names_of(include), _functions.names_of(exclude), inline)

    def __enter__(self) -> File:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        where = self._source if isinstance(self._source, str) else self._source.__dask_tokenize__()
        return ("tetfile.File", where, self._stamp, self._options)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self._source, self._options, self._stamp)

    def _names(self) -> tuple[str, ...]:
        names = self._core.names()
        # What the attributes of a zTensor file are stored in is no dataset.
        return tuple(name for name in names if name != _METADATA) if _METADATA in names and self.format == "ztensor" else names

    def _groups(self) -> dict[str, dict[str, _attrs.Stored]]:
        """The stored attributes of each group, by its path; those of the file have the path ``""``.

        Those of groups are named ``group/name`` among those of the file.
        """
        if self._known_groups is None:
            found: dict[str, dict[str, _attrs.Stored]] = {"": {}}
            for name in self._names():
                found |= {group: {} for group in above(name) if group not in found}
            for name, value in self._core.attrs().items():
                group, _, rest = name.rpartition("/")
                if group not in found and self.format not in _HIERARCHIES:
                    group, rest = "", name
                found |= {path: {} for path in (*above(group), group) if path not in found}
                found[group][rest] = value
            self._known_groups = found
        return self._known_groups

    def _check_above(self, path: str) -> None:
        """Raises why a group that this path may be in cannot be read: whether the path is there is not known."""
        names = self._names()
        for name in ("/", *above(path), path):
            if name in names and (dataset := self.dataset(name)).fault is not None:
                dataset.read()

    def _attrs_of(self, path: str) -> _attrs.Attrs:
        """The attributes of a group."""
        return _attrs.values(self._groups().get(path, {}))


def above(path: str) -> Iterator[str]:
    """The paths of the groups that a path is in."""
    return (path[:at] for at, char in enumerate(path) if char == "/")


_OPEN: WeakValueDictionary[Any, File] = WeakValueDictionary()
_LOCK = threading.Lock()


def _reopened(path: str | Ranges, options: Options, stamp: tuple[int, int]) -> File:
    """The same file again, one for each process; it must be the one that was pickled."""
    key = (path, options, stamp)
    with _LOCK:
        file = _OPEN.get(key)
        if file is not None and not file.closed:
            return file
    if isinstance(path, str):
        know_urls(path)
    file = File(path, options)
    if file._stamp != stamp:
        file.close()
        raise ChangedError(f"{shown(file.path)} changed after it was pickled: open it again", path=file.path)
    with _LOCK:
        _OPEN[key] = file
    return file
