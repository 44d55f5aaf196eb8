"""Variables of xarray as the CF conventions store them, each compared with what is read back from it.

xarray casts values to the type of ``encoding`` whether they fit or not. Here a value that the type, the packing or the units
do not have is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray
from xarray import Variable
from xarray.conventions import cf_encoder, decode_cf_variable, encode_dataset_coordinates

from ._elements import elements_of, missing_of
from ._errors import UsageError

Array = npt.NDArray[Any]

__all__ = ["encoded_variables", "units_of_bounds"]

# The attributes by which numbers are read back.
_PACKING = ("_FillValue", "missing_value", "scale_factor", "add_offset", "_Unsigned")


def encoded_variables(
    dataset: xarray.Dataset, units: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[dict[str, Variable], dict[str, Any]]:
    """The variables as they are stored, and the attributes of the dataset. ``units`` are those of times, by name, instead of
    those that xarray chooses.

    Raises:
        OverflowError: The type of a variable does not have a value; of arrays of dask when they are computed.
        UsageError: A name has a slash, which would make a group of it.
    """
    for name in dataset.variables:
        if "/" in str(name):
            raise UsageError(f"the name {name!r} has a slash, by which files have groups: rename it", dataset=str(name))
    variables, attrs = encode_dataset_coordinates(dataset)
    with warnings.catch_warnings():
        # What does not fit is refused below.
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.filterwarnings("ignore", message="Times can't be serialized|saving variable")
        encoded, attrs = cf_encoder(variables, attrs)
    known = units_of_bounds({str(name): variable.attrs for name, variable in encoded.items()})
    checked = {}
    for name, stored in encoded.items():
        held = known.get(str(name), {}) | stored.attrs | dict((units or {}).get(str(name), {}))
        checked[str(name)] = _checked(str(name), stored, variables[name], held)
    return checked, dict(attrs)


def units_of_bounds(attrs: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The units of bounds, which are those of the variable that they are of, by the attributes of all variables."""
    found = {}
    for each in attrs.values():
        if "bounds" in each:
            found[str(each["bounds"])] = {key: each[key] for key in ("units", "calendar") if key in each}
    return found


def _checked(name: str, stored: Variable, given: Variable, attrs: Mapping[str, Any]) -> Variable:
    """The stored variable, whose elements are compared with those that were given when they are computed."""
    if _is_time(given):
        data = _by_blocks(_times, given, stored.dtype, variable=name, attrs=dict(attrs))
    elif given.dtype.kind in "iufc" and stored.dtype.kind in "iufc" and not _is_as_given(stored, given):
        # Elements that were not decoded are stored as they are.
        packing = {key: attrs[key] for key in _PACKING if key in attrs and key not in given.attrs}
        data = _by_blocks(_numbers, stored, stored.dtype, given, variable=name, attrs=packing)
    else:
        return stored
    return Variable(stored.dims, data, stored.attrs, stored.encoding, fastpath=True)


def _is_time(variable: Variable) -> bool:
    if variable.dtype.kind != "O":
        return variable.dtype.kind in "mM"
    first = variable.data.ravel()[:1]
    return any(hasattr(each, "calendar") for each in np.asarray(first))


def _is_as_given(stored: Variable, given: Variable) -> bool:
    """Whether the elements are stored as they are."""
    missing = missing_of(stored.attrs)
    is_plain = stored.dtype == given.dtype and stored.attrs.keys().isdisjoint(("scale_factor", "add_offset"))
    return is_plain and (missing is None or missing != missing or given.dtype.kind != "f" or stored.data is given.data)


def _by_blocks(work: Any, first: Variable, dtype: np.dtype[Any], *more: Variable, **how: Any) -> Any:
    arrays = [each.data for each in (first, *more)]
    if any(hasattr(array, "dask") for array in arrays):
        import dask.array

        meta = np.empty((0,) * first.ndim, dtype)
        return dask.array.map_blocks(work, *arrays, dtype=dtype, meta=meta, to=dtype, **how)  # type: ignore[no-untyped-call]
    return work(*(np.asarray(array) for array in arrays), to=dtype, **how)


def _times(given: Array, *, to: np.dtype[Any], variable: str, attrs: dict[str, Any]) -> Array:
    return elements_of(given, to, attrs, variable)


def _numbers(stored: Array, given: Array, *, to: np.dtype[Any], variable: str, attrs: dict[str, Any]) -> Array:
    with np.errstate(all="ignore"):
        read = decode_cf_variable(variable, Variable([str(axis) for axis in range(stored.ndim)], stored, attrs)).values
        missing = np.isnan(given)
        step = np.abs(np.asarray(attrs.get("scale_factor", 0), float).reshape(-1)[0]) / 2 if to.kind in "iu" else 0.0
        away = np.abs(read.astype(complex if given.dtype.kind == "c" else float) - given)
        # Floats that are packed or shortened are rounded to the type that they are read back in.
        is_rounded = to.kind in "fc" or step or "add_offset" in attrs
        kinds = [kind for kind in (read.dtype, to) if kind.kind in "fc"] if is_rounded else []
        near = np.abs(given) * sum(2 * float(np.finfo(kind).eps) for kind in kinds) + step * 1.001
        smallest = max((float(np.finfo(kind).tiny) for kind in kinds), default=0.0)
        fits = (away <= near + smallest) | (read == given) | (missing & np.isnan(read))
    if not fits.all():
        at = tuple(int(axis[0]) for axis in np.nonzero(~fits))
        raise OverflowError(f"{variable!r} is stored as {to} with {attrs or 'no packing'}, which does not have {given[at]!r}")
    return stored
