"""The same arrays in every container, written by the packages that people write them with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import netCDF4
import numpy as np
import safetensors.numpy
import tetfile
import zarr

Arrays = dict[str, np.ndarray[Any, Any]]

PLAIN = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 ?".split()


def arrays(seed: int, dtypes: list[str]) -> Arrays:
    """Arrays of every type, of 0 to 4 axes, some without elements."""
    random = np.random.default_rng(seed)
    shapes = [(), (7,), (5, 6), (3, 4, 5), (2, 3, 2, 4), (0, 3), (1, 1, 9)]
    found = {}
    for number, shape in enumerate(shapes):
        for name in dtypes:
            dtype = np.dtype(getattr(ml_dtypes, name, name))
            values = random.integers(0, 2 if name == "?" else 100, shape)
            found[f"{dtype.name}_{number}"] = np.asarray(values).astype(dtype)
    return found


def _chunks(array: np.ndarray[Any, Any]) -> tuple[int, ...] | None:
    """Chunks that do not divide the extents."""
    return tuple(max(1, extent // 2 + 1) for extent in array.shape) if array.ndim and array.size else None


def write_npz(path: Path, of: Arrays) -> None:
    np.savez(path, **of)


def write_h5(path: Path, of: Arrays) -> None:
    with h5py.File(path, "w") as out:
        for name, array in of.items():
            out.create_dataset(name, data=array, chunks=_chunks(array))


def write_h5_deflated(path: Path, of: Arrays) -> None:
    with h5py.File(path, "w") as out:
        for name, array in of.items():
            chunks = _chunks(array)
            more = {"compression": "gzip", "shuffle": True} if chunks else {}
            out.create_dataset(name, data=array, chunks=chunks, **more)


def write_nc(path: Path, of: Arrays) -> None:
    with netCDF4.Dataset(path, "w") as out:
        out.set_auto_mask(False)
        for name, array in of.items():
            if array.dtype == bool or array.dtype == "f2" or array.size == 0:
                continue
            dims = tuple(f"{name}_{axis}" for axis in range(array.ndim))
            for dim, extent in zip(dims, array.shape, strict=True):
                out.createDimension(dim, extent)
            out.createVariable(name, array.dtype, dims)[...] = array


def write_zarr(path: Path, of: Arrays) -> None:
    root = zarr.open_group(path, mode="w")
    for name, array in of.items():
        chunks = _chunks(array)
        made = root.create_array(name, shape=array.shape, dtype=array.dtype, chunks=chunks or "auto")
        made[...] = array


def write_zarr2(path: Path, of: Arrays) -> None:
    root = zarr.open_group(path, mode="w", zarr_format=2)
    for name, array in of.items():
        chunks = _chunks(array)
        made = root.create_array(name, shape=array.shape, dtype=array.dtype, chunks=chunks or "auto")
        made[...] = array


def write_safetensors(path: Path, of: Arrays) -> None:
    safetensors.numpy.save_file(of, path)


def _converted(suffix: str, **how: Any) -> Callable[[Path, Arrays], None]:
    def write(path: Path, of: Arrays) -> None:
        source = path.with_name(f"{path.name}.npz")
        np.savez(source, **of)
        tetfile.convert(source, path, **how)

    return write


# Name, suffix, writer, the types that it is given.
CONTAINERS: dict[str, tuple[str, Callable[[Path, Arrays], None], list[str]]] = {
    "npz": (".npz", write_npz, PLAIN),
    "npz big-endian": (".npz", write_npz, [">f4", ">i2", ">u8", ">c16"]),
    "hdf5": (".h5", write_h5, PLAIN),
    "hdf5 deflate": (".h5", write_h5_deflated, [">f4", "<f8", "<i2", ">u8", "?"]),
    "netcdf": (".nc", write_nc, PLAIN),
    "zarr 3": (".zarr", write_zarr, [*PLAIN, "c8", "c16"]),
    "zarr 2": (".zarr", write_zarr2, [*PLAIN, ">i4", ">f8"]),
    "safetensors": (".safetensors", write_safetensors, [*PLAIN, "bfloat16"]),
    "tet": (".tet", _converted(".tet", chunks="auto", codec="raw"), PLAIN),
    "tet zstd": (".tet", _converted(".tet", codec="zstd"), PLAIN),
    "tensogram": (".tgm", _converted(".tgm"), [*PLAIN[:11], "c8"]),
    "ztensor": (".zt", _converted(".zt"), PLAIN[:11]),
}


def write(folder: Path, name: str, seed: int = 0) -> tuple[Path, Arrays]:
    """A file of a container, and what it has to hold."""
    suffix, writer, dtypes = CONTAINERS[name]
    of = arrays(seed, dtypes)
    path = folder / f"{name.replace(' ', '_')}{suffix}"
    writer(path, of)
    return path, of
