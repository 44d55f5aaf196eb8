"""Arrays read by the multidimensional Zarr driver of GDAL, through its C interface.

The bindings of GDAL for Python have to be compiled with a library of the same version. The wheel of pyogrio contains such
a library, with this driver and with references of kerchunk, which GDAL reads from version 3.11 on.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio

P, SIZE, WORD = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
# GDAL_OF_MULTIDIM_RASTER and GDAL_OF_VERBOSE_ERROR.
OPEN = 0x10 | 0x40
# GDALDataType as types of NumPy.
DTYPES = {
    1: "u1", 2: "u2", 3: "i2", 4: "u4", 5: "i4", 6: "f4", 7: "f8", 10: "c8", 11: "c16", 12: "u8", 13: "i8", 14: "i1", 15: "f2",
}  # fmt: skip
# Functions: what they give, and what they take.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "GDALAllRegister": (None, []),
    "GDALOpenEx": (P, [ctypes.c_char_p, ctypes.c_uint, P, P, P]),
    "GDALClose": (ctypes.c_int, [P]),
    "GDALDatasetGetRootGroup": (P, [P]),
    "GDALGroupOpenMDArrayFromFullname": (P, [P, ctypes.c_char_p, P]),
    "GDALMDArrayGetDimensions": (ctypes.POINTER(P), [P, ctypes.POINTER(SIZE)]),
    "GDALDimensionGetSize": (WORD, [P]),
    "GDALMDArrayGetDataType": (P, [P]),
    "GDALExtendedDataTypeGetNumericDataType": (ctypes.c_int, [P]),
    "GDALMDArrayRead": (ctypes.c_int, [P, ctypes.POINTER(WORD), ctypes.POINTER(SIZE), P, P, P, P, P, SIZE]),
    "CPLGetLastErrorMsg": (ctypes.c_char_p, []),
}


def _library() -> ctypes.CDLL:
    (path,) = Path(pyogrio.__file__).parent.parent.glob("pyogrio.libs/libgdal-*")
    library = ctypes.CDLL(str(path))
    for name, (gives, takes) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = gives, takes
    library.GDALAllRegister()
    return library


GDAL = _library()


def _found(handle: Any) -> Any:
    if not handle:
        raise OSError(GDAL.CPLGetLastErrorMsg().decode())
    return handle


Part = tuple[list[int], list[int]]


def read(place: str, names: list[str], part: Part | None = None) -> dict[str, np.ndarray[Any, Any]]:
    """Elements of arrays of a hierarchy, such as ``ZARR:"/vsikerchunk_json_ref/{references.json}"``.

    ``part`` is where they start and how many there are along each axis; all of them, without it.
    """
    dataset = _found(GDAL.GDALOpenEx(place.encode(), OPEN, None, None, None))
    try:
        root = _found(GDAL.GDALDatasetGetRootGroup(dataset))
        found = {}
        for name in names:
            array = _found(GDAL.GDALGroupOpenMDArrayFromFullname(root, f"/{name}".encode(), None))
            found[name] = _array(array, part)
        return found
    finally:
        GDAL.GDALClose(dataset)


def _array(array: Any, part: Part | None) -> np.ndarray[Any, Any]:
    rank = SIZE()
    dims = GDAL.GDALMDArrayGetDimensions(array, ctypes.byref(rank))
    shape = [GDAL.GDALDimensionGetSize(dims[axis]) for axis in range(rank.value)]
    start, count = part or ([0] * len(shape), shape)
    dtype = GDAL.GDALMDArrayGetDataType(array)
    out = np.empty(count, DTYPES[GDAL.GDALExtendedDataTypeGetNumericDataType(dtype)])
    start, count = (WORD * len(shape))(*start), (SIZE * len(shape))(*count)
    if not GDAL.GDALMDArrayRead(array, start, count, None, None, dtype, out.ctypes.data, None, 0):
        raise OSError(GDAL.CPLGetLastErrorMsg().decode())
    return out
