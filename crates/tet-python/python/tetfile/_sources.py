"""Arrays of other packages, with what they know of their elements: names of axes, labels, attributes."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import UsageError

__all__ = ["Described", "attrs_of", "labeled", "of_others"]

# Attributes by which HDF5 and netCDF4 keep the names of axes.
_OF_AXES = frozenset(
    "CLASS NAME REFERENCE_LIST DIMENSION_LIST DIMENSION_LABELS _Netcdf4Dimid _Netcdf4Coordinates _nc3_strict _NCProperties".split()
)


@dataclass(frozen=True)
class Described:
    """Stored elements, and what their dataset has beside them."""

    elements: npt.NDArray[Any]
    dims: tuple[str, ...] | None
    attrs: Mapping[str, Any]


def of_others(value: Any) -> Described | None:
    """A dataset of h5py, netCDF4 or zarr, as it is stored; ``None`` for another value."""
    kind = (type(value).__module__.partition(".")[0], type(value).__name__)
    if kind == ("h5py", "Dataset"):
        return _of_h5py(value)
    if kind == ("netCDF4", "Variable"):
        return _of_netcdf4(value)
    if kind == ("zarr", "Array"):
        return _of_zarr(value)
    return None


def _of_h5py(value: Any) -> Described:
    names = [str(dim.label or (dim[0].name.rpartition("/")[2] if len(dim) else "")) for dim in value.dims]
    # netCDF4 stores one number as an array of one.
    attrs = {key: each[0] if np.shape(each) == (1,) else each for key, each in value.attrs.items() if key not in _OF_AXES}
    return Described(np.asarray(value[()]), _all_named(names), attrs)


def _of_netcdf4(value: Any) -> Described:
    masks, scales = value.mask, value.scale
    value.set_auto_maskandscale(False)
    try:
        elements = np.asarray(value[...])
    finally:
        value.set_auto_mask(masks)
        value.set_auto_scale(scales)
    return Described(elements, tuple(value.dimensions), {key: value.getncattr(key) for key in value.ncattrs()})


def _of_zarr(value: Any) -> Described:
    attrs = dict(value.attrs)
    names = attrs.pop("_ARRAY_DIMENSIONS", None) or getattr(value.metadata, "dimension_names", None) or []
    if value.metadata.zarr_format == 2 and value.fill_value is not None:
        # In version 2 the fill value is that of missing elements.
        attrs.setdefault("_FillValue", value.fill_value)
    missing = attrs.get("_FillValue")
    if isinstance(missing, str) and value.dtype.kind == "f":
        # As xarray writes it.
        attrs["_FillValue"] = struct.unpack("<d", base64.standard_b64decode(missing))[0]
    return Described(np.asarray(value[...]), _all_named([str(name or "") for name in names]), attrs)


def _all_named(names: list[str]) -> tuple[str, ...] | None:
    return tuple(names) if names and all(names) and len(set(names)) == len(names) else None


def labeled(value: Any) -> Any:
    """An array of pandas that has labels as one of xarray; any other value as it is."""
    if type(value).__module__.partition(".")[0] != "pandas" or type(value).__name__ not in ("Series", "DataFrame"):
        return value
    axes = [value.index] if value.ndim == 1 else [value.index, value.columns]
    if all(type(axis).__name__ == "RangeIndex" and axis.start == 0 and axis.step == 1 and axis.name is None for axis in axes):
        return value
    from xarray import DataArray

    return DataArray(value)


def attrs_of(array: npt.NDArray[Any], name: str, *, whole: bool) -> dict[str, Any]:
    """The attributes of a new dataset of an array: the value of masked elements, which those of a first block may come before."""
    if not isinstance(array, np.ma.MaskedArray) or (whole and not np.ma.getmaskarray(array).any()) or array.dtype.kind in "mM":
        return {}
    if array.dtype.kind in "fcV":
        return {"_FillValue": np.nan}
    if array.dtype.kind not in "iu":
        raise UsageError(f"{name!r} is of {array.dtype}, which has no value for masked elements: fill them", dataset=name)
    known, ends = array.compressed(), np.iinfo(array.dtype)
    given = [] if array.fill_value == np.ma.default_fill_value(array.dtype) else [array.fill_value]
    value = next((int(each) for each in (*given, ends.min if ends.min else ends.max, ends.max) if not (known == each).any()), None)
    if value is None:
        raise UsageError(f"{name!r} has all values that could stand for masked elements: fill them", dataset=name)
    return {"_FillValue": value}
