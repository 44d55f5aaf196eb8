"""Reductions of a dataset: computed where the chunks are, out of core, with NumPy's axes.

Sums of integers are exact; sums and means of floats are exact and rounded once, to float64. Results do not depend on
chunks, threads or memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from . import _labels, _picks, _tetfile, _where
from ._errors import NotFoundError, UsageError
from ._results import Answer

class Bar(Protocol):
    """A bar that is moved on, as those of tqdm."""

    n: Any
    total: Any

    def update(self, n: Any = ..., /) -> Any:
        """Moves it on."""


Progress: TypeAlias = "Callable[[int, int], object] | Bar | None"
AxisLike: TypeAlias = "int | str | Sequence[int | str] | None"
DimLike: TypeAlias = "str | Sequence[str] | None"
Where: TypeAlias = "str | Mapping[str, Any] | None"


# Those that `reduce` computes.
_NAMES = frozenset(
    "all any argmax argmin count count_nonzero max mean median min prod quantile std sum var".split()
)

# Reductions that need an element.
_EXTREMA = frozenset(["min", "max", "arg_min", "arg_max"])


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _of_numpy(method: _Method) -> _Method:
    """Takes what the function of NumPy of the name passes, so that ``np.mean(dataset)`` reduces the dataset."""

    @wraps(method)
    def called(self: Any, *args: Any, dtype: npt.DTypeLike | None = None, out: None = None, **options: Any) -> Any:
        if out is not None:
            raise TypeError(f"{method.__name__} writes to no array: assign its result to out[...]")
        if isinstance(options.get("where"), np.ndarray):
            raise TypeError("where is a test of elements, such as '> 0', not an array: index the dataset to use a mask")
        found = method(self, *args, **options)
        return found if dtype is None else np.asarray(found).astype(dtype)[()]

    return cast(_Method, called)


class Reductions:
    """The reductions of :class:`tetfile.Dataset`.

    ``axis`` counts axes as in NumPy, or names them as in xarray, as ``dim`` does; without both, all elements are reduced to one value.
    ``skipna=None`` skips NaN where the dataset was opened with ``decoded=True`` and has masked elements, and otherwise
    lets them propagate, as NumPy does. ``where`` is a test that elements have to pass to count, such as
    ``"> 273.15"``, ``">= 0, < 40"`` or ``"not-null"``, or the filter of a query document, such as ``{"gt": 273.15}``.

    Results are values of NumPy; :meth:`reduce` gives them with the names and labels of their axes.
    """

    __slots__ = ()

    _core: _tetfile.Selected

    @_of_numpy
    def sum(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """The sum: exact for integers, float64 for floats.

        Raises:
            ElementTypeError: The elements are no numbers.

        >>> tetfile.open("climate.tet")["temp"].sum(axis=0).shape
        (4, 8)
        """
        return self._reduce("sum", axis, dim, skipna, where, keepdims, progress)

    @_of_numpy
    def prod(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """The product: exact for integers, float64 for floats.

        >>> tetfile.open("climate.tet")["month"].prod()
        np.int64(479001600)
        """
        return self._reduce("product", axis, dim, skipna, where, keepdims, progress)

    @_of_numpy
    def mean(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        skipna: bool | None = None,
        weights: Mapping[str | int, npt.ArrayLike] | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """The arithmetic mean, float64.

        ``weights`` has one weight for each position along some of the reduced axes, by name or number: those of several
        axes are multiplied.

        >>> temp = tetfile.open("climate.tet")["temp"]
        >>> temp.mean("time").shape, np.mean(temp, axis=(0, 2)).shape
        ((4, 8), (4,))
        >>> round(float(temp.mean(weights={"lat": np.cos(np.radians(temp.labels("lat")))})), 6)
        298.441032
        """
        if weights is not None:
            return self._weighted_mean(axis, dim, skipna, weights, where, keepdims, progress)
        return self._reduce("mean", axis, dim, skipna, where, keepdims, progress)

    @_of_numpy
    def min(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """The smallest element, of the type of the dataset.

        Raises:
            ValueError: There are no elements.

        >>> tetfile.open("climate.tet")["month"].min()
        np.int32(1)
        """
        return self._reduce("min", axis, dim, skipna, where, keepdims, progress)

    @_of_numpy
    def max(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """The largest element, of the type of the dataset.

        Raises:
            ValueError: There are no elements.

        >>> tetfile.open("climate.tet")["month"].max()
        np.int32(12)
        """
        return self._reduce("max", axis, dim, skipna, where, keepdims, progress)

    @_of_numpy
    def var(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        ddof: int = 0,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """The variance, float64: the sum of squared distances from the mean, divided by N - ``ddof``.

        >>> round(float(tetfile.open("climate.tet")["month"].var()), 6)
        11.916667
        """
        return self._reduce("var", axis, dim, skipna, where, keepdims, progress, ddof=ddof)

    @_of_numpy
    def std(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        ddof: int = 0,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """The standard deviation, float64: the root of :meth:`var`.

        >>> round(float(tetfile.open("climate.tet")["month"].std()), 6)
        3.452053
        """
        return self._reduce("std", axis, dim, skipna, where, keepdims, progress, ddof=ddof)

    def median(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """The median, float64.

        >>> tetfile.open("climate.tet")["month"].median()
        np.float64(6.5)
        """
        return self._reduce("median", axis, dim, skipna, where, keepdims, progress)

    def quantile(
        self,
        q: float | Sequence[float],
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """Quantiles by linear interpolation, float64; the quantiles of a list are the first axis of the result.

        Raises:
            ValueError: A quantile is not from 0 to 1.

        >>> tetfile.open("climate.tet")["month"].quantile([0, 0.25, 1])
        array([ 1.  ,  3.75, 12.  ])
        """
        wanted = np.asarray(q, dtype=float)
        if wanted.ndim > 1 or not ((0 <= wanted) & (wanted <= 1)).all():
            raise ValueError(f"q={q!r} is not a quantile from 0 to 1, or a list of them")
        one, known = wanted.ndim == 0, wanted.reshape(-1).tolist()
        found = self._reduce("quantile", axis, dim, skipna, where, keepdims, progress, q=known or [0.5], one_q=one)
        return found if known else found[:0]

    def argmin(
        self,
        axis: int | None = None,
        *,
        dim: str | None = None,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """Where the first smallest element is: counted along the axis, or in row-major order without one.

        Raises:
            ValueError: There are no elements.

        >>> tetfile.open("climate.tet")["month"].argmin()
        np.int64(0)
        """
        return self._reduce("arg_min", axis, dim, skipna, where, keepdims, progress)

    def argmax(
        self,
        axis: int | None = None,
        *,
        dim: str | None = None,
        skipna: bool | None = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """Where the first largest element is: counted along the axis, or in row-major order without one.

        Raises:
            ValueError: There are no elements.

        >>> tetfile.open("climate.tet")["month"].argmax()
        np.int64(11)
        """
        return self._reduce("arg_max", axis, dim, skipna, where, keepdims, progress)

    def count(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """How many elements are not NaN, as in xarray.

        >>> tetfile.open("climate.tet")["temp"].count()
        np.int64(384)
        """
        return self._reduce("count", axis, dim, True, where, keepdims, progress)

    def count_nonzero(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """How many elements are not zero; NaN is not.

        >>> tetfile.open("climate.tet")["month"].count_nonzero()
        np.int64(12)
        """
        return self._reduce("count", axis, dim, False, where, keepdims, progress, nonzero=True)

    @_of_numpy
    def any(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """Whether an element is not zero.

        >>> tetfile.open("climate.tet")["month"].any()
        np.True_
        """
        return self.count_nonzero(axis, dim=dim, where=where, keepdims=keepdims, progress=progress) > 0

    @_of_numpy
    def all(
        self,
        axis: AxisLike = None,
        *,
        dim: DimLike = None,
        where: Where = None,
        keepdims: bool = False,
        progress: Progress = None,
    ) -> Any:
        """Whether no element is zero.

        >>> tetfile.open("climate.tet")["month"].all()
        np.True_
        """
        wanted = self._reduce("count", axis, dim, False, where, keepdims, None)
        return self.count_nonzero(axis, dim=dim, where=where, keepdims=keepdims, progress=progress) == wanted

    def histogram(
        self,
        bins: int = 10,
        range: tuple[float, float] | None = None,
        *,
        where: Where = None,
        progress: Progress = None,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """How many elements are in each of ``bins`` bins of the same width, and the edges of the bins.

        Without ``range`` the bins reach from the smallest to the largest element.

        >>> counts, edges = tetfile.open("climate.tet")["month"].histogram(bins=2)
        >>> counts, edges
        (array([6, 6]), array([ 1. ,  6.5, 12. ]))
        """
        asked = _asked("histogram", None, True, bins=bins, range=range, where=where)
        [found], _ = _tetfile.reduce(self._core, [asked], progress)
        return found["values"], np.array(found["edges"])

    def reduce(self, op: str, axis: AxisLike = None, *, dim: DimLike = None, **options: Any) -> Answer:
        """A reduction by its name, with the names and labels of the axes that are left.

        ``options`` are those of the method of that name: ``d.reduce("quantile", dim="time", q=[0.1, 0.9])`` computes
        what ``d.quantile([0.1, 0.9], dim="time")`` does. The answer becomes a :class:`xarray.DataArray` by
        :meth:`Answer.to_xarray`, and a series or a table of pandas by :meth:`Answer.to_pandas`.

        Raises:
            UsageError: There is no reduction of that name.

        >>> temp = tetfile.open("climate.tet")["temp"]
        >>> warmest = temp.reduce("max", dim=["time", "lon"], where="< 305")
        >>> warmest.values, warmest.labels["lat"]
        (array([304., 304., 304., 304.], dtype=float32), array([ 0., 10., 20., 30.], dtype=float32))
        >>> temp.isel(time=0).reduce("mean", dim="lon").to_pandas()[10.0]
        np.float64(292.5)
        """
        if op not in _NAMES:
            raise UsageError(f"{op!r} is no reduction: {', '.join(sorted(_NAMES))}")
        values = getattr(self, op)(axis=axis, dim=dim, **options)
        axes = self._axes(axis, dim)
        dims = _labels.names(self._core)
        reduced = range(len(dims)) if axes is None else axes
        kept = [at for at in range(len(dims)) if at not in reduced]
        labels = {dims[at]: _labels.along(self._core, at) for at in kept}
        labels = {dim: found for dim, found in labels.items() if found is not None}
        names = dims if options.get("keepdims") else tuple(dims[at] for at in kept)
        if np.ndim(values) > len(names):
            names, labels = ("quantiles", *names), labels | {"quantiles": np.asarray(options["q"], float)}
        return Answer(op=op, dataset=self._core.name, values=values, dims=names, labels=labels)

    def _axes(self, axis: AxisLike, dim: DimLike) -> list[int] | None:
        """The axes that are reduced, counted from 0; ``None`` for all."""
        if dim is not None:
            if axis is not None:
                raise TypeError("pass axis or dim, not both")
            names = [dim] if isinstance(dim, str) else list(dim)
            return [self._axis_of(name) for name in names]
        if axis is None:
            return None
        rank = len(self._core.shape)
        given: list[Any] = [axis] if np.ndim(axis) == 0 else list(axis)  # type: ignore[arg-type]
        wanted = [self._axis_of(each) if isinstance(each, str) else each for each in given]
        for number in wanted:
            if isinstance(number, bool | np.bool_) or not hasattr(number, "__index__"):
                raise TypeError(f"an axis is a number or a name, not {type(number).__name__}")
            if not -rank <= number < rank:
                raise np.exceptions.AxisError(number, rank)
        axes = [int(number) % rank for number in wanted]
        if len(set(axes)) != len(axes):
            raise ValueError("duplicate value in 'axis'")
        return axes

    def _axis_of(self, name: str | int) -> int:
        """The axis of a name or a number."""
        rank = len(self._core.shape)
        if isinstance(name, int | np.integer):
            if not -rank <= name < rank:
                raise np.exceptions.AxisError(name, rank)
            return int(name) % rank
        dims = self._core.dims or ()
        if name not in dims:
            known = f"; the axes are {', '.join(dims)}" if dims else "; the axes have no names, count them"
            raise NotFoundError(f"no axis {name!r}{known}", dataset=self._core.name)
        return dims.index(name)

    def _reduce(
        self,
        op: str,
        axis: AxisLike,
        dim: DimLike,
        skipna: bool | None,
        where: Where,
        keepdims: bool,
        progress: Progress,
        **more: Any,
    ) -> Any:
        axes = self._axes(axis, dim)
        reduced = sorted(range(len(self._core.shape)) if axes is None else axes)
        if skipna is None:
            skipna = self._core.is_masked
        _picks.check(self._core, op, reduced)
        [found], _ = _tetfile.reduce(self._core, [_asked(op, axes, skipna, where=where, **more)], progress)
        if found["note"] is not None:
            warnings.warn(f"{self._core.name}: {found['note']}", stacklevel=4)
        if op in _EXTREMA and found["values"].size and any(self._core.shape[number] == 0 for number in reduced):
            raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
        values = _without_nulls(op, found["values"], found["nulls"])
        values = _picks.ordered(self._core, values, found["along"])
        if op in ("arg_min", "arg_max"):
            values = _picks.counted(self._core, values, reduced)
        at = [number for number, along in enumerate(found["along"]) if along[0] == "quantiles"]
        if at:
            values = np.moveaxis(values, at[0], 0)
        if keepdims:
            values = np.expand_dims(values, [number + len(at) for number in reduced])
        return values[()]

    def _weighted_mean(
        self,
        axis: AxisLike,
        dim: DimLike,
        skipna: bool | None,
        weights: Mapping[str | int, npt.ArrayLike],
        where: Where,
        keepdims: bool,
        progress: Progress,
    ) -> Any:
        """The mean of means: sums along the axes without weights, and then along those with weights."""
        shape = self._core.shape
        axes = self._axes(axis, dim)
        reduced = sorted(range(len(shape)) if axes is None else axes)
        if not isinstance(weights, Mapping):
            raise TypeError(f"weights is a mapping of axes to weights, as {{'lat': weights}}, not {type(weights).__name__}")
        by_axis = {self._axis_of(name): np.asarray(of, dtype=float) for name, of in weights.items()}
        for number, of in by_axis.items():
            if number not in reduced:
                raise ValueError(f"axis {number} has weights and is not reduced")
            if of.shape != (shape[number],):
                raise ValueError(f"axis {number} has {shape[number]} positions and weights of shape {of.shape}")
        plain = [number for number in reduced if number not in by_axis]
        if skipna is None:
            skipna = self._core.is_masked
        _picks.check(self._core, "mean", plain)
        asked = [_asked(op, plain, skipna, where=where) for op in ("sum", "count")]
        found, _ = _tetfile.reduce(self._core, asked, progress)
        total, count = (_picks.ordered(self._core, each["values"].astype(float), each["along"]) for each in found)
        left = [number for number in range(len(shape)) if number not in plain]
        for number, of in by_axis.items():
            along = [1] * len(left)
            along[left.index(number)] = shape[number]
            total, count = total * of.reshape(along), count * of.reshape(along)
        over = tuple(left.index(number) for number in by_axis)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(total.sum(axis=over) / count.sum(axis=over))
        if keepdims:
            values = np.expand_dims(values, reduced)
        return values[()]


def _asked(
    op: str,
    axes: list[int] | None,
    skipna: bool,
    *,
    ddof: int = 0,
    q: list[float] | None = None,
    one_q: bool = False,
    nonzero: bool = False,
    bins: int = 0,
    range: tuple[float, float] | None = None,
    where: Where = None,
) -> dict[str, Any]:
    return {
        "op": op,
        "axes": axes,
        "skipna": skipna,
        "ddof": ddof,
        "q": q,
        "one_q": one_q,
        "nonzero": nonzero,
        "bins": bins,
        "range": range,
        "filter": _where.filter_json(where),
    }


def _without_nulls(op: str, values: npt.NDArray[Any], nulls: npt.NDArray[np.bool_] | None) -> npt.NDArray[Any]:
    """The values with NaN for those that are of no elements."""
    if nulls is None or not nulls.any():
        return values
    if values.dtype.kind in "iub":
        raise ValueError(f"{op} of no elements has no value: all are NaN, or fail the test of where")
    values = values.copy()
    values[nulls] = np.nan
    return values
