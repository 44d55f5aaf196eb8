"""Runs works of one library in a process of its own, as `tet-bench --peer` does.

Takes `check WORK PATH` or `time WORK PATH` a line, answers with milliseconds and, after `check`,
the sum of all values.
"""

import sys
import time

import numpy as np

from works import answer


def opened(library, path):
    if library == "numpy":
        return np.asarray(np.load(path, mmap_mode="r"))
    if library == "h5py":
        import h5py

        return h5py.File(path, "r")["x"]
    import zarr

    return zarr.open_array(path, mode="r")


def main(library):
    arrays = {}
    print("{}", flush=True)
    for line in sys.stdin:
        how, work, path = line.rstrip("\n").split(" ", 2)
        if path not in arrays:
            arrays[path] = opened(library, path)
        start = time.perf_counter()
        values = answer(work, arrays[path])
        milliseconds = (time.perf_counter() - start) * 1e3
        check = np.sum(values, dtype=np.float64) if how == "check" else np.nan
        del values
        print(milliseconds, check, flush=True)


main(sys.argv[1])
