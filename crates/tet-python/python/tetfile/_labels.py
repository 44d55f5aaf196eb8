"""Labels of the axes of a part of a dataset, and the positions that they select."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _attrs, _tetfile, _times
from ._errors import NotFoundError
from ._index import Pick, even

Array: TypeAlias = npt.NDArray[Any]
# A position, or several of them.
Item: TypeAlias = "int | Pick"

# Integers of more digits than a double has.
_EXACT_MAX = 2**53


def along(core: _tetfile.Selected, axis: int) -> Array | None:
    """The labels of an axis that appears; ``None`` where it has none. Times are decoded in a decoded file."""
    found = index(core, axis)
    if found is None:
        return None
    return found.shown(core.is_decoded)


def names(core: _tetfile.Selected) -> tuple[str, ...]:
    """The names of the axes that appear; those without are counted."""
    return core.dims or tuple(f"axis_{at}" for at in range(len(core.shape)))


def index(core: _tetfile.Selected, axis: int) -> Index | None:
    """The labels of an axis that appears; ``None`` where it has none."""
    number = [number for number, (*_, is_kept) in enumerate(core.slices) if is_kept][axis]
    values = _tetfile.labels(core, number)
    if values is None:
        return None
    of = _tetfile.coordinate(core, number)
    attrs: dict[str, Any] = {}
    if of is not None and values.dtype != object:
        values, attrs = values.astype(of.dtype), _attrs.values(of.attrs())
    start, stop, step, _ = core.slices[number]
    values = values[start:stop:step]
    if (picks := dict(core.picks).get(number)) is not None:
        values = values[picks]
    if (turns := dict(core.turns).get(number)) is not None and values.dtype.kind in "iuf":
        values = _turned(values, turns)
    dims = core.dims
    return Index(dims[axis] if dims else str(axis), values, attrs)


def _turned(degrees: Array, turns: list[int]) -> Array:
    """Longitudes with full turns added, in their own type but for integers that it does not have."""
    added = 360 * np.array(turns)
    if degrees.dtype.kind == "f":
        floats: Array = (degrees + added).astype(degrees.dtype)
        return floats
    turned: Array = degrees.astype(np.int64) + added
    own: Array = turned.astype(degrees.dtype)
    return own if np.array_equal(own, turned) else turned


@dataclass(frozen=True)
class Index:
    """The labels of an axis, in the order of its positions."""

    name: str
    values: Array
    attrs: dict[str, Any]

    @cached_property
    def moments(self) -> _times.Moments | None:
        """The labels as times, where they are numbers since a date that the calendar has."""
        if self.values.dtype.kind not in "iuf" or (units := _times.units(self.attrs)) is None:
            return None
        try:
            return _times.Moments(_times.decoded(self.values, units), units)
        except ValueError:
            return None

    def shown(self, is_decoded: bool) -> Array:
        """The labels as users see them."""
        return self.moments.times if is_decoded and self.moments is not None else self.values

    def find(self, label: Any, method: str | None, tolerance: Any) -> Item:
        """What a label, a slice of labels or a list of labels selects.

        Raises:
            NotFoundError: No position has the label.
        """
        if isinstance(label, slice):
            if method is not None:
                raise NotImplementedError("a slice of labels has no method: it takes all labels within it")
            return self._range(label)
        if isinstance(label, list | tuple | np.ndarray) or hasattr(label, "__array__"):
            # An array of objects keeps the types of dates.
            labels = np.array(label, dtype=None if hasattr(label, "dtype") else object)
            if labels.ndim > 1:
                wrong = f"not an array of {labels.ndim} axes"
                raise TypeError(f"labels of {self.name!r} are selected by one, a slice or a list, {wrong}")
            if labels.ndim == 1:
                return self._several(list(labels), method, tolerance)
            label = labels[()]
        if method is not None:
            return int(self._nearest([label], tolerance)[0])
        values, value = self._compared(label)
        found = np.flatnonzero(values != values if _is_nan(value) else values == value)
        is_period = self._is_period(label)
        # A month without times among others that have some is empty, as in pandas.
        is_between = is_period and len(values) > 0 and values.min() < value < values.max()
        if not len(found) and not is_between:
            raise self._missing(label)
        return int(found[0]) if len(found) == 1 and not is_period else even(found)

    def _several(self, labels: list[Any], method: str | None, tolerance: Any) -> Item:
        if labels and all(isinstance(label, bool | np.bool_) for label in labels):
            if len(labels) != len(self.values):
                raise IndexError(f"{len(labels)} booleans select among {len(self.values)} labels of {self.name!r}")
            return even(np.flatnonzero(labels))
        if method is not None:
            return even(self._nearest(labels, tolerance))
        if not labels:
            return 0, 0, 1
        values = self._compared(labels[0], "ns")[0]
        order = np.argsort(values, kind="stable")
        values = values[order]
        if (values[1:] == values[:-1]).any():
            raise ValueError(f"labels of {self.name!r} are repeated, so a list of them is ambiguous: select one label")
        wanted = [self._compared(label, "ns")[1] for label in labels]
        found = np.array(wanted, dtype=object if values.dtype == object else None)
        at = np.minimum(np.searchsorted(values, found), len(values) - 1)
        if len(values) == 0 or (values[at] != found).any():
            raise self._missing(labels[0 if len(values) == 0 else int(np.argmax(values[at] != found))])
        return even(order[at])

    def _range(self, labels: slice) -> Item:
        step = 1 if labels.step is None else labels.step
        if not isinstance(step, int) or step < 1:
            raise ValueError(f"a slice of labels has a step of positions, from 1 on, not {labels.step!r}")
        start = 0 if labels.start is None else self._bound(labels.start, "left")
        stop = len(self.values) if labels.stop is None else self._bound(labels.stop, "right")
        return start, len(range(start, stop, step)), step

    def _bound(self, label: Any, side: Literal["left", "right"]) -> int:
        """Where a range begins (left) or ends (right)."""
        values, value = self._compared(label)
        if _is_rising(values):
            return int(np.searchsorted(values, value, side))
        if _is_rising(values[::-1]):
            return len(values) - int(np.searchsorted(values[::-1], value, "right" if side == "left" else "left"))
        found = np.flatnonzero(values == value)
        if not len(found) or found[-1] - found[0] >= len(found):
            message = f"labels of {self.name!r} are not in order: a range begins and ends at one of them, not at {label!r}"
            raise NotFoundError(message)
        return int(found[0]) if side == "left" else int(found[-1]) + 1

    def _nearest(self, labels: list[Any], tolerance: Any) -> npt.NDArray[np.intp]:
        """The position of the nearest label of each; of two that are as near, that of the larger label."""
        values, order = self._numbers, np.argsort(self._numbers, kind="stable")
        order = order[: np.count_nonzero(values == values)]
        if not len(order):
            raise NotFoundError(f"{self.name!r} has no numbers or times as labels, of which one could be the nearest")
        wanted = [self._number(label) for label in labels]
        found = np.array(wanted, dtype=values.dtype if values.dtype == object else float)
        after = np.searchsorted(values[order], found)
        low, high = np.maximum(after - 1, 0), np.minimum(after, len(order) - 1)
        below, above = abs(found - values[order[low]]), abs(values[order[high]] - found)
        at = np.where(below < above, low, high)
        far = np.minimum(below, above)
        if tolerance is not None and (far > self._distance(tolerance)).any():
            raise self._missing(labels[int(np.argmax(far > self._distance(tolerance)))])
        return order[at]

    def _compared(self, label: Any, unit: str | None = None) -> tuple[Array, Any]:
        """The labels, and the one that is asked for, so that they compare: a date at the precision of its text, or at
        that of a unit."""
        if self.values.dtype == object:
            return (self.values, label) if isinstance(label, str) else (self._numbers, self._number(label))
        date = self._date(label)
        if date is None or self.moments is None:
            return self.values, self._rounded(label)
        return self.moments.floor(unit or date.unit), self._moment(date, unit or date.unit)

    def _date(self, label: Any) -> _times.Date | None:
        try:
            date = None if isinstance(label, str) and self.moments is None else _times.date(label)
        except ValueError as error:
            raise NotFoundError(f"labels of {self.name!r}: {error}") from None
        if self.moments is None and (date is not None or isinstance(label, str)):
            raise NotFoundError(f"labels of {self.name!r} are numbers and no times: {label!r} is none of them")
        return date

    def _moment(self, date: _times.Date, unit: str) -> Any:
        assert self.moments is not None
        try:
            return self.moments.at(date, unit)
        except ValueError as error:
            raise NotFoundError(f"labels of {self.name!r} have no such date: {error}") from None

    def _is_period(self, label: Any) -> bool:
        """Whether a text is a date that is less precise than the times of the axis are."""
        if not isinstance(label, str) or self.moments is None or (date := self._date(label)) is None:
            return False
        return date.precision is not None and date.precision < self.moments.precision

    def _rounded(self, label: Any) -> Any:
        """A number in the type of the labels."""
        if not isinstance(label, int | float | np.number):
            raise NotFoundError(f"labels of {self.name!r} are numbers: {label!r} is none of them")
        return _float_of(label, self.values.dtype) if self.values.dtype.kind == "f" else label

    @cached_property
    def _numbers(self) -> Array:
        """The labels as numbers; texts that are none are NaN."""
        if self.values.dtype == object:
            return np.array([_float(text) for text in self.values], dtype=float)
        ends = (self.values.min(), self.values.max()) if self.values.dtype.kind in "iu" and len(self.values) else ()
        is_long = any(abs(int(end)) > _EXACT_MAX for end in ends)
        return self.values.astype(object if is_long else float)

    def _number(self, label: Any) -> Any:
        """A label as a number; of a date, what the units of the axis count until it."""
        date = self._date(label) if self.values.dtype != object else None
        if date is not None and self.moments is not None:
            return self.moments.number(date)
        if not isinstance(label, int | float | np.number):
            raise NotFoundError(f"labels of {self.name!r} are numbers: {label!r} is none of them")
        return label if self._numbers.dtype == object else _float_of(label, self._numbers.dtype)

    def _distance(self, tolerance: Any) -> Any:
        """A tolerance in the units of the axis."""
        if not isinstance(tolerance, np.timedelta64 | datetime.timedelta):
            return tolerance
        if self.moments is None:
            raise TypeError(f"labels of {self.name!r} are no times: the tolerance is a number")
        return np.timedelta64(tolerance) / np.timedelta64(self.moments.units.length, "ns")

    def _missing(self, label: Any) -> NotFoundError:
        return NotFoundError(f"{label!r} is not among the labels of {self.name!r}")


def _float_of(number: Any, dtype: np.dtype[Any]) -> Any:
    """A number in a type of floats; one that is larger than all of them is infinite."""
    try:
        with np.errstate(over="ignore"):
            return dtype.type(number)
    except OverflowError:
        return dtype.type(np.inf if number > 0 else -np.inf)


def _is_rising(values: Array) -> bool:
    return bool((values[:-1] <= values[1:]).all())


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan
