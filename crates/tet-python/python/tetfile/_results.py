"""What questions about files answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

if TYPE_CHECKING:
    import xarray

__all__ = ["Answer", "Conversion", "Edit", "Finding", "Plan", "Repair", "Report", "Stats"]


@dataclass(frozen=True, eq=False)
class Answer:
    """What :meth:`Dataset.reduce` or a query document answers: values, and the names and labels of their axes.

    Attributes:
        op: What was computed, such as ``"mean"``; ``"values"`` for elements as they are, ``"align"`` for a comparison.
        dataset: The name of the dataset.
        values: The result; ``None`` for a comparison of axes.
        dims: The names of the axes of ``values``.
        labels: The labels of these axes, where they have some; of windows a dict of ``first``, ``step`` and ``size``,
            in positions.
        nulls: Which values are of no elements, or ``None`` where none is.
        count: Elements that were selected, where a document reduced some.
        nan_count: How many of them were NaN, where the operation knows it.
        integrity: Whether the bytes were compared with checksums: ``"verified"``, ``"unprotected"``, ``"unchecked"``.
        details: What else belongs to the operation: edges of a histogram, places of extrema, pairs of aligned axes.

    >>> answer = tetfile.open("climate.tet").query({"dataset": "month", "sum": []})
    >>> answer.values, answer.count, answer.integrity
    (np.int64(78), 12, 'verified')
    """

    op: str
    dataset: str
    values: Any
    dims: tuple[str, ...]
    labels: dict[str, Any]
    nulls: npt.NDArray[Any] | None = None
    count: int | None = None
    nan_count: int | None = None
    integrity: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        import numpy as np

        return np.array(self.values, dtype=dtype, copy=copy)

    def to_xarray(self) -> xarray.DataArray:
        """The values with their axes, as xarray has them.

        Raises:
            ImportError: The package xarray is missing.
            ValueError: A comparison of axes has no values.

        >>> tetfile.open("climate.tet")["temp"].reduce("mean", dim=["time", "lon"]).to_xarray().sel(lat=20).item()
        299.0
        """
        if self.values is None:
            raise ValueError(f"{self.op} of {self.dataset} has no values")
        from xarray import DataArray

        coords = {dim: (dim, labels) for dim, labels in self.labels.items() if not isinstance(labels, dict)}
        return DataArray(self.values, coords, self.dims, name=self.dataset)

    def to_pandas(self) -> Any:
        """The values as pandas has them: a number, a ``Series`` of one axis, a ``DataFrame`` of two, and of more axes a
        ``Series`` that has all of their labels.

        Raises:
            ImportError: The package pandas is missing.
            ValueError: A comparison of axes has no values.

        >>> tetfile.open("climate.tet")["temp"].isel(lon=0).reduce("max", dim="time").to_pandas()
        lat
        0.0     299.0
        10.0    300.0
        20.0    301.0
        30.0    302.0
        Name: temp, dtype: float32
        """
        import numpy as np
        import pandas  # type: ignore[import-untyped]

        if self.values is None:
            raise ValueError(f"{self.op} of {self.dataset} has no values")
        values = np.asarray(self.values)
        if values.ndim == 0:
            return self.values
        indexes = []
        for dim, extent in zip(self.dims, values.shape, strict=True):
            labels = self.labels.get(dim)
            known = np.arange(extent) if labels is None or isinstance(labels, dict) else labels
            indexes.append(pandas.Index(known, name=dim))
        if values.ndim == 2:
            return pandas.DataFrame(values, *indexes)
        one = indexes[0] if values.ndim == 1 else pandas.MultiIndex.from_product(indexes)
        return pandas.Series(values.ravel(), one, name=self.dataset)


@dataclass(frozen=True)
class Plan:
    """What a query document would read.

    Attributes:
        op: What would be computed.
        dataset: The name of the dataset.
        chunk_count: Chunks that are touched.
        element_count: Elements that are selected.
        decoded_len: Bytes of the touched chunks, decoded.
        read_count: Reads of one pass.
        read_len: Bytes of these reads.
        passes: How often elements are read: at least and at most.
        memory_len: Bytes that are held at once, about.

    >>> plan = tetfile.open("climate.tet").explain({"dataset": "temp"})
    >>> plan.element_count, plan.passes
    (384, (1, 1))
    """

    op: str
    dataset: str
    chunk_count: int
    element_count: int
    decoded_len: int
    read_count: int
    read_len: int
    passes: tuple[int, int]
    memory_len: int


@dataclass(frozen=True)
class Stats:
    """A summary of the elements of a dataset; NaN are counted and otherwise left out.

    Attributes:
        count: Elements.
        nan_count: How many of them are NaN.
        inf_count: How many are infinite.
        min: The smallest; ``None`` where there is none.
        max: The largest.
        mean: The mean.
        std: The standard deviation.
        quartiles: The quantiles 0.25, 0.5 and 0.75, or ``None`` where they were not asked for.
        integrity: Whether the bytes were compared with checksums.

    >>> tetfile.open("climate.tet").stats("lat")["lat"].quartiles
    (np.float64(7.5), np.float64(15.0), np.float64(22.5))
    """

    count: int
    nan_count: int
    inf_count: int
    min: Any
    max: Any
    mean: Any
    std: Any
    quartiles: tuple[Any, Any, Any] | None
    integrity: str


@dataclass(frozen=True)
class Finding:
    """What is wrong with a file, or odd about it.

    Attributes:
        severity: ``"error"``, ``"warning"`` or ``"note"``.
        rule: The rule, such as ``"TET-P1"``.
        message: What is wrong, and where, in one line.
        advice: What to do about it; empty if that is not known.
        byte: Where in the file.
        dataset: The dataset, if it is about one.
        attribute: The attribute, if it is about one.
        chunk: The coordinates of the chunk, if it is about one.

    >>> tetfile.verify("broken.tet").findings[0].severity
    'error'
    """

    severity: str
    rule: str
    message: str
    advice: str
    byte: int
    dataset: str | None
    attribute: str | None
    chunk: tuple[int, ...] | None


@dataclass(frozen=True)
class Report:
    """What a check of a file found.

    Attributes:
        ok: Whether there is no error.
        integrity: Whether the bytes are those that were written: ``"verified"``, ``"unprotected"``, ``"mismatch"``,
            ``"unchecked"``.
        level: How thoroughly the file was checked.
        findings: What was found, in the order of the file.
        omitted_count: Findings that are not listed, because there are many of their kind.
        dataset_count: Datasets that were checked.
        chunk_count: Chunks that were checked.
        file_len: Bytes of the file.
        checked_len: Bytes that were compared or decoded.

    >>> tetfile.verify("climate.tet").ok
    True
    """

    ok: bool
    integrity: str
    level: str
    findings: list[Finding]
    omitted_count: int
    dataset_count: int
    chunk_count: int
    file_len: int
    checked_len: int

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True)
class Edit:
    """An edit of a damaged file.

    Attributes:
        rule: The rule that the file breaks.
        message: The rule in words.
        action: What is done.
        byte: Where in the file.
        length: How many bytes.
        proof: Why it is right: ``"digest"`` where the bytes match their checksum afterwards, ``"rest"`` where they follow
            from the rest of the file, ``"none"`` for the best that can be done.
        losses: What is lost with it.
        made: Whether it was made.

    >>> tetfile.repair("broken.tet", dry_run=True).edits[0].proof
    'digest'
    """

    rule: str
    message: str
    action: str
    byte: int
    length: int
    proof: str
    losses: list[str]
    made: bool


@dataclass(frozen=True)
class Repair:
    """What a repair did, or would do.

    Attributes:
        whole: Whether no error is left, and nothing is lost.
        written: Whether a file was written.
        edits: The edits; those that lose something are made with ``salvage`` alone.
        lost: Damage that no edit corrects.
        remaining: What is wrong with the file afterwards.

    >>> tetfile.repair("climate.tet").edits
    []
    """

    whole: bool
    written: bool
    edits: list[Edit]
    lost: list[str]
    remaining: list[Finding]

    def __bool__(self) -> bool:
        return self.whole


@dataclass(frozen=True)
class Conversion:
    """What was written.

    Attributes:
        datasets: The names of the datasets, in the order of the output.
        notes: What the output has in another way than the input, or not at all.
        losses: Those of the notes that are of something that is left out, as texts or attributes; they are warnings too.
        input_len: Bytes of the input file; of a folder those that were read when it was opened.
        decoded_len: Bytes of all elements.
        output_len: Bytes of the output.

    >>> tetfile.convert("climate.nc", "copy.h5").datasets
    ['temp', 'time', 'lat', 'lon', 'month']
    """

    datasets: list[str]
    notes: list[str]
    losses: list[str]
    input_len: int
    decoded_len: int
    output_len: int
