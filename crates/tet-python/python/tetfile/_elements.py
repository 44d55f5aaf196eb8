"""Values as the elements of a dataset: dates become numbers of its units, masked elements its fill value.

A value that the dataset cannot hold is refused: nothing is cut, wrapped or rounded but floats, which become the nearest of
their type.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _times
from ._errors import UsageError

Array = npt.NDArray[Any]

__all__ = ["array_of", "elements_of", "missing_of"]

# The attributes that name the value of missing elements.
_MISSING = ("_FillValue", "missing_value")
_NANOSECONDS = {"W": 604_800 * 10**9, "D": 86_400 * 10**9, "h": 3_600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 1_000, "ns": 1}
_NAT = np.iinfo(np.int64).min


def array_of(value: Any) -> Array:
    """A value as an array of NumPy, with its mask if it has one."""
    if isinstance(value, list | tuple) and any(isinstance(each, np.ma.MaskedArray) for each in value):
        value = np.ma.array(value) if all(np.ndim(each) == 0 for each in value) else np.ma.stack(value)
    # An array of dask has a mask once it is computed.
    array = np.asanyarray(value.compute() if hasattr(value, "dask") else value)
    return array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)


def elements_of(value: Any, dtype: np.dtype[Any], attrs: Mapping[str, Any], name: str) -> Array:
    """A value as elements of a dataset of a type with these attributes.

    Raises:
        OverflowError: The type or the units do not have a value.
        UsageError: The dataset has no way to store them: dates without units, or masked elements without a fill value.
    """
    array = array_of(value)
    if isinstance(array, np.ma.MaskedArray):
        return _unmasked(array, dtype, attrs, name)
    if array.dtype.kind == "O":
        array = _dates_of(array, attrs, name)
    if array.dtype.kind in "mM" or dtype.kind in "mM":
        return _times_of(array, dtype, attrs, name)
    return _converted(array, dtype, name)


def missing_of(attrs: Mapping[str, Any]) -> Any:
    """The value of missing elements that the attributes name, or ``None``."""
    value = next((attrs[key] for key in _MISSING if attrs.get(key) is not None), None)
    value = None if value is None else np.asarray(value).reshape(-1)[0]
    return float(value) if isinstance(value, str) else value


def _unmasked(array: np.ma.MaskedArray[Any, Any], dtype: np.dtype[Any], attrs: Mapping[str, Any], name: str) -> Array:
    mask = np.ma.getmaskarray(array)
    if not mask.any():
        return elements_of(array.data, dtype, attrs, name)
    fill = missing_of(attrs)
    if fill is None and dtype.kind in "mM":
        fill = _NAT
    if fill is None and dtype.kind in "fcV":
        fill = np.nan
    if fill is None:
        raise UsageError(
            f"{name!r} has no value for masked elements: give it one, as attrs={{'_FillValue': -9999}}", dataset=name
        )
    # Elements under the mask may have any value: none is converted.
    known = array.data[~mask]
    elements = elements_of(known, dtype, attrs, name)
    found = np.empty(array.shape, elements.dtype)
    found[mask] = np.asarray(fill).astype(np.int64 if dtype.kind in "mM" else dtype).astype(elements.dtype)
    if fill == fill and (elements == found[mask][0]).any():
        raise OverflowError(f"{name!r} has elements of the value {fill}, which stands for masked ones")
    found[~mask] = elements
    return found


def _converted(array: Array, dtype: np.dtype[Any], name: str) -> Array:
    if array.dtype == dtype or array.dtype.kind in "US":
        return array.astype(dtype, copy=False)
    with np.errstate(all="ignore"):
        made = array.astype(dtype) if array.dtype.kind != "c" or dtype.kind == "c" else array.real.astype(dtype)
        if dtype.kind in "iub" and np.can_cast(array.dtype, dtype):
            return made
        if dtype.kind in "iub" or (array.dtype.kind == "c" and dtype.kind != "c"):
            fits = _is_same(made, array)
        else:
            fits = array.dtype.kind not in "fciu" or bool((np.isfinite(made) | ~np.isfinite(array)).all())
    if not fits:
        raise OverflowError(f"dataset {name!r} is of {dtype}, and the elements have values that it does not")
    return made


def _is_same(made: Array, array: Array) -> bool:
    # 2**63 and 2**64 are floats, and are equal to the integers that they are cut to.
    if made.dtype.kind in "iu" and array.dtype.kind == "f" and array.size:
        ends = np.iinfo(made.dtype)
        if not (array < float(ends.max) + 1).all() or not (array >= float(ends.min)).all():
            return False
    return np.array_equal(made, array)


def _dates_of(array: Array, attrs: Mapping[str, Any], name: str) -> Array:
    """Objects of ``datetime``, pandas and cftime as dates of NumPy or numbers of the units; other objects as they are."""
    known = [each for each in array.ravel() if each is not None]
    if not known:
        return array
    if all(hasattr(each, "calendar") for each in known):
        return _cftime_numbers(array, known, attrs, name)
    if any(getattr(each, "tzinfo", None) is not None for each in known):
        raise UsageError(f"{name!r} has dates with a time zone; times of files are UTC: convert them and drop the zone")
    for kind, classes in (("m8", (datetime.timedelta, np.timedelta64)), ("M8", (datetime.date, np.datetime64))):
        if all(isinstance(each, classes) for each in known):
            # NumPy takes the microseconds of what pandas counts in nanoseconds.
            plain = [getattr(each, "asm8", each) for each in array.ravel()]
            is_fine = any(isinstance(each, np.generic) for each in plain)
            return np.array(plain, f"{kind}[{'ns' if is_fine else 'us'}]").reshape(array.shape)
    return array


def _cftime_numbers(array: Array, known: list[Any], attrs: Mapping[str, Any], name: str) -> Array:
    units = _units(attrs, name)
    calendars = {"proleptic_gregorian" if units.epoch is not None and each.calendar in _times.STANDARD else each.calendar for each in known}
    own = "proleptic_gregorian" if units.epoch is not None else units.calendar
    if calendars != {"standard" if own == "gregorian" else own}:
        raise UsageError(f"{name!r} has the calendar {units.calendar!r}, and the dates that of {sorted(calendars)}", dataset=name)
    numbers = _times.cftime(units).date2num(np.array(known), units.text, units.calendar)
    found = np.full(array.shape, np.nan if len(known) < array.size else 0, dtype=object)
    found[np.array([each is not None for each in array.ravel()]).reshape(array.shape)] = numbers
    return found.astype(float) if len(known) < array.size else found.astype(numbers.dtype)


def _units(attrs: Mapping[str, Any], name: str) -> _times.Units:
    units = _times.units(dict(attrs))
    if units is None:
        text = f"{name!r} has no units of dates: write numbers, or give it the attribute units, as 'days since 2000-01-01'"
        raise UsageError(text, dataset=name)
    return units


def _times_of(array: Array, dtype: np.dtype[Any], attrs: Mapping[str, Any], name: str) -> Array:
    """Dates and differences of times as what the dataset counts."""
    if dtype.kind in "mM" and "units" not in attrs:
        return _as_times(array, dtype, name)
    stored = np.dtype(np.int64) if dtype.kind in "mM" else dtype
    if array.dtype.kind not in "mM":
        return _converted(array, stored, name)
    if "scale_factor" in attrs or "add_offset" in attrs:
        raise UsageError(f"{name!r} is packed, and takes numbers: write what it stores", dataset=name)
    epoch, length = _counted(array, attrs, name)
    unit, count = np.datetime_data(array.dtype)
    if unit in ("Y", "M") and array.dtype.kind == "M":
        array, unit, count = array.astype("M8[D]"), "D", 1
    if unit not in _NANOSECONDS:
        raise UsageError(f"{name!r} takes times of weeks to nanoseconds, not {array.dtype}", dataset=name)
    step = _NANOSECONDS[unit] * count
    is_known = ~np.isnat(array)
    numbers = _numbers(array.astype(np.int64)[is_known], (step, epoch, length), stored)
    if numbers is None:
        units = attrs.get("units")
        raise OverflowError(f"{name!r} counts {units!r} in {stored}, and the times have values between those: write other units")
    found = np.empty(array.shape, stored)
    found[is_known] = numbers
    return found if is_known.all() else _with_missing(found, ~is_known, attrs, name)


def _as_times(array: Array, dtype: np.dtype[Any], name: str) -> Array:
    if array.dtype.kind not in "mM":
        if array.dtype.kind in "US" and dtype.kind == "M":
            array = array.astype("M8")
        else:
            raise UsageError(f"{name!r} is of {dtype}, and the elements of {array.dtype}", dataset=name)
    if array.dtype.kind != dtype.kind:
        raise UsageError(f"{name!r} is of {dtype}, and the elements of {array.dtype}", dataset=name)
    try:
        made = array.astype(dtype)
        fits = np.array_equal(made.astype(array.dtype), array, equal_nan=True)
    except OverflowError:
        fits = False
    if not fits:
        raise OverflowError(f"{name!r} is of {dtype}, and the elements of {array.dtype} have times that it does not")
    return made


def _counted(array: Array, attrs: Mapping[str, Any], name: str) -> tuple[int, int]:
    """The instant of 0 and the length of a unit, in nanoseconds."""
    if array.dtype.kind == "m":
        length = _times.length(attrs.get("units"))
        if length is None:
            text = f"{name!r} has no unit of times: write numbers, or give it the attribute units, as 'seconds'"
            raise UsageError(text, dataset=name)
        return 0, length
    units = _units(attrs, name)
    if units.epoch is not None:
        return units.epoch, units.length
    if units.calendar not in ("standard", "gregorian"):
        raise UsageError(f"{name!r} has the calendar {units.calendar!r}: write dates of cftime", dataset=name)
    cftime = _times.cftime(units)
    since = cftime.date2num(cftime.datetime(1970, 1, 1, calendar=units.calendar), units.text, units.calendar)
    return -round(float(since) * units.length), units.length


def _numbers(values: npt.NDArray[np.int64], scale: tuple[int, int, int], dtype: np.dtype[Any]) -> Array | None:
    """``(value * step - epoch) / length`` of a type, or ``None`` where it has no such number."""
    step, epoch, length = scale
    common = gcd(step, epoch, length)
    step, epoch, length = step // common, epoch // common, length // common
    furthest = max(abs(int(end)) for end in (values.min(), values.max())) if values.size else 0
    # Beyond 64 bits the numbers are those of Python.
    counts: Array = values if furthest * step + abs(epoch) < 1 << 62 and length < 1 << 62 else values.astype(object)
    whole, rest = np.divmod(counts * step - epoch, length)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        fits = not rest.any() and (not whole.size or (ends.min <= whole.min() and whole.max() <= ends.max))
        return whole.astype(dtype) if fits else None
    exact = whole.astype(float) + rest.astype(float) / length
    made = exact.astype(dtype)
    # Doubles hold a date to about a microsecond.
    allowed = np.maximum(np.spacing(np.abs(exact)), 1_000 / (length * common))
    return made if (np.abs(made.astype(float) - exact) <= allowed).all() else None


def _with_missing(found: Array, missing: npt.NDArray[np.bool_], attrs: Mapping[str, Any], name: str) -> Array:
    fill = missing_of(attrs)
    if fill is None:
        if found.dtype.kind in "iu" and found.dtype.itemsize < 8:
            raise UsageError(f"{name!r} has no value for NaT: give it one, as attrs={{'_FillValue': -9999}}", dataset=name)
        fill = np.nan if found.dtype.kind == "f" else _NAT
    value = np.asarray(fill).astype(found.dtype)
    if (found[~missing] == value).any():
        raise OverflowError(f"{name!r} has times of the value {fill}, which stands for NaT")
    found[missing] = value
    return found
