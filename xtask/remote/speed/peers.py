"""One work of another program on a file of a server: `peers.py PROGRAM WORK URL` prints its seconds and its result.

What is imported is not timed, what is opened is.
"""

import json
import os
import struct
import sys
import time
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[3] / "crates/tet-python/tests"
SHAPE = (1024, 512, 512)

ELEMENT = (17, 200, 300)
WINDOW = (slice(None), slice(100, 110), slice(100, 110))


def of_array(array, work):
    if work == "open":
        return float(array.shape[0])
    if work == "element":
        return float(array[ELEMENT])
    if work == "mean":
        return float(np.sum(np.mean(array[:], axis=0, dtype="f8")))
    part = array[WINDOW] if work == "window" else array[:]
    return float(np.sum(part, dtype="f8"))


def zarr(url, work):
    import zarr as library
    from obstore.store import HTTPStore

    def run():
        store = library.storage.ObjectStore(HTTPStore.from_url(url, client_options={"allow_http": True}), read_only=True)
        return of_array(library.open_group(store, mode="r")["a"], work)

    return run


def h5py(url, work):
    import fsspec
    import h5py as library

    file = fsspec.filesystem("http").open

    def run():
        with file(url, block_size=1 << 20) as opened, library.File(opened) as found:
            return of_array(found["a"], work)

    file(url, block_size=1 << 20).close()
    return run


def tensogram(url, work):
    import tensogram as library

    def run():
        file = library.TensogramFile.open_remote(url)
        if work == "open":
            file.file_decode_descriptors(0)
            return float(SHAPE[0])
        if work == "element":
            at = int(np.ravel_multi_index(ELEMENT, SHAPE))
            return float(np.ravel(file.file_decode_range(0, 0, [(at, 1)], join=True))[0])
        if work == "window":
            rows = [(t * 512 * 512 + y * 512 + 100, 10) for t in range(SHAPE[0]) for y in range(100, 110)]
            return float(np.sum(file.file_decode_range(0, 0, rows, join=True), dtype="f8"))
        return float(np.sum(file.file_decode_object(0, 0)["data"], dtype="f8"))

    return run


def gdal(url, work):
    sys.path.insert(0, str(TESTS))
    import gdal as library

    def run():
        parts = {"open": ([0] * 3, [1] * 3), "element": (list(ELEMENT), [1] * 3), "window": ([0, 100, 100], [SHAPE[0], 10, 10])}
        found = library.read(f'ZARR:"/vsicurl/{url}"', ["a"], parts.get(work))["a"]
        return float(np.sum(found, dtype="f8"))

    return run


def safetensors(url, work):
    import requests

    def run():
        session = requests.Session()

        def part(first, len):
            answer = session.get(url, headers={"range": f"bytes={first}-{first + len - 1}"})
            assert answer.status_code == 206, answer.status_code
            return answer.content

        (len,) = struct.unpack("<Q", part(0, 8))
        header = json.loads(part(8, len))["a"]
        first, last = header["data_offsets"]
        shape = header["shape"]
        if work == "open":
            return float(shape[0])
        if work == "element":
            at = int(np.ravel_multi_index(ELEMENT, shape))
            return float(np.frombuffer(part(8 + len + first + 4 * at, 4), "f4")[0])
        return float(np.sum(np.frombuffer(part(8 + len + first, last - first), "f4"), dtype="f8"))

    return run


def main():
    program, work, url = sys.argv[1:]
    run = globals()[program](url, work)
    begin = time.perf_counter()
    result = run()
    print(json.dumps({"seconds": time.perf_counter() - begin, "result": result}), flush=True)
    # Threads of obstore may still run, which ends Python with an error.
    os._exit(0)


main()
