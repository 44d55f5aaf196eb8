"""Times of the CF conventions: numbers since a date, and the dates that people write."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Nanoseconds of a unit, under all of its names.
_UNITS = {
    name: length
    for names, length in {
        "nanosecond nanoseconds nanosec nanosecs ns": 1,
        "microsecond microseconds microsec microsecs us": 1_000,
        "millisecond milliseconds millisec millisecs msec msecs ms": 1_000_000,
        "second seconds sec secs s": 1_000_000_000,
        "minute minutes min mins": 60_000_000_000,
        "hour hours hr hrs h": 3_600_000_000_000,
        "day days d": 86_400_000_000_000,
    }.items()
    for name in names.split()
}
_SINCE = re.compile(
    r"\s*(\w+)\s+since\s+(\d{1,4})-(\d{1,2})-(\d{1,2})"
    r"(?:[T\s]+(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2}(?:\.\d*)?))?)?\s*(Z|UTC|[+-]\d{1,2}(?::?\d{2})?)?\s*"
)
STANDARD = ("standard", "gregorian", "proleptic_gregorian")
# The first day of the Gregorian calendar, which "standard" has from then on.
_REFORM = np.datetime64("1582-10-15")
_INT64 = np.iinfo(np.int64)


@dataclass(frozen=True)
class Units:
    """What the numbers of a time axis count."""

    text: str
    calendar: str
    # Nanoseconds.
    length: int
    # The instant of 0, of the calendar "proleptic_gregorian", in nanoseconds since 1970; ``None`` in other calendars.
    epoch: int | None


def units(attrs: dict[str, Any]) -> Units | None:
    """The units of a time axis, or ``None`` where the attributes are not those of times."""
    text, calendar = attrs.get("units"), attrs.get("calendar", "standard")
    found = _SINCE.fullmatch(text) if isinstance(text, str) else None
    length = None if found is None else _UNITS.get(found[1].lower())
    if found is None or length is None or not isinstance(calendar, str):
        return None
    return Units(found[0], calendar.lower(), length, _epoch(found, calendar.lower()))


def length(unit: Any) -> int | None:
    """The nanoseconds of a unit of differences of times, or ``None`` where it is none."""
    return _UNITS.get(unit.strip().lower()) if isinstance(unit, str) else None


def _epoch(found: re.Match[str], calendar: str) -> int | None:
    _, year, month, day, hour, minute, second, zone = found.groups()
    try:
        date = np.datetime64(f"{int(year):04}-{int(month):02}-{int(day):02}")
    except ValueError:
        return None
    if calendar not in STANDARD or (calendar != "proleptic_gregorian" and date < _REFORM):
        return None
    seconds = 3600 * int(hour or 0) + 60 * int(minute or 0) - _zone(zone or "")
    fraction = round(float(second or 0) * 1e9)
    return int(date.astype(np.int64)) * _UNITS["day"] + seconds * _UNITS["second"] + fraction


def _zone(text: str) -> int:
    """Seconds east of Greenwich."""
    digits = re.sub(r"\D", "", text)
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits or 0), 0)
    return (-1 if text.startswith("-") else 1) * (3600 * hours + 60 * minutes)


def decoded(numbers: Array, of: Units) -> Array:
    """The times: ``datetime64``, or objects of ``cftime`` where the calendar has other days.

    Numbers with a fraction are rounded to microseconds, because doubles hold no more of a date.

    Raises:
        ImportError: The calendar needs the package cftime.
    """
    if of.epoch is not None:
        times = _datetimes(numbers, of.length, of.epoch)
        known = times[~np.isnat(times)]
        if of.calendar == "proleptic_gregorian" or not known.size or known.min().astype("datetime64[D]") >= _REFORM:
            return times
    if numbers.dtype.kind == "i" and (numbers == _INT64.min).any():
        numbers = np.where(numbers == _INT64.min, np.nan, numbers)
    found = cftime(of).num2date(numbers, of.text, of.calendar, only_use_cftime_datetimes=True)
    return np.asarray(found, dtype=object)


def _datetimes(numbers: Array, length: int, epoch: int) -> Array:
    if not numbers.size:
        return numbers.astype("datetime64[ns]")
    if numbers.dtype.kind == "f":
        is_known = np.isfinite(numbers)
        numbers = np.where(is_known, numbers, 0).astype(float)
        if (numbers % 1 == 0).all() and abs(numbers).max() < 2**53:
            found = _datetimes(numbers.astype(np.int64), length, epoch)
        else:
            step = 1 if length < 1_000_000 else 1_000
            whole = np.floor(numbers)
            parts = np.rint((numbers - whole) * (length / step)).astype(np.int64)
            found = _datetimes(whole.astype(np.int64), length, epoch)
            found = found + (parts * step).astype("timedelta64[ns]").astype(found.dtype.str.replace("M8", "m8"))
        return np.where(is_known, found, np.datetime64("NaT"))
    # As NumPy has "not a time".
    is_known = numbers != _INT64.min
    if not is_known.all():
        found = _datetimes(np.where(is_known, numbers, 0), length, epoch)
        return np.where(is_known, found, np.datetime64("NaT"))
    ends = [epoch, *(int(end) * length + epoch for end in (numbers.min(), numbers.max()))]
    # Nanoseconds reach from 1678 to 2261, microseconds as far as dates have names.
    for unit, step in (("ns", 1), ("us", 1_000), ("s", 1_000_000_000)):
        fits = all(_INT64.min < end // step <= _INT64.max - length for end in ends)
        if fits and length % step == 0 and epoch % step == 0:
            return (numbers.astype(np.int64) * (length // step) + epoch // step).astype(f"datetime64[{unit}]")
    raise ValueError("the times are further away than dates have names")


def cftime(of: Units) -> Any:
    """The package cftime, which the calendar needs."""
    try:
        import cftime as package  # type: ignore[import-untyped]
    except ImportError as error:
        message = f"times of the calendar {of.calendar!r} ({of.text!r}) need the package cftime: pip install cftime"
        raise ImportError(message) from error
    return package


# Text of a date, and to what precision: year, month, day, hour, minute, second, fraction.
_DATE = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2})(?::(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?Z?)?)?)?", re.ASCII
)
_PRECISIONS = ("Y", "M", "D", "h", "m", "s", "ms", "us", "ns")


@dataclass(frozen=True)
class Date:
    """An instant, or the year, month, day, hour, minute or second that a text has."""

    fields: tuple[int, ...]
    nanosecond: int
    # Index of the precision; ``None`` for an instant that is no text.
    precision: int | None

    @property
    def unit(self) -> str:
        """The unit of NumPy that has this precision."""
        return "ns" if self.precision is None else _PRECISIONS[self.precision]

    def count(self, unit: str) -> float:
        """The first instant, in a unit since 1970; between two of them a half."""
        year, month, day, hour, minute, second = self.fields
        whole = np.datetime64(f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
        step = {"ms": 1_000_000, "us": 1_000, "ns": 1}.get(unit)
        if step is None:
            return int(whole.astype(f"datetime64[{unit}]").astype(np.int64))
        found, rest = divmod(int(whole.astype(np.int64)) * 10**9 + self.nanosecond, step)
        return found + 0.5 if rest else max(_INT64.min + 1, min(found, _INT64.max))


def date(label: Any) -> Date | None:
    """The date of a label, or ``None`` where it is none.

    Raises:
        ValueError: A text is no date as ISO 8601 has them.
    """
    if isinstance(label, str):
        return _of_text(label)
    if isinstance(label, np.ndarray) and label.ndim == 0:
        label = label[()]
    if isinstance(label, np.datetime64):
        if np.isnat(label):
            return None
        is_coarse = np.datetime_data(label.dtype)[0] in ("Y", "M", "W", "D", "h", "m")
        found = _of_text(str(label.astype("datetime64[s]") if is_coarse else label))
        return Date(found.fields, found.nanosecond, None)
    if (isinstance(label, datetime.date) and label == label) or hasattr(label, "calendar"):
        fields = (label.year, label.month, label.day, *(getattr(label, of, 0) for of in ("hour", "minute", "second")))
        if getattr(label, "tzinfo", None) is not None:
            raise ValueError(f"{label!r} has a time zone; times of files are UTC: convert it and drop the zone")
        fraction = getattr(label, "microsecond", 0) * 1000 + getattr(label, "nanosecond", 0)
        return Date(fields, fraction, None)
    return None


def _of_text(text: str) -> Date:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no date: write it as 2024-01, 2024-01-31 or 2024-01-31T12:00")
    *parts, fraction = found.groups()
    fields = tuple(int(part) if part else 1 if at in (1, 2) else 0 for at, part in enumerate(parts))
    precision = sum(part is not None for part in parts) - 1
    if fraction:
        precision += -(-len(fraction) // 3)
    return Date(fields, int(f"{fraction or '0':0<9}"), precision)


# Extents of the fields of a packed date, from microseconds up to months.
_PACKED = (1_000_000, 62, 62, 25, 33, 14)


def packed(times: Array) -> npt.NDArray[np.int64]:
    """Dates of any calendar as integers in the same order."""
    return np.array([_packed(Date(_fields(time), time.microsecond * 1000, None)) for time in times], dtype=np.int64)


def _fields(time: Any) -> tuple[int, ...]:
    return time.year, time.month, time.day, time.hour, time.minute, time.second


def _packed(of: Date) -> int:
    number = 0
    for field, extent in zip((*of.fields, of.nanosecond // 1000), (1, *reversed(_PACKED)), strict=True):
        number = number * extent + field
    return number


def _packed_step(unit: str) -> int:
    """What a unit counts in a packed date."""
    return int(np.prod(_PACKED[: max(0, 6 - _PRECISIONS.index(unit))], dtype=np.int64))


@dataclass(frozen=True)
class Moments:
    """Decoded times that are compared with dates."""

    times: Array
    units: Units

    @property
    def is_plain(self) -> bool:
        """Whether the times are ``datetime64``."""
        return self.times.dtype.kind == "M"

    def floor(self, unit: str) -> npt.NDArray[np.int64]:
        """The times at the precision of a unit, which are compared with :meth:`at`."""
        if self.is_plain:
            return self.times.astype(f"datetime64[{self._coarser(unit)}]").astype(np.int64)
        return packed(self.times) // _packed_step(unit)

    def at(self, of: Date, unit: str) -> float:
        """A date at the precision of a unit.

        Raises:
            ValueError: The calendar has no such date.
        """
        if self.is_plain:
            return of.count(self._coarser(unit))
        cftime(self.units).datetime(*of.fields, calendar=self.units.calendar)
        return _packed(of) // _packed_step(unit)

    def _coarser(self, unit: str) -> str:
        """The unit, or that of the times where it is finer: other times are too far away to be counted in it."""
        own = np.datetime_data(self.times.dtype)[0]
        return min(unit, own, key=_PRECISIONS.index)

    @property
    def precision(self) -> int:
        """The index of the coarsest precision, from days on, that has all of the times."""
        whole = (at for at in range(2, len(_PRECISIONS)) if self._is_whole(_PRECISIONS[at]))
        return next(whole, len(_PRECISIONS) - 1)

    def _is_whole(self, unit: str) -> bool:
        if not self.is_plain:
            return not (packed(self.times) % _packed_step(unit)).any()
        known = self.times[~np.isnat(self.times)]
        return bool((known.astype(f"datetime64[{unit}]") == known).all())

    def number(self, of: Date) -> float:
        """What the units count until the date."""
        if self.units.epoch is not None and self.is_plain:
            since = int(of.count("s")) * 10**9 + of.nanosecond - self.units.epoch
            return since / self.units.length
        package = cftime(self.units)
        date = package.datetime(*of.fields, of.nanosecond // 1000, calendar=self.units.calendar)
        return float(package.date2num(date, self.units.text, self.units.calendar))
