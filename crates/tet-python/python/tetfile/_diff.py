"""What differs between two files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from . import _attrs, _tetfile
from ._errors import NotFoundError, UsageError
from ._file import File, open
from ._reductions import Progress

__all__ = ["DatasetDifference", "Difference", "diff"]

Path: TypeAlias = "str | os.PathLike[str] | File"
Pair: TypeAlias = "tuple[Any, Any]"


@dataclass(frozen=True)
class DatasetDifference:
    """What differs between two datasets of one name; ``None`` and empty for what does not.

    Attributes:
        name: The name.
        other: The name in the second file, where it is another.
        dtype: The types of their elements.
        shape: Their extents.
        dims: The names of their axes.
        labels: For each axis whose labels differ, by name or number: the first position, and the labels there.
        attrs: The attributes that differ, ``None`` where a file does not have one.
        count: Elements of each; ``None`` where elements were not compared.
        differing: How many of them differ.
        nan_count: Those of which one alone is NaN.
        skipped: Elements that were not read, because their chunks have the same checksum.
        max_abs: The largest ``|a - b|``, exact for integers; ``None`` where none is finite.
        max_rel: The largest ``|a - b| / |b|``.
        measured: The pairs of finite elements, whatever the tolerance: the next numbers are of these. ``None`` for texts and
            blocks of bytes, and where elements were skipped.
        unmeasured: Other pairs that differ: an element is NaN, infinite or missing.
        rms: The root of the mean of ``(a - b)**2``.
        relative_l2: The norm of ``a - b`` divided by that of ``b``; infinite where only that is 0.
        cosine: The cosine of the angle between ``a`` and ``b``; ``None`` where one of them is 0.
        first: The first place where elements differ, and both elements.
        worst: The first place of the largest difference, and both elements.
        block: The elements of a block, where blocks were compared by their bytes: ``differing`` counts those that differ.
        why: Why elements were not compared.

    >>> found = tetfile.diff("climate.tet", "warmer.tet").datasets[0]
    >>> found.name, found.differing, found.max_abs, found.first
    ('temp', 1, 0.5, ((3, 0, 1), (292.0, 292.5)))
    """

    name: str
    dtype: tuple[str, str] | None = None
    shape: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    dims: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    labels: dict[str | int, tuple[int | None, str | None, str | None]] = field(default_factory=dict)
    attrs: dict[str, Pair] = field(default_factory=dict)
    count: int | None = None
    differing: int = 0
    nan_count: int = 0
    skipped: int = 0
    max_abs: int | float | None = None
    max_rel: float | None = None
    measured: int | None = None
    unmeasured: int = 0
    rms: float | None = None
    relative_l2: float | None = None
    cosine: float | None = None
    first: tuple[tuple[int, ...], Pair] | None = None
    worst: tuple[tuple[int, ...], Pair] | None = None
    block: int | None = None
    why: str | None = None
    other: str | None = None


@dataclass(frozen=True)
class Difference:
    """What differs between two files.

    Attributes:
        only: The names of datasets that only the first file has, and those that only the second one has.
        attrs: The attributes of the files that differ, ``None`` where a file does not have one.
        datasets: The datasets that differ, in the order of the first file, or the largest change first.
        compared: How many datasets both files have.
        not_compared: The other datasets whose elements were not compared, and why.
        integrity: Whether the bytes were compared with checksums; ``None`` where no elements were read.

    >>> tetfile.diff("climate.tet", "warmer.tet").same
    False
    """

    only: tuple[list[str], list[str]]
    attrs: dict[str, Pair]
    datasets: list[DatasetDifference]
    compared: int
    integrity: str | None
    not_compared: dict[str, str] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """Whether nothing differs, and the elements of all datasets were compared that were to be.

        >>> tetfile.diff("climate.tet", "climate.tet").same
        True
        """
        return not (self.only[0] or self.only[1] or self.attrs or self.datasets or self.not_compared)


def diff(
    a: Path,
    b: Path,
    datasets: str | Sequence[str] | None = None,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    ulp: int = 0,
    equal_nan: bool = True,
    names: Mapping[str, str] | None = None,
    sort: str | None = None,
    values: bool = True,
    raw_values: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Difference:
    """Compares two files of any formats: names, types, shapes, labels, attributes, and elements.

    Elements are equal if ``|a - b| <= atol + rtol * |b|``, as :func:`numpy.isclose` has it. Floats of different types are
    compared as float64, integers of different types exactly. How chunks are stored is no difference. Chunks of two ``.tet``
    files that have the same checksum are equal and are not read, unless the first is a file opened with
    ``digests="always"``: damage is found then. Packed and masked elements are decoded, and the attributes that decode them
    are not compared: a packed file and its decoded copy are equal.

    Two files with one dataset each compare these, whatever their names.

    Args:
        a: A path, or an open file.
        b: The other.
        datasets: Names of datasets, or patterns of :meth:`File.keys`; all without them.
        rtol: The relative tolerance.
        atol: The absolute tolerance.
        ulp: Steps between neighboring floats of the type.
        equal_nan: Whether NaN equals NaN.
        names: Names of datasets of ``a``, or patterns, each with the name in ``b``: ``{"module.*": "*"}``.
        sort: ``"change"`` for the largest ``relative_l2`` first, before it elements that are not finite in one file alone, and
            last what is not measured. All elements are read then.
        values: Whether elements are compared.
        raw_values: Whether packed and masked elements are compared as they are stored, and all attributes.
        memory: The most bytes in flight, 1 GiB unless it is given; that of ``a`` where it is an open file.
        threads: Threads, all processors unless it is given; those of ``a`` where it is an open file.
        progress: Called with the bytes that are done and the bytes in all, or a bar of tqdm.

    Raises:
        OSError: The system refuses to read a file.
        DamagedError: A file is damaged. What is wrong with the elements of one dataset is said of it in the result.
        NotFoundError: No file has a dataset that is named.

    >>> tetfile.diff("climate.tet", "climate.nc", ["temp", "lat"]).same
    True
    """
    if not (rtol >= 0 and atol >= 0 and ulp >= 0):
        raise UsageError("rtol, atol and ulp are 0 or more")
    if sort not in (None, "change"):
        raise UsageError(f"sort is 'change', or None, and not {sort!r}")
    left, right = (file if isinstance(file, File) else open(file, memory=memory, threads=threads) for file in (a, b))
    try:
        asked: dict[str, Any] = {
            "datasets": _names(datasets, left, right),
            "names": [(str(old), str(new)) for old, new in (names or {}).items()],
            "measured": sort is not None,
            "rtol": float(rtol),
            "atol": float(atol),
            "ulp": int(ulp),
            "equal_nan": bool(equal_nan),
            "values": bool(values),
            "raw_values": bool(raw_values),
        }
        found = _tetfile.diff(left._core, right._core, asked, progress)
    finally:
        for given, file in ((a, left), (b, right)):
            if file is not given:
                file.close()
    found["attrs"] = _pairs(found["attrs"])
    found["datasets"] = [DatasetDifference(**each | {"attrs": _pairs(each["attrs"])}) for each in found["datasets"]]
    if sort is not None:
        found["datasets"].sort(key=_rank)
    return Difference(**found)


def _rank(found: DatasetDifference) -> float:
    if found.measured is None:
        return math.inf
    return -math.inf if found.unmeasured else -(found.relative_l2 or 0.0)


def _names(datasets: str | Sequence[str] | None, left: File, right: File) -> list[str] | None:
    if datasets is None:
        return None
    names: dict[str, None] = {}
    for pattern in [datasets] if isinstance(datasets, str) else datasets:
        found = [name for file in (left, right) for name in ([pattern] if pattern in file else file.keys(pattern))]
        if not found:
            raise NotFoundError(f"no dataset {pattern!r} in either file", dataset=pattern)
        names.update(dict.fromkeys(found))
    return list(names)


def _pairs(stored: Mapping[str, Pair]) -> dict[str, Pair]:
    def value(each: Any) -> Any:
        return None if each is None else _attrs.value_of(each)

    return {name: (value(a), value(b)) for name, (a, b) in stored.items()}
