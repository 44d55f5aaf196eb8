"""Runs works of one library on files that it opens for each, see worker.py for the lines."""

import sys
import time

import numpy as np

from arrays_files import ELEMENT

READS = {
    "element": lambda x: x[ELEMENT],
    "column": lambda x: x[:, 512, 512],
    "box": lambda x: x[10:20, 100:400, 300:700],
    "sum": lambda x: x[...].sum(dtype=np.float64),
    "mean-0": lambda x: x[...].mean(axis=0),
    "mean-1": lambda x: x[...].mean(axis=1),
    "mean-2": lambda x: x[...].mean(axis=2),
}


def hdf5():
    import h5py
    import hdf5plugin  # noqa: F401, registers the filters

    def work(name, path):
        with h5py.File(path, "r") as file:
            if name == "list":
                return len([(it, file[it].shape, file[it].dtype) for it in file])
            return READS[name](file["x"])

    return work


def netcdf():
    import netCDF4

    def work(name, path):
        with netCDF4.Dataset(path) as file:
            if name == "list":
                return len([(it, file[it].shape, file[it].dtype) for it in file.variables])
            file.set_auto_maskandscale(False)
            return READS[name](file["x"])

    return work


def zarr():
    import zarr

    def work(name, path):
        group = zarr.open_group(path, mode="r")
        if name == "list":
            return len([(it, array.shape, array.dtype) for it, array in group.members()])
        return READS[name](group["x"])

    return work


def main():
    work = {"hdf5": hdf5, "netcdf": netcdf, "zarr": zarr}[sys.argv[1]]()
    print("{}", flush=True)
    for line in sys.stdin:
        how, name, path = line.rstrip("\n").split(" ", 2)
        start = time.perf_counter()
        values = work(name, path)
        milliseconds = (time.perf_counter() - start) * 1e3
        check = np.sum(values, dtype=np.float64) if how == "check" else np.nan
        if name.startswith("mean"):
            check = np.nan
        print(milliseconds, check, flush=True)


main()
